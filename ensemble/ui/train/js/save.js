// The picture as a file: the panels, the legend and what it shows, on the page's ground.

// The panels drawn anew beside the page, each so wide: what is saved is laid out for its size.
function panelsOf(chart, width) {
  const box = document.createElement('div')
  box.style.cssText = 'position: absolute; left: 0; top: 0; visibility: hidden'
  chart.root.append(box)
  const views = chart.data.places.map((_, place) => {
    const view = makePanel(box, `saved-${place}`)
    view.box.style.cssText = `width: ${width}px; height: 310px`
    drawPanel(view, panelAt(chart, place), chart.data, { ...chart.state, lit: null })
    return view
  })
  box.remove()
  return views
}

// As the panels stand on the page, or so many pixels wide: as many in a row then as fit.
function picture(chart, size, look) {
  const { data, root } = chart
  const style = getComputedStyle(root)
  const gap = 16
  const columns = size ? Math.max(1, Math.floor((size.width - gap) / 336)) : chart.views.length
  const views = size ? panelsOf(chart, (size.width - gap) / columns - gap) : chart.views
  const width = size?.width ?? views.reduce((sum, view) => sum + view.frame.width + gap, gap)
  const out = document.createElementNS(SVG, 'svg')
  const ground = look?.ground ?? (style.getPropertyValue('--st-background-color').trim() || '#ffffff')
  const sheet = node(out, 'rect', { width, fill: ground })
  const ink = look?.ink ?? style.color
  const body = node(out, 'g', { fill: ink, color: ink })
  if (!size) node(body, 'text', { x: gap, y: 24, 'font-size': 13 }, data.caption)
  let top = legendRows(body, chart, size ? 20 : 44, width) + 10
  let left = gap, low = top
  views.forEach((view, place) => {
    if (place && place % columns === 0) [left, top] = [gap, low + gap]
    const copy = view.svg.cloneNode(true)
    copy.querySelectorAll('.brush, circle').forEach((extra) => extra.remove())
    copy.querySelectorAll('text').forEach((words) => words.setAttribute('font-size', 12))
    copy.querySelector('.title').setAttribute('font-weight', 600)
    copy.querySelector('.title').setAttribute('visibility', 'visible')
    copy.setAttribute('x', left)
    copy.setAttribute('y', top)
    body.append(copy)
    left += view.frame.width + gap
    low = Math.max(low, top + view.frame.height)
  })
  const height = low + gap
  sheet.setAttribute('height', height)
  setAttributes(out, { xmlns: SVG, width, height, viewBox: `0 0 ${width} ${height}`,
    'font-family': size ? 'Helvetica, Arial, sans-serif' : 'sans-serif' })
  return { width, height, svg: out }
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

// Every point of the curves shown, a row each.
function valuesOf(chart) {
  const rows = [['figure', 'curve', 'split', chart.data.x.column ?? 'epochs', 'value']]
  for (const panel of chart.data.places.flat()) {
    for (const line of shownLines(panel, chart.state)) {
      line.x.forEach((x, i) => rows.push([panel.name, line.who, line.split, x, line.y[i]]))
    }
  }
  return { name: `${chart.data.run}-curves.csv`, rows }
}
