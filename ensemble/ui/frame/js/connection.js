// Where the server is lost, Streamlit asks whether it was stopped by accident. What a person wants
// to know is what becomes of their runs, which `text` says, and what to do.
function watchConnection(text) {
  if (window.ensembleConnection) return
  window.ensembleConnection = true
  const TITLE = 'The server cannot be reached'

  function reword(dialog) {
    const title = dialog.querySelector('h2')
    const body = title?.nextElementSibling
    if (!body || dialog.dataset.reworded !== undefined || title.textContent !== 'Connection error') return
    dialog.dataset.reworded = ''
    title.textContent = TITLE
    for (const child of body.children) child.hidden = true
    const said = document.createElement('p')
    said.textContent = text
    body.append(said)
  }

  new MutationObserver(() => {
    document.querySelectorAll('[data-testid="stDialog"] [role="dialog"]').forEach(reword)
  }).observe(document.body, { childList: true, subtree: true })
}
