// How often a fast stream is looked at. A few changes are shown at once; a flood, which nobody can read line by line, a
// few times a second, so that the page keeps its time for the person in front of it.

const WINDOW_MS = 150;
const FLOOD = 60;

export interface Pace {
  /** To be called for each change. */
  changed: () => void;
  /** Nothing is shown any more: the stream has ended, which is shown by itself. */
  stop: () => void;
}

/** `show` is called less often than `changed`, and always after the last one. */
export function paced(show: () => void): Pace {
  let begunAt = 0;
  let count = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const changed = (): void => {
    const now = performance.now();
    if (now - begunAt > WINDOW_MS) {
      begunAt = now;
      count = 0;
    }
    if (++count <= FLOOD) {
      show();
      return;
    }
    if (timer !== undefined) return;
    const tellLater = (): void => {
      timer = undefined;
      show();
    };
    timer = setTimeout(tellLater, begunAt + WINDOW_MS - now);
  };
  return { changed, stop: () => clearTimeout(timer) };
}
