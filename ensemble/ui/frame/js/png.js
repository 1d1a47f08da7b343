// An SVG as PNG at so many dots an inch, which the file says, with what it is in words (iTXt).
const MOST_PIXELS = 16e6  // more than that some browsers do not draw

async function rastered({ source, width, height, mm }, dpi) {
  const high = mm * height / width
  const dense = Math.min(dpi, Math.sqrt(MOST_PIXELS / (mm * high)) * 25.4)
  const canvas = document.createElement('canvas')
  canvas.width = Math.round(mm / 25.4 * dense)
  canvas.height = Math.round(high / 25.4 * dense)
  const picture = new Image()
  picture.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(source)
  await picture.decode()
  canvas.getContext('2d').drawImage(picture, 0, 0, canvas.width, canvas.height)
  return { canvas, dpi: dense }
}

async function pngOf(svg, dpi, words) {
  const { canvas, dpi: dense } = await rastered(svg, dpi)
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, 'image/png'))
  const bytes = new Uint8Array(await blob.arrayBuffer())
  const meter = Math.round(dense / 0.0254)
  const size = new Uint8Array(9)
  new DataView(size.buffer).setUint32(0, meter)
  new DataView(size.buffer).setUint32(4, meter)
  size[8] = 1
  const said = Object.entries(words).map(([name, text]) =>
    chunk('iTXt', new TextEncoder().encode(`${name}\0\0\0\0\0${text}`)))
  // The header is 8 bytes of signature and a chunk IHDR of 25: ours come behind it.
  return new Blob([bytes.slice(0, 33), chunk('pHYs', size), ...said, bytes.slice(33)], { type: 'image/png' })
}

function chunk(name, data) {
  const out = new Uint8Array(12 + data.length), view = new DataView(out.buffer)
  view.setUint32(0, data.length)
  out.set(new TextEncoder().encode(name), 4)
  out.set(data, 8)
  let crc = ~0
  for (const byte of out.subarray(4, 8 + data.length)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (0xEDB88320 & -(crc & 1))
  }
  view.setUint32(8 + data.length, ~crc >>> 0)
  return out
}
