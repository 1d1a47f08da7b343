// Ticks that people can read: pure functions of numbers.

function niceStep(rough) {
  const decade = 10 ** Math.floor(Math.log10(rough))
  return decade * [1, 2, 5, 10].find((step) => step * decade >= rough * 0.999)
}

function linearTicks(low, high, about) {
  const step = niceStep((high - low || 1) / about)
  const ticks = []
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) {
    ticks.push(Number((i * step).toPrecision(12)))
  }
  return ticks
}

// Ticks of a log axis from `low` to `high` (powers of ten): 1 2 5 10, or decades alone; of more
// than eight decades every second, fifth or tenth, so that no label stands on another.
function decadeTicks(low, high) {
  const leads = high - low > 3 ? [1] : [1, 2, 5]
  const every = high - low > 8 ? niceStep((high - low) / 8) : 1
  const ticks = []
  for (let decade = every * Math.floor(low / every); decade <= Math.ceil(high); decade += every) {
    for (const lead of leads) {
      const place = decade + Math.log10(lead)
      if (place >= low - 1e-9 && place <= high + 1e-9) ticks.push(place)
    }
  }
  return ticks
}

// A few significant figures in at most six signs or so: "0.05", "12000", "2.5e10", "1e-5".
function shortNumber(value, figures = 3) {
  const size = Math.abs(value)
  if (size === 0 || (size >= 1e-4 && size < 1e5)) return Number(value.toPrecision(figures)).toString()
  return Number(value.toPrecision(3)).toExponential().replace('e+', 'e')
}
