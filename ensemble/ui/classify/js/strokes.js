// Strokes: lists of x, y, x, y, … in pixels of the sheet, with the pen's width.

const LEAST = 1.5 // pixels between two points of a stroke
const MOST = 400 // strokes on a sheet; the server takes no more
const WIDEST_DIGIT = 1.6 // times as wide as high: more is a line of digits,
const LEAST_LINE_HEIGHT = 100 // if it is so many pixels high: the bar of a 7 is not
const FARTHEST_STROKE = 0.3 // of the taller one's height: strokes of a digit are nearer

function begin(pen, x, y) {
  return { w: pen, p: [round(x), round(y)] }
}

function extend(stroke, x, y) {
  const { p } = stroke
  if (Math.hypot(x - p[p.length - 2], y - p[p.length - 1]) < LEAST) return
  p.push(round(x), round(y))
}

function round(value) {
  return Math.round(value * 10) / 10
}

// Through the middles of neighbouring points, which are the handles: no corners.
function trace(paint, { w, p }) {
  paint.lineWidth = w
  paint.beginPath()
  paint.moveTo(p[0], p[1])
  for (let i = 2; i < p.length - 2; i += 2) {
    paint.quadraticCurveTo(p[i], p[i + 1], (p[i] + p[i + 2]) / 2, (p[i + 1] + p[i + 3]) / 2)
  }
  paint.lineTo(p[p.length - 2], p[p.length - 1])
  paint.stroke()
}

// How much of each pixel is ink, of the part of the sheet that has any, one pixel to one of these.
function readInk(strokes) {
  const { left, top, right, bottom } = boxOfStrokes(strokes)
  const [x, y] = [Math.floor(left) - 2, Math.floor(top) - 2]
  const [width, height] = [Math.ceil(right) + 2 - x, Math.ceil(bottom) + 2 - y]
  const paint = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true })
  paint.setTransform(1, 0, 0, 1, -x, -y)
  paint.lineCap = paint.lineJoin = 'round'
  for (const stroke of strokes) trace(paint, stroke)
  const { data } = paint.getImageData(0, 0, width, height)
  const ink = new Uint8Array(width * height)
  for (let at = 0; at < ink.length; at++) ink[at] = data[4 * at + 3]
  return { ink, width, height }
}

// The box around strokes, with the pen's half width.
function boxOfStrokes(strokes) {
  const box = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity }
  for (const { w, p } of strokes) {
    for (let i = 0; i < p.length; i += 2) {
      box.left = Math.min(box.left, p[i] - w / 2)
      box.right = Math.max(box.right, p[i] + w / 2)
      box.top = Math.min(box.top, p[i + 1] - w / 2)
      box.bottom = Math.max(box.bottom, p[i + 1] + w / 2)
    }
  }
  return box
}

// Whether it may be more than one digit, which the server tells apart: strokes beside each other,
// or far above one another, or a line of them in one.
function mayBeSeveral(strokes) {
  const groups = []
  for (const stroke of strokes) {
    let group = { strokes: [stroke], box: boxOfStrokes([stroke]) }
    for (const other of groups.filter((one) => belongTogether(one.box, group.box))) {
      groups.splice(groups.indexOf(other), 1)
      const all = [...other.strokes, ...group.strokes]
      group = { strokes: all, box: boxOfStrokes(all) }
    }
    groups.push(group)
  }
  const [{ box }] = groups
  const height = Math.max(box.bottom - box.top, LEAST_LINE_HEIGHT)
  return groups.length > 1 || box.right - box.left > WIDEST_DIGIT * height
}

function belongTogether(one, other) {
  const across = Math.min(one.right, other.right) - Math.max(one.left, other.left)
  const apart = Math.max(one.top, other.top) - Math.min(one.bottom, other.bottom)
  const tallest = Math.max(one.bottom - one.top, other.bottom - other.top)
  return across > 0 && apart < FARTHEST_STROKE * tallest
}
