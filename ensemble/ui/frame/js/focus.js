// Where a dialog is closed, the focus goes back to what opened it: else a keyboard begins anew at
// the top of the page.
function watchDialogs() {
  if (window.ensembleDialogs) return
  window.ensembleDialogs = true
  const DIALOG = '[data-testid="stDialog"]'
  const PATIENCE = 3000, PAUSE = 100 // ms: the page is drawn anew meanwhile
  let last = null, open = false

  // In a component of its own what has the focus lies in a shadow root, and moves there unheard:
  // a press, by key too, says which it is.
  function remember(event) {
    const [target] = event.composedPath()
    if (!(target instanceof Element) || target.closest(DIALOG)) return
    last = event.type === 'click' ? target.closest('button, a, input, [tabindex]') ?? last : target
  }
  document.addEventListener('focusin', remember, true)
  document.addEventListener('click', remember, true)

  function giveBack(until) {
    if (document.querySelector(DIALOG) || document.activeElement !== document.body) return
    if (last?.isConnected) last.focus({ preventScroll: true })
    if (document.activeElement === document.body && performance.now() < until)
      setTimeout(() => giveBack(until), PAUSE)
  }

  new MutationObserver(() => {
    const is = Boolean(document.querySelector(DIALOG))
    if (open && !is) setTimeout(() => giveBack(performance.now() + PATIENCE))
    open = is
  }).observe(document.body, { childList: true, subtree: true })
}
