// An SVG as PDF of the same size in mm: lines as lines, words as words in the fonts that every
// reader has (Helvetica, Symbol). Where a figure holds what these cannot say (Chinese names, say,
// or gradients), the whole of it is a picture of 600 dpi instead. Libraries for this bring half a
// megabyte and lose the minus sign; the browser's own print would ask about paper and name no file.
// What it does not do is embed the fonts: a journal that wants them takes the SVG.
const SYMBOL = { '−': 45, '≤': 163, '≥': 179, '→': 174, '←': 172, '∞': 165, '≈': 187, '≠': 185, '√': 214,
  'α': 97, 'β': 98, 'γ': 103, 'δ': 100, 'ε': 101, 'λ': 108, 'μ': 109, 'ρ': 114, 'σ': 115, 'τ': 116,
  'Σ': 83, 'Δ': 68 }
const DINGBATS = { '✓': 51, '✗': 55, '●': 108, '■': 110, '▲': 115 }
const WESTERN = { '€': 128, '‚': 130, '„': 132, '…': 133, '†': 134, '‰': 137, '‘': 145, '’': 146, '“': 147,
  '”': 148, '•': 149, '–': 150, '—': 151, '\u2009': 32, '\u202f': 32, '\u00a0': 32 }
const FONTS = ['Helvetica', 'Helvetica-Bold', 'Helvetica-Oblique', 'Helvetica-BoldOblique', 'Symbol', 'ZapfDingbats']
const SKIPPED = new Set(['defs', 'clipPath', 'title', 'desc', 'style', 'metadata'])

class BeyondPdf extends Error {}

async function pdfOf(svg, words) {
  const points = 72 / 25.4 * svg.mm / svg.width
  const page = { width: svg.width * points, height: svg.height * points, images: [], alphas: new Map() }
  const host = document.createElement('div')
  host.style.cssText = 'position:fixed;left:0;top:0;opacity:0;pointer-events:none;z-index:-1'
  host.ariaHidden = 'true'
  host.attachShadow({ mode: 'open' }).innerHTML = svg.source  // no style of the page reaches it
  const root = host.shadowRoot.querySelector('svg')
  for (const side of ['width', 'height']) root.setAttribute(side, svg[side])
  document.body.append(host)
  // Of an SVG within another, the browser's own matrix leads to the inner one alone.
  const back = root.getScreenCTM().inverse()
  page.matrix = (element) => back.multiply(element.getScreenCTM())
  let lines = true
  try {
    const out = []
    await pdfDrawn(root, 1, page, out)
    page.content = `${pdfNumbers(points, 0, 0, -points, 0, page.height)} cm\n${out.join('\n')}\n`
  } catch (error) {
    if (!(error instanceof BeyondPdf)) throw error
    const { canvas } = await rastered(svg, 600)
    page.images = [canvas]
    lines = false
    page.content = `${pdfNumbers(page.width, 0, 0, page.height, 0, 0)} cm /I0 Do\n`
  } finally {
    host.remove()
  }
  return { blob: await pdfFile(page, words), lines }
}

const pdfNumbers = (...numbers) => numbers.map((one) => +one.toFixed(4)).join(' ')

// Appends the operators that draw an element and what is in it.
async function pdfDrawn(element, above, page, out) {
  if (SKIPPED.has(element.tagName)) return
  const style = getComputedStyle(element), alpha = above * style.opacity
  if (style.display === 'none' || !alpha) return
  if (style.filter !== 'none' || (style.mask && !/^none/.test(style.mask))) throw new BeyondPdf('effects')
  const clip = /^url\("?#(.+?)"?\)/.exec(style.clipPath)
  out.push('q')
  if (clip) {
    const area = element.getRootNode().getElementById(clip[1])
    const ways = [...area?.children ?? []].map((one) => pdfPath(one, page.matrix(element)))
    out.push(ways.join(' ') || '0 0 0 0 re', 'W n')
  }
  if (element.tagName === 'text') pdfText(element, style, alpha, page, out)
  else if (element.tagName === 'image') await pdfImage(element, style, alpha, page, out)
  else if (element.tagName === 'svg' || element.tagName === 'g') {
    for (const child of element.children) await pdfDrawn(child, alpha, page, out)
  } else pdfShape(element, style, alpha, page, out)
  out.push('Q')
}

function pdfColor(text, share) {
  if (text === 'none') return null
  const found = /^rgba?\(([\d.]+), ([\d.]+), ([\d.]+)(?:, ([\d.]+))?\)$/.exec(text)
  if (!found) throw new BeyondPdf(text)
  const alpha = share * (found[4] ?? 1)
  return alpha > 0 ? { alpha, parts: found.slice(1, 4).map((part) => part / 255) } : null
}

function pdfAlpha(stroke, fill, page) {
  const key = `${(stroke?.alpha ?? 1).toFixed(3)} ${(fill?.alpha ?? 1).toFixed(3)}`
  if (!page.alphas.has(key)) page.alphas.set(key, `G${page.alphas.size}`)
  return `/${page.alphas.get(key)} gs`
}

function pdfShape(element, style, alpha, page, out) {
  if (style.visibility === 'hidden') return
  const fill = pdfColor(style.fill, alpha * style.fillOpacity)
  const width = parseFloat(style.strokeWidth)
  const stroke = width ? pdfColor(style.stroke, alpha * style.strokeOpacity) : null
  if (!fill && !stroke) return
  const matrix = page.matrix(element), scale = Math.sqrt(Math.abs(matrix.a * matrix.d - matrix.b * matrix.c))
  out.push(pdfAlpha(stroke, fill, page))
  if (fill) out.push(`${pdfNumbers(...fill.parts)} rg`)
  if (stroke) {
    const dashes = style.strokeDasharray === 'none' ? [] : style.strokeDasharray.split(',').map(parseFloat)
    out.push(`${pdfNumbers(...stroke.parts)} RG ${pdfNumbers(width * scale)} w`,
      `${['butt', 'round', 'square'].indexOf(style.strokeLinecap)} J ${['miter', 'round', 'bevel'].indexOf(style.strokeLinejoin)} j`,
      `${pdfNumbers(parseFloat(style.strokeMiterlimit))} M [${pdfNumbers(...dashes.map((one) => one * scale))}] 0 d`)
  }
  const even = style.fillRule === 'evenodd' ? '*' : ''
  out.push(pdfPath(element, matrix), !stroke ? `f${even}` : fill ? `B${even}` : 'S')
}

// Runs of letters of one font, each where the browser puts it and as wide.
function pdfText(element, style, alpha, page, out) {
  const matrix = page.matrix(element)
  let at = 0
  const walk = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const looks = getComputedStyle(node.parentElement), size = parseFloat(looks.fontSize)
    const seen = looks.visibility !== 'hidden'
    const fill = pdfColor(looks.fill, seen ? alpha * looks.fillOpacity : 0)
    const usual = (looks.fontWeight >= 600 ? 1 : 0) + (looks.fontStyle === 'italic' ? 2 : 0)
    const runs = []
    for (const letter of node.data) {
      const code = letter.codePointAt(0)
      const [font, byte] = SYMBOL[letter] ? [4, SYMBOL[letter]] : DINGBATS[letter] ? [5, DINGBATS[letter]]
        : [usual, WESTERN[letter] ?? code]
      if (byte > 255 || byte < 32 || (byte > 126 && byte < 160 && !WESTERN[letter] && font < 4)) throw new BeyondPdf(letter)
      if (runs.at(-1)?.font !== font) runs.push({ font, bytes: [], text: '', at })
      runs.at(-1).bytes.push(byte)
      runs.at(-1).text += letter
      at += letter.length
    }
    if (at > element.getNumberOfChars()) throw new BeyondPdf('white space')
    for (const run of fill ? runs : []) {
      const start = element.getStartPositionOfChar(run.at)
      const wide = element.getSubStringLength(run.at, run.text.length)
      const own = run.font < 4 ? pdfWidth(run.text, size, usual) : wide
      const { a, b, c, d, e, f } = matrix
      const x = a * start.x + c * start.y + e, y = b * start.x + d * start.y + f
      const hex = run.bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')
      out.push(pdfAlpha(null, fill, page), `${pdfNumbers(...fill.parts)} rg BT /F${run.font} ${pdfNumbers(size)} Tf`,
        `${pdfNumbers(own ? 100 * wide / own : 100)} Tz ${pdfNumbers(a, b, -c, -d, x, y)} Tm <${hex}> Tj ET`)
    }
  }
}

function pdfWidth(text, size, look) {
  const pen = document.createElement('canvas').getContext('2d')
  pen.font = `${look > 1 ? 'italic ' : ''}${look % 2 ? 'bold ' : ''}${size}px ${FAMILY}`
  return pen.measureText(text).width
}

async function pdfImage(element, style, alpha, page, out) {
  const picture = new Image()
  picture.src = element.href.baseVal
  await picture.decode()
  const canvas = document.createElement('canvas')
  canvas.width = picture.naturalWidth
  canvas.height = picture.naturalHeight
  canvas.getContext('2d').drawImage(picture, 0, 0)
  const { a, b, c, d, e, f } = page.matrix(element)
  const [x, y, w, h] = ['x', 'y', 'width', 'height'].map((name) => element[name].baseVal.value)
  out.push(pdfAlpha(null, { alpha }, page), `${pdfNumbers(a, b, c, d, e, f)} cm`,
    `${pdfNumbers(w, 0, 0, -h, x, y + h)} cm /I${page.images.push(canvas) - 1} Do`)
}

// The objects of the file, one page, and where each begins.
async function pdfFile(page, words) {
  const parts = [], starts = []
  let length = 0
  const write = (...given) => given.forEach((one) => {
    const bytes = typeof one === 'string' ? Uint8Array.from(one, (letter) => letter.charCodeAt(0)) : one
    parts.push(bytes)
    length += bytes.length
  })
  const object = (number, ...given) => {
    starts[number] = length
    write(`${number} 0 obj\n`, ...given, '\nendobj\n')
  }
  const stream = async (number, entries, bytes) => {
    const packed = new Uint8Array(await new Response(
      new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate'))).arrayBuffer())
    object(number, `<< ${entries} /Filter /FlateDecode /Length ${packed.length} >>\nstream\n`, packed, '\nendstream')
  }
  const hex = (text) => `<${'FEFF'}${[...Array(text.length).keys()].map((i) =>
    text.charCodeAt(i).toString(16).padStart(4, '0')).join('')}>`
  write('%PDF-1.4\n%\xE2\xE3\xCF\xD3\n')
  object(1, '<< /Type /Catalog /Pages 2 0 R >>')
  object(2, '<< /Type /Pages /Kids [3 0 R] /Count 1 >>')
  const fonts = FONTS.map((name, i) => `/F${i} << /Type /Font /Subtype /Type1 /BaseFont /${name}${
    i < 4 ? ' /Encoding /WinAnsiEncoding' : ''} >>`).join(' ')
  const looks = [...page.alphas].map(([key, name]) =>
    `/${name} << /CA ${key.split(' ')[0]} /ca ${key.split(' ')[1]} >>`).join(' ')
  const images = page.images.map((_, i) => `/I${i} ${6 + 2 * i} 0 R`).join(' ')
  object(3, `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${pdfNumbers(page.width, page.height)}] /Contents 4 0 R`,
    ` /Resources << /Font << ${fonts} >> /ExtGState << ${looks} >> /XObject << ${images} >> >> >>`)
  await stream(4, '', page.content)
  object(5, `<< ${Object.entries(words).map(([name, text]) => `/${name} ${hex(text)}`).join(' ')} >>`)
  for (const [i, canvas] of page.images.entries()) {
    const { width, height } = canvas, count = width * height
    const pixels = canvas.getContext('2d').getImageData(0, 0, width, height).data
    const colors = new Uint8Array(3 * count), alphas = new Uint8Array(count)
    for (let at = 0; at < count; at++) {
      colors.set(pixels.subarray(4 * at, 4 * at + 3), 3 * at)
      alphas[at] = pixels[4 * at + 3]
    }
    const form = `/Type /XObject /Subtype /Image /Width ${width} /Height ${height} /BitsPerComponent 8`
    await stream(6 + 2 * i, `${form} /ColorSpace /DeviceRGB /SMask ${7 + 2 * i} 0 R`, colors)
    await stream(7 + 2 * i, `${form} /ColorSpace /DeviceGray`, alphas)
  }
  const start = length
  write(`xref\n0 ${starts.length}\n0000000000 65535 f \n`,
    ...starts.slice(1).map((one) => `${String(one).padStart(10, '0')} 00000 n \n`),
    `trailer\n<< /Size ${starts.length} /Root 1 0 R /Info 5 0 R >>\nstartxref\n${start}\n%%EOF\n`)
  return new Blob(parts, { type: 'application/pdf' })
}
