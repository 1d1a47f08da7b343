// What the pointer does over a panel: it names the nearest curve, and dragging zooms.

const NEAR = 28 // pixels within which a curve counts as meant
const SLIVER = 22 // a box lower or narrower than this leaves that axis as it is

// The measured point nearest to the pointer: {line, i, x, y} in pixels, or null.
function nearest(view, panel, state, px, py) {
  let best = null
  for (const line of shownLines(panel, state)) {
    const i = closest(line.x, view.frame.xBack(px))
    if (i < 0 || line.y[i] === null) continue
    const x = view.frame.x(line.x[i])
    const y = view.frame.y(line.y[i])
    const away = Math.abs(lineHeight(line, i, px, view.frame) - py) + Math.max(0, Math.abs(x - px) - 40)
    if (away < (best?.away ?? NEAR)) best = { line, i, x, y, away }
  }
  return best
}

// Where the line runs at pixel `px`, between its point `i` and the neighbour on that side.
function lineHeight(line, i, px, frame) {
  const x = frame.x(line.x[i])
  const y = frame.y(line.y[i])
  const j = px < x ? i - 1 : i + 1
  if (!(j in line.x) || line.y[j] === null) return y
  const share = (px - x) / (frame.x(line.x[j]) - x || 1)
  return y + share * (frame.y(line.y[j]) - y)
}

// Index of the value of the rising list `xs` closest to `x`; -1 when the list is empty.
function closest(xs, x) {
  let low = 0
  let high = xs.length - 1
  while (low < high) {
    const middle = (low + high) >> 1
    if (xs[middle] < x) low = middle + 1
    else high = middle
  }
  return low > 0 && x - xs[low - 1] < xs[low] - x ? low - 1 : xs.length ? low : -1
}

function point(chart, view, panel, event) {
  const box = view.svg.getBoundingClientRect()
  const hit = nearest(view, panel, chart.state, event.clientX - box.left, event.clientY - box.top)
  view.dot.setAttribute('visibility', hit ? 'visible' : 'hidden')
  chart.tip.hidden = !hit
  light(chart, hit ? { who: hit.line.who } : null)
  if (!hit) return
  view.dot.setAttribute('cx', hit.x)
  view.dot.setAttribute('cy', hit.y)
  view.dot.setAttribute('fill', chart.data.styles[hit.line.who].color ?? 'currentColor')
  tell(chart, panel, hit)
  const home = chart.root.getBoundingClientRect()
  const left = Math.min(box.left - home.left + hit.x + 12, home.width - chart.tip.offsetWidth - 4)
  chart.tip.style.left = `${Math.max(0, left)}px`
  chart.tip.style.top = `${box.top - home.top + hit.y - chart.tip.offsetHeight - 10}px`
}

// What the value is, in plain words; between two lines also how far they are apart.
function sayings(chart, panel, { line, i }) {
  const value = spoken(panel, line.y[i])
  const said = [line.says ? line.says.replace('{}', value) : `${line.split} ${panel.noun} ${value}`]
  const both = bandLines(panel, chart.state)
  const [upper, lower] = (both ?? []).map((one) => one.y[closest(one.x, line.x[i])])
  if (both && upper !== null && lower !== null) {
    said.push(`the ensemble is ${spoken(panel, upper - lower)} nats better than its mean member`)
  }
  return said
}

function tell(chart, panel, hit) {
  const { line, i } = hit
  const epochs = Number(line.x[i].toPrecision(3))
  const name = document.createElement('b')
  name.textContent = chart.data.styles[line.who].label
  const when = chart.data.x.when?.replace('{}', epochs) ??
    `after ${epochs} ${epochs === 1 ? 'epoch' : 'epochs'}`
  chart.tip.replaceChildren(name)
  for (const said of [...sayings(chart, panel, hit), when]) {
    chart.tip.append(document.createElement('br'), said)
  }
  tellOthers(chart, panel, hit)
}

function listen(chart, view, index) {
  let start = null
  const here = (event) => {
    const box = view.svg.getBoundingClientRect()
    const { area } = view.frame
    return [
      Math.min(Math.max(event.clientX - box.left, area.left), area.left + area.width),
      Math.min(Math.max(event.clientY - box.top, area.top), area.top + area.height),
    ]
  }
  const stop = () => {
    start = null
    view.brush.setAttribute('visibility', 'hidden')
  }
  view.svg.onpointerdown = (event) => {
    if (event.button !== 0) return
    start = here(event)
    view.svg.setPointerCapture(event.pointerId)
  }
  view.svg.onpointermove = (event) => {
    if (start) showBrush(view, start, here(event))
    else point(chart, view, panelAt(chart, index), event)
  }
  view.svg.onpointerup = (event) => {
    if (start) zoom(chart, view, panelAt(chart, index).name, start, here(event))
    stop()
  }
  view.svg.onpointercancel = stop
  view.svg.onpointerleave = () => {
    view.dot.setAttribute('visibility', 'hidden')
    chart.tip.hidden = true
    light(chart, null)
  }
  view.svg.ondblclick = () => resetZoom(chart)
}

// The box between two corners, each side stretched over the whole axis where it is a sliver.
function boxOf(frame, [x1, y1], [x2, y2]) {
  const { area } = frame
  const wide = Math.abs(x2 - x1) >= SLIVER
  const high = Math.abs(y2 - y1) >= SLIVER
  return {
    wide, high,
    left: wide ? Math.min(x1, x2) : area.left,
    top: high ? Math.min(y1, y2) : area.top,
    width: wide ? Math.abs(x2 - x1) : area.width,
    height: high ? Math.abs(y2 - y1) : area.height,
  }
}

function showBrush(view, from, to) {
  const box = boxOf(view.frame, from, to)
  view.brush.setAttribute('visibility', box.wide || box.high ? 'visible' : 'hidden')
  setAttributes(view.brush, { x: box.left, y: box.top, width: box.width, height: box.height })
}

function zoom(chart, view, name, from, to) {
  const box = boxOf(view.frame, from, to)
  if (!box.wide && !box.high) return
  const { frame } = view
  if (box.high) chart.state.y[name] = [frame.yBack(box.top + box.height), frame.yBack(box.top)]
  if (box.wide) chart.state.x = [frame.xBack(box.left), frame.xBack(box.left + box.width)]
  remember(chart)
  redraw(chart)
}
