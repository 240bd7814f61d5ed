// How often a fast stream is looked at. A few changes are told at once; a flood, which nobody can read line by line, a
// few times a second, so that the page keeps its time for the person in front of it.

const WINDOW_MS = 150;
const FLOOD = 60;

/** Call it for each change; `tell` is called less often, and always after the last one. */
export function paced(tell: () => void): () => void {
  let begunAt = 0;
  let count = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  return () => {
    const now = performance.now();
    if (now - begunAt > WINDOW_MS) {
      begunAt = now;
      count = 0;
    }
    if (++count <= FLOOD) return tell();
    if (timer !== undefined) return;
    const tellLater = (): void => {
      timer = undefined;
      tell();
    };
    timer = setTimeout(tellLater, begunAt + WINDOW_MS - now);
  };
}
