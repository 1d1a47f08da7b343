// The picture as a file: the panels, the legend and what it shows, on the page's ground.

function hand(name, blob) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10000)
}

function picture(chart) {
  const { data, state, views, root } = chart
  const style = getComputedStyle(root)
  const gap = 16
  const width = views.reduce((sum, view) => sum + view.frame.width + gap, gap)
  const out = document.createElementNS(SVG, 'svg')
  const ground = style.getPropertyValue('--st-background-color').trim() || '#ffffff'
  const sheet = node(out, 'rect', { width, fill: ground })
  const body = node(out, 'g', { fill: style.color, color: style.color })
  node(body, 'text', { x: gap, y: 24, 'font-size': 13 }, data.caption)
  const top = legendRows(body, chart, 44, width) + 10
  let left = gap
  for (const view of views) {
    const copy = view.svg.cloneNode(true)
    copy.querySelectorAll('.brush, circle').forEach((extra) => extra.remove())
    copy.querySelectorAll('text').forEach((words) => words.setAttribute('font-size', 12))
    copy.querySelector('.title').setAttribute('font-weight', 600)
    copy.querySelector('.title').setAttribute('visibility', 'visible')
    copy.setAttribute('x', left)
    copy.setAttribute('y', top)
    body.append(copy)
    left += view.frame.width + gap
  }
  const height = top + Math.max(...views.map((view) => view.frame.height)) + gap
  sheet.setAttribute('height', height)
  for (const [key, value] of Object.entries({ xmlns: SVG, width, height,
    viewBox: `0 0 ${width} ${height}`, 'font-family': 'sans-serif' })) out.setAttribute(key, value)
  return { width, height, source: new XMLSerializer().serializeToString(out), hidden: state.hidden }
}

// Draws the legend from `y` down, broken into rows; returns where it ends.
function legendRows(body, chart, y, width) {
  let x = 16
  for (const item of chart.data.legend) {
    if (chart.state.hidden.has(item.group)) continue
    const room = 24 + sampleWidth(item) + item.label.length * 6.6
    if (x + room > width) {
      x = 16
      y += 18
    }
    sampleOf(body, item, x, y - 4)
    node(body, 'text', { x: x + 8 + sampleWidth(item), y, 'font-size': 12 }, item.label)
    x += room
  }
  return y
}

function saveSvg(chart) {
  hand(`${chart.data.run}.svg`, new Blob([picture(chart).source], { type: 'image/svg+xml' }))
}

function savePng(chart) {
  const { width, height, source } = picture(chart)
  const image = new Image()
  image.onload = () => {
    const canvas = document.createElement('canvas')
    canvas.width = 2 * width
    canvas.height = 2 * height
    canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height)
    canvas.toBlob((blob) => hand(`${chart.data.run}.png`, blob), 'image/png')
  }
  image.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(source)
}

function saveCsv(chart) {
  const rows = [`figure,curve,split,${chart.data.x.column ?? 'epochs'},value`]
  for (const panel of chart.data.places.flat()) {
    for (const line of shownLines(panel, chart.state)) {
      line.x.forEach((x, i) => rows.push([panel.name, line.who, line.split, x, line.y[i] ?? ''].join(',')))
    }
  }
  hand(`${chart.data.run}-curves.csv`, new Blob([rows.join('\n') + '\n'], { type: 'text/csv' }))
}
