// One panel: a figure over the epochs. Nodes are kept from one update to the next and only
// their attributes change, so nothing flickers and a pointer never loses what it is over.

const DASHES = { '': 'none', dashed: '5 3', dotted: '0.1 5', 'dash-dotted': '7 2 1.5 2' }
const MARGIN = { left: 52, right: 82, top: 44, bottom: 38 }

// The child of `parent` that belongs to `key`, made when it is not there yet.
function keyed(parent, name, key) {
  let found = parent.querySelector(`[data-key="${CSS.escape(key)}"]`)
  if (!found) found = node(parent, name, { 'data-key': key })
  found.kept = true
  return found
}

function sweep(parent) {
  for (const child of [...parent.children]) {
    if (child.kept) child.kept = false
    else child.remove()
  }
}

function makePanel(parent, index) {
  const box = document.createElement('div')
  box.className = 'panel'
  parent.append(box)
  const svg = node(box, 'svg', { role: 'img' })
  const clip = node(node(svg, 'clipPath', { id: `clip-${index}` }), 'rect', {})
  const bar = document.createElement('div')
  bar.className = 'switch'
  bar.role = 'group'
  box.append(bar)
  const title = node(svg, 'text', { x: 2, y: 15, class: 'title' })
  const axis = node(svg, 'text', { x: 2, y: 33, class: 'axis', 'fill-opacity': 0.75 })
  const grid = node(svg, 'g', {})
  const band = node(svg, 'polygon', { 'clip-path': `url(#clip-${index})`, 'fill-opacity': 0.25 })
  const lines = node(svg, 'g', { 'clip-path': `url(#clip-${index})`, fill: 'none' })
  const ends = node(svg, 'g', { class: 'ends' })
  const note = node(svg, 'g', { class: 'note' })
  const brush = node(svg, 'rect', { class: 'brush', visibility: 'hidden' })
  const dot = node(svg, 'circle', { r: 4, visibility: 'hidden' })
  return { box, svg, clip, bar, title, axis, grid, band, lines, ends, note, brush, dot }
}

// Where things stand: the drawing area and both axes, as functions from values to pixels.
function layOut(view, panel, data, state) {
  const width = view.box.clientWidth
  const height = view.box.clientHeight
  const area = {
    left: MARGIN.left, top: MARGIN.top,
    width: Math.max(10, width - MARGIN.left - MARGIN.right),
    height: Math.max(10, height - MARGIN.top - MARGIN.bottom),
  }
  const [left, right] = state.x ?? [0, data.x.max]
  const axis = AXES[panel.scale]
  const place = (value) => axis.to(value, panel.floor)
  const [low, high] = state.y[panel.name] ?? yDomain(panel, state, left, right, place)
  return {
    width, height, area, left, right, low, high, place,
    x: (value) => area.left + ((value - left) / (right - left)) * area.width,
    y: (value) => area.top + (1 - (place(value) - low) / (high - low)) * area.height,
    xBack: (pixel) => left + ((pixel - area.left) / area.width) * (right - left),
    yBack: (pixel) => low + (1 - (pixel - area.top) / area.height) * (high - low),
  }
}

function yDomain(panel, state, left, right, place) {
  let low = Infinity
  let high = -Infinity
  for (const line of shownLines(panel, state)) {
    line.y.forEach((value, i) => {
      if (value === null || line.x[i] < left || line.x[i] > right || value > (panel.most ?? Infinity)) return
      const at = place(value)
      if (Number.isNaN(at)) return
      low = Math.min(low, at)
      high = Math.max(high, at)
    })
  }
  return roundDomain(panel, low, high)
}

function shownLines(panel, state) {
  const { hidden } = state
  return panel.lines.filter((l) => !hidden.has(l.group) && !hidden.has(l.split) && !hidden.has(l.also))
}

function drawPanel(view, panel, data, state) {
  const frame = layOut(view, panel, data, state)
  view.frame = frame
  const { area } = frame
  view.svg.setAttribute('width', frame.width)
  view.svg.setAttribute('height', frame.height)
  view.svg.setAttribute('aria-label', panel.alt)
  if (view.title.textContent !== panel.title) view.title.textContent = panel.title
  view.title.setAttribute('visibility', view.bar.children.length ? 'hidden' : 'visible')
  if (view.axis.textContent !== panel.axis) view.axis.textContent = panel.axis
  setAttributes(view.clip, { x: area.left, y: area.top - 3, width: area.width, height: area.height + 6 })
  if (!panel.note) drawGrid(view.grid, panel, data, frame)
  sweep(view.grid)
  drawBand(view.band, panel, data, state, frame)
  for (const line of shownLines(panel, state)) drawLine(view.lines, line, data, state, frame)
  sweep(view.lines)
  drawEnds(view.ends, panel, data, state, frame)
  drawNote(view.note, panel.note, frame)
}

// A sentence in the place of a picture, broken into lines that fit.
function drawNote(group, note, { width, height }) {
  const most = Math.floor((width - 24) / 6.6)
  const rows = ['']
  for (const word of (note ?? '').split(' ')) {
    if (rows.at(-1).length + word.length > most) rows.push('')
    rows.push(`${rows.pop()} ${word}`.trim())
  }
  rows.forEach((row, i) => {
    if (row) text(group, 'row' + i, width / 2, height / 2 + 17 * (i - rows.length / 2), 'middle', row)
  })
  sweep(group)
}

function drawGrid(group, panel, data, frame) {
  const { area } = frame
  const bottom = area.top + area.height
  for (const { place, label } of yTicks(panel, frame.low, frame.high)) {
    const y = area.top + (1 - (place - frame.low) / (frame.high - frame.low)) * area.height
    rule(group, 'y' + label, area.left, area.left + area.width, y, y)
    text(group, 'ty' + label, area.left - 7, y + 4, 'end', label)
  }
  const about = Math.max(2, Math.min(10, area.width / 55))
  const ticks = linearTicks(frame.left, frame.right, about)
  // Epochs are counted: between two of them there is a tick only where no two are in sight.
  const whole = ticks.filter(Number.isInteger)
  for (const tick of whole.length > 1 ? whole : ticks) {
    const x = frame.x(tick)
    rule(group, 'x' + tick, x, x, bottom, bottom + 4)
    text(group, 'tx' + tick, x, bottom + 16, 'middle', String(tick))
  }
  text(group, 'label', area.left + area.width / 2, bottom + 32, 'middle', data.x.label)
}

function rule(group, key, x1, x2, y1, y2) {
  setAttributes(keyed(group, 'line', key),
    { x1, x2, y1, y2, stroke: 'currentColor', 'stroke-opacity': 0.14 })
}

function text(group, key, x, y, anchor, words) {
  const label = keyed(group, 'text', key)
  setAttributes(label, { x, y, 'text-anchor': anchor })
  if (label.textContent !== words) label.textContent = words
}

function drawLine(group, line, data, state, frame) {
  const style = data.styles[line.who]
  const lit = state.lit && (state.lit.who ? state.lit.who === line.who : state.lit.group === line.group)
  const path = keyed(group, 'path', line.who + ' ' + line.split)
  const width = line.split === 'test' ? style.width : Math.max(1, style.width * 0.6)
  setAttributes(path, {
    d: pathOf(line, frame),
    stroke: lit && line.group === 'members' && !style.own ? 'var(--st-primary-color)' : style.color ?? 'currentColor',
    'stroke-width': width + (lit ? 1.5 : 0),
    'stroke-opacity': lit ? 1 : style.opacity * (state.lit ? 0.3 : 1) * (line.split === 'train' ? 0.75 : 1),
    'stroke-dasharray': DASHES[broken(line, data)],
    'stroke-linecap': broken(line, data) === 'dotted' ? 'round' : 'butt',
    'stroke-linejoin': 'round',
  })
}

// How a curve is broken: a split other than test has a way of its own, then the curve itself.
function broken(line, data) {
  return data.legend.find((item) => item.group === line.split)?.dashes || data.styles[line.who].dashes || ''
}

// The line, lifted where a value is missing; a value without neighbours is a small diamond.
function pathOf(line, frame) {
  let d = ''
  for (let i = 0; i < line.x.length; i++) {
    if (!there(line, i)) continue
    const at = `${frame.x(line.x[i]).toFixed(1)} ${frame.y(line.y[i]).toFixed(1)}`
    d += (there(line, i - 1) ? 'L' : 'M') + at
    if (!there(line, i - 1) && !there(line, i + 1)) d += 'm-2 0l2 -2l2 2l-2 2z'
  }
  return d
}

function there(line, i) {
  return i >= 0 && i < line.y.length && line.y[i] !== null
}
