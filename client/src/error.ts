import type { ErrorCode } from "./types.js";

/** A call that the server refused, or answered with something that is not an answer. */
export class ForgeError extends Error {
  override readonly name = "ForgeError";

  constructor(
    /** The HTTP status; 200 when the server answered that a rule forbids it. */
    readonly status: number,
    message: string,
    /** What was sent back: the envelope where there was one, else the text. */
    readonly body: unknown,
  ) {
    super(message);
  }

  /** What went wrong, to branch on; undefined where no Forge answered, or one without codes. */
  get code(): ErrorCode | undefined {
    return this.#text("error_code") as ErrorCode | undefined;
  }

  /** What to do about it, where something helps. */
  get hint(): string | undefined {
    return this.#text("hint");
  }

  /** The part of the request that is wrong. */
  get field(): string | undefined {
    return this.#text("field");
  }

  /** What is wrong: the message without the hint at its end. */
  get reason(): string {
    const end = this.hint === undefined ? "" : `; ${this.hint}`;
    return end && this.message.endsWith(end) ? this.message.slice(0, -end.length) : this.message;
  }

  /** Whether the same call can never succeed as it is. */
  get isFinal(): boolean {
    return this.status >= 400 && this.status < 500 && this.status !== 408 && this.status !== 429;
  }

  #text(key: string): string | undefined {
    const value = typeof this.body === "object" && this.body !== null ? Reflect.get(this.body, key) : undefined;
    return typeof value === "string" ? value : undefined;
  }
}
