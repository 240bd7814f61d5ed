// The two ways to read a WebSocket, against a server that sends exactly what a test wants.
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { ForgeClient } from "@forge/client";
import { describe, expect, it } from "vitest";
import { EventParser } from "../dist/events.js";
import { readNodeFrames } from "../dist/node-socket.js";
import { Borrowed, until } from "./fixture.js";

const NORMAL_CLOSURE = Buffer.from([0x88, 2, 0x03, 0xe8]);

async function serve(speak: (socket: Duplex, request: IncomingMessage) => void) {
  const server = createServer();
  server.on("upgrade", (request, socket) => {
    const key = `${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const accept = createHash("sha1").update(key).digest("base64");
    const headers = ["Upgrade: websocket", "Connection: Upgrade", `Sec-WebSocket-Accept: ${accept}`];
    socket.on("error", () => {});
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${headers.join("\r\n")}\r\n\r\n`);
    speak(socket, request);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

function text(words: string): Buffer {
  const payload = Buffer.from(words);
  if (payload.length < 126) return Buffer.concat([Buffer.from([0x81, payload.length]), payload]);
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE(BigInt(payload.length));
  return Buffer.concat([Buffer.from([0x81, 127]), size, payload]);
}

describe("the socket of Node", () => {
  it("reads long, split and empty messages, and answers pings", async () => {
    const long = "é".repeat(70_000);
    const heard: Buffer[] = [];
    const server = await serve((socket) => {
      socket.on("data", (chunk: Buffer) => heard.push(chunk));
      const split = [Buffer.from([0x01, 2]), "ab", Buffer.from([0x89, 1, 7]), Buffer.from([0x80, 2]), "cd"].map(
        Buffer.from,
      );
      const all = Buffer.concat([text(long), ...split, text(""), NORMAL_CLOSURE]);
      // In odd pieces, so that nothing depends on where the network cuts.
      for (let at = 0; at < all.length; at += 9973) socket.write(all.subarray(at, at + 9973));
    });
    const frames = readNodeFrames(new URL(server.base), {}, new AbortController().signal);
    const texts: string[] = [];
    let next = await frames.next();
    for (; !next.done; next = await frames.next()) texts.push(next.value);
    expect(texts).toEqual([long, "abcd", ""]);
    expect(next.value).toBe(1000);
    await until("the pong", () => (Buffer.concat(heard)[0] === 0x8a ? true : undefined));
    server.close();
  });
});

describe("a socket that cannot be slowed down", () => {
  it("is left when its queue is full, and gone on with where its reader is", async () => {
    const count = 10_000;
    const asked: number[] = [];
    const server = await serve((socket, request) => {
      const after = Number(new URL(request.url ?? "", "http://x").searchParams.get("after"));
      asked.push(after);
      for (let seq = after + 1; seq <= count; seq++) {
        const value = { type: "STDOUT", content: "x" };
        socket.write(text(JSON.stringify({ seq, JsonPatch: [{ op: "add", path: `/entries/${seq - 1}`, value }] })));
      }
      socket.write(Buffer.concat([text('{"finished":true}'), NORMAL_CLOSURE]));
    });
    const client = new ForgeClient(server.base, undefined, { WebSocket: Borrowed as never });
    const got: number[] = [];
    for await (const line of client.watchRawLogs("x")) {
      if (got.push(line.index) === 1) await until("a full queue", () => (Borrowed.delivered > 4097 ? true : undefined));
    }
    expect(got).toEqual(Array.from({ length: count }, (_, at) => at));
    expect(asked.length).toBeGreaterThan(1);
    server.close();
  });
});

describe("events", () => {
  it("are read the same however the text is cut", () => {
    const all = ": hello\n\nid: 1\nevent: json_patch\ndata: [1,\ndata: 2]\n\nid:2\r\nevent:approval\r\ndata:{}\r\n\r\n";
    const expected = [
      { id: "1", event: "json_patch", data: "[1,\n2]" },
      { id: "2", event: "approval", data: "{}" },
    ];
    for (let size = 1; size <= all.length; size++) {
      const parser = new EventParser();
      const pieces = Array.from({ length: Math.ceil(all.length / size) }, (_, at) =>
        all.slice(at * size, (at + 1) * size),
      );
      expect(pieces.flatMap((piece) => [...parser.feed(piece)])).toEqual(expected);
    }
  });
});
