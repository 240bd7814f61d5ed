// Writes a zip archive whose bytes depend on nothing but names, modes and contents: no times, no owners, one order.

import { deflateRawSync } from "node:zlib";

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value >>> 0;
});
const VERSION_NEEDED = 20;
const MADE_ON_UNIX = (3 << 8) | VERSION_NEEDED;
const DEFLATED = 8;
// The first day the format can name: 1980-01-01, 00:00.
const [DATE, TIME] = [(1 << 5) | 1, 0];
const REGULAR_FILE = 0o100000;

function crc32(bytes) {
  let crc = 0xffffffff;
  for (let index = 0; index < bytes.length; index += 1) {
    crc = CRC_TABLE[(crc ^ bytes[index]) & 0xff] ^ (crc >>> 8);
  }
  return (crc ^ 0xffffffff) >>> 0;
}

/** `entries`: `{name, mode, bytes}`; `level`: 1 (quick) to 9 (small). */
export function writeZip(entries, level) {
  const [bodies, contents] = [[], []];
  let offset = 0;
  const sorted = [...entries].sort((one, other) => (one.name < other.name ? -1 : 1));
  for (const { name, mode, bytes } of sorted) {
    const title = Buffer.from(name, "utf8");
    const packed = deflateRawSync(bytes, { level });
    const common = Buffer.alloc(26);
    common.writeUInt16LE(VERSION_NEEDED, 0);
    common.writeUInt16LE(DEFLATED, 4);
    common.writeUInt16LE(TIME, 6);
    common.writeUInt16LE(DATE, 8);
    common.writeUInt32LE(crc32(bytes), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(bytes.length, 18);
    common.writeUInt16LE(title.length, 22);

    const body = [Buffer.from("PK\x03\x04", "latin1"), common, title, packed];
    const places = Buffer.alloc(14);
    places.writeUInt32LE(((REGULAR_FILE | mode) << 16) >>> 0, 6);
    places.writeUInt32LE(offset, 10);
    const madeOn = Buffer.alloc(2);
    madeOn.writeUInt16LE(MADE_ON_UNIX, 0);
    contents.push(Buffer.from("PK\x01\x02", "latin1"), madeOn, common, places, title);
    bodies.push(...body);
    offset += body.reduce((sum, part) => sum + part.length, 0);
  }
  const table = Buffer.concat(contents);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(sorted.length, 8);
  end.writeUInt16LE(sorted.length, 10);
  end.writeUInt32LE(table.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...bodies, table, end]);
}
