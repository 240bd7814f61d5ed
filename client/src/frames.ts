// The text frames of one WebSocket connection, as they come.
// Invariant: at most QUEUE_LIMIT frames wait for a slow reader. The platform's WebSocket cannot be slowed down, so beyond
// that it is closed as if it were cut off, and the reader comes back for the rest when it has caught up.

import type { SocketMaker } from "./connection.js";

const QUEUE_LIMIT = 4096;

/** Yields texts and returns the close code; 1006 when there was none. */
export type Frames = AsyncGenerator<string, number>;

export async function* readFrames(make: SocketMaker, url: string, signal: AbortSignal): Frames {
  const socket = new make(url);
  const queue: string[] = [];
  let code: number | undefined;
  let wake = (): void => {};
  socket.onmessage = (message) => {
    if (queue.length >= QUEUE_LIMIT) {
      code ??= 1006;
      socket.onmessage = null;
      socket.close();
    } else if (code === undefined) {
      queue.push(String(message.data));
    }
    wake();
  };
  socket.onclose = (event) => {
    code ??= event.code;
    wake();
  };
  const abort = (): void => {
    code ??= 1006;
    wake();
  };
  signal.addEventListener("abort", abort);
  try {
    for (;;) {
      const text = queue.shift();
      if (text !== undefined) yield text;
      else if (code !== undefined) return code;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    signal.removeEventListener("abort", abort);
    socket.onmessage = socket.onclose = null;
    socket.close();
  }
}
