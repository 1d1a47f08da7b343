"use strict";
// The sheet of a report with members: what is drawn or dropped goes to a worker, which is made of
// the page's own text when it is first needed, and what the members say is shown as it comes.
(() => {
  const PEN = 18 / 288; // of the sheet's width: about what MNIST's pens are
  const INK_SIDE = 288; // pixels in which a drawing is read, whatever the screen has
  const LEAST_STEP = 1.5; // pixels of the sheet between two points of a stroke
  const KEY_STEP = 8; // pixels that an arrow key moves the pen
  const MOST_PICTURE_SIDE = 1200; // pixels; larger pictures are made smaller first

  const find = (name) => document.getElementById(`try-${name}`);
  const sheet = find("sheet");
  const paint = sheet.getContext("2d");
  const reading = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  let runs = [];
  let run = null;
  let strokes = [];
  let stroke = null;
  let pointer = null;
  let picture = null; // of a file: its pixels, and how it is shown
  let pen = null; // of the arrow keys, in pixels of the sheet

  const TOO_OLD = "The members cannot answer in this browser, which has to be of 2023 or later: the "
    + "sentences, tables and data are all here.";
  const DAMAGED = "The members in this file cannot be unpacked: save or send it again.";

  function stop(error, why = TOO_OLD) {
    find("problem").textContent = why;
    find("problem").hidden = false;
    find("body").hidden = true;
    console.error(error);
  }

  const answer = createMemberAnswer(find);
  const members = createMemberWorker({
    loadScript: () => unpackText("worker"),
    hear: answer.show,
    fail: (error, said) => stop(error, said ? DAMAGED : TOO_OLD),
    mark: (number) => { document.documentElement.dataset.asked = number; },
  });

  function choose(place) {
    run = runs[place];
    members.forget(); // What another run's members are being asked is no longer wanted.
    find("paper").classList.toggle("plain", !run.written);
    find("hint").textContent = run.written
      ? `Draw a ${run.noun} here, as large as the sheet, or drop a picture of one.`
      : `Drop a picture of one ${run.noun} here, or open one.`;
    sheet.setAttribute("aria-label", run.written
      ? `Sheet to draw one ${run.noun} on. Arrow keys move the pen, the space bar lowers and lifts `
        + "it, Delete clears the sheet."
      : `Sheet that shows the picture of one ${run.noun}. Enter opens one.`);
    find("undo").hidden = !run.written;
    strokes = [];
    picture = null;
    pen = null;
    draw();
    answer.chooseRun(run);
  }

  // What is on the sheet.

  function draw() {
    const side = sheet.clientWidth || INK_SIDE;
    const sharp = window.devicePixelRatio || 1;
    sheet.width = sheet.height = Math.round(side * sharp);
    paint.setTransform(1, 0, 0, 1, 0, 0);
    if (picture) {
      const scale = sheet.width / Math.max(picture.bitmap.width, picture.bitmap.height);
      const [wide, high] = [picture.bitmap.width * scale, picture.bitmap.height * scale];
      paint.imageSmoothingEnabled = scale < 1;
      paint.drawImage(picture.bitmap, (sheet.width - wide) / 2, (sheet.height - high) / 2, wide, high);
    } else {
      trace(paint, sheet.width / INK_SIDE);
    }
    const empty = !picture && !strokes.length && !stroke;
    find("hint").hidden = !empty;
    find("undo").disabled = !strokes.length;
    find("clear").disabled = empty;
    find("pen").hidden = !pen;
    if (pen) {
      find("pen").style.left = `${(100 * pen.x) / INK_SIDE}%`;
      find("pen").style.top = `${(100 * pen.y) / INK_SIDE}%`;
      find("pen").classList.toggle("down", Boolean(stroke));
    }
  }

  // Through the middles of neighbouring points, which are the handles: no corners.
  function trace(place, scale) {
    place.setTransform(scale, 0, 0, scale, 0, 0);
    place.lineCap = place.lineJoin = "round";
    place.lineWidth = PEN * INK_SIDE;
    place.strokeStyle = "#000";
    for (const points of stroke ? [...strokes, stroke] : strokes) {
      place.beginPath();
      place.moveTo(...points[0]);
      for (let i = 1; i < points.length - 1; i++) {
        const [x, y] = points[i], [nextX, nextY] = points[i + 1];
        place.quadraticCurveTo(x, y, (x + nextX) / 2, (y + nextY) / 2);
      }
      place.lineTo(...points.at(-1));
      place.stroke();
    }
  }

  function readInput() {
    if (picture) return { ...picture.pixels, rgba: picture.pixels.rgba.slice() };
    reading.canvas.width = reading.canvas.height = INK_SIDE;
    trace(reading, 1);
    const { data } = reading.getImageData(0, 0, INK_SIDE, INK_SIDE);
    const ink = new Uint8Array(INK_SIDE * INK_SIDE);
    for (let at = 0; at < ink.length; at++) ink[at] = data[4 * at + 3];
    return { ink, width: INK_SIDE, height: INK_SIDE };
  }

  function here(event) {
    const box = sheet.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top].map((at) => (at * INK_SIDE) / box.width);
  }

  function extend([x, y]) {
    const [lastX, lastY] = stroke.at(-1);
    if (Math.hypot(x - lastX, y - lastY) >= LEAST_STEP) stroke.push([x, y]);
  }

  function begin(at) {
    picture = null;
    stroke = [at];
    change();
  }

  function end() {
    if (stroke) strokes.push(stroke);
    stroke = null;
    change();
  }

  function clear() {
    strokes = [];
    stroke = picture = null;
    change();
  }

  sheet.addEventListener("pointerdown", (event) => {
    if (!run.written || pointer !== null || event.button !== 0) return;
    event.preventDefault();
    sheet.focus({ preventScroll: true });
    pointer = event.pointerId;
    sheet.setPointerCapture(pointer);
    if (stroke) strokes.push(stroke); // of the arrow keys
    pen = null;
    begin(here(event));
  });
  sheet.addEventListener("pointermove", (event) => {
    if (event.pointerId !== pointer) return;
    const all = event.getCoalescedEvents?.() ?? [];
    for (const one of all.length ? all : [event]) extend(here(one));
    change();
  });
  for (const kind of ["pointerup", "pointercancel"]) {
    sheet.addEventListener(kind, (event) => {
      if (event.pointerId !== pointer) return;
      pointer = null;
      end();
    });
  }

  sheet.addEventListener("keydown", (event) => {
    if (event.altKey || pointer !== null) return;
    if (!run.written) {
      if (event.key !== "Enter") return;
      event.preventDefault();
      find("file").click();
      return;
    }
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z") undo();
    else if (event.ctrlKey || event.metaKey) return;
    else if (event.key === "Delete" || event.key === "Backspace") clear();
    else if (event.key === " ") lowerOrLift();
    else if (event.key.startsWith("Arrow")) movePen(event.key.slice(5), event.shiftKey ? 2 : KEY_STEP);
    else return;
    event.preventDefault();
  });

  function placePen() {
    pen ??= { x: INK_SIDE / 2, y: INK_SIDE / 4 };
  }

  function lowerOrLift() {
    placePen();
    if (stroke) end();
    else begin([pen.x, pen.y]);
  }

  function movePen(way, step) {
    placePen();
    const [right, down] = { Left: [-1, 0], Right: [1, 0], Up: [0, -1], Down: [0, 1] }[way] ?? [0, 0];
    pen.x = Math.min(Math.max(pen.x + step * right, 0), INK_SIDE);
    pen.y = Math.min(Math.max(pen.y + step * down, 0), INK_SIDE);
    if (!stroke) return draw();
    extend([pen.x, pen.y]);
    change();
  }

  function undo() {
    stroke = null;
    strokes.pop();
    change();
  }

  sheet.addEventListener("blur", () => {
    if (pointer !== null || !pen) return;
    pen = null;
    if (stroke) end();
    else draw();
  });

  find("undo").addEventListener("click", undo);
  find("clear").addEventListener("click", clear);
  find("open").addEventListener("click", () => find("file").click());
  find("file").addEventListener("change", () => {
    const [file] = find("file").files;
    if (file) openPicture(file);
    find("file").value = "";
  });

  for (const kind of ["dragenter", "dragover", "dragleave", "drop"]) {
    find("paper").addEventListener(kind, (event) => {
      event.preventDefault();
      find("paper").classList.toggle("over", kind === "dragenter" || kind === "dragover");
      const [file] = kind === "drop" ? event.dataTransfer.files : [];
      if (file) openPicture(file);
    });
  }

  async function openPicture(file) {
    let bitmap;
    try {
      bitmap = await createImageBitmap(file);
    } catch {
      answer.show(null);
      find("answer").textContent = "This file is no picture that the browser can open: try a PNG or "
        + "JPEG.";
      return;
    }
    const scale = Math.min(1, MOST_PICTURE_SIDE / Math.max(bitmap.width, bitmap.height));
    const width = Math.max(1, Math.round(bitmap.width * scale));
    const height = Math.max(1, Math.round(bitmap.height * scale));
    reading.canvas.width = width;
    reading.canvas.height = height;
    reading.setTransform(1, 0, 0, 1, 0, 0);
    reading.imageSmoothingQuality = "high";
    reading.drawImage(bitmap, 0, 0, width, height);
    const { data } = reading.getImageData(0, 0, width, height);
    strokes = [];
    stroke = pen = null;
    picture = { bitmap, pixels: { rgba: data, width, height } };
    change();
  }

  // The worker.

  function change() {
    draw();
    ask();
  }

  function ask() {
    if (picture || strokes.length || stroke) {
      members.ask({ key: run.run, load: loadMembers }, readInput);
      return;
    }
    members.forget();
    answer.show(null);
  }

  // What the worker unpacks the members of.
  async function loadMembers() {
    find("answer").textContent = "Unpacking the members …";
    const capsule = [...document.querySelectorAll("script[data-run]")]
      .find((element) => element.dataset.run === run.run);
    return { ...run, capsule: capsule.textContent };
  }

  async function begun() {
    if (!window.Worker || !window.DecompressionStream || !window.createImageBitmap) {
      stop("Worker, DecompressionStream or createImageBitmap is missing");
      return;
    }
    runs = JSON.parse(await unpackText("classifiers"));
    const list = find("run");
    list.replaceChildren(...runs.map(({ title }, place) => new Option(title, place)));
    list.addEventListener("change", () => choose(Number(list.value)));
    find("choice").hidden = runs.length === 1;
    find("body").hidden = false;
    choose(0);
    addEventListener("resize", draw);
    document.documentElement.dataset.tried = "";
  }

  begun().catch((error) => stop(error));
})();
