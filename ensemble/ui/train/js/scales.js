// Axes: from values to a straight line and back, with ticks that people can read.

// `to` puts a value on the axis, `from` takes it back. "nines" spreads accuracies by the
// share of errors that is left, on a log axis: 90 %, 99 % and 99.9 % stand equally far apart.
// "share" is a log axis of shares, which may be zero.
const AXES = {
  linear: { to: (value) => value, from: (place) => place },
  log: { to: (value) => (value > 0 ? Math.log10(value) : NaN), from: (place) => 10 ** place },
  share: { to: (value, floor) => Math.log10(Math.max(value, floor)), from: (place) => 10 ** place },
  nines: {
    to: (value, floor) => -Math.log10(Math.max(1 - value, floor)),
    from: (place) => 1 - 10 ** -place,
  },
}

// Places and labels of the ticks of a y axis over [low, high], both as places on the axis.
// A log axis over less than a decade has even steps, which is what eyes expect there.
function yTicks(panel, low, high) {
  const { to, from } = AXES[panel.scale]
  let values = linearTicks(from(low), from(high), 5)
  if (panel.scale !== 'linear' && high - low > 0.9) {
    values = panel.scale === 'nines'
      ? decadeTicks(-high, -low).map((place) => from(-place))
      : decadeTicks(low, high).map(from)
  }
  const steps = values.map((value, i) => Math.abs(value - values[i ? i - 1 : 1] || 1))
  return values.map((value, i) => ({
    place: to(value, panel.floor), label: tickLabel(panel, value, steps[i]),
  }))
}

function tickLabel(panel, value, step) {
  if (!panel.percent) return shortNumber(value)
  const decimals = Math.min(3, Math.max(0, Math.ceil(-Math.log10(step * 100) - 1e-6)))
  const said = (100 * value).toFixed(decimals)
  return (panel.scale === 'linear' ? said : String(Number(said))) + ' %'
}

// The value in full, for the tooltip.
function spoken(panel, value) {
  return panel.percent
    ? (100 * value).toFixed(panel.decimals) + ' %'
    : shortNumber(value)
}

// [low, high] on the axis around the places, widened to the next tick: an axis that only
// moves when a value passes a tick does not jump with every update.
function roundDomain(panel, low, high) {
  if (!Number.isFinite(low)) return ['log', 'share'].includes(panel.scale) ? [-2, 0] : [0, 1]
  const top = panel.percent && panel.scale === 'linear' ? 1 : Infinity
  const step = panel.scale === 'linear' ? niceStep((high - low || 0.1) / 5) : 0.25
  const from = Math.floor(low / step + 1e-9) * step
  const to = Math.max(Math.ceil(high / step - 1e-9) * step, from + step)
  return [from, Math.min(to, top)]
}
