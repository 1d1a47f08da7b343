// Strokes: lists of x, y, x, y, … in pixels of the sheet, with the pen's width.

const LEAST = 1.5 // pixels between two points of a stroke
const MOST = 400 // strokes on a sheet; the server takes no more

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

// How far to the right and down the strokes reach, with the pen's half width.
function extent(strokes) {
  let right = 0
  let bottom = 0
  for (const { w, p } of strokes) {
    for (let i = 0; i < p.length; i += 2) {
      right = Math.max(right, p[i] + w / 2)
      bottom = Math.max(bottom, p[i + 1] + w / 2)
    }
  }
  return { right, bottom }
}
