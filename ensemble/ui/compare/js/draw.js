// The picture: an axis a setting or figure, a line a run. What a brush changes is marked on what
// stands, so that a drag over many runs does not draw anything anew.

const HEIGHT = 360
const LEAST = 92  // pixels from one axis to the next; in a picture of a size of its own fewer
const LEAST_SAVED = 64
const LETTERS = 14
const LETTER = 6.5  // pixels of a letter of a label

// The axes in the order that a person has put them in; new ones come last.
function ordered(chart) {
  const places = new Map(chart.state.order.map((name, place) => [name, place]))
  const place = (axis) => places.get(axis.name) ?? Infinity
  return [...chart.data.axes].sort((a, b) => (place(a) === place(b) ? 0 : place(a) - place(b)))
}

function isLog(chart, axis) {
  return axis.kind === 'number' && axis.may_log && (chart.state.log[axis.name] ?? axis.log)
}

// Room for the words beside the first axis.
function leftOf(axis) {
  const letters = Math.max(0, ...axis.categories.map((word) => Math.min(word.length, LETTERS)))
  return Math.max(56, 12 + 7 * letters)
}

function draw(chart) {
  const focused = chart.root.getRootNode().activeElement?.dataset?.focus
  chart.svg.replaceChildren()
  drawInto(chart, chart.svg, { room: chart.root.clientWidth || 600, height: HEIGHT, least: LEAST })
  const { width, height } = chart
  setAttributes(chart.svg, { width, height, viewBox: `0 0 ${width} ${height}` })
  mark(chart)
  if (focused) focusOn(chart, focused)
}

// Lines and axes, in so much room and `least` pixels from one axis to the next: where all stands is
// noted on the chart.
function drawInto(chart, parent, { room, height, least }) {
  const axes = ordered(chart)
  const [margin, right] = [leftOf(axes[0]), 56]
  const width = Math.max(room, margin + right + least * (axes.length - 1))
  const step = axes.length > 1 ? (width - margin - right) / (axes.length - 1) : 0
  const letters = step ? Math.min(LETTERS, Math.floor(step / LETTER)) : LETTERS
  Object.assign(chart, { width, height, step, margin, letters })
  chart.x = Object.fromEntries(axes.map((axis, i) => [axis.name, axes.length > 1 ? margin + i * step : width / 2]))
  chart.scales = Object.fromEntries(axes.map((axis) => [axis.name, scaleOf(axis, isLog(chart, axis), height)]))
  const lines = node(parent, 'g', { class: 'lines', fill: 'none' })
  chart.lines = chart.data.runs.map((run, place) => drawLine(chart, lines, axes, run, place))
  chart.ends = {}
  axes.forEach((axis) => drawAxis(chart, parent, axis))
}

function focusOn(chart, name) {
  chart.svg.querySelector(`[data-focus="${CSS.escape(name)}"]`)?.focus()
}

function pathOf(chart, axes, place) {
  return axes.map((axis, i) => {
    const value = axis.values[place]
    const scale = chart.scales[axis.name]
    const y = value === null ? chart.height - FOOT + MISSING : scale.y(value)
    return `${i ? 'L' : 'M'}${chart.x[axis.name].toFixed(1)} ${y.toFixed(1)}`
  }).join('')
}

function drawLine(chart, parent, axes, run, place) {
  const d = pathOf(chart, axes, place)
  const group = node(parent, 'g', { class: 'line' })
  node(group, 'path', { d, stroke: run.color, class: 'seen', 'stroke-width': 1.5 })
  const over = node(group, 'path', { d, stroke: 'transparent', 'stroke-width': 9 })
  over.onpointerenter = (event) => tell(chart, place, event)
  over.onpointermove = (event) => tell(chart, place, event)
  over.onpointerleave = () => tell(chart, null)
  return group
}

// A label in lines of a few letters, as axes stand close beside each other.
function wrapped(label, letters) {
  const lines = []
  for (const word of label.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + word.length < letters) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines.slice(0, 3)
}

function drawAxis(chart, parent, axis) {
  const scale = chart.scales[axis.name]
  const group = node(parent, 'g', { class: 'axis', transform: `translate(${chart.x[axis.name]} 0)` })
  drawLabel(chart, axis, group)
  node(group, 'line', { y1: scale.top, y2: scale.bottom, class: 'rule' })
  for (const tick of scale.ticks) {
    const y = scale.y(tick.value)
    node(group, 'line', { x1: -4, x2: 0, y1: y, y2: y, class: 'rule' })
    const words = tick.label.length > chart.letters ? `${tick.label.slice(0, chart.letters - 1)}…` : tick.label
    node(group, 'text', { x: -7, y: y + 4, 'text-anchor': 'end', 'font-size': 11, class: 'tick' }, words)
  }
  if (axis.values.includes(null)) {
    const y = chart.height - FOOT + MISSING
    node(group, 'circle', { cy: y, r: 2.5, class: 'none' })
    node(group, 'text', { x: -7, y: y + 4, 'text-anchor': 'end', 'font-size': 11, class: 'tick' }, 'none')
  }
  const brush = node(group, 'rect', { x: -8, width: 16, class: 'brush', visibility: 'hidden' })
  const over = node(group, 'rect', { x: -20, width: 40, y: scale.top - 8,
    height: scale.bottom - scale.top + 16, class: 'over', 'data-axis': axis.name })
  over.onpointerdown = (event) => press(chart, event, () => beginBrush(chart, axis, event))
  chart.ends[axis.name] = { brush, ends: [0, 1].map((end) => drawEnd(chart, axis, group, end)) }
  drawLog(chart, axis, group)
}

function drawLabel(chart, axis, group) {
  const lines = wrapped(axis.label, chart.letters)
  const text = node(group, 'text', { 'text-anchor': 'middle', 'font-size': 12, class: 'label',
    tabindex: 0, role: 'button', 'data-focus': `label ${axis.name}`,
    'aria-label': `${axis.label}: arrow keys move this axis to the left or right` })
  lines.forEach((line, i) => node(text, 'tspan', { x: 0, y: TOP - 18 - 15 * (lines.length - 1 - i) }, line))
  node(text, 'title', {}, 'Drag to move this axis')
  text.onpointerdown = (event) => press(chart, event, () => {
    chart.drag = { kind: 'axis', axis }
  })
  text.onkeydown = (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (!by) return
    event.preventDefault()
    moveAxis(chart, axis.name, ordered(chart).findIndex((one) => one.name === axis.name) + by)
  }
}

// One end of a brush, for the keyboard: 0 the lower, 1 the upper.
function drawEnd(chart, axis, group, end) {
  const made = node(group, 'rect', { x: -9, width: 18, height: 5, rx: 2, class: 'end', tabindex: 0,
    role: 'slider', 'aria-orientation': 'vertical', 'data-focus': `end ${end} ${axis.name}`,
    'aria-label': `${axis.label}, ${end ? 'to' : 'from'}` })
  made.onkeydown = (event) => keyOnEnd(chart, axis, end, event)
  made.onpointerdown = (event) => press(chart, event, () => beginBrush(chart, axis, event))
  return made
}

function drawLog(chart, axis, group) {
  if (axis.kind !== 'number' || !axis.may_log) return
  const on = isLog(chart, axis)
  const made = node(group, 'text', { y: chart.height - 8, 'text-anchor': 'middle', 'font-size': 11,
    class: 'log', tabindex: 0, role: 'button', 'aria-pressed': on, 'data-focus': `log ${axis.name}`,
    'aria-label': `${axis.label}: log axis` }, on ? 'log' : 'linear')
  const turn = () => {
    chart.state.log[axis.name] = !on
    remember(chart)
    draw(chart)
  }
  made.onclick = turn
  made.onkeydown = (event) => {
    if (event.key !== 'Enter' && event.key !== ' ') return
    event.preventDefault()
    turn()
  }
}

function moveAxis(chart, name, to) {
  const order = ordered(chart).map((axis) => axis.name)
  if (to < 0 || to >= order.length) return
  order.splice(order.indexOf(name), 1)
  order.splice(to, 0, name)
  chart.state.order = order
  remember(chart)
  draw(chart)
}

function moveTo(chart, event) {
  const x = event.clientX - chart.svg.getBoundingClientRect().left
  const to = Math.max(0, Math.min(chart.data.axes.length - 1, Math.round((x - chart.margin) / (chart.step || 1))))
  const { name } = chart.drag.axis
  if (ordered(chart)[to].name !== name) moveAxis(chart, name, to)
}

// What the brushes leave: lines dimmed or not, brushes and their ends; returns which runs stay.
function markLines(chart) {
  for (const axis of chart.data.axes) markBrush(chart, axis)
  return chart.lines.map((line, place) => {
    const stay = staysAll(chart, place)
    line.classList.toggle('dim', !stay)
    return stay
  })
}

// As `markLines`, and how many runs stay in words.
function mark(chart) {
  const kept = markLines(chart)
  const count = kept.filter(Boolean).length
  const runs = `${kept.length} ${kept.length === 1 ? 'run' : 'runs'}`
  const brushed = Object.keys(chart.keep).length > 0
  chart.said.textContent = brushed ? `${count} of ${runs} brushed` : runs
  chart.clear.disabled = !brushed
  chart.root.dataset.kept = count
}

function markBrush(chart, axis) {
  const scale = chart.scales[axis.name]
  const set = chart.keep[axis.name]
  const { brush, ends } = chart.ends[axis.name]
  const [upper, lower] = set ? brushEnds(axis, scale, set) : [scale.top, scale.bottom]
  brush.setAttribute('visibility', set ? 'visible' : 'hidden')
  brush.setAttribute('y', upper)
  brush.setAttribute('height', Math.max(2, lower - upper))
  const all = steps(axis)
  const places = placesOf(axis, set)
  for (const [end, y] of [[0, lower], [1, upper]]) {
    ends[end].setAttribute('y', y - 2.5)
    ends[end].classList.toggle('set', Boolean(set))
    const value = all[places[end]]
    const words = axis.kind === 'category' ? axis.categories[value] : value === undefined ? '' : tickText(axis, value)
    setAttributes(ends[end], { 'aria-valuemin': 0, 'aria-valuemax': all.length - 1,
      'aria-valuenow': places[end], 'aria-valuetext': words })
  }
}
