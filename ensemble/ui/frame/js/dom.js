// What charts of our own need of the browser: nodes, buttons, what a tab keeps, files to save.
const SVG = 'http://www.w3.org/2000/svg'

function setAttributes(element, values) {
  for (const [name, value] of Object.entries(values)) element.setAttribute(name, value)
}

function node(parent, name, attributes = {}, text = undefined) {
  const made = document.createElementNS(SVG, name)
  setAttributes(made, attributes)
  if (text !== undefined) made.textContent = text
  parent.append(made)
  return made
}

function button(parent, label, help, act) {
  const made = document.createElement('button')
  made.type = 'button'
  made.textContent = label
  made.title = help
  made.onclick = act
  parent.append(made)
  return made
}

// A browser may keep nothing, and what is kept may be another version's.
function readFromTab(name) {
  try {
    return JSON.parse(sessionStorage.getItem(name)) ?? {}
  } catch {
    return {}
  }
}

function writeToTab(name, value) {
  try {
    sessionStorage.setItem(name, JSON.stringify(value))
  } catch {}
}

function saveFile(name, blob) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10000)
}
