// What the members say while the pen moves, computed in this browser from what the sheet tells.

const panels = new WeakMap()

function makePanel(root, data) {
  const find = (name) => root.querySelector(`#try-${name}`)
  const panel = { root, find, data, channel: findChannel(), answer: createMemberAnswer(find) }
  panel.members = createMemberWorker({
    loadScript: () => WORKER_SCRIPT,
    hear: panel.answer.show,
    fail: (error) => failPanel(panel, error),
    mark: (number) => { root.dataset.asked = number },
  })
  panel.listener = () => showDrawing(panel)
  panel.channel.addEventListener('drawing', panel.listener)
  find('explain').onclick = () => panel.channel.dispatchEvent(new Event('explain'))
  return panel
}

function showMembers(panel, data) {
  const before = JSON.stringify(panel.data?.classifier)
  panel.data = data
  if (!panel.shown || before !== JSON.stringify(data.classifier)) {
    panel.members.forget()
    panel.answer.chooseRun(data.classifier)
    panel.shown = true
  }
  panel.find('introduction').textContent = data.introduction
  panel.channel.live = Boolean(window.Worker) && !panel.failed
  panel.root.dataset.live = panel.channel.live
  showDrawing(panel)
}

// The server answers where this browser cannot: as if nothing but it were there.
function failPanel(panel, error) {
  console.error(error)
  panel.failed = true
  panel.channel.live = false
  panel.root.dataset.live = false
  panel.root.hidden = true
  panel.channel.dispatchEvent(new Event('explain'))
}

function showDrawing(panel) {
  const { drawing } = panel.channel
  const empty = !drawing || drawing.empty
  panel.root.hidden = panel.failed || Boolean(drawing?.onServer)
  panel.find('intro').hidden = !empty
  panel.find('said').hidden = empty
  if (empty || panel.root.hidden) {
    panel.members.forget()
    panel.answer.show(null)
    return
  }
  panel.members.ask({ key: panel.data.address, load: () => loadMembers(panel) }, drawing.read)
  if (panel.loaded !== panel.data.address) panel.find('answer').textContent = 'Loading the members …'
}

async function loadMembers(panel) {
  const { data } = panel
  const response = await fetch(data.address)
  if (!response.ok) throw new Error(`The members could not be loaded: ${response.status}`)
  const capsule = new Uint8Array(await response.arrayBuffer())
  panel.loaded = data.address
  return { ...data.classifier, capsule }
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector('.live')
  let panel = panels.get(parentElement)
  if (!panel) {
    panel = makePanel(root, data)
    panels.set(parentElement, panel)
  }
  showMembers(panel, data)
  return () => {
    panel.channel.removeEventListener('drawing', panel.listener)
    panel.channel.live = false
    panel.members.close()
    panels.delete(parentElement)
  }
}
