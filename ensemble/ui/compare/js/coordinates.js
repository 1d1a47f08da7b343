// Parallel coordinates: what stands around the picture, what a person has set (the order of the
// axes, which are log), kept in the tab's sessionStorage, and what the page sends.

const charts = new WeakMap()
const SETTLED = 2000  // ms after which what the page says counts, whatever was sent last
const REPLACED = 30000  // ms within which a picture that was taken away may have been replaced
let left = { focus: null, at: 0 }  // what had the keyboard's focus in a picture that was taken away

function remembered() {
  const kept = readFromTab('parallel coordinates')
  return { order: kept.order ?? [], log: kept.log ?? {} }
}

function remember(chart) {
  writeToTab('parallel coordinates', chart.state)
}

function make(root) {
  root.innerHTML = '<div class="bar"><span class="said" role="status"></span><span class="tools">' +
    '</span></div><div class="sheet"></div><div class="tip" hidden></div>'
  const chart = { root, state: remembered(), keep: {}, drag: null, sent: '{}', sentAt: -SETTLED,
    from: '' }
  const tools = root.querySelector('.tools')
  chart.said = root.querySelector('.said')
  chart.tip = root.querySelector('.tip')
  chart.clear = button(tools, 'Clear brushes', 'Show all runs again', () => {
    chart.keep = {}
    mark(chart)
    send(chart)
  })
  addSaveTools(tools, {
    draw: (size, look) => picture(chart, size, look),
    about: () => ({ name: chart.data.file, title: chart.data.title, text: chart.data.about }),
    values: () => valuesOf(chart),
    valuesHelp: 'Save the values as CSV',
    slides: true,
  })
  chart.svg = node(root.querySelector('.sheet'), 'svg', { role: 'group' })
  root.onpointermove = (event) => drag(chart, event)
  root.onpointerup = (event) => drop(chart, event)
  root.onpointercancel = (event) => drop(chart, event)
  root.addEventListener('focusin', (event) => { chart.focus = event.target.dataset.focus ?? null })
  root.addEventListener('focusout', () => setTimeout(() => {
    const stays = root.contains(root.getRootNode().activeElement)
    if (root.isConnected && !stays) chart.focus = null
  }))
  chart.watcher = new ResizeObserver(() => {
    if (chart.data && !chart.drag && root.clientWidth !== chart.room) {
      chart.room = root.clientWidth
      draw(chart)
    }
  })
  chart.watcher.observe(root)
  return chart
}

// The pointer is held by what surrounds the picture: that stays while axes are drawn anew.
function press(chart, event, begin) {
  if (event.button !== 0 || chart.drag) return
  begin()
  chart.root.setPointerCapture(event.pointerId)
  tell(chart, null)
}

function drag(chart, event) {
  if (!chart.drag) return
  if (chart.drag.kind === 'brush') dragBrush(chart, event)
  else moveTo(chart, event)
}

function drop(chart, event) {
  if (!chart.drag) return
  if (chart.drag.kind === 'brush') endBrush(chart)
  chart.drag = null
  chart.root.releasePointerCapture(event.pointerId)
}

// What the run under the pointer is, and what it has on every axis.
function tell(chart, place, event) {
  chart.lines?.forEach((line, i) => line.classList.toggle('lit', i === place))
  if (place === null || chart.drag) {
    chart.tip.hidden = true
    return
  }
  chart.lines[place].parentNode.append(chart.lines[place])
  const name = document.createElement('b')
  name.textContent = chart.data.runs[place].name
  const rows = ordered(chart).map((axis) => {
    const row = document.createElement('div')
    row.textContent = `${axis.label}: ${axis.said[place]}`
    return row
  })
  chart.tip.replaceChildren(name, ...rows)
  chart.tip.hidden = false
  const frame = chart.root.getBoundingClientRect()
  const x = Math.min(event.clientX - frame.left + 14, frame.width - chart.tip.offsetWidth - 4)
  const y = Math.min(event.clientY - frame.top + 14, frame.height - chart.tip.offsetHeight - 4)
  Object.assign(chart.tip.style, { left: `${Math.max(0, x)}px`, top: `${Math.max(0, y)}px` })
}

// What the page says is brushed counts where it has changed, but not while a later brush is on its
// way to the page: that would take it back.
function adopt(chart, keep) {
  const said = JSON.stringify(keep)
  const waiting = said !== chart.sent && performance.now() - chart.sentAt < SETTLED
  if (chart.drag || said === chart.from || waiting) return
  chart.from = said
  chart.sent = said
  chart.keep = structuredClone(keep)
}

// A picture that the page has put in another's place has the focus of that one, however long it
// took, unless the person has gone elsewhere meanwhile.
function takeBack(chart) {
  const nowhere = [null, document.body].includes(document.activeElement)
  if (left.focus && nowhere && performance.now() - left.at < REPLACED) focusOn(chart, left.focus)
  left.focus = null
}

export default function ({ data: { chart: words, keep }, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector('.coordinates')
  let chart = charts.get(root)
  if (!chart) {
    chart = make(root)
    charts.set(root, chart)
  }
  chart.brushed = (said) => setTriggerValue('brushed', said)
  adopt(chart, JSON.parse(keep))
  if (chart.words !== words && !chart.drag) {
    chart.words = words
    chart.data = JSON.parse(words)
    chart.svg.setAttribute('aria-label', chart.data.alt)
    draw(chart)
    takeBack(chart)
  } else {
    mark(chart)
  }
  return () => {
    left = { focus: chart.focus, at: performance.now() }
    clearTimeout(chart.timer)
    chart.watcher.disconnect()
    charts.delete(root)
  }
}
