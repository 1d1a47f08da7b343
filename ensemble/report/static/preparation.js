"use strict";
// What a person draws or drops, as the networks get it: the same steps as in ensemble/pictures/.
// Of what a pen wrote segmentation/mnist_form.py, of other pictures whole_picture.py; images are
// made larger and smaller as Pillow does it.

const MNIST_SIDE = 28, MNIST_BOX = 19.6; // pixels; the box between half-way edges
const CELLS = 4; // cells of the bench in a pixel
const MIN_STROKE = 2.1, MAX_STROKE = 3.4, FINE_PEN_STROKE = 2.6, FINEST_STROKE = 1.4; // pixels
const CENTER_OFFSET = 14 - (MNIST_SIDE - 1) / 2;
const MAX_INK_REACH = MNIST_SIDE / 2 - CENTER_OFFSET - 0.5;
const MIN_STROKE_CHANGE = 0.25, MIN_LOOP_CELLS = 3, MIN_CORE_CELLS = 1.5; // cells
const MAX_THINNING_SHARE = 0.3, FINE_PEN_LEVEL = 0.75, SOFT_LEVEL = 0.13;
const MAX_DARK_RIM = 48, MIN_LIGHT_RIM = 207, MAX_RIM_SPREAD = 40; // levels of 255
const LEAST_CONTRAST = 40; // levels of 255 that ink and paper are apart
const MOST_INK_SHARE = 0.6, LIGHT_LEVEL = 160, BLANK_LEVEL = 223; // of transparent pictures

const FILTERS = {
  box: { support: 0.5, weigh: (x) => (x > -0.5 && x <= 0.5 ? 1 : 0) },
  hamming: {
    support: 1,
    weigh: (x) => {
      const turn = Math.PI * Math.abs(x);
      if (!turn) return 1;
      return turn >= Math.PI ? 0 : (Math.sin(turn) / turn) * (0.54 + 0.46 * Math.cos(turn));
    },
  },
  bicubic: {
    support: 2,
    weigh: (x) => {
      const off = Math.abs(x);
      if (off < 1) return (1.5 * off - 2.5) * off * off + 1;
      return off < 2 ? ((-0.5 * off + 2.5) * off - 4) * off + 2 : 0;
    },
  },
};

// The image that the networks get, uint8 (height, width, channels) in a row; null of no ink.
// What is asked about is `ink` (how much of each pixel is ink) or `rgba`, `width` by `height`.
function prepareInput({ ink, rgba, width, height }, shape, written, ground, clear) {
  if (ink) return convertToMnist({ data: ink, width, height });
  const picture = { data: flattenTransparency(rgba, clear), width, height };
  if (!written) return cropPicture(picture, shape, ground);
  const grey = convertToGrey(picture);
  if (isNetworkInput(grey)) return Uint8Array.from(grey.data);
  const found = findInk(grey);
  return found && convertToMnist(found);
}

// A picture on white, or on black, as pictures/files/transparency.py puts it: by the ground that
// transparent pictures of its dataset have ("black", "mixed"), else black if it is drawn in light ink.
function flattenTransparency(rgba, clear) {
  const onWhite = blendOn(255, rgba);
  const painted = [];
  for (let at = 0; at < rgba.length; at += 4) if (rgba[at + 3] > 127) painted.push(at);
  let black = clear === "black";
  if (clear === "mixed") {
    const some = painted.length > 0 && painted.length < rgba.length / 4;
    black = some && onWhite.every((level, at) => at % 4 === 3 || level > BLANK_LEVEL);
  } else if (!black && painted.length > 0 && painted.length < MOST_INK_SHARE * rgba.length / 4) {
    black = findQuantile(painted.map((at) => readLuma(rgba, at)), 0.001) > LIGHT_LEVEL;
  }
  return black ? blendOn(0, rgba) : onWhite;
}

function blendOn(paper, rgba) {
  return rgba.map((level, at) => {
    const cover = rgba[at - (at % 4) + 3] / 255;
    return at % 4 === 3 ? 255 : Math.round(level * cover + paper * (1 - cover));
  });
}

// The luma of ITU-R BT.601.
function readLuma(rgba, at) {
  return (rgba[at] * 19595 + rgba[at + 1] * 38470 + rgba[at + 2] * 7471 + 0x8000) >> 16;
}

function createGrid(width, height, kind = Float32Array) {
  return { data: new kind(width * height), width, height };
}

function convertToGrey({ data, width, height }) {
  const grey = createGrid(width, height);
  for (let at = 0; at < grey.data.length; at++) grey.data[at] = readLuma(data, 4 * at);
  return grey;
}

// Whether it is in the networks' form already: of their size, black all around light ink.
function isNetworkInput({ data, width, height }) {
  if (width !== MNIST_SIDE || height !== MNIST_SIDE) return false;
  const rim = listRim({ data, width, height });
  return rim.every((level) => level === 0) && data.some((level) => level >= 128);
}

function listRim({ data, width, height }) {
  const rim = [];
  for (let x = 0; x < width; x++) rim.push(data[x], data[(height - 1) * width + x]);
  for (let y = 0; y < height; y++) rim.push(data[y * width], data[y * width + width - 1]);
  return rim;
}

// How much of each pixel is ink, by how far it is from the paper, which is what its rim shows.
function findInk({ data, width, height }) {
  const paper = findQuantile(listRim({ data, width, height }), 0.5);
  const most = data.reduce((top, level) => Math.max(top, level), 0);
  const least = data.reduce((low, level) => Math.min(low, level), 255);
  const light = most - paper > paper - least;
  const reach = light ? most - paper : paper - least;
  if (reach < LEAST_CONTRAST) return null;
  const ink = createGrid(width, height);
  for (let at = 0; at < data.length; at++) {
    const off = (light ? data[at] - paper : paper - data[at]) / reach;
    // Below a fifth it is paper with a shadow on it; from four fifths on all of it is ink.
    ink.data[at] = Math.round(255 * Math.min(Math.max((off - 0.2) / 0.6, 0), 1));
  }
  return ink;
}

// A picture's middle in the proportions of the networks' images, at their size.
function cropPicture(picture, [high, wide, channels], ground) {
  const { width, height } = picture;
  const ready = width === wide && height === high;
  const across = Math.min(width, Math.max(1, Math.round((height * wide) / high)));
  const down = Math.min(height, Math.max(1, Math.round((width * high) / wide)));
  const left = Math.floor((width - across) / 2), top = Math.floor((height - down) / 2);
  const box = [left, top, left + across, top + down];
  const planes = channels === 1 ? [convertToGrey(picture)] : splitColors(picture);
  const images = planes.map((plane) => (
    ready ? plane : resize(cutPart(plane, box), wide, high, "bicubic", [0, 0, across, down], true)
  ));
  const inverted = !ready && isInversionNeeded(cutPart(convertToGrey(picture), box), ground);
  const image = new Uint8Array(high * wide * channels);
  for (let at = 0; at < image.length; at++) {
    const level = images[at % channels].data[Math.floor(at / channels)];
    image[at] = inverted ? 255 - level : level;
  }
  return image;
}

function splitColors({ data, width, height }) {
  const planes = [0, 1, 2].map(() => createGrid(width, height));
  for (let at = 0; at < width * height; at++) {
    planes.forEach((plane, color) => { plane.data[at] = data[4 * at + color]; });
  }
  return planes;
}

function cutPart(grid, [left, top, right, bottom]) {
  const part = createGrid(right - left, bottom - top);
  for (let y = 0; y < part.height; y++) {
    const from = (top + y) * grid.width + left;
    part.data.set(grid.data.subarray(from, from + part.width), y * part.width);
  }
  return part;
}

// Whether dark and light are to be exchanged, so that it stands on the ground that it should.
function isInversionNeeded(part, ground) {
  if (!ground) return false;
  const rim = listRim(part);
  const [low, half, high] = [0.25, 0.5, 0.75].map((share) => findQuantile(rim, share));
  if (high - low > MAX_RIM_SPREAD) return false;
  const own = half <= MAX_DARK_RIM ? "dark" : half >= MIN_LIGHT_RIM ? "light" : "";
  return own !== "" && own !== ground;
}

// The quantile of numbers, between two of them in proportion.
function findQuantile(numbers, share) {
  const ranked = Float64Array.from(numbers).sort();
  const place = share * (ranked.length - 1);
  const below = Math.floor(place);
  const above = Math.min(below + 1, ranked.length - 1);
  return ranked[below] + (place - below) * (ranked[above] - ranked[below]);
}

// The ink of one digit in the form of MNIST's images; null where there is none.
function convertToMnist(cut) {
  const cells = scaleToBench(cut);
  return cells && placeOnCanvas(adjustStrokeWidth(cells));
}

function scaleToBench(cut) {
  const box = findInkBox(cut, 127);
  if (!box) return null;
  const [left, top, right, bottom] = box;
  const scale = (MNIST_BOX * CELLS) / Math.max(right - left, bottom - top);
  const margin = 3 * CELLS;
  const width = Math.max(1, roundToEven((right - left) * scale)) + 2 * margin;
  const height = Math.max(1, roundToEven((bottom - top) * scale)) + 2 * margin;
  const reach = Math.ceil((margin + 1) / scale) + 2;
  const x = (left + right) / 2 + reach, y = (top + bottom) / 2 + reach;
  const halfX = width / scale / 2, halfY = height / scale / 2;
  const padded = pad(cut, reach);
  const around = [x - halfX, y - halfY, x + halfX, y + halfY];
  const cells = resize(padded, width, height, scale < 0.5 ? "box" : "bicubic", around, true);
  for (let at = 0; at < cells.data.length; at++) cells.data[at] /= 255;
  return strengthenFineInk(cells);
}

function roundToEven(value) {
  const rounded = Math.round(value);
  return Math.abs(value % 1) === 0.5 && rounded % 2 ? rounded - 1 : rounded;
}

function pad({ data, width, height }, reach) {
  const padded = createGrid(width + 2 * reach, height + 2 * reach);
  for (let y = 0; y < height; y++) {
    padded.data.set(data.subarray(y * width, (y + 1) * width), (y + reach) * padded.width + reach);
  }
  return padded;
}

// Left, top, right, bottom of what is above a level, right and bottom beyond it.
function findInkBox({ data, width, height }, level) {
  let left = width, top = height, right = 0, bottom = 0;
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at++) {
      if (data[at] <= level) continue;
      left = Math.min(left, x);
      right = Math.max(right, x + 1);
      top = Math.min(top, y);
      bottom = y + 1;
    }
  }
  return right ? [left, top, right, bottom] : null;
}

// Cells whose inked ones are full in the middle of strokes, of fine pens too.
function strengthenFineInk(cells) {
  const { data, width, height } = cells;
  const ridge = [];
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at++) {
      if (data[at] > 0.02 && data[at] === findHighest(cells, x, y)) ridge.push(data[at]);
    }
  }
  const usual = ridge.length ? findQuantile(ridge, 0.25) : 0;
  if (usual > FINE_PEN_LEVEL) return cells;
  const times = FINE_PEN_LEVEL / Math.max(usual, 0.05);
  for (let at = 0; at < data.length; at++) data[at] = Math.min(Math.max(data[at] * times, 0), 1);
  return cells;
}

function findHighest({ data, width, height }, x, y) {
  let most = 0;
  for (let j = Math.max(y - 1, 0); j <= Math.min(y + 1, height - 1); j++) {
    for (let i = Math.max(x - 1, 0); i <= Math.min(x + 1, width - 1); i++) {
      most = Math.max(most, data[j * width + i]);
    }
  }
  return most;
}

// The bench's cells with strokes as wide as MNIST's are.
function adjustStrokeWidth(cells) {
  const { width, height } = cells;
  const ink = createGrid(width, height, Uint8Array);
  for (let at = 0; at < ink.data.length; at++) ink.data[at] = cells.data[at] > 0.5 ? 1 : 0;
  const inside = measureDistances(ink, 0);
  let sum = 0, count = 0;
  for (let at = 0; at < inside.length; at++) {
    if (!ink.data[at]) continue;
    sum += inside[at];
    count++;
  }
  if (!count) return cells;
  const stroke = (4 * sum) / count - 1;
  const [left, top, right, bottom] = findInkBox(ink, 0);
  const size = Math.max(countInkedLines(ink, left, right, true), countInkedLines(ink, top, bottom, false));
  const wanted = computeTargetWidth((stroke * MNIST_BOX) / size) / MNIST_BOX;
  // The box grows with the stroke, and is scaled to 20 afterwards.
  const grow = (wanted * size - stroke) / (2 * (1 - wanted));
  if (Math.abs(grow) < MIN_STROKE_CHANGE) return cells;
  return grow > 0 ? thickenInk(ink, grow) : thinInk(ink, inside, stroke, -grow);
}

function countInkedLines({ data, width, height }, first, end, columns) {
  let count = 0;
  for (let line = first; line < end; line++) {
    const length = columns ? height : width;
    for (let at = 0; at < length; at++) {
      if (!data[columns ? at * width + line : line * width + at]) continue;
      count++;
      break;
    }
  }
  return count;
}

function computeTargetWidth(stroke) {
  if (stroke >= MIN_STROKE) return Math.min(stroke, MAX_STROKE);
  const finer = Math.min(1, (MIN_STROKE - stroke) / (MIN_STROKE - FINEST_STROKE));
  return MIN_STROKE + finer * (FINE_PEN_STROKE - MIN_STROKE);
}

// Ink grown to all sides, except where that would close a loop.
function thickenInk(ink, grow) {
  const outside = measureDistances(ink, 1);
  const { labels, count } = labelCells(ink, 0, false);
  const reach = new Float32Array(count + 1).fill(grow);
  if (count > 1) {
    const depth = new Float32Array(count + 1);
    for (let at = 0; at < labels.length; at++) {
      depth[labels[at]] = Math.max(depth[labels[at]], outside[at]);
    }
    for (let label = 1; label <= count; label++) {
      reach[label] = Math.min(grow, Math.max(depth[label] - MIN_LOOP_CELLS, 0));
    }
    reach[labels[0]] = grow;
    reach[0] = grow;
  }
  const cells = createGrid(ink.width, ink.height);
  for (let at = 0; at < cells.data.length; at++) {
    cells.data[at] = Math.min(Math.max(1 - outside[at] + reach[labels[at]], 0), 1);
  }
  return cells;
}

// Ink taken off from all sides, by less where that would cut or drop some.
function thinInk(ink, inside, stroke, wanted) {
  const before = countComponents(ink);
  const { width, height } = ink;
  let shrink = Math.min(wanted, MAX_THINNING_SHARE * stroke);
  for (; shrink >= MIN_STROKE_CHANGE; shrink /= 2) {
    const cells = createGrid(width, height);
    const left = createGrid(width, height, Uint8Array);
    const core = createGrid(width, height, Uint8Array);
    let cores = 0;
    for (let at = 0; at < inside.length; at++) {
      cells.data[at] = Math.min(Math.max(inside[at] - shrink, 0), 1);
      left.data[at] = cells.data[at] > 0.5 ? 1 : 0;
      core.data[at] = inside[at] - shrink > MIN_CORE_CELLS ? 1 : 0;
      cores += core.data[at];
    }
    if (!cores || countComponents(left) !== before) continue;
    const away = measureDistances(core, 1);
    let lost = 0;
    for (let at = 0; at < away.length; at++) if (ink.data[at]) lost = Math.max(lost, away[at]);
    if (lost <= 2 * (shrink + MIN_CORE_CELLS) + 2) return cells;
  }
  return { data: Float32Array.from(ink.data), width, height };
}

// How many components the ink has, and how many the ground, in a word.
function countComponents(ink) {
  return `${labelCells(ink, 1, true).count} ${labelCells(ink, 0, false).count}`;
}

// The components of the cells with a value, from 1; of corners too where they count as touching.
function labelCells({ data, width, height }, value, corners) {
  const labels = new Int32Array(data.length);
  const open = new Int32Array(data.length);
  let count = 0, last = 0;
  const visit = (at) => {
    if (data[at] !== value || labels[at]) return;
    labels[at] = count;
    open[last++] = at;
  };
  const visitRow = (at, left, right) => {
    visit(at);
    if (corners && left) visit(at - 1);
    if (corners && right) visit(at + 1);
  };
  for (let start = 0; start < data.length; start++) {
    if (data[start] !== value || labels[start]) continue;
    count++;
    visit(start);
    while (last) {
      const at = open[--last];
      const x = at % width;
      const left = x > 0, right = x < width - 1;
      if (left) visit(at - 1);
      if (right) visit(at + 1);
      if (at >= width) visitRow(at - width, left, right);
      if (at < width * (height - 1)) visitRow(at + width, left, right);
    }
  }
  return { labels, count };
}

// Each cell's distance to the nearest one with a value, exact: columns, then rows as the lowest
// of parabolas (Felzenszwalb and Huttenlocher 2012).
function measureDistances({ data, width, height }, value) {
  const far = 1e10;
  const squares = new Float64Array(data.length);
  for (let at = 0; at < data.length; at++) squares[at] = data[at] === value ? 0 : far;
  const longest = Math.max(width, height);
  const line = new Float64Array(longest);
  const places = new Int32Array(longest);
  const edges = new Float64Array(longest + 1);
  const lower = (start, step, length) => {
    for (let i = 0; i < length; i++) line[i] = squares[start + i * step];
    let last = 0;
    places[0] = 0;
    edges[0] = -Infinity;
    edges[1] = Infinity;
    for (let i = 1; i < length; i++) {
      let edge = meet(line, i, places[last]);
      while (edge <= edges[last]) edge = meet(line, i, places[--last]);
      places[++last] = i;
      edges[last] = edge;
      edges[last + 1] = Infinity;
    }
    for (let i = 0, k = 0; i < length; i++) {
      while (edges[k + 1] < i) k++;
      squares[start + i * step] = (i - places[k]) ** 2 + line[places[k]];
    }
  };
  for (let x = 0; x < width; x++) lower(x, width, height);
  for (let y = 0; y < height; y++) lower(y * width, 1, width);
  const distances = new Float32Array(squares.length);
  for (let at = 0; at < distances.length; at++) distances[at] = Math.sqrt(squares[at]);
  return distances;
}

function meet(line, i, j) {
  return (line[i] + i * i - line[j] - j * j) / (2 * (i - j));
}

// Cells of ink laid into 28×28: the longer side 20 pixels, the centre of mass on pixel (14, 14).
function placeOnCanvas(cells) {
  const { data, width, height } = cells;
  const columns = new Float32Array(width), rows = new Float32Array(height);
  let mass = 0, sumX = 0, sumY = 0;
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at++) {
      columns[x] = Math.max(columns[x], data[at]);
      rows[y] = Math.max(rows[y], data[at]);
      mass += data[at];
      sumX += data[at] * (x + 0.5);
      sumY += data[at] * (y + 0.5);
    }
  }
  const across = findProfileEnds(columns), down = findProfileEnds(rows);
  if (!across || !down) return null;
  const cell = Math.max(across[1] - across[0], down[1] - down[0]) / MNIST_BOX;
  const center = (middle, [first, last]) => Math.min(
    Math.max(middle, last - MAX_INK_REACH * cell), first + MAX_INK_REACH * cell,
  ) - CENTER_OFFSET * cell;
  const x = center(sumX / mass, across), y = center(sumY / mass, down);
  const half = (MNIST_SIDE / 2) * cell;
  const reach = Math.ceil(half) + 1;
  const box = [x - half + reach, y - half + reach, x + half + reach, y + half + reach];
  const image = resize(pad(cells, reach), MNIST_SIDE, MNIST_SIDE, "hamming", box, false);
  return Uint8Array.from(image.data, (level) => {
    const hard = (level - SOFT_LEVEL) / (1 - 2 * SOFT_LEVEL);
    return roundToEven(Math.min(Math.max(hard, 0), 1) * 255);
  });
}

// Where a profile of cover rises above one half and falls below it again.
function findProfileEnds(profile) {
  const first = profile.findIndex((cover) => cover > 0.5);
  const last = profile.findLastIndex((cover) => cover > 0.5);
  return first < 0 ? null : [first + 1 - profile[first], last + profile[last]];
}

// A part of a grid at another size, as Pillow does it: what is shrunk is averaged. `bytes` rounds
// after rows and after columns, as of images of bytes.
function resize(grid, width, height, filter, [left, top, right, bottom], bytes) {
  const keep = bytes ? (sum) => Math.min(Math.max(Math.floor(sum + 0.5), 0), 255) : (sum) => sum;
  const across = weighPixels(grid.width, left, right, width, FILTERS[filter]);
  const down = weighPixels(grid.height, top, bottom, height, FILTERS[filter]);
  const narrow = createGrid(width, grid.height);
  for (let y = 0; y < grid.height; y++) {
    for (let x = 0; x < width; x++) {
      const { first, weights } = across[x];
      let sum = 0;
      const from = y * grid.width + first;
      for (let k = 0; k < weights.length; k++) sum += weights[k] * grid.data[from + k];
      narrow.data[y * width + x] = keep(sum);
    }
  }
  const resized = createGrid(width, height);
  for (let y = 0; y < height; y++) {
    const { first, weights } = down[y];
    for (let x = 0; x < width; x++) {
      let sum = 0;
      for (let k = 0; k < weights.length; k++) sum += weights[k] * narrow.data[(first + k) * width + x];
      resized.data[y * width + x] = keep(sum);
    }
  }
  return resized;
}

// Of each new pixel which old ones it is made of, and how much of each.
function weighPixels(size, first, last, count, { support, weigh }) {
  const scale = (last - first) / count;
  const stretch = Math.max(scale, 1);
  return Array.from({ length: count }, (_, place) => {
    const center = first + (place + 0.5) * scale;
    const low = Math.max(Math.trunc(center - support * stretch + 0.5), 0);
    const high = Math.min(Math.trunc(center + support * stretch + 0.5), size);
    const weights = [];
    for (let at = low; at < high; at++) weights.push(weigh((at - center + 0.5) / stretch));
    const sum = weights.reduce((all, weight) => all + weight, 0);
    return { first: low, weights: sum ? weights.map((weight) => weight / sum) : weights };
  });
}
