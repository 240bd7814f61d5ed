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

  /** Whether the same call can never succeed as it is. */
  get isFinal(): boolean {
    return this.status >= 400 && this.status < 500 && this.status !== 408 && this.status !== 429;
  }
}
