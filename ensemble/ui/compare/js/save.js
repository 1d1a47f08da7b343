// The picture as a file, and its values as a table.
const HEAD = 28  // pixels for what stands over a picture that has no size of its own

// Drawn anew: a file has no style sheet, so what the page's says is written on every part, and what
// only a person at the page needs is left out.
function picture(chart, size, look) {
  const style = getComputedStyle(chart.root)
  const ground = look?.ground ?? (style.getPropertyValue('--st-background-color').trim() || '#ffffff')
  const ink = look?.ink ?? style.color
  const head = size ? 0 : HEAD
  const out = document.createElementNS(SVG, 'svg')
  const sheet = node(out, 'rect', { fill: ground })
  if (!size) node(out, 'text', { x: 12, y: 19, 'font-size': 13, fill: ink }, chart.data.caption)
  const body = node(out, 'g', { transform: `translate(0 ${head})`, fill: ink, color: ink })
  const drawn = { ...chart }
  drawInto(drawn, body, { room: size?.width ?? chart.width, height: size?.height ?? HEIGHT,
    least: size ? LEAST_SAVED : LEAST })
  markLines(drawn)
  const each = (parts, act) => body.querySelectorAll(parts).forEach(act)
  each('.over, .end, .log, title, [stroke="transparent"], [visibility="hidden"]', (one) => one.remove())
  each('.seen', (one) => one.setAttribute('stroke-opacity', one.closest('.dim') ? 0.09 : 0.75))
  each('.rule', (one) => one.setAttribute('stroke', ink))
  each('.none', (one) => setAttributes(one, { fill: 'none', stroke: ink }))
  each('.label', (one) => one.setAttribute('font-weight', 600))
  each('.brush', (one) => one.setAttribute('fill-opacity', 0.2))
  const { width } = drawn
  const height = drawn.height + head
  setAttributes(sheet, { width, height })
  setAttributes(out, { xmlns: SVG, width, height, viewBox: `0 0 ${width} ${height}`,
    'font-family': size ? 'Helvetica, Arial, sans-serif' : 'sans-serif' })
  return { width, height, svg: out }
}

// A row a run: what it has on every axis, and whether the brushes leave it.
function valuesOf(chart) {
  const axes = ordered(chart)
  const rows = chart.data.runs.map((run, place) => {
    const values = axes.map((axis) => (axis.kind === 'category' && axis.values[place] !== null
      ? axis.categories[axis.values[place]] : axis.values[place]))
    return [run.id, ...values, staysAll(chart, place)]
  })
  const heading = ['run', ...axes.map((axis) => axis.name), 'brushed']
  return { name: `${chart.data.file}.csv`, rows: [heading, ...rows] }
}
