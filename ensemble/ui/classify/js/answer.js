// The number said, as large as there is room for; each of its digits opens when it is pressed.

const answers = new WeakMap()

function digitOf(digit) {
  const made = document.createElement('button')
  made.type = 'button'
  made.className = 'digit' + (digit.rejected ? ' rejected' : '')
  made.dataset.index = digit.index
  made.textContent = digit.said
  made.title = digit.alt
  made.setAttribute('aria-label', digit.alt)
  made.setAttribute('aria-pressed', digit.open)
  return made
}

function draw(root, data) {
  const held = root.getRootNode().activeElement?.dataset?.index
  root.className = 'answer ' + data.size + (data.spaced ? ' spaced' : '')
  root.replaceChildren(...data.lines.map((line) => {
    const made = document.createElement('div')
    made.className = 'line'
    made.append(...line.map(digitOf))
    return made
  }))
  if (held !== undefined) root.querySelector(`[data-index="${held}"]`)?.focus()
}

function step(root, event) {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
  const all = [...root.querySelectorAll('.digit')]
  const next = all[all.indexOf(event.target.closest('.digit')) + by]
  if (!by || !next) return
  event.preventDefault()
  next.focus()
  next.click()
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector('.answer')
  const shown = JSON.stringify(data)
  if (answers.get(parentElement) !== shown) {
    answers.set(parentElement, shown)
    draw(root, data)
  }
  root.onclick = (event) => {
    const digit = event.target.closest('.digit')
    if (digit) setTriggerValue('opened', Number(digit.dataset.index))
  }
  root.onkeydown = (event) => step(root, event)
  return () => answers.delete(parentElement)
}
