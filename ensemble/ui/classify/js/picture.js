// A picture with its marks in boxes that can be pressed; dragging over it chooses a part.

const pictures = new WeakMap()
const SLIP = 6 // pixels that a press may wander without being a drag

function at(view, event) {
  const area = view.frame.getBoundingClientRect()
  const share = (value, low, size) => Math.min(1, Math.max(0, (value - low) / size))
  return [share(event.clientX, area.left, area.width), share(event.clientY, area.top, area.height)]
}

function between([ax, ay], [bx, by]) {
  return [Math.min(ax, bx), Math.min(ay, by), Math.max(ax, bx), Math.max(ay, by)]
}

function shape(element, [left, top, right, bottom]) {
  element.style.left = `${100 * left}%`
  element.style.top = `${100 * top}%`
  element.style.width = `${100 * (right - left)}%`
  element.style.height = `${100 * (bottom - top)}%`
}

// A finger that moves scrolls the page; it presses boxes, and the sliders choose a part.
function down(view, event) {
  if (event.pointerType === 'touch' || event.button !== 0) return
  view.start = { place: at(view, event), x: event.clientX, y: event.clientY, id: event.pointerId }
}

function move(view, event) {
  if (!view.start || event.pointerId !== view.start.id) return
  if (!view.dragging) {
    if (Math.hypot(event.clientX - view.start.x, event.clientY - view.start.y) < SLIP) return
    view.dragging = true
    view.frame.setPointerCapture(event.pointerId)
    view.brush.hidden = false
  }
  shape(view.brush, between(view.start.place, at(view, event)))
}

function up(view, event) {
  const { start, dragging } = view
  view.start = null
  view.dragging = false
  view.brush.hidden = true
  if (!dragging || event.type === 'pointercancel') return
  const part = between(start.place, at(view, event))
  // The press that ends a drag is none on the box below it.
  view.deaf = true
  setTimeout(() => { view.deaf = false }, 0)
  if (part[2] - part[0] > 0.02 && part[3] - part[1] > 0.02) view.send('part', part)
}

function make(root) {
  const view = { frame: root.querySelector('.frame'), start: null, dragging: false, drawn: '' }
  view.image = view.frame.querySelector('img')
  view.layer = view.frame.querySelector('.boxes')
  view.brush = view.frame.querySelector('.brush')
  view.crop = view.frame.querySelector('.crop')
  view.frame.onpointerdown = (event) => down(view, event)
  view.frame.onpointermove = (event) => move(view, event)
  view.frame.onpointerup = view.frame.onpointercancel = (event) => up(view, event)
  view.frame.onclick = (event) => {
    const box = event.target.closest('.box')
    if (box && !view.deaf) view.send('opened', Number(box.dataset.index))
  }
  return view
}

function draw(view, data) {
  if (view.image.src !== data.src) view.image.src = data.src
  view.image.alt = data.alt
  view.frame.style.aspectRatio = `${data.size[0]} / ${data.size[1]}`
  view.frame.style.width = `min(100%, ${data.width}px)`
  const shown = JSON.stringify([data.boxes, data.crop])
  if (shown === view.drawn) return
  view.drawn = shown
  const held = view.layer.getRootNode().activeElement?.dataset?.index
  view.layer.replaceChildren(...data.boxes.map((box) => {
    const made = boxOf('button', box)
    made.type = 'button'
    made.dataset.index = box.index
    made.setAttribute('aria-label', box.alt)
    made.setAttribute('aria-pressed', box.open)
    made.title = box.alt
    return made
  }))
  if (held !== undefined) view.layer.querySelector(`[data-index="${held}"]`)?.focus()
  view.crop.hidden = !data.crop
  if (data.crop) shape(view.crop, data.crop)
}

export default function ({ data, parentElement, setTriggerValue }) {
  let view = pictures.get(parentElement)
  if (!view) {
    view = make(parentElement.querySelector('.picture'))
    pictures.set(parentElement, view)
  }
  view.send = setTriggerValue
  draw(view, data)
  return () => pictures.delete(parentElement)
}
