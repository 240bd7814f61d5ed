// What a process wrote, line by line, live. The server sends chunks, which are not lines.
// Invariants: a line has the same number for every reader; a line that has not changed is the same object; at most
// WINDOW + SLACK lines are kept, the oldest are let go first, and marks say where in the log to find them again.

import type { RawLogEntry, RawLogWord } from "@forge/client";
import { forge } from "../api/forge";
import { Channel, channels } from "./channel";
import { paced } from "./pace";

export const WINDOW = 200_000;
const SLACK = 20_000;
/** Lines between two places from which the log can be read again. */
const MARK_EVERY = 2_000;

export interface Line {
  /** From 1. */
  number: number;
  text: string;
  stderr: boolean;
}

/** After chunk `after`, line `line` begins. */
export interface Mark {
  after: number;
  line: number;
}

export interface RawLog {
  lines: readonly Line[];
  /** How many of the oldest lines are not kept. */
  dropped: number;
}

export class LineList {
  #lines: Line[] = [];
  #dropped: number;
  #next: number;
  readonly #open: { [word in RawLogWord]?: Line } = {};
  readonly #marks: Mark[];

  constructor(from: Mark = { after: 0, line: 1 }) {
    this.#next = from.line;
    this.#dropped = from.line - 1;
    this.#marks = [from];
  }

  /** `seq` is the number of the chunk, from 1. */
  push(seq: number, { type, content }: RawLogEntry): void {
    let at = 0;
    for (;;) {
      const end = content.indexOf("\n", at);
      const piece = content.slice(at, end < 0 ? undefined : end);
      if (piece !== "" || end >= 0) this.#extend(type, piece);
      if (end < 0) break;
      this.#close(type);
      at = end + 1;
    }
    const last = this.#marks.at(-1);
    const whole = this.#open.STDOUT === undefined && this.#open.STDERR === undefined;
    if (whole && last && this.#next - last.line >= MARK_EVERY) this.#marks.push({ after: seq, line: this.#next });
    if (this.#lines.length > WINDOW + SLACK) {
      this.#dropped += this.#lines.length - WINDOW;
      this.#lines = this.#lines.slice(-WINDOW);
    }
  }

  take(): RawLog {
    return { lines: this.#lines.slice(), dropped: this.#dropped };
  }

  /** The number of the line that has not begun. */
  get next(): number {
    return this.#next;
  }

  /** From where to read again for what comes before `line`, about `count` lines of it. */
  markBefore(line: number, count: number): Mark | undefined {
    const wanted = Math.max(1, line - count);
    return this.#marks.findLast((mark) => mark.line <= wanted);
  }

  #extend(type: RawLogWord, piece: string): void {
    const open = this.#open[type];
    const line: Line = {
      number: open?.number ?? this.#next++,
      text: overwrite(open?.text ?? "", piece),
      stderr: type === "STDERR",
    };
    this.#open[type] = line;
    const at = line.number - this.#dropped - 1;
    if (at >= 0) this.#lines[at] = line;
  }

  #close(type: RawLogWord): void {
    const line = this.#open[type];
    delete this.#open[type];
    if (!line?.text.endsWith("\r")) return;
    const at = line.number - this.#dropped - 1;
    if (at >= 0) this.#lines[at] = { ...line, text: line.text.slice(0, -1) };
  }
}

/** A carriage return begins the line again, as progress bars do; one at the very end waits for what follows. */
function overwrite(before: string, piece: string): string {
  const text = before + piece;
  if (!piece.includes("\r") && !before.endsWith("\r")) return text;
  const trailing = text.endsWith("\r") ? 1 : 0;
  const at = text.lastIndexOf("\r", text.length - 1 - trailing);
  return at < 0 ? text : text.slice(at + 1);
}

interface RawLogChannel extends Channel<RawLog> {
  markBefore: LineList["markBefore"];
}

export const rawLogChannel = channels<RawLog>((processId) => {
  let list = new LineList();
  const channel = new Channel<RawLog>(
    async (options, changed) => {
      list = new LineList();
      const pace = paced(changed);
      try {
        for await (const { index, ...chunk } of forge.watchRawLogs(processId, options)) {
          list.push(index + 1, chunk);
          pace.changed();
        }
      } finally {
        pace.stop();
      }
    },
    () => list.take(),
  );
  const markBefore: LineList["markBefore"] = (line, count) => list.markBefore(line, count);
  return Object.assign(channel, { markBefore });
}, 3) as (processId: string) => RawLogChannel;

/** The chunks after number `after` that are there now. */
async function* chunksAfter(processId: string, after: number): AsyncGenerator<{ seq: number; chunk: RawLogEntry }> {
  for (let seq = after; ; ) {
    const given = { path: { process_id: processId }, query: { after: seq } };
    const page = await forge.request("GET /api/execution-processes/{process_id}/raw-logs", given);
    for (const frame of page.frames) {
      if (!("JsonPatch" in frame)) continue;
      seq = frame.seq ?? seq + 1;
      for (const operation of frame.JsonPatch) yield { seq, chunk: operation.value as RawLogEntry };
    }
    if (page.finished || !page.more || page.frames.length === 0) return;
  }
}

/** The lines before `line` that are not kept any more, about `count` of them. */
export async function earlierLines(processId: string, line: number, count: number): Promise<readonly Line[]> {
  const mark = rawLogChannel(processId).markBefore(line, count);
  if (mark === undefined) return [];
  const list = new LineList(mark);
  for await (const { seq, chunk } of chunksAfter(processId, mark.after)) {
    list.push(seq, chunk);
    if (list.next > line) break;
  }
  return list.take().lines.filter(({ number }) => number < line);
}

/** The whole log as it was written. */
export async function wholeLog(processId: string): Promise<Blob> {
  const parts: string[] = [];
  for await (const { chunk } of chunksAfter(processId, 0)) parts.push(chunk.content);
  return new Blob(parts, { type: "text/plain" });
}
