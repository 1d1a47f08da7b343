// Boxes over a picture, each with its verdict at its corner: places in shares of the picture.

function boxOf(name, box) {
  const made = document.createElement(name)
  made.className = 'box' + (box.rejected ? ' rejected' : '') + (box.open ? ' open' : '')
  const [left, top, right, bottom] = box.place
  made.style.left = `${100 * left}%`
  made.style.top = `${100 * top}%`
  made.style.width = `${100 * (right - left)}%`
  made.style.height = `${100 * (bottom - top)}%`
  const tag = document.createElement('span')
  // A tag over the upper edge would run off the picture.
  tag.className = top < 0.1 ? 'tag inside' : 'tag'
  tag.textContent = box.said
  made.append(tag)
  return made
}
