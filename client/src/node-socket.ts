// A small RFC 6455 client for Node, which before 22 has none and whose later one sends no token.
// Invariant: nothing is read from the network before the reader asks for it, so a slow reader slows the server down and
// costs no memory; a connection that is silent for longer than the server's pings allow is given up.

import { createHash, randomBytes } from "node:crypto";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { Socket } from "node:net";
import { ForgeError } from "./error.js";
import type { Frames } from "./frames.js";

const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/** The server pings every 30 s. */
const SILENCE_LIMIT_MS = 90_000;
const MESSAGE_LIMIT = 512 * 1024 * 1024;
enum Op {
  Continuation = 0,
  Text = 1,
  Close = 8,
  Ping = 9,
  Pong = 10,
}

export async function* readNodeFrames(url: URL, headers: Record<string, string>, signal: AbortSignal): Frames {
  const [socket, head] = await open(url, headers, signal);
  const abort = (): void => void socket.destroy();
  signal.addEventListener("abort", abort);
  socket.setTimeout(SILENCE_LIMIT_MS, abort);
  const bytes = new Bytes(socket, head);
  let parts: Buffer[] = [];
  try {
    for (;;) {
      const frame = await readFrame(bytes);
      if (frame === undefined) return 1006;
      switch (frame.op) {
        case Op.Ping:
          write(socket, Op.Pong, frame.payload);
          break;
        case Op.Close:
          write(socket, Op.Close, frame.payload.subarray(0, 2));
          return frame.payload.length >= 2 ? frame.payload.readUInt16BE(0) : 1005;
        case Op.Text:
        case Op.Continuation:
          parts.push(frame.payload);
          if (!frame.isLast) break;
          yield Buffer.concat(parts).toString("utf8");
          parts = [];
      }
    }
  } finally {
    signal.removeEventListener("abort", abort);
    socket.destroy();
  }
}

function open(url: URL, headers: Record<string, string>, signal: AbortSignal): Promise<[Socket, Buffer]> {
  const key = randomBytes(16).toString("base64");
  const upgrade = {
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": key,
  };
  const request = (url.protocol === "https:" ? requestHttps : requestHttp)(url, {
    headers: { ...headers, ...upgrade },
    timeout: SILENCE_LIMIT_MS,
    signal,
  });
  return new Promise((resolve, reject) => {
    request.once("error", reject);
    request.once("timeout", () => request.destroy(new Error(`${url.origin} does not answer`)));
    request.once("response", (response) => void refuse(response).then(reject, reject));
    request.once("upgrade", (response, socket, head) => {
      socket.on("error", () => {});
      const accept = createHash("sha1")
        .update(key + GUID)
        .digest("base64");
      if (response.headers["sec-websocket-accept"] === accept) {
        resolve([socket as Socket, head]);
      } else {
        socket.destroy();
        reject(new Error(`${url.origin} answered the upgrade of somebody else`));
      }
    });
    request.end();
  });
}

async function refuse(response: IncomingMessage): Promise<ForgeError> {
  let text = "";
  for await (const chunk of response) {
    if (text.length < 65_536) text += String(chunk);
  }
  const status = response.statusCode ?? 0;
  let body: unknown = text;
  try {
    body = JSON.parse(text);
  } catch {
    // Not from Forge; the text is all there is.
  }
  const message = (body as { message?: unknown } | null)?.message;
  return new ForgeError(status, typeof message === "string" ? message : `[${status}] ${response.statusMessage}`, body);
}

/** Exactly as many bytes as asked for, read only then. */
class Bytes {
  #chunks: Buffer[];
  #length: number;
  readonly #source: AsyncIterator<Buffer>;

  constructor(socket: Socket, head: Buffer) {
    this.#chunks = [head];
    this.#length = head.length;
    this.#source = socket[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  /** Undefined when the connection ends before that. */
  async take(count: number): Promise<Buffer | undefined> {
    while (this.#length < count) {
      const next = await this.#source.next().catch(() => ({ done: true as const, value: undefined }));
      if (next.done) return undefined;
      this.#chunks.push(next.value);
      this.#length += next.value.length;
    }
    const [first] = this.#chunks;
    const all = first && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks, this.#length);
    this.#chunks = [all.subarray(count)];
    this.#length -= count;
    return all.subarray(0, count);
  }
}

interface Frame {
  op: number;
  isLast: boolean;
  payload: Buffer;
}

async function readFrame(bytes: Bytes): Promise<Frame | undefined> {
  const head = await bytes.take(2);
  if (head === undefined) return undefined;
  const short = head.readUInt8(1) & 0x7f;
  const more = short < 126 ? Buffer.alloc(0) : await bytes.take(short === 126 ? 2 : 8);
  if (more === undefined) return undefined;
  const length = short < 126 ? short : short === 126 ? more.readUInt16BE(0) : Number(more.readBigUInt64BE(0));
  if (length > MESSAGE_LIMIT) throw new Error(`a message of ${length} bytes is larger than ${MESSAGE_LIMIT}`);
  const payload = await bytes.take(length);
  return payload && { op: head.readUInt8(0) & 0x0f, isLast: (head.readUInt8(0) & 0x80) !== 0, payload };
}

/** Clients must mask what they send; answers to pings and closes are shorter than 126 bytes. */
function write(socket: Socket, op: Op, payload: Buffer): void {
  const mask = randomBytes(4);
  const masked = payload.map((byte, at) => byte ^ mask.readUInt8(at % 4));
  socket.write(Buffer.concat([Buffer.from([0x80 | op, 0x80 | payload.length]), mask, masked]));
}
