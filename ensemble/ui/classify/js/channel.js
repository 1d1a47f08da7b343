// What the sheet and the answer beside it tell each other: two components of one page.

// `live`: whether members answer in this browser. `drawing`: what is on the sheet, as of the last
// stroke. Events: "drawing" when that has changed, "explain" when the server is to be asked.
function findChannel() {
  window.ensembleDrawing ??= Object.assign(new EventTarget(), { live: false, drawing: null })
  return window.ensembleDrawing
}
