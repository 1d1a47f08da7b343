// On a narrow window Streamlit's sidebar is a drawer that lies over the page. It stays open
// after a page is chosen in it or a run is launched from it, and a reload opens it again: then
// the answer cannot be seen. Here it closes. A wide window is left alone.
function drawer(place, page) {
  const LINKS = '[data-testid="stTopNavLink"]'
  const narrow = () => matchMedia('(max-width: 768px)').matches

  // A slow browser is busy with the next page before it shows any of it: the press is seen at once.
  function markPressed(event) {
    const link = event.target.closest?.(LINKS)
    const elsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey
    if (link && !elsewhere && new URL(link.href).pathname !== location.pathname)
      link.setAttribute('aria-busy', 'true')
  }

  function close() {
    const drawer = document.querySelector('[data-testid="stSidebar"]')
    const button = document.querySelector('[data-testid="stSidebarCollapseButton"] button')
    if (drawer?.dataset.collapsed === 'false') button?.click()
  }

  // Streamlit keeps whether it was open, for a reload and for a wide window, too. Left to itself
  // it opens the one that has room.
  function forget() {
    if (!narrow()) return
    try {
      for (const key of Object.keys(localStorage))
        if (key.startsWith('stSidebarCollapsed-')) localStorage.removeItem(key)
    } catch {}
  }

  document.documentElement.dataset.page = page
  for (const link of document.querySelectorAll(`${LINKS}[aria-busy]`)) link.removeAttribute('aria-busy')
  const before = window.ensemblePlace
  window.ensemblePlace = place
  if (before === undefined) {
    window.addEventListener('pagehide', forget)
    document.addEventListener('click', markPressed, true)
  }
  if (before !== place && narrow()) close()
}

// A browser may have kept a frame of the page without the style.
function addStyle(id, textContent) {
  if (document.getElementById(id)) return
  document.head.append(Object.assign(document.createElement('style'), { id, textContent }))
}
