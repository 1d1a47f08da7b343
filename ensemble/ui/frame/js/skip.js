// A link that moves the focus to the first control of the element with this key, which may lie in
// a component of its own (a shadow root). The address stays as it is.
function linkTo(key) {
  const CONTROLS = 'button:not([tabindex="-1"]), a[href], input, [tabindex="0"]'

  function firstControl(root) {
    const own = root.querySelector(CONTROLS)
    if (own) return own
    for (const one of root.querySelectorAll('*')) {
      const inner = one.shadowRoot && firstControl(one.shadowRoot)
      if (inner) return inner
    }
    return null
  }

  const link = document.querySelector('.st-key-skip_link a')
  if (!link) return
  link.onclick = (event) => {
    event.preventDefault()
    const target = document.querySelector(`.st-key-${key}`)
    const control = target && firstControl(target)
    control?.scrollIntoView({ block: 'nearest' })
    control?.focus()
  }
}
