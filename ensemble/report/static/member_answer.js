"use strict";
// What a run's members say of one image, as it is shown: in words, as bars of the ensemble and of
// every member. A report has it beside its sheet, Classify beside the drawing.

const MOST_ROWS = 12; // classes with a bar: all, or of many the likeliest ten
const MOST_VOTE_LINES = 3;
const EQUAL_CONFIDENCE = 0.1; // members that vote alike are then as sure as each other
const UNSURE_SHARE = 0.6; // a list of one class that is less likely wants a word
const READ_OUT_DELAY = 600; // ms after which a screen reader is told

// The answer in elements that `find` has by their names; `chooseRun` says whose it is, a
// `PageClassifier`, and `show` takes what the worker says; null clears it.
function createMemberAnswer(find) {
  let run = null;
  let rows = [];
  let columns = [];
  let spoken = 0;

  function chooseRun(chosen) {
    run = chosen;
    buildBars();
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
    readOut();
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
  }

  // Have a screen reader read what then is shown, and nothing of what was before.
  function readOut() {
    clearTimeout(spoken);
    find("spoken").textContent = "";
    spoken = setTimeout(() => {
      const texts = ["answer", "votes", "set"].map((name) => find(name).textContent);
      find("spoken").textContent = texts.filter(Boolean).join(" ");
    }, READ_OUT_DELAY);
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

  return { chooseRun, show };
}
