// The picture as a file, on the page's ground, and its values as a table.

function hand(chart, ending, blob) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = `${chart.data.file}.${ending}`
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10000)
}

// A file has no style sheet: what the page's says is written on every part.
function picture(chart) {
  const style = getComputedStyle(chart.root)
  const out = chart.svg.cloneNode(true)
  const ground = style.getPropertyValue('--st-background-color').trim() || '#ffffff'
  const ink = style.color
  out.querySelectorAll('.over, .end, .log').forEach((extra) => extra.remove())
  out.querySelectorAll('[stroke="transparent"], [visibility="hidden"]').forEach((extra) => extra.remove())
  out.querySelectorAll('.dim').forEach((line) => line.setAttribute('opacity', 0.1))
  out.querySelectorAll('.rule').forEach((rule) => rule.setAttribute('stroke', ink))
  out.querySelectorAll('.brush').forEach((brush) => {
    brush.setAttribute('fill', ink)
    brush.setAttribute('fill-opacity', 0.2)
  })
  const height = chart.height + 28
  for (const [key, value] of Object.entries({ xmlns: SVG, height, 'font-family': 'sans-serif', fill: ink,
    viewBox: `0 -28 ${chart.width} ${height}` })) out.setAttribute(key, value)
  const title = node(out, 'text', { x: 12, y: -9, 'font-size': 13 }, chart.data.caption)
  const sheet = node(out, 'rect', { y: -28, width: chart.width, height, fill: ground })
  out.prepend(sheet, title)
  return { width: chart.width, height, source: new XMLSerializer().serializeToString(out) }
}

function saveSvg(chart) {
  hand(chart, 'svg', new Blob([picture(chart).source], { type: 'image/svg+xml' }))
}

function savePng(chart) {
  const { width, height, source } = picture(chart)
  const image = new Image()
  image.onload = () => {
    const canvas = document.createElement('canvas')
    canvas.width = 2 * width
    canvas.height = 2 * height
    canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height)
    canvas.toBlob((blob) => hand(chart, 'png', blob), 'image/png')
  }
  image.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(source)
}

// A spreadsheet takes what begins with one of these for a formula.
function cell(value) {
  const text = String(value ?? '')
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

function saveCsv(chart) {
  const axes = ordered(chart)
  const rows = [['run', ...axes.map((axis) => axis.name), 'brushed'].map(cell).join(',')]
  chart.data.runs.forEach((run, place) => {
    const values = axes.map((axis) => (axis.kind === 'category' && axis.values[place] !== null
      ? axis.categories[axis.values[place]] : axis.values[place]))
    rows.push([run.id, ...values, staysAll(chart, place)].map(cell).join(','))
  })
  hand(chart, 'csv', new Blob([rows.join('\n') + '\n'], { type: 'text/csv' }))
}
