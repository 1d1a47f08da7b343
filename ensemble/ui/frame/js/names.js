// A run's name that has no room is cut in the middle, for what tells runs apart often stands at
// its end; the whole name shows on hover. The text itself stays as Streamlit drew it: the end is
// drawn by the style, from an attribute.
function watchNames() {
  if (window.ensembleNames) return
  window.ensembleNames = true
  const TAIL = 12, LONGEST_PART = 20 // characters that stay at the end
  const resizes = new ResizeObserver(() => fit())
  const observed = new WeakSet() // to observe again would report again, without end

  // What stays: the last of the parts, "· seed 2", unless that is long.
  function endOf(text) {
    const at = text.lastIndexOf(' · ')
    return at > 0 && text.length - at <= LONGEST_PART ? text.slice(at) : text.slice(-TAIL)
  }

  function fit() {
    for (const name of document.querySelectorAll('.st-key-run_line h3 [data-heading-text]')) {
      const text = name.textContent
      const cut = name.scrollWidth > name.clientWidth + 1
      const heading = name.parentElement
      if (!observed.has(heading)) resizes.observe(heading)
      observed.add(heading)
      if (heading.title !== text) heading.title = text
      // Beside its end a name has less room than without: one that fits there needs none.
      if (!cut) delete heading.dataset.tail
      else if (heading.dataset.tail !== endOf(text)) heading.dataset.tail = endOf(text)
    }
    for (const box of document.querySelectorAll('.st-key-run_line input[role=combobox]'))
      if (box.title !== box.value) box.title = box.value
  }

  new MutationObserver(fit).observe(document.body, { childList: true, subtree: true, characterData: true })
  fit()
}
