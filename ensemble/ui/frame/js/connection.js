// Where the server is lost, Streamlit asks whether it was stopped by accident. What a person wants
// to know is what becomes of their runs, which `text` says, and what to do. A server that began
// anew knows of no button until it has drawn the page: a press waits until then.
function watchConnection(text) {
  if (window.ensembleConnection) return
  window.ensembleConnection = true
  const TITLE = 'The server cannot be reached'
  const PATIENCE = 60000 // ms after which a press is let through, whatever the server does
  const SETTLED = 1000 // ms that a page stands which the server has kept, and need not draw to its end

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

  const app = document.querySelector('[data-testid="stApp"]')
  if (!app) return
  const drawing = { lost: false, begun: false, drawnBy: '', pressed: null, patience: 0, settling: 0 }

  // Whose session drew the page to its end: another's, once a server that began anew has.
  const readSession = () => document.querySelector('.st-key-page_end i')?.className ?? ''

  function follow() {
    const { testConnectionState: connection, testScriptState: script } = app.dataset
    clearTimeout(drawing.settling)
    if (connection !== 'CONNECTED') {
      clearTimeout(drawing.patience)
      if (!drawing.lost) drawing.drawnBy = readSession()
      Object.assign(drawing, { lost: true, begun: false, patience: 0 })
    } else if (drawing.lost) {
      drawing.patience ||= setTimeout(end, PATIENCE)
      if (script !== 'notRunning') drawing.begun = true
      else if (readSession() !== drawing.drawnBy) end()
      // A script that asks for itself once more stands still in between.
      else if (drawing.begun) drawing.settling = setTimeout(end, SETTLED)
    }
  }

  function end() {
    clearTimeout(drawing.patience)
    clearTimeout(drawing.settling)
    const { pressed } = drawing
    Object.assign(drawing, { lost: false, begun: false, pressed: null, patience: 0 })
    if (pressed) findAgain(pressed)?.click()
  }

  // The button itself, or the one that was drawn in its place.
  function findAgain({ button, place, words }) {
    if (button.isConnected) return button
    const others = document.querySelectorAll(`${place ? `.${CSS.escape(place)} ` : ''}button`)
    return [...others].find((other) => other.textContent === words)
  }

  new MutationObserver(follow).observe(app, {
    attributeFilter: ['data-test-connection-state', 'data-test-script-state'],
  })
  document.addEventListener('click', (event) => {
    const button = event.target.closest?.('button')
    if (!drawing.lost || !button) return
    event.preventDefault()
    event.stopImmediatePropagation()
    const keyed = button.closest('[class*="st-key-"]')?.classList ?? []
    const place = [...keyed].find((name) => name.startsWith('st-key-'))
    drawing.pressed = { button, place, words: button.textContent }
  }, true)
}
