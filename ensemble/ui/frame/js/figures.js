// The ⋯ menu of a figure: its buttons PNG, SVG and Copy are Streamlit's, known by the class that
// their key makes. A press is caught before Streamlit sees it, so that nothing is drawn again.
// Plotly makes the file, by the button of its own bar, which the page's style hides.
function figureMenus() {
  if (window.ensembleFigureMenus) return
  window.ensembleFigureMenus = true
  const NAME = /st-key-figure_(png|svg|copy)_(\S+)/
  // A page that is not served safely (http, from another machine) has no clipboard.
  if (!window.ClipboardItem || !navigator.clipboard?.write)
    document.documentElement.classList.add('no-copy')
  let copied = null

  function chart(key) {
    return document.querySelector(`.st-key-${CSS.escape(key)} .js-plotly-plot`)
  }

  function save(plot, format) {
    const bar = plot.querySelector('.modebar-btn[data-title^="Download"]')
    plot._context.toImageButtonOptions.format = format
    bar?.click()
  }

  // Plotly hands its file over as a link that it presses itself; for a copy that press is caught.
  // By then the menu has closed, so how it went is said where it opens.
  function copy(plot, key) {
    const file = new Promise((resolve, reject) => {
      copied = resolve
      setTimeout(reject, 4000)
    })
    const page = document.documentElement.classList
    page.add('copying')  // Plotly would say that it has downloaded a file
    const say = (text) => {
      const menu = document.querySelector(`.st-key-${CSS.escape(key)}_menu button`)
      if (menu) menu.dataset.said = text
      setTimeout(() => {
        if (menu) delete menu.dataset.said
        page.remove('copying')
      }, 3500)
    }
    navigator.clipboard
      .write([new ClipboardItem({ 'image/png': file })])
      .then(() => say('Copied'), () => say('Not copied: save it as PNG'))
      .finally(() => (copied = null))
    save(plot, 'png')
  }

  function pressed(event) {
    const link = event.target.closest?.('a[download]')
    if (link && copied) {
      event.preventDefault()
      event.stopImmediatePropagation()
      // Asked for at once: Plotly takes the address back as soon as this returns.
      copied(fetch(link.href).then((answer) => answer.blob()))
      copied = null
      return
    }
    const button = event.target.closest?.('button')
    const [, what, key] = NAME.exec(button?.closest('[class*="st-key-figure_"]')?.className) ?? []
    const plot = key && chart(key)
    if (!plot) return
    event.preventDefault()
    event.stopImmediatePropagation()
    if (what === 'copy') copy(plot, key)
    else save(plot, what)
  }

  document.addEventListener('click', pressed, true)
}
