// Reads JSON and remembers where things stand, so that an error can be shown at its line. The browsers' own parsers report
// the place in words of their own, or not at all.

export interface JsonFault {
  /** From 1. */
  line: number;
  message: string;
}

export type JsonRead =
  | { value: unknown /** The line of each key, by its path. */; lines: ReadonlyMap<string, number> }
  | { fault: JsonFault };

/** A JSON object. */
export const isTree = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

class Wrong extends Error {}

class Reader {
  readonly #text: string;
  readonly lines = new Map<string, number>();
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get line(): number {
    let line = 1;
    for (let at = this.#text.indexOf("\n"); at !== -1 && at < this.#at; at = this.#text.indexOf("\n", at + 1))
      line += 1;
    return line;
  }

  document(): unknown {
    const value = this.#value("");
    this.#skip();
    if (this.#at < this.#text.length) throw new Wrong(`${this.#seen()} after the end`);
    return value;
  }

  #skip(): void {
    while (/[ \t\r\n]/.test(this.#text[this.#at] ?? "")) this.#at += 1;
  }

  #seen(): string {
    const next = this.#text[this.#at];
    return next === undefined ? "The text ends" : `Unexpected ${next}`;
  }

  #take(mark: string, where: string): void {
    this.#skip();
    if (this.#text[this.#at] !== mark) throw new Wrong(`${this.#seen()}; ${mark} is needed ${where}`);
    this.#at += 1;
  }

  #has(mark: string): boolean {
    this.#skip();
    return this.#text[this.#at] === mark;
  }

  #value(path: string): unknown {
    if (this.#has("{")) return this.#object(path);
    if (this.#has("[")) return this.#list(path);
    if (this.#has('"')) return this.#string();
    const word = /[-+.\w]*/y;
    word.lastIndex = this.#at;
    const literal = word.exec(this.#text)?.[0] ?? "";
    if (literal === "") throw new Wrong(`${this.#seen()} where a value is needed`);
    const value = parse(literal, `${literal} is no value; text stands in double quotes`);
    this.#at += literal.length;
    return value;
  }

  #string(): string {
    const quoted = /"(?:[^"\\\n]|\\.)*"/y;
    quoted.lastIndex = this.#at;
    const literal = quoted.exec(this.#text)?.[0];
    if (literal === undefined) throw new Wrong("This text has no closing double quote");
    const text = parse(literal, "This text has a character that must be escaped");
    this.#at += literal.length;
    return String(text);
  }

  #object(path: string): Record<string, unknown> {
    const entries: [string, unknown][] = [];
    this.#take("{", "here");
    while (!this.#has("}")) {
      if (entries.length > 0) this.#take(",", "between entries");
      if (!this.#has('"')) throw new Wrong(`${this.#seen()}; a name in double quotes is needed`);
      const line = this.line;
      const key = this.#string();
      const inner = path ? `${path}.${key}` : key;
      if (this.lines.has(inner)) throw new Wrong(`${key} is there twice`);
      this.lines.set(inner, line);
      this.#take(":", "after the name");
      entries.push([key, this.#value(inner)]);
    }
    this.#at += 1;
    return Object.fromEntries(entries);
  }

  #list(path: string): unknown[] {
    const items: unknown[] = [];
    this.#take("[", "here");
    while (!this.#has("]")) {
      if (items.length > 0) this.#take(",", "between values");
      items.push(this.#value(`${path}.${items.length}`));
    }
    this.#at += 1;
    return items;
  }
}

function parse(literal: string, problem: string): unknown {
  try {
    return JSON.parse(literal);
  } catch {
    throw new Wrong(problem);
  }
}

export function readJson(text: string): JsonRead {
  const reader = new Reader(text);
  try {
    return { value: reader.document(), lines: reader.lines };
  } catch (error) {
    if (!(error instanceof Wrong)) throw error;
    return { fault: { line: reader.line, message: error.message } };
  }
}

/** The line that a message such as `a.b.c: is wrong` is about: that of the longest part of its path that is there. */
export function placeMessage(message: string, text: string): JsonFault | null {
  const [, path = "", rest = ""] = /^([^\s:]+): (.*)$/s.exec(message) ?? [];
  const read = readJson(text);
  if ("fault" in read) return read.fault;
  for (let part = path; part !== ""; part = part.slice(0, Math.max(0, part.lastIndexOf(".")))) {
    const line = read.lines.get(part);
    if (line !== undefined) return { line, message: `${path.slice(path.lastIndexOf(".") + 1)} ${rest}` };
  }
  return null;
}
