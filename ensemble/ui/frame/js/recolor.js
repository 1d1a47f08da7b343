// A figure's colours for another ground: those of the page as the other theme has them, mixtures
// with the ground mixed anew, members' and other fixed hues as they are.
const colorParts = (text) => {
  let found = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(text)
  if (found) return found.slice(1).map((part) => parseInt(part, 16))
  found = /^rgb\(\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*\)$/.exec(text)
  return found && found.slice(1).map(Number)
}
const colorText = (parts) => `rgb(${parts.map(Math.round).join(', ')})`
const colorMix = (below, above, share) => below.map((low, i) => low + (above[i] - low) * share)

// Black or white, whichever reads better (WCAG 2.2), as `figures.palette.on` has it.
function colorOn(parts) {
  const linear = parts.map((part) => (part /= 255) <= 0.04045 ? part / 12.92
    : ((part + 0.055) / 1.055) ** 2.4)
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] > 0.179 ? '#000000' : '#FFFFFF'
}

// Takes a colour of one palette to that of another; `hues` are those that are mixed with a ground.
function colorSwap(from, to, hues) {
  const exact = new Map(Object.keys(from).filter((name) => colorParts(from[name]))
    .map((name) => [colorParts(from[name]).join(), to[name]]))
  const ground = colorParts(from.ground), other = colorParts(to.ground)
  const fixed = new Set(hues.map((hue) => colorParts(hue).join()))
  return (text) => {
    const parts = colorParts(text)
    if (!parts || fixed.has(parts.join())) return text
    if (exact.has(parts.join())) return exact.get(parts.join())
    for (const hue of hues.map(colorParts)) {
      const way = hue.map((one, i) => one - ground[i])
      const share = way.reduce((sum, one, i) => sum + one * (parts[i] - ground[i]), 0)
        / way.reduce((sum, one) => sum + one * one, 0)
      const off = Math.max(...colorMix(ground, hue, share).map((one, i) => Math.abs(one - parts[i])))
      if (share > 0.02 && share < 1 && off < 1.5) return colorText(colorMix(other, hue, share))
    }
    return text
  }
}

// A copy of `value` in which every colour is swapped; what holds numbers is shared, not copied.
function recolored(value, swap) {
  if (typeof value === 'string') return swap(value)
  if (Array.isArray(value)) {
    const numbers = value.every((one) => typeof one === 'number')  // a step of a scale is [0, '#…']
    return numbers ? value : value.map((one) => recolored(one, swap))
  }
  if (!value || typeof value !== 'object' || ArrayBuffer.isView(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, recolored(one, swap)]))
}

// As `recolored`, of a trace: figures within its marks stay legible.
function recoloredTrace(trace, swap) {
  const made = recolored(trace, swap)
  const inks = made.textfont?.color, fills = made.marker?.color
  if (Array.isArray(inks) && Array.isArray(fills)) {
    made.textfont.color = inks.map((ink, i) => {
      const parts = colorParts(fills[i])
      return parts && /^#(000000|ffffff)$/i.test(ink) ? colorOn(parts) : ink
    })
  }
  return made
}
