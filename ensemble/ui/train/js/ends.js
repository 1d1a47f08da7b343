// What stands at the end of the curves: their names, and what lies between two of them.

const APART = 14 // pixels between two names, so that none hides another

// The last point of a line that the axes show: {x, y} in pixels, or null.
function endOf(line, frame) {
  for (let i = line.x.length - 1; i >= 0; i--) {
    if (!there(line, i) || line.x[i] > frame.right || line.x[i] < frame.left) continue
    return { x: frame.x(line.x[i]), y: frame.y(line.y[i]) }
  }
  return null
}

// One name a curve, at its test line where there is one; many members have one at their middle.
function endsOf(panel, data, state, frame) {
  const last = new Map()
  for (const line of shownLines(panel, state)) {
    const at = endOf(line, frame)
    const style = data.styles[line.who]
    // The curve that choices are made by has a name of its own, beside that on the test images.
    if (at && line.split === 'validation') {
      last.set('validation', { ...at, group: 'validation',
        style: { ...style, end: 'validation', width: 1.5, dashes: broken(line, data) } })
    } else if (at && style.end) last.set(line.who, { ...at, group: line.group, style })
  }
  const groups = new Map()
  for (const end of last.values()) {
    const name = end.style.apart ?? end.group // a few members with values of their own have one each
    groups.set(name, [...(groups.get(name) ?? []), end])
  }
  for (const [group, ends] of groups) {
    ends.sort((one, other) => one.y - other.y)
    groups.set(group, { ...ends[ends.length >> 1], words: ends[0].style.end })
  }
  const between = bandLines(panel, state)
  if (between) {
    const [upper, lower] = between.map((line) => endOf(line, frame))
    if (upper && lower) groups.set('band', { x: Math.max(upper.x, lower.x), y: (upper.y + lower.y) / 2,
      band: true, words: panel.band.label })
  }
  return groups
}

// Names apart from each other, in the order of their curves, within the picture.
function spread(ends, { area }) {
  const sorted = [...ends].sort((one, other) => one.y - other.y)
  let free = area.top
  for (const end of sorted) {
    end.at = Math.max(free, Math.min(area.top + area.height, end.y))
    free = end.at + APART
  }
  let floor = area.top + area.height
  for (const end of sorted.reverse()) {
    end.at = Math.min(end.at, floor)
    floor = end.at - APART
  }
}

function drawEnds(group, panel, data, state, frame) {
  const ends = endsOf(panel, data, state, frame)
  spread(ends.values(), frame)
  const x = Math.max(0, ...[...ends.values()].map((end) => end.x)) + 8
  for (const [key, { at, style, band, words }] of ends) {
    setAttributes(keyed(group, 'line', 'sample' + key), { x1: x, x2: x + 10, y1: at, y2: at,
      stroke: band ? data.colors.muted : style.color ?? 'currentColor',
      'stroke-width': band ? 9 : Math.max(2, style.width), 'stroke-opacity': band ? 0.4 : 1,
      'stroke-dasharray': DASHES[style?.dashes ?? ''],
      'stroke-linecap': style?.dashes === 'dotted' ? 'round' : 'butt',
    })
    text(group, 'name' + key, x + 14, at + 4, 'start', words)
  }
  sweep(group)
}

// The two lines of a band, the upper first; null where it has none or one of them is hidden.
function bandLines(panel, state) {
  if (!panel.band) return null
  const shown = shownLines(panel, state)
  const both = [panel.band.upper, panel.band.lower].map((who) => shown.find((l) => l.who === who))
  return both.every(Boolean) ? both : null
}

function drawBand(area, panel, data, state, frame) {
  const [upper, lower] = (bandLines(panel, state) ?? []).map((line) => line.x
    .map((x, i) => (there(line, i) ? `${frame.x(x).toFixed(1)},${frame.y(line.y[i]).toFixed(1)}` : ''))
    .filter(Boolean))
  area.setAttribute('fill', data.colors.muted)
  area.setAttribute('points', upper ? [...upper, ...lower.reverse()].join(' ') : '')
}
