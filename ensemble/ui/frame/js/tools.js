// What a chart of our own is saved by: the list of sizes, a button a format, one for its values.

// The page's menus of figures, which know the sizes, may come after this picture.
function listSizes(place, slides) {
  if (window.ensembleFigures) window.ensembleFigures.sizesIn(place, slides)
  else setTimeout(() => listSizes(place, slides), 200)
}

// `draw` makes the picture for a size and a look, as `ensembleFigures.drawn` asks for it; `about`
// says name, title and text of the file; `values` its rows and the name of that file; `slides`
// whether the picture can be as high as a slide.
function addSaveTools(tools, { draw, about, values, valuesHelp, slides = false }) {
  const sizes = document.createElement('span')
  tools.append(sizes)
  listSizes(sizes, slides)
  for (const format of ['PNG', 'SVG', 'PDF']) {
    button(tools, format, `Save the picture as ${format}`, async () => {
      const file = await window.ensembleFigures.drawn(format.toLowerCase(), draw, about(), slides)
      saveFile(file.name, file.blob)
    })
  }
  button(tools, 'CSV', valuesHelp, () => {
    const { name, rows } = values()
    saveFile(name, new Blob([csvOf(rows)], { type: 'text/csv' }))
  })
}
