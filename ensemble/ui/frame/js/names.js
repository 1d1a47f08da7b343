// A run's name that has no room is cut in the middle, for what tells runs apart often stands at
// its end; the whole name shows on hover. The text itself stays as Streamlit drew it: the end is
// drawn by the style, from an attribute.
function watchNames() {
  if (window.ensembleNames) return
  window.ensembleNames = true
  const TAIL = 12, LONGEST_PART = 20 // characters that stay at the end
  const resizes = new ResizeObserver(schedule)
  const observed = new WeakSet() // to observe again would report again, without end
  let waiting = false

  // What stays: the last of the parts, "· seed 2", unless that is long.
  function endOf(text) {
    const at = text.lastIndexOf(' · ')
    return at > 0 && text.length - at <= LONGEST_PART ? text.slice(at) : text.slice(-TAIL)
  }

  function fit() {
    waiting = false
    for (const name of document.querySelectorAll('.st-key-run_line h3 [data-heading-text]')) {
      const text = name.textContent
      const heading = name.parentElement
      if (!observed.has(heading)) resizes.observe(heading)
      observed.add(heading)
      if (heading.title !== text) heading.title = text
      // Measured without its end: beside it a name has less room.
      delete heading.dataset.tail
      if (name.scrollWidth > name.clientWidth + 1) heading.dataset.tail = endOf(text)
    }
    for (const box of document.querySelectorAll('.st-key-run_line input[role=combobox]'))
      if (box.title !== box.value) box.title = box.value
  }

  // Once a frame at most, however much changes in it.
  function schedule() {
    if (!waiting) requestAnimationFrame(fit)
    waiting = true
  }
  new MutationObserver(schedule).observe(document.body, { childList: true, subtree: true, characterData: true })
  schedule()
}
