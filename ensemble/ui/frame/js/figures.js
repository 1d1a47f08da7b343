// The ⋯ menu of a figure: its buttons are Streamlit's, known by the class that their key makes.
// A press is caught before Streamlit sees it, so that nothing is drawn again. Plotly lays the
// figure out for the chosen size, by the button of its own bar, which the page's style hides.
function figureMenus(known) {
  const NAME = /st-key-figure_(png|svg|pdf|copy|caption)_(\S+)/
  const KEPT = 'ensemble-figures'  // what was chosen, for as long as the tab is open
  const DPI = { page: 288, print: 300 }
  // A page that is not served safely (http, from another machine) has no clipboard.
  if (!window.ClipboardItem || !navigator.clipboard?.write)
    document.documentElement.classList.add('no-copy')
  let taken = null, turn = Promise.resolve()

  const options = (key) => document.querySelector(`.figure-options[data-figure="${CSS.escape(key)}"]`)
  let choice = { size: 'screen', ground: 'white', under: false }
  const remembered = () => ({ ...choice, ...readFromTab(KEPT) })

  function chart(key) {
    return document.querySelector(`.st-key-${CSS.escape(key)} .js-plotly-plot`)
  }

  // Plotly hands its file over as a link that it presses itself: that press is caught.
  function drawn(plot) {
    return new Promise((resolve, reject) => {
      taken = resolve
      setTimeout(() => reject(new Error('Plotly drew nothing')), 8000)
      plot.querySelector('.modebar-btn[data-title^="Download"]').click()
    }).finally(() => (taken = null))
  }

  // The figure as it was chosen to be, one after the other: Plotly draws one at a time.
  function made(plot, key) {
    const chosen = remembered(), box = options(key), size = known.sizes[chosen.size] ?? known.sizes.screen
    const ground = !size.mm && chosen.ground === 'white' ? 'page' : chosen.ground
    const text = box?.querySelector('.figure-caption')?.textContent ?? ''
    const caption = { text, title: box?.dataset.title ?? text, under: chosen.under }
    const name = plot._context.toImageButtonOptions.filename + (size.mm ? `-${chosen.size}-${size.mm}mm` : '')
    const one = turn.catch(() => {}).then(() => sizedSvg(plot, size, ground, known, caption, drawn))
    turn = one
    return one.then((svg) => ({ svg, caption, name, dpi: size.mm ? DPI.print : DPI.page }))
  }

  const png = ({ svg, caption, dpi }) => pngOf(svg, dpi,
    { Title: caption.title, Description: caption.text, Software: known.program })

  async function fileOf(format, figure) {
    if (format === 'png') return png(figure)
    if (format === 'svg') return new Blob([figure.svg.source], { type: 'image/svg+xml' })
    const { caption } = figure
    const { blob, lines } = await pdfOf(figure.svg,
      { Title: caption.title, Subject: caption.text, Creator: known.program })
    blob.said = lines ? '' : 'The PDF holds a picture'
    return blob
  }

  async function save(plot, key, format) {
    const figure = await made(plot, key), file = await fileOf(format, figure)
    saveFile(`${figure.name}.${format}`, file)
    return file.said
  }

  // By the time that it is done the menu has closed: how it went is said where it opens.
  function told(work, done, failed, key) {
    const page = document.documentElement.classList
    page.add('copying')  // Plotly would say that it has downloaded a file
    const say = (text) => {
      const menu = document.querySelector(`.st-key-${CSS.escape(key)}_menu button`)
      if (menu && text) menu.dataset.said = text
      setTimeout(() => {
        if (menu) delete menu.dataset.said
        page.remove('copying')
      }, 3500)
    }
    work.then((said) => say(said || done), (error) => {
      console.warn(error)
      say(failed)
    })
  }

  function copy(plot, key) {
    return navigator.clipboard.write([new ClipboardItem({ 'image/png': made(plot, key).then(png) })])
  }

  function pressed(event) {
    const link = event.target.closest?.('a[download]')
    if (link && taken) {
      event.preventDefault()
      event.stopImmediatePropagation()
      // Asked for at once: Plotly takes the address back as soon as this returns.
      taken(fetch(link.href).then((answer) => answer.text()))
      return
    }
    const button = event.target.closest?.('button')
    const [, what, key] = NAME.exec(button?.closest('[class*="st-key-figure_"]')?.className) ?? []
    const plot = key && chart(key)
    if (!plot) return
    event.preventDefault()
    event.stopImmediatePropagation()
    if (what === 'caption') {
      const said = options(key).querySelector('.figure-caption').textContent
      told(navigator.clipboard.writeText(said), 'Copied', 'Not copied: mark the text, and copy that', key)
    } else if (what === 'copy') told(copy(plot, key), 'Copied', 'Not copied: save it as PNG', key)
    else told(save(plot, key, what), '', 'Not saved: try again', key)
  }

  function shown(box) {
    const chosen = remembered()
    box.querySelectorAll('select').forEach((one) => (one.value = chosen[one.name]))
    box.querySelector('input').checked = chosen.under
  }

  function keep(change) {
    choice = { ...remembered(), ...change }  // Where a tab keeps nothing, until the page is left.
    writeToTab(KEPT, choice)
  }

  function chosen(event) {
    if (!event.target.closest?.('.figure-options')) return
    const { name, type, checked, value } = event.target
    keep({ [name]: type === 'checkbox' ? checked : value })
    document.querySelectorAll('.figure-options').forEach(shown)
  }

  // Charts of our own, which are no Plotly's: the same list of sizes in their bar, the same files.
  // Those of a slide, which has a height of its own, are for charts that can be drawn so (`slides`).
  function sizesIn(bar, slides) {
    const list = document.createElement('select')
    list.className = 'sizes'
    list.name = 'size'
    list.title = 'The size at which the picture is saved'
    list.setAttribute('aria-label', 'Size of the saved picture')
    for (const [word, size] of Object.entries(known.sizes)) {
      if (slides || !size.ratio) list.add(new Option(size.title, word))
    }
    const show = () => {
      const { size } = remembered()
      list.value = known.sizes[size]?.ratio && !slides ? 'screen' : size
    }
    list.onfocus = show
    list.onchange = () => keep({ size: list.value })
    show()
    bar.append(list)
  }

  async function drawnFile(format, draw, { name, title, text }, slides) {
    const chosen = remembered(), size = known.sizes[chosen.size]
    const sized = size?.mm && (slides || !size.ratio)
    const to = chosen.ground === 'clear-dark' ? known.dark : known.light
    const ground = chosen.ground === 'white' ? to.ground : 'rgba(0,0,0,0)'
    const width = sized && Math.round(size.mm / 25.4 * 72 / size.pt * known.font)
    const dressed = sized || chosen.ground !== 'white'  // else it stands as on the page
    const height = sized && size.ratio ? Math.round(width * size.ratio) : undefined
    const picture = draw(sized ? { width, height } : undefined, dressed ? { ground, ink: to.ink } : undefined)
    const mm = sized ? size.mm : picture.width * 25.4 / 96
    const caption = { text, title, under: dressed && chosen.under }
    const made = { ...picture, mm, layout: { paper_bgcolor: ground }, to }
    const figure = { svg: finished(picture.svg, made, caption, known), caption, dpi: sized ? DPI.print : DPI.page }
    return { blob: await fileOf(format, figure), name: `${name}${sized ? `-${chosen.size}-${size.mm}mm` : ''}.${format}` }
  }

  window.ensembleFigures = { sizesIn, drawn: drawnFile }
  document.addEventListener('click', pressed, true)
  document.addEventListener('change', chosen, true)
  new MutationObserver(() => document.querySelectorAll('.figure-options:not([data-shown])').forEach((box) => {
    box.dataset.shown = ''
    shown(box)
    // It stands at the page's end: whoever opens it by a key would pass through all else first.
    const menu = document.querySelector(`.st-key-${CSS.escape(box.dataset.figure)}_menu button`)
    if (menu?.matches(':focus-visible')) setTimeout(() => box.querySelector('select').focus(), 50)
  })).observe(document.body, { childList: true, subtree: true })
}
