"use strict";
// The built-in networks in plain JavaScript: one member's logits of one image, as Flax gives them.
// Activations are (places, channels), rows of the image one after another; a convolution is its
// patches times its kernel; sums are made in double precision and kept in single.

const NORM_SLACK = { batch: 1e-5, group: 1e-6 }; // Flax's, added to a variance
const NORM_GROUPS = 8;

// A member's network. `arrays` are its own by name, `Conv_0/kernel`, each with `shape` and `data`;
// `shape` is (height, width, channels) of an image. The result takes an image in [0, 1].
function buildNetwork(name, arrays, shape) {
  if (name.startsWith("resnet")) return buildResidualNetwork(arrays, shape);
  const bend = name === "lenet5" ? "tanh" : "relu";
  const convolutions = [];
  for (let n = 0; arrays[`Conv_${n}/kernel`]; n++) {
    // LeNet-5's second one takes no zeros around.
    const padded = !(name === "lenet5" && n === 1);
    convolutions.push(buildConvolution(arrays, `Conv_${n}`, bend, 1, padded));
  }
  const layers = [];
  for (let n = 0; arrays[`Dense_${n}/kernel`]; n++) layers.push(buildDense(arrays, `Dense_${n}`));
  layers.forEach((layer, n) => { layer.bend = n < layers.length - 1 ? bend : ""; });
  return (pixels) => {
    let image = { data: pixels, height: shape[0], width: shape[1], channels: shape[2] };
    for (const convolution of convolutions) image = poolByTwo(convolution(image));
    return layers.reduce((values, layer) => multiplyDense(layer, values), image.data);
  };
}

function buildResidualNetwork(arrays, shape) {
  const first = buildNormedConvolution(arrays, "", 0, "relu", 1);
  const blocks = [];
  for (let n = 0; arrays[`Block_${n}/Conv_0/kernel`]; n++) {
    const path = `Block_${n}/`;
    const [, , taken, given] = arrays[`${path}Conv_0/kernel`].shape;
    const stride = given > taken ? 2 : 1;
    blocks.push({
      stride,
      one: buildNormedConvolution(arrays, path, 0, "relu", stride),
      two: buildNormedConvolution(arrays, path, 1, "", 1),
    });
  }
  const dense = buildDense(arrays, "Dense_0");
  return (pixels) => {
    let image = first({ data: pixels, height: shape[0], width: shape[1], channels: shape[2] });
    for (const { stride, one, two } of blocks) image = addShortcut(two(one(image)), image, stride);
    return multiplyDense(dense, averagePlaces(image));
  };
}

// A convolution with the normalization after it. That of a batch is by running statistics, a
// factor and a summand for each channel, which the kernel and the bias take in.
function buildNormedConvolution(arrays, path, number, bend, stride) {
  const norm = `${path}BatchNorm_${number}`;
  const kernel = arrays[`${path}Conv_${number}/kernel`];
  if (!arrays[`${norm}/scale`]) {
    const convolve = buildConvolution(arrays, `${path}Conv_${number}`, "", stride, true);
    const grouped = `${path}GroupNorm_${number}`;
    const scale = arrays[`${grouped}/scale`].data;
    const summand = arrays[`${grouped}/bias`].data;
    return (image) => normalizeGroups(convolve(image), scale, summand, bend);
  }
  const mean = arrays[`batch_stats/${norm}/mean`].data;
  const variance = arrays[`batch_stats/${norm}/var`].data;
  const channels = kernel.shape[3];
  const bias = new Float32Array(channels);
  const factors = new Float64Array(channels);
  for (let c = 0; c < channels; c++) {
    factors[c] = arrays[`${norm}/scale`].data[c] / Math.sqrt(variance[c] + NORM_SLACK.batch);
    bias[c] = arrays[`${norm}/bias`].data[c] - mean[c] * factors[c];
  }
  const data = kernel.data.map((weight, place) => weight * factors[place % channels]);
  const taken = { "own/kernel": { shape: kernel.shape, data }, "own/bias": { data: bias } };
  return buildConvolution(taken, "own", bend, stride, true);
}

function buildConvolution(arrays, path, bend, stride, padded) {
  const { shape: [tall, wide, taken, given], data } = arrays[`${path}/kernel`];
  const size = tall * wide * taken;
  const panels = packPanels(data, size, given);
  const bias = arrays[`${path}/bias`]?.data;
  let patches = new Float32Array(0);
  let sums = new Float32Array(0);
  return (image) => {
    const down = placeWindows(image.height, tall, stride, padded);
    const across = placeWindows(image.width, wide, stride, padded);
    const count = down.count * across.count;
    if (patches.length < count * size) patches = new Float32Array(count * size);
    const padding = 4 * Math.ceil(given / 4);
    if (sums.length < count * padding) sums = new Float32Array(count * padding);
    gatherPatches(image, patches, tall, wide, down, across);
    multiply(patches, panels, sums, count, size, padding);
    const out = finishSums(sums, bias, count, given, padding, bend);
    return { data: out, height: down.count, width: across.count, channels: given };
  };
}

// How many windows there are along a side, and where the first begins: as if zeros stood around,
// the odd one at the end, or as far as they fit.
function placeWindows(side, window, stride, padded) {
  if (!padded) return { count: Math.floor((side - window) / stride) + 1, first: 0, stride };
  const count = Math.ceil(side / stride);
  const zeros = Math.max((count - 1) * stride + window - side, 0);
  return { count, first: -Math.floor(zeros / 2), stride };
}

function gatherPatches(image, patches, tall, wide, down, across) {
  const { data, height, width, channels } = image;
  let at = 0;
  for (let row = 0; row < down.count; row++) {
    for (let column = 0; column < across.count; column++) {
      for (let i = 0; i < tall; i++) {
        const y = down.first + row * down.stride + i;
        for (let j = 0; j < wide; j++) {
          const x = across.first + column * across.stride + j;
          const from = (y * width + x) * channels;
          if (y < 0 || y >= height || x < 0 || x >= width) {
            for (let c = 0; c < channels; c++) patches[at++] = 0;
          } else {
            for (let c = 0; c < channels; c++) patches[at++] = data[from + c];
          }
        }
      }
    }
  }
}

function buildDense(arrays, path) {
  const { shape: [size, given], data } = arrays[`${path}/kernel`];
  const padding = 4 * Math.ceil(given / 4);
  const panels = packPanels(data, size, given);
  const bias = arrays[`${path}/bias`].data;
  return { panels, bias, size, given, padding, sums: new Float32Array(padding), bend: "" };
}

function multiplyDense(layer, values) {
  multiply(values, layer.panels, layer.sums, 1, layer.size, layer.padding);
  return finishSums(layer.sums, layer.bias, 1, layer.given, layer.padding, layer.bend);
}

// A matrix (size, given) four columns at a time, each four rows after rows, filled up with zeros.
function packPanels(data, size, given) {
  const panels = new Float32Array(4 * Math.ceil(given / 4) * size);
  for (let column = 0; column < given; column++) {
    const start = 4 * Math.floor(column / 4) * size + (column % 4);
    for (let k = 0; k < size; k++) panels[start + 4 * k] = data[k * given + column];
  }
  return panels;
}

// Rows (count, size) times panels: sums (count, padding). Four rows and four columns at a time
// keep sixteen sums at hand, so that each number that is read is used four times.
function multiply(rows, panels, sums, count, size, padding) {
  for (let column = 0; column < padding; column += 4) {
    const panel = column * size;
    let row = 0;
    for (; row + 3 < count; row += 4) {
      let a0 = 0, a1 = 0, a2 = 0, a3 = 0, b0 = 0, b1 = 0, b2 = 0, b3 = 0;
      let c0 = 0, c1 = 0, c2 = 0, c3 = 0, d0 = 0, d1 = 0, d2 = 0, d3 = 0;
      const a = row * size, b = a + size, c = b + size, d = c + size;
      for (let k = 0, w = panel; k < size; k++, w += 4) {
        const w0 = panels[w], w1 = panels[w + 1], w2 = panels[w + 2], w3 = panels[w + 3];
        const xa = rows[a + k], xb = rows[b + k], xc = rows[c + k], xd = rows[d + k];
        a0 += xa * w0; a1 += xa * w1; a2 += xa * w2; a3 += xa * w3;
        b0 += xb * w0; b1 += xb * w1; b2 += xb * w2; b3 += xb * w3;
        c0 += xc * w0; c1 += xc * w1; c2 += xc * w2; c3 += xc * w3;
        d0 += xd * w0; d1 += xd * w1; d2 += xd * w2; d3 += xd * w3;
      }
      let at = row * padding + column;
      sums[at] = a0; sums[at + 1] = a1; sums[at + 2] = a2; sums[at + 3] = a3;
      at += padding;
      sums[at] = b0; sums[at + 1] = b1; sums[at + 2] = b2; sums[at + 3] = b3;
      at += padding;
      sums[at] = c0; sums[at + 1] = c1; sums[at + 2] = c2; sums[at + 3] = c3;
      at += padding;
      sums[at] = d0; sums[at + 1] = d1; sums[at + 2] = d2; sums[at + 3] = d3;
    }
    for (; row < count; row++) {
      let s0 = 0, s1 = 0, s2 = 0, s3 = 0;
      for (let k = 0, x = row * size, w = panel; k < size; k++, x++, w += 4) {
        const value = rows[x];
        s0 += value * panels[w]; s1 += value * panels[w + 1];
        s2 += value * panels[w + 2]; s3 += value * panels[w + 3];
      }
      const at = row * padding + column;
      sums[at] = s0; sums[at + 1] = s1; sums[at + 2] = s2; sums[at + 3] = s3;
    }
  }
}

function finishSums(sums, bias, count, given, padding, bend) {
  const out = new Float32Array(count * given);
  for (let row = 0, at = 0; row < count; row++) {
    for (let column = 0; column < given; column++, at++) {
      const value = sums[row * padding + column] + (bias ? bias[column] : 0);
      out[at] = bendValue(value, bend);
    }
  }
  return out;
}

function bendValue(value, bend) {
  if (bend === "relu") return value > 0 ? value : 0;
  return bend === "tanh" ? Math.tanh(value) : value;
}

// The mean of each 2×2 block; an odd last row or column is dropped.
function poolByTwo({ data, height, width, channels }) {
  const high = Math.floor(height / 2), wide = Math.floor(width / 2);
  const out = new Float32Array(high * wide * channels);
  const down = width * channels;
  for (let row = 0, at = 0; row < high; row++) {
    for (let column = 0; column < wide; column++) {
      const from = (2 * row * width + 2 * column) * channels;
      for (let c = from; c < from + channels; c++, at++) {
        out[at] = (data[c] + data[c + channels] + data[c + down] + data[c + down + channels]) / 4;
      }
    }
  }
  return { data: out, height: high, width: wide, channels };
}

// Each group of channels to mean 0 and variance 1 over all places, then scaled and moved.
function normalizeGroups(image, scale, summand, bend) {
  const { data, channels } = image;
  const places = data.length / channels;
  const size = channels / findCommonDivisor(NORM_GROUPS, channels);
  for (let start = 0; start < channels; start += size) {
    let sum = 0, squares = 0;
    for (let place = 0; place < places; place++) {
      for (let c = start; c < start + size; c++) {
        const value = data[place * channels + c];
        sum += value;
        squares += value * value;
      }
    }
    const mean = sum / (places * size);
    const variance = Math.max(squares / (places * size) - mean * mean, 0);
    const factor = 1 / Math.sqrt(variance + NORM_SLACK.group);
    for (let place = 0; place < places; place++) {
      for (let c = start; c < start + size; c++) {
        const at = place * channels + c;
        data[at] = bendValue((data[at] - mean) * factor * scale[c] + summand[c], bend);
      }
    }
  }
  return image;
}

function findCommonDivisor(one, other) {
  return other ? findCommonDivisor(other, one % other) : one;
}

// relu(image + shortcut): the shortcut takes every other pixel where the image has fewer, and
// zeros for the channels that it lacks.
function addShortcut(image, shortcut, stride) {
  const { data, height, width, channels } = image;
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const at = (row * width + column) * channels;
      const from = (row * stride * shortcut.width + column * stride) * shortcut.channels;
      for (let c = 0; c < channels; c++) {
        const value = data[at + c] + (c < shortcut.channels ? shortcut.data[from + c] : 0);
        data[at + c] = value > 0 ? value : 0;
      }
    }
  }
  return image;
}

function averagePlaces({ data, channels }) {
  const sums = new Float64Array(channels);
  for (let at = 0; at < data.length; at++) sums[at % channels] += data[at];
  return Float32Array.from(sums, (sum) => (sum * channels) / data.length);
}
