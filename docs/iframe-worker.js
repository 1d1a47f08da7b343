// Search, also where the site is opened from a disk: no browser starts a worker of a file there, so
// the worker's script runs in a hidden frame. On a web server nothing is changed.
'use strict'
if (location.protocol === 'file:') {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super()
      this.waiting = []
      this.frame = document.createElement('iframe')
      this.frame.hidden = true
      document.body.append(this.frame)
      const inside = this.frame.contentWindow
      const send = inside.postMessage.bind(inside)
      window.addEventListener('message', event => {
        if (event.source !== inside) return
        const message = new MessageEvent('message', { data: event.data })
        this.onmessage?.(message)
        this.dispatchEvent(message)
      })
      const answer = inside.document.createElement('script')
      answer.textContent = 'postMessage = data => parent.postMessage(data, "*")'
      const script = inside.document.createElement('script')
      script.src = new URL(address, location.href)
      script.addEventListener('load', () => {
        this.send = data => send(data, '*')
        for (const data of this.waiting) this.send(data)
        this.waiting = []
      })
      inside.document.body.append(answer, script)
    }

    postMessage(data) {
      if (this.send) this.send(data)
      else this.waiting.push(data)
    }

    terminate() {
      this.frame.remove()
    }
  }
}
