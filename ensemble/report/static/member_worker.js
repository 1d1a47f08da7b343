"use strict";
// One question at a time to the worker with a run's members; of those that come meanwhile, the
// newest.

// `loadScript` gives the worker's text; `hear` takes what is said of the newest question; `fail`
// an error, and whether the worker itself tells of it, as of weights that are damaged; `mark` is
// told the number of the open question, "" when none is.
function createMemberWorker({ loadScript, hear, fail, mark }) {
  let worker = null;
  let opened = "";
  let busy = false;
  let waiting = null; // the newest question that came while another was open
  let serial = 0;

  // `members` has a `key` of its own, and `load`, which gives what the worker opens them with;
  // `read` gives the image when it is asked about.
  function ask(members, read) {
    if (busy) {
      waiting = [members, read];
      return;
    }
    setBusy(true);
    serial += 1;
    const own = serial;
    start(members).then(() => {
      const input = read();
      worker.postMessage({ kind: "ask", serial: own, ...input }, [(input.ink ?? input.rgba).buffer]);
    }).catch((error) => {
      opened = "";
      setBusy(false);
      fail(error, false);
    });
  }

  // What is under way is no longer wanted.
  function forget() {
    serial += 1;
    waiting = null;
  }

  function setBusy(is) {
    busy = is;
    mark(is ? String(serial + 1) : "");
  }

  async function start({ key, load }) {
    if (!worker) {
      const address = URL.createObjectURL(new Blob([await loadScript()], { type: "text/javascript" }));
      worker = new Worker(address);
      worker.addEventListener("message", ({ data }) => take(data));
      worker.addEventListener("error", (event) => fail(event.message, false));
    }
    if (opened === key) return;
    opened = key;
    worker.postMessage({ kind: "open", ...(await load()) });
  }

  function take(said) {
    if (said.kind === "failed") {
      fail(said.why, true);
      return;
    }
    if (said.kind === "opened") return;
    setBusy(false);
    if (said.serial === serial) hear(said);
    if (!waiting) return;
    const [members, read] = waiting;
    waiting = null;
    ask(members, read);
  }

  function close() {
    worker?.terminate();
    worker = null;
    opened = "";
  }

  return { ask, forget, close };
}
