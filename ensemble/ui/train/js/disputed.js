// The images that members dispute most, under the curves: as many as fill whole rows.

// While somebody points at one of them they stay: an epoch may close every second.
function drawDisputed(chart) {
  const box = chart.root.querySelector('.disputed')
  const shown = chart.data.disputed
  const drawn = JSON.stringify(shown)
  if (box.dataset.drawn === drawn || box.querySelector('a:hover, a:focus-visible')) return
  box.onpointerleave = () => drawDisputed(chart)
  box.dataset.drawn = drawn
  box.replaceChildren()
  box.hidden = !shown
  if (!shown) return
  const heading = document.createElement('div')
  heading.className = 'heading'
  heading.textContent = shown.note ?? shown.heading
  const tiles = document.createElement('div')
  tiles.className = 'tiles'
  tiles.append(...(shown.tiles ?? []).map((tile, place) => disputedTile(chart, tile, place, shown)))
  box.append(heading, tiles)
  fitDisputed(chart)
}

// A link, so that it opens in a tab of its own; a plain press stays in this one.
function disputedTile(chart, tile, place, shown) {
  const link = document.createElement('a')
  link.href = tile.href
  link.title = tile.alt
  link.setAttribute('aria-label', tile.alt)
  link.onclick = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    chart.open(tile.pressed)
  }
  const image = document.createElement('div')
  image.className = 'image'
  image.style.backgroundImage = `url(${shown.strip})`
  Object.assign(image.style, shown.image.style)
  image.style.backgroundPosition = `${-shown.image.step * place}px 0`
  image.style.borderBottomColor = chart.data.colors[tile.right ? 'right' : 'wrong']
  link.append(image, worded('verdict', [[tile.verdict, false]]))
  for (const votes of tile.votes) link.append(worded('votes', votes))
  return link
}

// A line of [text, whether against the ensemble].
function worded(name, parts) {
  const line = document.createElement('div')
  line.className = name
  parts.forEach(([text, against], i) => {
    const part = document.createElement(against ? 'b' : 'span')
    part.textContent = text
    line.append(i ? ' ' : '', part)
  })
  return line
}

// Whole rows: one where eight or more fit side by side. The height is the same with and without
// images, so that nothing below moves when they come.
function fitDisputed(chart) {
  const tiles = chart.root.querySelector('.disputed .tiles')
  if (!tiles || !tiles.clientWidth || !chart.data.disputed) return
  const columns = getComputedStyle(tiles).gridTemplateColumns.split(' ').length
  const rows = columns >= 8 ? 1 : columns >= 5 ? 2 : 3
  for (const [place, tile] of [...tiles.children].entries()) tile.hidden = place >= rows * columns
  const high = 111 + 17 * chart.data.disputed.lines
  tiles.style.minHeight = `${rows * (high + 8) - 8}px`
}
