// The chart: panels over one x axis, a legend that hides curves, zoom by dragging; where several
// pictures share a place, a switch. What a person zoomed, hid and switched is kept here and in the
// tab's sessionStorage, out of reach of updates and reruns.

const charts = new WeakMap()

// The members' training curves are not shown until they are asked for: they cross all others.
function remembered(run) {
  const kept = readFromTab('curves ' + run)
  return { x: kept.x ?? null, y: kept.y ?? {}, hidden: new Set(kept.hidden ?? ['training']),
    shown: new Set(kept.shown ?? []), lit: null }
}

function remember({ data, state }) {
  const kept = { x: state.x, y: state.y, hidden: [...state.hidden], shown: [...state.shown] }
  writeToTab('curves ' + data.run, kept)
}

// The picture that stands in a place: the one that was switched to, else the first.
function panelAt(chart, place) {
  const choices = chart.data.places[place]
  return choices.find((panel) => chart.state.shown.has(panel.name)) ?? choices[0]
}

function redraw(chart) {
  chart.views.forEach((view, i) => drawPanel(view, panelAt(chart, i), chart.data, chart.state))
  const zoomed = chart.state.x !== null || Object.keys(chart.state.y).length > 0
  chart.reset.hidden = !zoomed
  chart.root.dataset.run = chart.data.run
  chart.root.dataset.zoomed = zoomed
  chart.root.dataset.points = chart.data.places[0][0].lines.reduce((sum, l) => sum + l.x.length, 0)
}

function resetZoom(chart) {
  chart.state.x = null
  chart.state.y = {}
  remember(chart)
  redraw(chart)
}

function make(root, data) {
  const chart = { root, data, state: remembered(data.run) }
  root.innerHTML = '<div class="bar"><div class="legend"></div><div class="tools"></div></div>' +
    '<div class="panels"></div><div class="disputed"></div><div class="tip" hidden></div>'
  const tools = root.querySelector('.tools')
  chart.reset = button(tools, 'Reset zoom', 'Drag over a chart to zoom; double-click resets.',
    () => resetZoom(chart))
  addSaveTools(tools, {
    draw: (size, look) => picture(chart, size, look),
    about: () => ({ name: chart.data.run, title: chart.data.title, text: chart.data.about }),
    values: () => valuesOf(chart),
    valuesHelp: 'Save the curves shown as CSV',
  })
  chart.tip = root.querySelector('.tip')
  chart.views = data.places.map((_, i) => makePanel(root.querySelector('.panels'), i))
  chart.views.forEach((view, i) => listen(chart, view, i))
  chart.watcher = new ResizeObserver(() => {
    redraw(chart)
    fitDisputed(chart)
  })
  chart.watcher.observe(root)
  return chart
}

// Buttons in the place of the title, one a picture that may stand there; pressed means shown.
function drawSwitch(chart, place) {
  const choices = chart.data.places[place]
  const { bar } = chart.views[place]
  if (choices.length < 2) return
  if (bar.children.length !== choices.length) {
    bar.replaceChildren()
    for (const { name, title } of choices) {
      button(bar, title, `Show: ${title}`, () => {
        for (const other of choices) chart.state.shown.delete(other.name)
        chart.state.shown.add(name)
        remember(chart)
        drawSwitch(chart, place)
        redraw(chart)
      })
    }
  }
  const shown = panelAt(chart, place)
  choices.forEach((panel, i) => bar.children[i].setAttribute('aria-pressed', panel === shown))
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
  sampleOf(node(made, 'svg', { width: sampleWidth(item), height: 12, 'aria-hidden': true }), item, 0, 6)
  made.append(item.label)
  made.onpointerenter = () => light(chart, item.split ? null : { group: item.group })
  made.onpointerleave = () => light(chart, null)
}

const BAR = 4 // pixels of one colour of the bar, where members are coloured by a value

function sampleWidth(item) {
  return item.ramp ? BAR * item.ramp.length : 20
}

// A curve's sample; of all curves of a split, three lines under each other: it is no curve itself.
function sampleOf(parent, item, x, y) {
  item.ramp?.forEach((fill, i) => node(parent, 'rect', { x: x + BAR * i, y: y - 5, width: BAR, height: 10, fill }))
  if (item.ramp) return
  for (const shift of item.split ? [-4, 0, 4] : [0]) {
    node(parent, 'line', { x1: x, x2: x + 20, y1: y + shift, y2: y + shift,
      stroke: item.color ?? 'currentColor', 'stroke-width': item.split ? 1.2 : Math.max(item.width, 1.5),
      'stroke-dasharray': DASHES[item.dashes ?? ''], 'stroke-linecap': item.dashes === 'dotted' ? 'round' : 'butt' })
  }
}

function light(chart, what) {
  const was = chart.state.lit
  if (was?.who === what?.who && was?.group === what?.group) return
  chart.state.lit = what
  redraw(chart)
}

export default function ({ data: { chart: words }, parentElement, setTriggerValue }) {
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
  const scales = new Map(before.places.flat().map((panel) => [panel.name, panel.scale]))
  for (const { name, scale } of data.places.flat()) {
    if (scales.get(name) !== scale) delete chart.state.y[name]
  }
  chart.open = (pressed) => setTriggerValue('opened', pressed)
  drawLegend(chart)
  data.places.forEach((_, place) => drawSwitch(chart, place))
  drawDisputed(chart)
  redraw(chart)
  return () => {
    chart.watcher.disconnect()
    charts.delete(root)
  }
}
