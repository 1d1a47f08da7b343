"use strict";
// The sheet of a report with members: what is drawn or dropped goes to a worker, which is made of
// the page's own text when it is first needed, and what the members say is shown as it comes.
(() => {
  const PEN = 18 / 288; // of the sheet's width: about what MNIST's pens are
  const INK_SIDE = 288; // pixels in which a drawing is read, whatever the screen has
  const LEAST_STEP = 1.5; // pixels of the sheet between two points of a stroke
  const KEY_STEP = 8; // pixels that an arrow key moves the pen
  const MOST_PICTURE_SIDE = 1200; // pixels; larger pictures are made smaller first
  const MOST_ROWS = 12; // classes with a bar: all, or of many the likeliest ten
  const MOST_VOTE_LINES = 3;
  const EQUAL_CONFIDENCE = 0.1; // members that vote alike are then as sure as each other
  const UNSURE_SHARE = 0.6; // a list of one class that is less likely wants a word
  const REST = 600; // ms after which a screen reader is told

  const find = (name) => document.getElementById(`try-${name}`);
  const sheet = find("sheet");
  const paint = sheet.getContext("2d");
  const reading = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  let runs = [];
  let run = null;
  let worker = null;
  let openedRun = "";
  let busy = false; // whether the worker has a question
  let changed = false; // whether there is a newer one
  let serial = 0;
  let strokes = [];
  let stroke = null;
  let pointer = null;
  let picture = null; // of a file: its pixels, and how it is shown
  let pen = null; // of the arrow keys, in pixels of the sheet
  let rows = [];
  let columns = [];
  let spoken = 0;

  const TOO_OLD = "The members cannot answer in this browser, which has to be of 2023 or later: the "
    + "sentences, tables and data are all here.";
  const DAMAGED = "The members in this file cannot be unpacked: save or send it again.";

  function stop(error, why = TOO_OLD) {
    find("problem").textContent = why;
    find("problem").hidden = false;
    find("body").hidden = true;
    console.error(error);
  }

  function choose(place) {
    run = runs[place];
    serial += 1; // What another run's members are being asked is no longer wanted.
    changed = false;
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
    buildBars();
    draw();
    show(null);
  }

  function buildBars() {
    const classes = run.class_names.length;
    const shown = classes > MOST_ROWS ? 10 : classes;
    rows = Array.from({ length: shown }, () => {
      const row = ["span", "i", "b"].map((tag) => document.createElement(tag));
      return row;
    });
    find("classes").replaceChildren(...rows.flat());
    const several = run.member_names.length > 1;
    columns = (several ? run.member_names : []).map((name, member) => {
      const figure = document.createElement("figure");
      figure.setAttribute("role", "img");
      figure.style.setProperty("--hue", run.hues[member]);
      const bars = document.createElement("div");
      bars.append(...rows.map(() => document.createElement("i")));
      const caption = document.createElement("figcaption");
      figure.append(bars, caption);
      return { figure, bars: [...bars.children], caption, name };
    });
    find("members").replaceChildren(...columns.map((column) => column.figure));
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
      show(null);
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
    if (!picture && !strokes.length && !stroke) {
      serial += 1; // What is under way is no longer wanted.
      changed = false;
      show(null);
      return;
    }
    if (busy) {
      changed = true;
      return;
    }
    setBusy(true);
    changed = false;
    serial += 1;
    start().then(() => {
      const input = readInput();
      worker.postMessage({ kind: "ask", serial, ...input }, [(input.ink ?? input.rgba).buffer]);
    }).catch((error) => stop(error));
  }

  function setBusy(is) {
    busy = is;
    document.documentElement.dataset.asked = is ? String(serial + 1) : "";
  }

  // The worker with the members of the run, which are unpacked there.
  async function start() {
    if (!worker) {
      const text = await unpackText("worker");
      const address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
      worker = new Worker(address);
      worker.addEventListener("message", ({ data }) => hear(data));
      worker.addEventListener("error", (event) => stop(event.message));
    }
    if (openedRun === run.run) return;
    openedRun = run.run;
    find("answer").textContent = "Unpacking the members …";
    const capsule = [...document.querySelectorAll("script[data-run]")]
      .find((element) => element.dataset.run === run.run);
    const { network, epoch, members, shape, written, ground } = run;
    const text = capsule.textContent;
    worker.postMessage({ kind: "open", run: run.run, text, network, epoch, members, shape, written, ground });
  }

  function hear(said) {
    if (said.kind === "failed") {
      stop(said.why, DAMAGED);
      return;
    }
    if (said.kind === "opened") return;
    setBusy(false);
    if (said.serial === serial) show(said);
    if (changed) ask();
  }

  // What the members say.

  function computeShares(logits, members, classes) {
    return Array.from({ length: members }, (_, member) => {
      const own = logits.subarray(member * classes, (member + 1) * classes);
      const most = own.reduce((top, logit) => Math.max(top, logit), -Infinity);
      const raised = Array.from(own, (logit) => Math.exp(logit - most));
      const sum = raised.reduce((all, value) => all + value, 0);
      return { shares: raised.map((value) => value / sum), energy: -(most + Math.log(sum)) };
    });
  }

  function show(said) {
    const answered = said?.kind === "answered";
    find("seen-line").hidden = !answered;
    for (const name of ["answer", "votes", "set", "note"]) find(name).textContent = "";
    find("classes").hidden = !answered;
    find("members").hidden = find("order").hidden = !answered || columns.length === 0;
    if (!answered) {
      if (said) find("answer").textContent = `There is no ${run.noun} to be seen on it.`;
      return;
    }
    const classes = run.class_names.length;
    const each = computeShares(said.logits, run.members.length, classes);
    const average = run.class_names.map((_, c) => (
      each.reduce((all, { shares }) => all + shares[c], 0) / each.length
    ));
    const best = findMost(average);
    const votes = each.map(({ shares }) => findMost(shares));
    const rejected = isRejected(each, average);
    const verdict = `${run.class_names[best]} with ${formatShare(average[best])}`;
    find("answer").textContent = rejected ? `${run.rejection.sentence}.` : `${verdict}.`;
    find("votes").textContent = describeAgreement(each, votes);
    find("set").textContent = rejected ? `The likeliest is ${verdict}.` : describeSet(average);
    find("note").textContent = rejected ? run.rejection.note : (run.sets?.note ?? "");
    showBars(each, average, votes, best);
    showImage(said.images);
    clearTimeout(spoken);
    spoken = setTimeout(() => {
      find("spoken").textContent = ["answer", "votes", "set"].map((name) => find(name).textContent).join(" ");
    }, REST);
  }

  function findMost(shares) {
    return shares.reduce((best, share, c) => (share > shares[best] ? c : best), 0);
  }

  function isRejected(each, average) {
    if (!run.rejection) return false;
    const score = run.rejection.measure === "energy"
      ? each.reduce((all, { energy }) => all + energy, 0) / each.length
      : -average.reduce((all, share) => all + (share > 0 ? share * Math.log(share) : 0), 0);
    return score > run.rejection.threshold;
  }

  function formatShare(share) {
    if (share >= 0.9995) return "over 99.9 %";
    return share < 0.0005 ? "under 0.1 %" : `${(100 * share).toFixed(1)} %`;
  }

  function describeAgreement(each, votes) {
    if (votes.length === 1) return "With one member there is no disagreement.";
    const first = votes[0], name = run.class_names[first];
    if (votes.some((vote) => vote !== first)) return `They split: ${countVotes(votes)}.`;
    const who = votes.length === 2 ? "Both members" : `All ${votes.length} members`;
    const own = each.map(({ shares }) => shares[first]);
    const [low, high] = [Math.min(...own), Math.max(...own)];
    if (high - low <= EQUAL_CONFIDENCE) return `${who} say ${name}.`;
    return `${who} say ${name}, but not as surely: ${formatShare(low)} to ${formatShare(high)}.`;
  }

  function countVotes(votes) {
    const counts = new Map();
    for (const vote of votes) counts.set(vote, (counts.get(vote) ?? 0) + 1);
    const order = [...counts].sort(([one, some], [other, more]) => more - some || one - other);
    const few = order.length <= MOST_VOTE_LINES + 1;
    const listed = few ? order : order.slice(0, MOST_VOTE_LINES);
    const texts = listed.map(([vote, count]) => (
      `${count} ${count === 1 ? "says" : "say"} ${run.class_names[vote]}`
    ));
    const rest = votes.length - listed.reduce((all, [, count]) => all + count, 0);
    return (rest ? [...texts, `${rest} something else`] : texts).join(", ");
  }

  // The conformal set, as ensemble/analysis/quality/conformal.py has it.
  function findSet(average, { method, threshold, penalty, free }) {
    if (threshold === null) return average.map((_, c) => c);
    if (method === "lac") return average.map((_, c) => c).filter((c) => 1 - average[c] <= threshold);
    const falling = average.map((_, c) => c).sort((one, other) => average[other] - average[one] || one - other);
    let ahead = 0;
    let size = 0;
    falling.forEach((c, place) => {
      const price = method === "raps" ? penalty * Math.max(place + 1 - free, 0) : 0;
      if (ahead + price <= threshold) size += 1;
      ahead += average[c];
    });
    return falling.slice(0, Math.max(size, 1)).sort((one, other) => one - other);
  }

  function describeSet(average) {
    if (!run.sets) return "";
    const set = findSet(average, run.sets);
    const names = set.map((c) => run.class_names[c]).join(", ");
    const all = set.length === average.length && set.length > 2;
    const text = `Short list: ${all ? `any of the ${set.length}` : `{${names}}`} at ${run.sets.level}.`;
    if (set.length !== 1 || average[set[0]] >= UNSURE_SHARE) return text;
    return `${text} Lists keep their promise on average over images; of this one alone the `
      + `probability, ${formatShare(average[set[0]])}, says more.`;
  }

  function showBars(each, average, votes, best) {
    const order = average.map((_, c) => c);
    if (order.length > rows.length) order.sort((one, other) => average[other] - average[one] || one - other);
    const shown = order.slice(0, rows.length);
    rows.forEach((row, place) => {
      const [name, bar, share] = row;
      const c = shown[place];
      name.textContent = name.title = run.class_names[c];
      bar.style.setProperty("--share", average[c].toFixed(4));
      share.textContent = formatShare(average[c]);
      row.forEach((cell) => cell.classList.toggle("most", c === best));
    });
    columns.forEach(({ figure, bars, caption, name }, member) => {
      const { shares } = each[member];
      const vote = votes[member];
      bars.forEach((bar, place) => bar.style.setProperty("--share", shares[shown[place]].toFixed(4)));
      caption.textContent = `${name}: ${run.class_names[vote]}`;
      figure.setAttribute("aria-label", `Member ${name} says ${run.class_names[vote]} with ${formatShare(shares[vote])}`);
    });
  }

  function showImage(bytes) {
    const [height, width, channels] = run.shape;
    const seen = find("seen");
    seen.width = width;
    seen.height = height;
    const shown = new ImageData(width, height);
    for (let at = 0; at < width * height; at++) {
      for (let color = 0; color < 3; color++) {
        shown.data[4 * at + color] = bytes[at * channels + (channels === 3 ? color : 0)];
      }
      shown.data[4 * at + 3] = 255;
    }
    seen.getContext("2d").putImageData(shown, 0, 0);
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
