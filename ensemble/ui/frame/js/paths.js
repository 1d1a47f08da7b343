// A shape of an SVG as operators of PDF, its points moved by a matrix.
function pdfPath(element, { a, b, c, d, e, f }) {
  const at = (x, y) => pdfNumbers(a * x + c * y + e, b * x + d * y + f)
  return pathSteps(pathOf(element)).map(([name, ...points]) => {
    const said = []
    for (let i = 0; i < points.length; i += 2) said.push(at(points[i], points[i + 1]))
    return [...said, { M: 'm', L: 'l', C: 'c', Z: 'h' }[name]].join(' ')
  }).join(' ')
}

function pathOf(element) {
  const value = (name) => element[name].baseVal.value
  switch (element.tagName) {
    case 'path': return element.getAttribute('d') ?? ''
    case 'rect': {
      const [x, y, w, h] = ['x', 'y', 'width', 'height'].map(value)
      return `M${x},${y}h${w}v${h}h${-w}Z`
    }
    case 'line': return `M${value('x1')},${value('y1')}L${value('x2')},${value('y2')}`
    case 'circle': {
      const [x, y, r] = ['cx', 'cy', 'r'].map(value)
      return `M${x + r},${y}A${r},${r} 0 0 1 ${x - r},${y}A${r},${r} 0 0 1 ${x + r},${y}Z`
    }
    case 'polyline': case 'polygon':
      return `M${element.getAttribute('points')}${element.tagName === 'polygon' ? 'Z' : ''}`
    default: throw new BeyondPdf(element.tagName)
  }
}

// The steps of a path with absolute points: M, L, C and Z alone.
function pathSteps(text) {
  const steps = []
  let x = 0, y = 0, startX = 0, startY = 0, lastX = 0, lastY = 0, before = ''
  for (const [, letter, rest] of text.matchAll(/([a-zA-Z])([^a-zA-Z]*(?:e[-+]?\d+[^a-zA-Z]*)*)/g)) {
    const kind = letter.toUpperCase(), own = letter !== kind
    const numbers = kind === 'A' ? arcNumbers(rest) : (rest.match(/[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?/gi) ?? []).map(Number)
    const many = { M: 2, L: 2, H: 1, V: 1, C: 6, S: 4, Q: 4, T: 2, A: 7, Z: 0 }[kind]
    if (many === undefined || (many && numbers.length % many)) throw new BeyondPdf(text)
    for (let i = 0; i === 0 || i < numbers.length; i += many || 1) {
      const part = numbers.slice(i, i + many)
      const ox = own ? x : 0, oy = own ? y : 0
      const points = kind === 'A' ? part : part.map((one, place) => one + (place % 2 ? oy : ox))
      const mirrorX = 2 * x - lastX, mirrorY = 2 * y - lastY
      if (kind === 'Z') {
        steps.push(['Z'])
        ;[x, y] = [startX, startY]
      } else if (kind === 'M' || kind === 'L') {
        const moves = kind === 'M' && i === 0
        ;[x, y] = points
        if (moves) [startX, startY] = points
        steps.push([moves ? 'M' : 'L', x, y])
      } else if (kind === 'H' || kind === 'V') {
        if (kind === 'H') x = part[0] + ox
        else y = part[0] + oy
        steps.push(['L', x, y])
      } else if (kind === 'A') {
        const end = [part[5] + ox, part[6] + oy]
        steps.push(...arcSteps(x, y, ...part.slice(0, 5), ...end))
        ;[x, y] = end
      } else {
        let [x1, y1, x2, y2, x3, y3] = points
        if (kind === 'S') [x1, y1, x2, y2, x3, y3] = ['C', 'S'].includes(before)
          ? [mirrorX, mirrorY, ...points] : [x, y, ...points]
        if (kind === 'Q' || kind === 'T') {
          const [qx, qy, ex, ey] = kind === 'Q' ? points
            : [...(['Q', 'T'].includes(before) ? [mirrorX, mirrorY] : [x, y]), ...points]
          ;[lastX, lastY] = [qx, qy]
          ;[x1, y1, x2, y2, x3, y3] = [x + 2 / 3 * (qx - x), y + 2 / 3 * (qy - y),
            ex + 2 / 3 * (qx - ex), ey + 2 / 3 * (qy - ey), ex, ey]
        } else [lastX, lastY] = [x2, y2]
        steps.push(['C', x1, y1, x2, y2, x3, y3])
        ;[x, y] = [x3, y3]
      }
      before = kind
    }
  }
  return steps
}

// An arc's seven numbers each: its two flags may stand without a gap.
function arcNumbers(text) {
  const number = '\\s*,?\\s*([-+]?(?:\\d+\\.?\\d*|\\.\\d+)(?:e[-+]?\\d+)?)', flag = '\\s*,?\\s*([01])'
  const arc = new RegExp(number.repeat(3) + flag.repeat(2) + number.repeat(2), 'gi')
  return [...text.matchAll(arc)].flatMap((found) => found.slice(1).map(Number))
}

// Source: SVG 2, appendix B.2.4, from end points to a centre.
function arcSteps(x1, y1, rx, ry, turn, large, sweep, x2, y2) {
  if (!rx || !ry) return [['L', x2, y2]]
  const angle = turn * Math.PI / 180, cos = Math.cos(angle), sin = Math.sin(angle)
  const dx = (x1 - x2) / 2, dy = (y1 - y2) / 2
  const px = cos * dx + sin * dy, py = cos * dy - sin * dx
  const grow = Math.sqrt(Math.max(1, px * px / (rx * rx) + py * py / (ry * ry)))
  rx = Math.abs(rx) * grow
  ry = Math.abs(ry) * grow
  const low = rx * rx * py * py + ry * ry * px * px
  const root = low ? Math.sqrt(Math.max(0, rx * rx * ry * ry / low - 1)) * (large === sweep ? -1 : 1) : 0
  const ux = root * rx * py / ry, uy = -root * ry * px / rx
  const cx = cos * ux - sin * uy + (x1 + x2) / 2, cy = sin * ux + cos * uy + (y1 + y2) / 2
  const from = Math.atan2((py - uy) / ry, (px - ux) / rx)
  let way = Math.atan2((-py - uy) / ry, (-px - ux) / rx) - from
  if (sweep && way < 0) way += 2 * Math.PI
  if (!sweep && way > 0) way -= 2 * Math.PI
  const count = Math.max(1, Math.ceil(Math.abs(way) / (Math.PI / 2) - 1e-9)), step = way / count
  const pull = 4 / 3 * Math.tan(step / 4)
  const place = (u, v) => [cx + cos * rx * u - sin * ry * v, cy + sin * rx * u + cos * ry * v]
  return [...Array(count).keys()].map((i) => {
    const t = from + i * step, s = t + step
    return ['C', ...place(Math.cos(t) - pull * Math.sin(t), Math.sin(t) + pull * Math.cos(t)),
      ...place(Math.cos(s) + pull * Math.sin(s), Math.sin(s) - pull * Math.cos(s)),
      ...place(Math.cos(s), Math.sin(s))]
  })
}
