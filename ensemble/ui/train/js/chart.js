// The chart: panels over one x axis, a legend that hides curves, zoom by dragging.
// What a person zoomed and hid is kept here and in the tab's sessionStorage, out of reach
// of updates and reruns.

const charts = new WeakMap()

function remembered(run) {
  try {
    const kept = JSON.parse(sessionStorage.getItem('curves ' + run)) ?? {}
    return { x: kept.x ?? null, y: kept.y ?? {}, hidden: new Set(kept.hidden ?? []), lit: null }
  } catch {
    return { x: null, y: {}, hidden: new Set(), lit: null }
  }
}

function remember({ data, state }) {
  const kept = { x: state.x, y: state.y, hidden: [...state.hidden] }
  sessionStorage.setItem('curves ' + data.run, JSON.stringify(kept))
}

function redraw(chart) {
  chart.views.forEach((view, i) => drawPanel(view, chart.data.panels[i], chart.data, chart.state))
  const zoomed = chart.state.x !== null || Object.keys(chart.state.y).length > 0
  chart.reset.disabled = !zoomed
  chart.root.dataset.run = chart.data.run
  chart.root.dataset.zoomed = zoomed
  chart.root.dataset.points = chart.data.panels[0].lines.reduce((sum, l) => sum + l.x.length, 0)
}

function resetZoom(chart) {
  chart.state.x = null
  chart.state.y = {}
  remember(chart)
  redraw(chart)
}

function button(parent, label, help, act) {
  const made = document.createElement('button')
  made.type = 'button'
  made.textContent = label
  made.title = help
  made.onclick = act
  parent.append(made)
  return made
}

function make(root, data) {
  const chart = { root, data, state: remembered(data.run) }
  root.innerHTML = '<div class="bar"><div class="legend"></div><div class="tools"></div></div>' +
    '<div class="panels"></div><div class="tip" hidden></div>'
  const tools = root.querySelector('.tools')
  chart.reset = button(tools, 'Reset zoom', 'Drag over a chart to zoom; double-click resets.',
    () => resetZoom(chart))
  button(tools, 'PNG', 'Save the picture as PNG', () => savePng(chart))
  button(tools, 'SVG', 'Save the picture as SVG', () => saveSvg(chart))
  button(tools, 'CSV', 'Save the curves shown as CSV', () => saveCsv(chart))
  chart.tip = root.querySelector('.tip')
  chart.views = data.panels.map((_, i) => makePanel(root.querySelector('.panels'), i))
  chart.views.forEach((view, i) => listen(chart, view, i))
  chart.watcher = new ResizeObserver(() => redraw(chart))
  chart.watcher.observe(root)
  return chart
}

// One button a group of curves; pressed means shown.
function drawLegend(chart) {
  const legend = chart.root.querySelector('.legend')
  const key = JSON.stringify(chart.data.legend)
  if (legend.dataset.drawn !== key) {
    legend.dataset.drawn = key
    legend.replaceChildren()
    for (const item of chart.data.legend) legendItem(chart, legend, item)
  }
  for (const made of legend.children) {
    made.setAttribute('aria-pressed', !chart.state.hidden.has(made.dataset.group))
  }
}

function legendItem(chart, legend, item) {
  const made = button(legend, '', `Show or hide: ${item.label}`, () => {
    const { hidden } = chart.state
    if (!hidden.delete(item.group)) hidden.add(item.group)
    remember(chart)
    drawLegend(chart)
    redraw(chart)
  })
  made.dataset.group = item.group
  const sample = node(made, 'svg', { width: 20, height: 8, 'aria-hidden': true })
  node(sample, 'line', { x1: 0, x2: 20, y1: 4, y2: 4, stroke: item.color ?? 'currentColor',
    'stroke-width': Math.max(item.width, 1.5), 'stroke-dasharray': item.dashed ? '5 3' : 'none' })
  made.append(item.label)
  made.onpointerenter = () => light(chart, item.split ? null : { group: item.group })
  made.onpointerleave = () => light(chart, null)
}

function light(chart, what) {
  const was = chart.state.lit
  if (was?.who === what?.who && was?.group === what?.group) return
  chart.state.lit = what
  redraw(chart)
}

export default function ({ data: { chart: words }, parentElement }) {
  const data = JSON.parse(words)
  const root = parentElement.querySelector('.curves')
  let chart = charts.get(root)
  if (!chart) {
    chart = make(root, data)
    charts.set(root, chart)
  }
  const before = chart.data
  chart.data = data
  if (before.run !== data.run) chart.state = remembered(data.run)
  // A zoom in y is in places on the axis: it means nothing on another one.
  data.panels.forEach((panel, i) => {
    if (before.panels[i].scale !== panel.scale) delete chart.state.y[panel.name]
  })
  drawLegend(chart)
  redraw(chart)
  return () => {
    chart.watcher.disconnect()
    charts.delete(root)
  }
}
