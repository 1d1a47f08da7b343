// Numbers to set, a line each: its name, a slider over the values worth a step, and a box that any
// value in its range is typed into. What is changed goes to the server by its number, so that a
// rerun which began before does not take it back. What was not answered yet outlives the lines:
// Streamlit may make them anew while a page is still being drawn.

const forms = new WeakMap()
const changesByForm = (window.ensembleChanges ??= {}) // what each page's form sent, by its name
const STORED = 'ensemble settings'
const PAUSE = 250 // ms without a move after which a slider's value is sent
const PATIENCE = 2000, ATTEMPTS = 5 // ms until what was not answered is given again, and how often

const grouped = new Intl.NumberFormat('en', { maximumSignificantDigits: 6 })

function shown(value) {
  return value >= 10000 ? grouped.format(value) : String(value)
}

// The number that was typed, or a sentence that says why it cannot be taken.
function parsed(text, { name, label, low, high, whole }) {
  const value = Number(text.replace(/[\s,](?=\d{3}(\D|$))/g, '').replace(',', '.'))
  const between = `${label} goes from ${shown(low)} to ${shown(high)}`
  if (!text.trim() || !Number.isFinite(value)) return { problem: `${between}: type a number.` }
  if (value < low || value > high) return { problem: `${between}: ${text.trim()} is outside.` }
  if (whole && !Number.isInteger(value)) return { problem: `${between}, in whole numbers.` }
  return { value }
}

function makeField(form, name) {
  const line = document.createElement('div')
  line.className = 'field'
  line.dataset.name = name
  line.innerHTML = '<label></label><input class="slide" type="range" min="0" step="1" tabindex="-1">' +
    '<div class="box"><input class="typed" type="text" inputmode="decimal" autocomplete="off">' +
    '<button type="button" hidden>↺</button></div><p class="problem" role="alert"></p>'
  const [label, slide, typed, back, problem] =
    ['label', '.slide', '.typed', 'button', '.problem'].map((what) => line.querySelector(what))
  typed.id = `field-${name}`
  label.htmlFor = typed.id
  problem.id = `problem-${name}`
  typed.setAttribute('aria-describedby', problem.id)
  const field = { line, label, slide, typed, back, problem, about: null, value: null, steps: [],
    typing: false }

  const take = () => {
    const { value, problem: why } = parsed(typed.value, field.about)
    say(field, why ?? '')
    if (why === undefined) change(form, field, value)
  }
  typed.oninput = () => { field.typing = true }
  typed.onchange = take
  typed.onkeydown = (event) => {
    if (event.key === 'Escape') {
      say(field, '')
      field.typing = false
      draw(field)
    }
    const step = { ArrowUp: 1, ArrowDown: -1 }[event.key]
    if (!step) return
    event.preventDefault()
    move(form, field, step)
  }
  slide.oninput = () => change(form, field, field.steps[slide.valueAsNumber], PAUSE)
  slide.onchange = () => send(form)
  back.onclick = () => {
    change(form, field, field.about.usual)
    typed.focus()
  }
  form.root.append(line)
  return field
}

function say(field, why) {
  field.problem.textContent = why
  field.typed.setAttribute('aria-invalid', why !== '')
}

// To the next value worth a step, up or down.
function move(form, field, step) {
  const { steps, value } = field
  const next = step > 0 ? steps.find((one) => one > value) : steps.findLast((one) => one < value)
  if (next !== undefined) change(form, field, next, PAUSE)
}

function change(form, field, value, pause = 0) {
  say(field, '')
  field.typing = false
  if (value === field.value) return draw(field)
  field.value = value
  draw(field)
  form.changes.edits[field.about.name] = value
  clearTimeout(form.timer)
  if (pause) form.timer = setTimeout(() => send(form), pause)
  else send(form)
}

function send(form) {
  clearTimeout(form.timer)
  if (!Object.keys(form.changes.edits).length) return
  form.changes.number += 1
  for (const name of Object.keys(form.changes.edits)) form.changes.sent[name] = form.changes.number
  form.changes.values = { ...form.changes.values, ...form.changes.edits }
  form.changes.edits = {}
  give(form, 0)
}

// What is on its way while the page is drawn may be lost: it is given again until it is answered.
function give(form, attempt) {
  const { number, values } = form.changes
  form.give('edited', JSON.stringify({ number, values, attempt }))
  clearTimeout(form.again)
  if (attempt < ATTEMPTS) {
    form.again = setTimeout(() => {
      form.hold = sendAtRest(() => {
        if (form.changes.answered < form.changes.number) give(form, attempt + 1)
      })
    }, PATIENCE)
  }
}

// A page that was loaded again, or a server that began anew, has forgotten what was set; its tab
// has not. Until that has been set again, nothing else is kept.
function restore(form, data) {
  const kept = readFromTab(form.stored)
  const differs = Object.keys(kept).length && JSON.stringify(kept) !== JSON.stringify(data.all)
  if (!data.restorable || !differs || form.changes.restored === data.visit) {
    form.changes.restored = data.visit
    form.stopRestoring?.()
    writeToTab(form.stored, data.all)
    return
  }
  if (form.stopRestoring) return
  let timer, hold
  form.stopRestoring = () => {
    clearTimeout(timer)
    hold?.()
  }
  const ask = (attempt) => {
    const edits = { ...form.changes.values, ...form.changes.edits }
    form.give('restored', JSON.stringify({ settings: kept, edits, attempt }))
    if (attempt === ATTEMPTS) form.changes.restored = data.visit
    else timer = setTimeout(() => { hold = sendAtRest(() => ask(attempt + 1)) }, PATIENCE)
  }
  ask(0)
}

function draw(field) {
  const { about, slide, typed, back, line, label, value } = field
  label.textContent = about.label
  label.title = about.help
  // While it is dragged its steps stay where they are.
  if (!slide.matches(':active')) {
    field.steps = [...new Set([...about.steps, value])].sort((a, b) => a - b)
    slide.max = field.steps.length - 1
    slide.value = field.steps.indexOf(value)
  }
  slide.setAttribute('aria-label', `${about.label}, slider`)
  slide.setAttribute('aria-valuetext', shown(value))
  slide.title = about.help
  // What is being typed, or could not be taken, stays.
  if (!field.typing) typed.value = shown(value)
  typed.title = about.help
  slide.disabled = typed.disabled = Boolean(about.off)
  const changed = value !== about.usual && !about.off
  line.classList.toggle('changed', changed)
  back.hidden = !changed
  back.title = `Back to ${shown(about.usual)}, as in ${about.origin}`
  back.setAttribute('aria-label', `${about.label}: back to ${shown(about.usual)}, as in ${about.origin}`)
}

// Another session knows of no change: what an earlier one has answered is not news to it.
function beginVisit(form, visit) {
  for (const [name, number] of Object.entries(form.changes.sent)) {
    if (number <= form.changes.answered) delete form.changes.sent[name]
  }
  form.changes.visit = visit
}

function update(form, data) {
  if (form.changes.visit !== data.visit) beginVisit(form, data.visit)
  form.changes.answered = data.number
  for (const about of data.fields) {
    const field = (form.fields[about.name] ??= makeField(form, about.name))
    field.about = about
    // What was changed here since, the server does not know yet.
    const newer = about.name in form.changes.edits || (form.changes.sent[about.name] ?? 0) > data.number
    if (newer) field.value ??= form.changes.edits[about.name] ?? form.changes.values[about.name]
    else {
      if (field.value !== about.value) {
        say(field, '')
        field.typing = false
      }
      field.value = about.value
      delete form.changes.values[about.name]
    }
    draw(field)
  }
}

export default function ({ data: { form: words }, parentElement, setStateValue }) {
  const data = JSON.parse(words)
  const root = parentElement.querySelector('.fields')
  let form = forms.get(root)
  if (!form) {
    const changes = (changesByForm[data.form] ??= { edits: {}, sent: {}, values: {}, number: 0, answered: 0 })
    form = { root, fields: {}, changes, stored: `${STORED}${data.form && ` ${data.form}`}` }
    forms.set(root, form)
  }
  const begins = !form.give || form.changes.visit !== data.visit
  form.give = setStateValue
  form.changes.number = Math.max(form.changes.number, data.number)
  update(form, data)
  if (begins && Object.keys(form.changes.values).length && form.changes.answered < form.changes.number) give(form, 0)
  restore(form, data)
  return () => {
    send(form)
    clearTimeout(form.again)
    form.hold?.()
    form.stopRestoring?.()
    forms.delete(root)
  }
}
