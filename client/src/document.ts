// RFC 6902 as far as the server's streams use it: add, replace and remove at a path whose parents exist.

import type { PatchOp } from "./types.js";

/** Changes `document` in place. An operation below something that is not there changes nothing. */
export function apply(document: object, patch: readonly PatchOp[]): void {
  for (const operation of patch) {
    const steps = operation.path.split("/").slice(1).map(unescapeStep);
    const last = steps.pop();
    let parent: unknown = document;
    for (const step of steps) parent = isRecord(parent) && Object.hasOwn(parent, step) ? parent[step] : undefined;
    if (last === undefined || !isRecord(parent)) continue;
    if (operation.op === "remove") delete parent[last];
    // A file may be called `__proto__`; that is a key like any other.
    else Object.defineProperty(parent, last, { value: operation.value, ...ORDINARY });
  }
}

const ORDINARY = { configurable: true, enumerable: true, writable: true };

/** The steps of a path, with the escapes undone. */
export function unescapeStep(step: string): string {
  return step.replaceAll("~1", "/").replaceAll("~0", "~");
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
