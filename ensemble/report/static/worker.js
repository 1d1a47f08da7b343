"use strict";
// The worker of a report: unpacks a run's members from its capsule, and answers for them. It is
// made of the page's own text, and asks nobody for anything. docs/capsule.md states the form.

const NUMBER_BYTES = { float32: 4 };
const HALVES = new Float32Array(2 ** 16); // every float16, as a float32
let opened = null; // what was opened last, as a promise: images wait for it

addEventListener("message", async ({ data }) => {
  try {
    if (data.kind === "open") {
      opened = openMembers(data);
      const { networks, epoch } = await opened;
      postMessage({ kind: "opened", run: data.run, members: networks.length, epoch });
    } else {
      const said = answer(data, await opened);
      postMessage(said, said.logits ? [said.logits.buffer, said.images.buffer] : []);
    }
  } catch (error) {
    postMessage({ kind: "failed", run: data.run, serial: data.serial, why: String(error) });
  }
});

// The members of one epoch, each ready to answer.
async function openMembers({ capsule, network, epoch, members, shape, written, ground, clear }) {
  const arrays = await readMemberArrays(capsule, epoch);
  const networks = members.map((member) => {
    const own = {};
    for (const [name, { shape: [count, ...axes], data }] of Object.entries(arrays)) {
      const size = data.length / count;
      own[name] = { shape: axes, data: data.subarray(member * size, (member + 1) * size) };
    }
    return buildNetwork(network, own, shape);
  });
  return { networks, epoch, shape, written, ground, clear };
}

// Every member's logits of the images, (members, images, classes), and the images as they were
// asked about. Without a drop of ink there is nothing to say.
function answer(asked, { networks, shape, written, ground, clear }) {
  const began = performance.now();
  const images = asked.images ?? prepareInput(asked, shape, written, ground, clear);
  if (!images) return { kind: "nothing", serial: asked.serial };
  const size = shape[0] * shape[1] * shape[2];
  const count = images.length / size;
  let logits = null;
  const pixels = new Float32Array(size);
  for (let image = 0; image < count; image++) {
    for (let at = 0; at < size; at++) pixels[at] = images[image * size + at] / 255;
    networks.forEach((compute, member) => {
      const own = compute(pixels);
      logits ??= new Float32Array(networks.length * count * own.length);
      logits.set(own, (member * count + image) * own.length);
    });
  }
  const ms = performance.now() - began;
  return { kind: "answered", serial: asked.serial, logits, images, ms };
}

// The arrays (members, …) of an epoch by their names, and nothing else of the capsule, which is its
// bytes, or these in base64 as they stand in a page.
async function readMemberArrays(capsule, epoch) {
  const text = typeof capsule === "string";
  const take = (from, to) => (text ? decodeBytes(capsule, from, to) : capsule.slice(from, to));
  const begin = take(0, 27);
  const length = Number(new DataView(begin.buffer).getBigUint64(19, true));
  const header = JSON.parse(new TextDecoder().decode(take(27, 27 + length)));
  const prefix = `parameters/epoch-${String(epoch).padStart(4, "0")}/`;
  const arrays = {};
  let at = 27 + length;
  for (const part of header.parts) {
    if (part.name.startsWith(prefix)) {
      const data = await unpackNumbers(take(at, at + part.length), part);
      arrays[part.name.slice(prefix.length)] = { shape: part.shape, data };
    }
    at += part.length;
  }
  return arrays;
}

// Bytes `from` to `to` of what stands in base64.
function decodeBytes(text, from, to) {
  const first = Math.floor(from / 3);
  const letters = text.slice(4 * first, 4 * Math.ceil(to / 3));
  const skipped = from - 3 * first;
  if (Uint8Array.fromBase64) {
    return Uint8Array.fromBase64(letters).slice(skipped, skipped + to - from);
  }
  const signs = atob(letters);
  const bytes = new Uint8Array(to - from);
  for (let i = 0; i < bytes.length; i++) bytes[i] = signs.charCodeAt(skipped + i);
  return bytes;
}

// Numbers as they were packed: perhaps rounded to float16, their bytes set apart, deflated.
async function unpackNumbers(packed, { codec, dtype }) {
  let bytes = packed;
  if (codec.endsWith("zlib")) {
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  }
  const halved = codec.startsWith("float16-");
  const wide = halved ? 2 : NUMBER_BYTES[dtype];
  if (codec.includes("shuffle-")) bytes = joinBytes(bytes, wide);
  if (!halved) return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / wide);
  const halves = new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.length / wide);
  const numbers = new Float32Array(halves.length);
  for (let n = 0; n < numbers.length; n++) numbers[n] = HALVES[halves[n]];
  return numbers;
}

// All first bytes of the numbers, then all second ones and so on: back to one number after another.
function joinBytes(bytes, wide) {
  const joined = new Uint8Array(bytes.length);
  const count = bytes.length / wide;
  for (let place = 0; place < wide; place++) {
    const from = place * count;
    for (let n = 0; n < count; n++) joined[n * wide + place] = bytes[from + n];
  }
  return joined;
}

for (let half = 0; half < HALVES.length; half++) {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 0x1f;
  const fraction = half & 0x3ff;
  // The highest exponent is that of infinities, which no member has.
  HALVES[half] = exponent
    ? sign * 2 ** (exponent - 15) * (1 + fraction / 1024)
    : sign * 2 ** -14 * (fraction / 1024);
}
