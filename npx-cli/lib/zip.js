// Reads one file out of a zip archive in memory. Only what `build:npx` writes is understood: one disk, no encryption,
// sizes below 4 GiB, stored or deflated. Whoever calls has checked where the archive comes from.

import { inflateRawSync } from "node:zlib";

const END = 0x06054b50;
const ENTRY = 0x02014b50;
const LOCAL = 0x04034b50;
const LARGEST_BYTES = 1024 ** 3;
const [STORED, DEFLATED] = [0, 8];

export function readEntry(zip, name) {
  const end = zip.length - 22;
  expect(end >= 0 && zip.readUInt32LE(end) === END, "it has no end record");
  const count = zip.readUInt16LE(end + 10);
  let at = zip.readUInt32LE(end + 16);
  for (let index = 0; index < count; index += 1) {
    expect(at + 46 <= end && zip.readUInt32LE(at) === ENTRY, "its table of contents is cut off");
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((offset) => zip.readUInt16LE(at + offset));
    if (zip.toString("utf8", at + 46, at + 46 + nameBytes) === name) return readContent(zip, at);
    at += 46 + nameBytes + extraBytes + commentBytes;
  }
  throw new Error(`the archive has no file '${name}'`);
}

function readContent(zip, at) {
  const method = zip.readUInt16LE(at + 10);
  const packedBytes = zip.readUInt32LE(at + 20);
  const fullBytes = zip.readUInt32LE(at + 24);
  const local = zip.readUInt32LE(at + 42);
  expect(fullBytes <= LARGEST_BYTES, `its file is larger than ${LARGEST_BYTES} bytes`);
  expect(local + 30 <= zip.length && zip.readUInt32LE(local) === LOCAL, "its file has no header");
  const from = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
  expect(from + packedBytes <= zip.length, "its file is cut off");
  const packed = zip.subarray(from, from + packedBytes);
  expect(method === STORED || method === DEFLATED, `its method ${method} is unknown`);
  const full = method === STORED ? packed : inflateRawSync(packed, { maxOutputLength: fullBytes + 1 });
  expect(full.length === fullBytes, "its file does not have the size that it names");
  return full;
}

function expect(condition, problem) {
  if (!condition) throw new Error(`the archive cannot be read: ${problem}`);
}
