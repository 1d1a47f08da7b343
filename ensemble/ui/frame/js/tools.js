// What a chart of our own is saved by: the list of sizes, a button a format, one for its values.

// The page's menus of figures, which know the sizes, may come after this picture.
function listSizes(place, slides) {
  if (window.ensembleFigures) window.ensembleFigures.sizesIn(place, slides)
  else setTimeout(() => listSizes(place, slides), 200)
}

// A menu that opens below its dots, and closes with a press elsewhere or with Escape.
function addMenu(tools, label) {
  const menu = document.createElement('details')
  menu.className = 'save-menu'
  menu.innerHTML = '<summary>⋯</summary><div></div>'
  const [dots, items] = menu.children
  dots.setAttribute('aria-label', label)
  dots.title = label
  menu.onkeydown = (event) => {
    if (event.key !== 'Escape' || !menu.open) return
    menu.open = false
    dots.focus()
  }
  const close = (event) => {
    if (!event.composedPath().includes(menu)) menu.open = false
  }
  menu.ontoggle = () => {
    if (menu.open) document.addEventListener('pointerdown', close)
    else document.removeEventListener('pointerdown', close)
  }
  tools.append(menu)
  return items
}

// `draw` makes the picture for a size and a look, as `ensembleFigures.drawn` asks for it; `about`
// says name, title and text of the file; `values` its rows and the name of that file; `slides`
// whether the picture can be as high as a slide.
function addSaveTools(tools, { draw, about, values, valuesHelp, slides = false }) {
  const items = addMenu(tools, 'Save this figure')
  const sizes = document.createElement('span')
  items.append(sizes)
  listSizes(sizes, slides)
  for (const format of ['PNG', 'SVG', 'PDF']) {
    button(items, format, `Save the picture as ${format}`, async () => {
      const file = await window.ensembleFigures.drawn(format.toLowerCase(), draw, about(), slides)
      saveFile(file.name, file.blob)
    })
  }
  button(items, 'CSV', valuesHelp, () => {
    const { name, rows } = values()
    saveFile(name, new Blob([csvOf(rows)], { type: 'text/csv' }))
  })
}
