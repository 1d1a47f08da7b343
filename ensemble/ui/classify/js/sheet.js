// The sheet: what is drawn lives here and goes to the server when the pen has rested.

const sheets = new WeakMap()
const REST = 250 // ms after a stroke; a digit of several strokes is asked about once

function find(root, name) {
  return root.querySelector(`.${name}`)
}

function make(root, data) {
  const sheet = {
    root, paper: find(root, 'paper'), canvas: root.querySelector('canvas'),
    strokes: data.strokes ?? [], serial: data.serial ?? 0, past: [], current: null, pointer: null,
    width: 0, scale: 1, channel: findChannel(), explained: false,
    sent: (data.strokes ?? []).length > 0, // whether the server knows of a drawing
  }
  sheet.onServer = sheet.sent
  takeUpDrawing(sheet)
  find(root, 'width').value = data.pen
  sheet.keys = (event) => key(sheet, event)
  document.addEventListener('keydown', sheet.keys)
  sheet.watcher = new ResizeObserver(() => layOut(sheet))
  sheet.watcher.observe(root)
  return sheet
}

// What was drawn while members answered in the browser, which the server does not know of.
function takeUpDrawing(sheet) {
  const { drawing } = sheet.channel
  if (!drawing || drawing.serial <= sheet.serial) return
  Object.assign(sheet, { strokes: drawing.strokes, serial: drawing.serial, onServer: drawing.onServer })
}

// As wide as there is room for; a drawing made on a wider sheet is shown smaller.
function layOut(sheet) {
  const room = Math.min(sheet.root.clientWidth, 720)
  if (!room) return
  const height = room < 480 ? 280 : 320
  const reach = boxOfStrokes(sheet.strokes)
  sheet.scale = Math.min(1, room / Math.max(1, reach.right), height / Math.max(1, reach.bottom))
  sheet.paper.style.width = `${room}px`
  sheet.paper.style.height = `${height}px`
  sheet.width = room / sheet.scale
  sheet.height = height / sheet.scale
  const sharp = window.devicePixelRatio || 1
  sheet.canvas.width = Math.round(room * sharp)
  sheet.canvas.height = Math.round(height * sharp)
  draw(sheet)
  mark(sheet)
}

function draw(sheet) {
  const { canvas, strokes, current } = sheet
  const paint = canvas.getContext('2d')
  const scale = sheet.scale * (window.devicePixelRatio || 1)
  paint.setTransform(1, 0, 0, 1, 0, 0)
  paint.clearRect(0, 0, canvas.width, canvas.height)
  paint.setTransform(scale, 0, 0, scale, 0, 0)
  paint.lineCap = paint.lineJoin = 'round'
  paint.strokeStyle = '#000'
  for (const stroke of strokes) trace(paint, stroke)
  if (current) trace(paint, current)
  const empty = !strokes.length && !current
  find(sheet.root, 'hint').hidden = !empty
  find(sheet.root, 'undo').disabled = !undoable(sheet)
  find(sheet.root, 'clear').disabled = empty
  sheet.root.dataset.strokes = strokes.length
}

// What the server said holds for the drawing it was asked about, and for no other.
function mark(sheet) {
  const holds = sheet.said.serial === sheet.serial && !sheet.current
  const layer = find(sheet.root, 'boxes')
  const shown = holds ? JSON.stringify([sheet.said.boxes, sheet.width, sheet.height]) : ''
  if (layer.dataset.shown === shown) return
  layer.dataset.shown = shown
  layer.replaceChildren(...(holds ? sheet.said.boxes : []).map((box) => {
    const [left, top, right, bottom] = box.place
    const place = [left / sheet.width, top / sheet.height, right / sheet.width, bottom / sheet.height]
    return boxOf('div', { ...box, place })
  }))
}

function change(sheet, strokes) {
  sheet.past.push(sheet.strokes)
  if (sheet.past.length > 200) sheet.past.shift()
  changed(sheet, strokes)
}

function changed(sheet, strokes) {
  sheet.strokes = strokes
  sheet.serial += 1
  mark(sheet)
  draw(sheet)
  askAgain(sheet)
}

// Of one digit the members answer in the browser, where they can, until more is asked of it; all
// else the server answers, and goes on to until the sheet is empty.
function askAgain(sheet) {
  const { strokes, channel, sent } = sheet
  if (!strokes.length) sheet.explained = false
  const more = sheet.explained || sent || !channel.live
  sheet.onServer = strokes.length > 0 && (more || mayBeSeveral(strokes))
  tellDrawing(sheet)
  clearTimeout(sheet.timer)
  if (sent || sheet.onServer) sheet.timer = setTimeout(() => send(sheet), REST)
}

function tellDrawing(sheet) {
  const { channel, serial, current, onServer } = sheet
  const strokes = current ? [...sheet.strokes, current] : sheet.strokes
  channel.drawing = {
    strokes: sheet.strokes, serial, onServer, empty: !strokes.length, read: () => readInk(strokes),
  }
  sheet.root.dataset.server = onServer
  channel.dispatchEvent(new Event('drawing'))
}

function explain(sheet) {
  if (!sheet.strokes.length) return
  sheet.explained = sheet.onServer = true
  tellDrawing(sheet)
  clearTimeout(sheet.timer)
  send(sheet)
}

function send(sheet) {
  sheet.sent = sheet.strokes.length > 0
  sheet.send('drawing', {
    strokes: sheet.strokes, serial: sheet.serial, pen: Number(find(sheet.root, 'width').value),
    width: Math.round(sheet.width), height: Math.round(sheet.height),
  })
}

// A sheet that comes back with its strokes has forgotten the steps: then the last stroke goes.
function undo(sheet) {
  if (sheet.current || !undoable(sheet)) return
  changed(sheet, sheet.past.pop() ?? sheet.strokes.slice(0, -1))
}

function undoable(sheet) {
  return sheet.past.length > 0 || sheet.strokes.length > 0
}

function key(sheet, event) {
  const typing = event.composedPath()[0].matches?.('input:not([type=range]), textarea, [contenteditable]')
  if (typing || event.shiftKey || event.key.toLowerCase() !== 'z') return
  if (!(event.ctrlKey || event.metaKey)) return
  event.preventDefault()
  undo(sheet)
}

function here(sheet, event) {
  const box = sheet.canvas.getBoundingClientRect()
  return [(event.clientX - box.left) / sheet.scale, (event.clientY - box.top) / sheet.scale]
}

function down(sheet, event) {
  if (sheet.pointer !== null || event.button !== 0 || sheet.strokes.length >= MOST) return
  event.preventDefault()
  clearTimeout(sheet.timer)
  sheet.pointer = event.pointerId
  sheet.canvas.setPointerCapture(event.pointerId)
  sheet.current = begin(Number(find(sheet.root, 'width').value), ...here(sheet, event))
  mark(sheet)
  draw(sheet)
  tellDrawing(sheet)
}

function move(sheet, event) {
  if (event.pointerId !== sheet.pointer) return
  const all = event.getCoalescedEvents?.() ?? []
  for (const one of all.length ? all : [event]) extend(sheet.current, ...here(sheet, one))
  draw(sheet)
  tellDrawing(sheet)
}

function up(sheet, event) {
  if (event.pointerId !== sheet.pointer) return
  const stroke = sheet.current
  sheet.pointer = sheet.current = null
  change(sheet, [...sheet.strokes, stroke])
}

function listen(sheet) {
  const { canvas, root } = sheet
  canvas.onpointerdown = (event) => down(sheet, event)
  canvas.onpointermove = (event) => move(sheet, event)
  canvas.onpointerup = canvas.onpointercancel = (event) => up(sheet, event)
  find(root, 'undo').onclick = () => undo(sheet)
  find(root, 'clear').onclick = () => { if (sheet.strokes.length) change(sheet, []) }
  find(root, 'width').disabled = false
  sheet.explain = () => explain(sheet)
  sheet.channel.addEventListener('explain', sheet.explain)
  tellDrawing(sheet)
}

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector('.sheet')
  let sheet = sheets.get(parentElement)
  if (!sheet) {
    sheet = make(root, data)
    sheets.set(parentElement, sheet)
    listen(sheet)
  }
  sheet.send = setStateValue
  sheet.said = { serial: data.serial, boxes: data.boxes }
  find(root, 'hint').textContent = data.hint
  if (sheet.width) mark(sheet)
  else layOut(sheet)
  return () => {
    clearTimeout(sheet.timer)
    sheet.watcher.disconnect()
    document.removeEventListener('keydown', sheet.keys)
    sheet.channel.removeEventListener('explain', sheet.explain)
    sheets.delete(parentElement)
  }
}
