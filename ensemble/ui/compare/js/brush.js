// Brushing: a drag along an axis, or the arrow keys on either end of a brush. Lines are dimmed at
// once, here; the page hears of it when the drag has ended, or a moment after the last key.

const GRIP = 7
const REST = 250

function setBrush(chart, axis, brush) {
  if (!brush || isOpen(axis, brush)) delete chart.keep[axis.name]
  else chart.keep[axis.name] = brush
  mark(chart)
}

function send(chart) {
  clearTimeout(chart.timer)
  const said = JSON.stringify(chart.keep)
  if (said === chart.sent) return
  chart.sent = said
  chart.sentAt = performance.now()
  chart.brushed(said)
}

function sendSoon(chart) {
  clearTimeout(chart.timer)
  chart.timer = setTimeout(() => send(chart), REST)
}

// What a press on an axis begins: a new brush, or one that is moved or drawn out at an end.
function beginBrush(chart, axis, event) {
  const scale = chart.scales[axis.name]
  const at = inside(scale, yOf(chart, event))
  const drag = { kind: 'brush', axis, scale, from: at, moved: false, was: chart.keep[axis.name] }
  if (drag.was) {
    const [upper, lower] = brushEnds(axis, scale, drag.was)
    if (Math.abs(at - upper) <= GRIP) drag.from = lower
    else if (Math.abs(at - lower) <= GRIP) drag.from = upper
    else if (at > upper && at < lower) Object.assign(drag, { grip: at, upper, lower })
  }
  chart.drag = drag
}

function dragBrush(chart, event) {
  const { axis, scale, from, grip, upper, lower } = chart.drag
  const at = inside(scale, yOf(chart, event))
  if (Math.abs(at - (grip ?? from)) > 2) chart.drag.moved = true
  if (!chart.drag.moved) return
  let ends = [Math.min(at, from), Math.max(at, from)]
  if (grip !== undefined) {
    const by = Math.min(scale.bottom - lower, Math.max(scale.top - upper, at - grip))
    ends = [upper + by, lower + by]
  }
  setBrush(chart, axis, brushFrom(axis, scale, ...ends))
}

// A press that did not move takes the brush away.
function endBrush(chart) {
  const { axis, moved } = chart.drag
  if (!moved) setBrush(chart, axis, null)
  send(chart)
}

function inside(scale, y) {
  return Math.min(scale.bottom, Math.max(scale.top, y))
}

function yOf(chart, event) {
  return event.clientY - chart.svg.getBoundingClientRect().top
}

// The values an end can stand at, from the bottom up.
function steps(axis) {
  if (axis.kind === 'category') return axis.categories.map((_, place) => place)
  return [...new Set(axis.values.filter((value) => value !== null))].sort((a, b) => a - b)
}

// Both ends of an axis's brush as places among its steps; without a brush the whole axis.
function placesOf(axis, brush) {
  const all = steps(axis)
  if (!brush) return [0, all.length - 1]
  if (axis.kind === 'category') {
    const places = brush.map((word) => axis.categories.indexOf(word)).filter((place) => place >= 0)
    return [Math.min(...places), Math.max(...places)]
  }
  const low = brush[0] === null ? 0 : all.findIndex((value) => value >= brush[0])
  const high = brush[1] === null ? all.length - 1 : all.findLastIndex((value) => value <= brush[1])
  return [low < 0 ? all.length - 1 : low, Math.max(high, 0)]
}

function fromPlaces(axis, [low, high]) {
  const all = steps(axis)
  if (axis.kind === 'category') return axis.categories.slice(low, high + 1)
  return [low <= 0 ? null : all[low], high >= all.length - 1 ? null : all[high]]
}

// The keys on an end: arrows to the next value, Home and End to the axis's own, Delete clears.
function keyOnEnd(chart, axis, end, event) {
  const ends = placesOf(axis, chart.keep[axis.name])
  const last = steps(axis).length - 1
  const moves = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, PageUp: 5, PageDown: -5,
    Home: -Infinity, End: Infinity }
  if (event.key === 'Delete' || event.key === 'Backspace' || event.key === 'Escape') {
    setBrush(chart, axis, null)
  } else if (event.key in moves) {
    const wanted = Math.min(last, Math.max(0, ends[end] + moves[event.key]))
    ends[end] = end ? Math.max(wanted, ends[0]) : Math.min(wanted, ends[1])
    setBrush(chart, axis, fromPlaces(axis, ends))
  } else {
    return
  }
  event.preventDefault()
  sendSoon(chart)
}
