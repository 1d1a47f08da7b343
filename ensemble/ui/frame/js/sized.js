// A figure at a size of its own, in mm, laid out for it by Plotly beside the page: an SVG.
const FAMILY = 'Helvetica, Arial, sans-serif'  // what journals ask for, and every PDF reader has
const PAPER = 16  // pixels left above a figure whose title has gone into the caption

// How wide and high a figure is laid out, in Plotly's pixels, so that `pt` points of text have
// the size that they say where it is printed `mm` wide.
function layoutOf(plot, size, known) {
  const full = plot._fullLayout
  if (!size.mm) return { width: full.width, height: full.height, mm: full.width * 25.4 / 96 }
  const lines = plot.layout.title?.subtitle?.text?.split(/\x3cbr>/).length ?? 0
  const titled = plot.layout.title?.text ? 40 + 18 * lines - PAPER : 0
  const width = Math.round(size.mm / 25.4 * 72 / size.pt * known.font)
  const height = size.ratio ? Math.round(width * size.ratio) : full.height - titled
  return { width, height, mm: size.mm, titled }
}

// The figure's traces and layout for a ground: "page" as it is, "white", "clear", "clear-dark".
function dressed(plot, size, ground, known) {
  const { width, height, mm, titled } = layoutOf(plot, size, known)
  const dark = plot.layout.template?.layout?.paper_bgcolor?.toLowerCase() === known.dark.ground.toLowerCase()
  const from = dark ? known.dark : known.light
  const to = ground === 'page' ? from : ground === 'clear-dark' ? known.dark : known.light
  const swap = from === to ? (text) => text : colorSwap(from, to, known.hues)
  const layout = recolored(plot.layout, swap)
  layout.width = width
  layout.height = height
  const look = layout.template?.layout ?? {}
  if (ground !== 'page') inked(look, to)
  if (ground.startsWith('clear')) layout.paper_bgcolor = layout.plot_bgcolor = 'rgba(0,0,0,0)'
  if (size.mm) {
    lettered(layout)
    layout.font = { ...layout.font, family: FAMILY, size: known.font }
    layout.margin = { ...layout.margin, t: Math.max(PAPER, (layout.margin?.t ?? PAPER) - titled) }
    delete layout.title
    for (const [axis, standoff] of [[look.xaxis, 8], [look.yaxis, 12]]) {
      if (axis?.title) axis.title = { ...axis.title, standoff, font: { ...axis.title.font, size: known.font } }
    }
  }
  return { data: plot.data.map((trace) => recoloredTrace(trace, swap)), layout, width, height, mm, to }
}

// Streamlit writes axes in a grey of its own: on paper they are in ink, as the text beside them.
function inked(look, to) {
  for (const [name, value] of Object.entries(look)) {
    if (value && typeof value === 'object') inked(value, to)
    else if (/^(color|subtitleColor)$/.test(name)) look[name] = to.ink
    else if (/^(grid|zeroline|tick|border)color$/.test(name) && value !== 'transparent') look[name] = to.border
    else if (/bgcolor$/.test(name)) look[name] = to.ground
  }
}

function lettered(value) {
  if (!value || typeof value !== 'object' || ArrayBuffer.isView(value)) return
  for (const [name, one] of Object.entries(value)) {
    if (name === 'family') value[name] = FAMILY
    else if (!Array.isArray(one) || typeof one[0] === 'object') lettered(one)
  }
}

// Plotly lays the figure out anew from what it is given for a moment; the page keeps its own.
async function sizedSvg(plot, size, ground, known, caption, drawn) {
  const made = dressed(plot, size, ground, known)
  const { data, layout } = plot, options = plot._context.toImageButtonOptions
  plot.data = made.data
  plot.layout = made.layout
  plot._context.toImageButtonOptions = { ...options, format: 'svg', width: made.width, height: made.height, scale: 1 }
  let answer
  try {
    answer = drawn(plot)
  } finally {
    plot.data = data
    plot.layout = layout
    plot._context.toImageButtonOptions = options
  }
  const svg = new DOMParser().parseFromString(await answer, 'image/svg+xml').documentElement
  return finished(svg, made, caption, known)
}

// True millimetres, what it is in words, and its caption below where that is wanted.
function finished(svg, made, caption, known) {
  const add = (name, text, where = 'append') => {
    const one = svg.ownerDocument.createElementNS(SVG, name)
    one.textContent = text
    svg[where](one)
    return one
  }
  let { width, height } = made
  if (caption.under) {
    const lines = folded(caption.text, width - 16, known.font)
    const top = height
    height += lines.length * known.font * 1.35 + 8
    const ground = made.layout.paper_bgcolor ?? made.to.ground
    for (const rect of ground.startsWith('rgba(0,0,0,0') ? [] : [add('rect', '', 'prepend')]) {
      setAttributes(rect, { width, height, fill: ground })
    }
    lines.forEach((line, i) => {
      const text = add('text', line)
      setAttributes(text, { x: 8, y: top + known.font * (1 + 1.35 * i), fill: made.to.ink,
        'font-size': known.font, 'font-family': FAMILY, style: 'white-space: pre' })
    })
  }
  add('desc', caption.text, 'prepend')
  add('title', caption.title, 'prepend')
  const mm = (pixels) => `${+(pixels * made.mm / made.width).toFixed(3)}mm`
  setAttributes(svg, { width: mm(width), height: mm(height), viewBox: `0 0 ${width} ${height}` })
  svg.style.removeProperty('background')
  return { source: new XMLSerializer().serializeToString(svg), width, height, mm: made.mm }
}

function folded(text, width, size) {
  const pen = document.createElement('canvas').getContext('2d')
  pen.font = `${size}px ${FAMILY}`
  const lines = ['']
  for (const word of text.split(' ')) {
    const longer = lines.at(-1) ? `${lines.at(-1)} ${word}` : word
    if (lines.at(-1) && pen.measureText(longer).width > width) lines.push(word)
    else lines[lines.length - 1] = longer
  }
  return lines
}
