// Tiles of one page of test images. One of them is reached by Tab, the others by arrow keys.

const state = new WeakMap()

function words(parent, name, text) {
  if (!text) return
  const line = document.createElement('div')
  line.className = name
  line.textContent = text
  parent.append(line)
}

// Votes come as [text, whether against the ensemble].
function votes(parent, all) {
  if (!all.length) return
  const line = document.createElement('div')
  line.className = all.some(([, against]) => against) ? 'votes against' : 'votes'
  all.forEach(([text, against], place) => {
    if (place) line.append(' ')
    const one = document.createElement(against ? 'b' : 'span')
    one.textContent = text
    line.append(one)
  })
  parent.append(line)
}

function tileOf(tile, place, data) {
  const button = document.createElement('button')
  button.type = 'button'
  button.setAttribute('aria-label', tile.alt)
  button.title = tile.alt
  button.dataset.number = tile.number
  const image = document.createElement('div')
  image.className = 'image'
  if (tile.card && tile.card.length) {
    image.classList.add('card')
    tile.card.forEach((line) => words(image, 'line', line))
  } else {
    image.style.backgroundImage = `url(${data.strip})`
    Object.assign(image.style, data.image.style)
    image.style.backgroundPosition = `${-data.image.step * place}px 0`
  }
  image.style.borderBottomColor = tile.right ? data.colors.right : data.colors.wrong
  const under = document.createElement('div')
  under.className = 'words'
  words(under, 'name', tile.name)
  words(under, 'verdict', tile.verdict)
  words(under, 'sure', tile.sure)
  if (tile.listed) votes(under, tile.votes)
  else tile.votes.forEach(([text]) => words(under, 'votes', text))
  button.append(image, under)
  return button
}

function columnsOf(root) {
  return getComputedStyle(root).gridTemplateColumns.split(' ').length
}

function move(root, event) {
  const tiles = [...root.children]
  const here = tiles.indexOf(event.target.closest('button'))
  const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columnsOf(root), ArrowDown: columnsOf(root) }
  const ends = { Home: 0, End: tiles.length - 1 }
  const next = event.key in ends ? ends[event.key] : here + steps[event.key]
  if (here < 0 || !(next in tiles)) return
  event.preventDefault()
  reach(tiles, next)
  tiles[next].focus()
}

function reach(tiles, place) {
  tiles.forEach((tile, other) => { tile.tabIndex = other === place ? 0 : -1 })
}

// Says how many columns fit, where the page took it for another number: an answer that changes
// nothing would have all of it drawn again. A scroll bar that comes or goes with the page's length
// must not start a game of back and forth: widths that differ by less than one are the same.
function measure(root, seen, setStateValue) {
  seen.hold?.()
  const width = root.clientWidth
  if (!width || Math.abs(width - seen.width) < 24) return
  seen.width = width
  const columns = columnsOf(root)
  root.dataset.columns = columns
  if (columns === (seen.columns || seen.assumed)) return
  seen.hold = sendAtRest(() => {
    seen.columns = columns
    setStateValue('columns', columns)
  })
}

export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  const root = parentElement.querySelector('.digits')
  let seen = state.get(parentElement)
  if (!seen) {
    seen = { width: 0, columns: 0, drawn: '' }
    state.set(parentElement, seen)
    seen.observer = new ResizeObserver(() => {
      clearTimeout(seen.timer)
      seen.timer = setTimeout(() => seen.measure(), seen.width ? 250 : 0)
    })
    seen.observer.observe(root)
  }
  seen.measure = () => measure(root, seen, setStateValue)
  root.onclick = (event) => {
    const button = event.target.closest('button')
    if (button) setTriggerValue('opened', Number(button.dataset.number))
  }
  root.onkeydown = (event) => move(root, event)
  const { columns, ...shown } = data
  seen.assumed = columns
  const drawn = JSON.stringify(shown)
  if (drawn !== seen.drawn) {
    seen.drawn = drawn
    root.classList.toggle('wide', data.wide)
    root.setAttribute('aria-label', data.label)
    const tiles = data.tiles.map((tile, place) => tileOf(tile, place, data))
    root.replaceChildren(...tiles)
    reach(tiles, 0)
  }
  return () => {
    clearTimeout(seen.timer)
    seen.hold?.()
    seen.observer.disconnect()
    state.delete(parentElement)
  }
}
