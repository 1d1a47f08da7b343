// Pictures from the clipboard: by Ctrl+V anywhere on the page, or by the button.

const pastes = new WeakMap()
const MOST_BYTES = 20 * 1024 * 1024
const MOST = 10

function say(paste, text) {
  paste.note.textContent = text
}

function read(blob) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(',') + 1))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(blob)
  })
}

async function take(paste, blobs) {
  const pictures = blobs.filter((blob) => blob.type.startsWith('image/')).slice(0, MOST)
  if (!pictures.length) {
    say(paste, 'There is no picture in the clipboard: copy one first.')
    return
  }
  if (pictures.reduce((sum, blob) => sum + blob.size, 0) > MOST_BYTES) {
    say(paste, 'What is in the clipboard is over 20 MB: make it smaller, or upload a file.')
    return
  }
  say(paste, '')
  const files = []
  for (const blob of pictures) files.push({ name: blob.name ?? '', data: await read(blob) })
  paste.send('pasted', files)
}

function onPaste(paste, event) {
  const files = [...(event.clipboardData?.files ?? [])]
  const typing = event.composedPath()[0].matches?.('input, textarea, [contenteditable]')
  if (typing && !files.length) return
  event.preventDefault()
  take(paste, files)
}

async function fromButton(paste) {
  let items
  try {
    items = await navigator.clipboard.read()
  } catch {
    say(paste, 'Your browser does not let the page look: press Ctrl+V instead.')
    return
  }
  const blobs = []
  for (const item of items) {
    const type = item.types.find((name) => name.startsWith('image/'))
    if (type) blobs.push(await item.getType(type))
  }
  take(paste, blobs)
}

export default function ({ parentElement, setTriggerValue }) {
  const root = parentElement.querySelector('.paste')
  let paste = pastes.get(parentElement)
  if (!paste) {
    paste = { note: root.querySelector('.note') }
    pastes.set(parentElement, paste)
    paste.listener = (event) => onPaste(paste, event)
    document.addEventListener('paste', paste.listener)
    const button = root.querySelector('button')
    button.onclick = () => fromButton(paste)
    button.disabled = false
  }
  paste.send = setTriggerValue
  return () => {
    document.removeEventListener('paste', paste.listener)
    pastes.delete(parentElement)
  }
}
