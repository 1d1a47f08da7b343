// What a component tells the server by itself must not cross with a press: Streamlit draws the page
// that the last message came from, so that a person who has pressed a link would be taken back.
const PRESS_PAUSE = 1000 // ms after a press in which its answer may begin
const LEAVE_PAUSE = 30000 // ms after which a link that was pressed has led nowhere
const presses = (window.ensemblePresses ??= watchPresses())

function watchPresses() {
  const last = { time: -Infinity, leaves: '' }
  const note = ({ target }) => {
    const pressed = target.closest?.('a[href], button')
    if (!pressed) return
    last.time = performance.now()
    last.leaves = pressed.localName === 'a' ? location.pathname : ''
  }
  document.addEventListener('click', note, true)
  return last
}

// How long a component keeps quiet after the last press, in ms; 0 where it may speak.
function pressPause() {
  const passed = performance.now() - presses.time
  const pause = presses.leaves === location.pathname ? LEAVE_PAUSE : PRESS_PAUSE
  return Math.max(0, pause - passed)
}

// Calls `send` as soon as no press waits for its answer and the page is drawn to its end; returns
// what calls it off.
function sendAtRest(send) {
  const app = document.querySelector('[data-testid="stApp"]')
  let timer
  const observer = new MutationObserver(attempt)
  const stop = () => {
    clearTimeout(timer)
    observer.disconnect()
  }
  function attempt() {
    const drawn = (app?.dataset.testScriptState ?? 'notRunning') === 'notRunning'
    const pause = pressPause()
    if (drawn && !pause) {
      stop()
      send()
    } else if (pause) {
      clearTimeout(timer)
      timer = setTimeout(attempt, Math.min(pause, PRESS_PAUSE))
    }
  }
  if (app) observer.observe(app, { attributeFilter: ['data-test-script-state'] })
  attempt()
  return stop
}
