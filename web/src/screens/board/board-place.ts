// Where one was on a board, so that coming back to it is coming back to the same spot.

import type { TaskStatus } from "@forge/client";
import type { CacheSnapshot } from "virtua";

interface Scrolled {
  offset: number;
  length: number;
  sizes: CacheSnapshot;
}

interface Place {
  /** The card that was opened or had the focus last. */
  taskId?: string;
  /** The column that a phone shows. */
  column?: TaskStatus;
  scrolled: Map<TaskStatus, Scrolled>;
}

const places = new Map<string, Place>();

export function placeOn(projectId: string): Place {
  const known = places.get(projectId);
  if (known) return known;
  const place: Place = { scrolled: new Map() };
  places.set(projectId, place);
  return place;
}
