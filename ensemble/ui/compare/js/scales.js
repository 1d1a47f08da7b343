// Where a value stands on its axis, and back: pure functions of an axis and of the room it has.

const TOP = 64
const FOOT = 58
const MISSING = 24

// The numbers an axis is drawn over, on a line of its own: `to` puts a value there, `from` back.
function scaleOf(axis, log, height) {
  const top = TOP
  const bottom = height - FOOT
  if (axis.kind === 'category') return categories(axis, top, bottom)
  const to = log ? Math.log10 : (value) => value
  const from = log ? (place) => 10 ** place : (place) => place
  const known = axis.values.filter((value) => value !== null).map(to)
  let low = Math.min(...known)
  let high = Math.max(...known)
  if (!known.length) [low, high] = [0, 1]
  const alone = known.length && high === low
  if (high === low) [low, high] = log ? [low - 0.5, high + 0.5] : [low - (Math.abs(low) / 2 || 1), high + (Math.abs(high) / 2 || 1)]
  const room = bottom - top
  return {
    top, bottom,
    y: (value) => bottom - ((to(value) - low) / (high - low)) * room,
    value: (y) => from(low + ((bottom - y) / room) * (high - low)),
    ticks: (alone ? [from(known[0])] : numberTicks(low, high, log, from)).map((value) => ({ value, label: tickText(axis, value) })),
  }
}

function categories(axis, top, bottom) {
  const count = axis.categories.length
  const step = (bottom - top) / count
  const y = (place) => bottom - (place + 0.5) * step
  const every = Math.ceil(count / 12)
  return {
    top, bottom, y, step,
    value: (at) => (bottom - at) / step - 0.5,
    ticks: axis.categories.map((label, value) => ({ value, label }))
      .filter((tick) => tick.value % every === 0),
  }
}

// The fewest ticks that are three or more: fewer do not say what the axis counts in.
function numberTicks(low, high, log, from) {
  if (log && high - low > 0.9) {
    return decadeTicks(low, high).map((place) => Number((10 ** place).toPrecision(12)))
  }
  for (let about = 2; ; about++) {
    const ticks = linearTicks(from(low), from(high), about)
    if (ticks.length >= 3) return ticks
  }
}

function tickText(axis, value) {
  return axis.percent ? `${Number((100 * value).toPrecision(6))} %` : shortNumber(value, 4)
}

// What is brushed on an axis says which values stay: numbers by two ends, of which null is open;
// categories by their words. A run without a value does not.
function stays(axis, brush, place) {
  const value = axis.values[place]
  if (!brush) return true
  if (value === null) return false
  if (axis.kind === 'category') return brush.includes(axis.categories[value])
  return (brush[0] === null || value >= brush[0]) && (brush[1] === null || value <= brush[1])
}

function staysAll(chart, place) {
  return chart.data.axes.every((axis) => stays(axis, chart.keep[axis.name], place))
}

// The two ends of a brush in pixels from the top, the upper first.
function brushEnds(axis, scale, brush) {
  if (axis.kind === 'category') {
    const places = brush.map((word) => axis.categories.indexOf(word)).filter((place) => place >= 0)
    if (!places.length) return [scale.bottom, scale.bottom]
    return [scale.y(Math.max(...places)) - scale.step / 2, scale.y(Math.min(...places)) + scale.step / 2]
  }
  const [low, high] = brush
  const held = (y) => Math.min(scale.bottom, Math.max(scale.top, y))
  return [high === null ? scale.top : held(scale.y(high)), low === null ? scale.bottom : held(scale.y(low))]
}

// What two ends in pixels come to: numbers in four figures, an end of the axis left open.
function brushFrom(axis, scale, upper, lower) {
  if (axis.kind === 'category') {
    return axis.categories.filter((_, place) => scale.y(place) >= upper && scale.y(place) <= lower)
  }
  const rounded = (y) => Number(scale.value(y).toPrecision(4))
  return [lower >= scale.bottom - 1 ? null : rounded(lower), upper <= scale.top + 1 ? null : rounded(upper)]
}

function isOpen(axis, brush) {
  if (axis.kind === 'category') return !brush.length || brush.length === axis.categories.length
  return brush[0] === null && brush[1] === null
}
