// How long an answer is true. Each query claims one of these; a test holds those that claim to be live to it.

const FOREVER = Number.POSITIVE_INFINITY;

/** Answers that events keep true; they are never asked for again just because time has passed. */
export const LIVE = { staleTime: FOREVER, meta: { keptTrueBy: "events" } } as const;

/** Answers whose key names the version: a newer version is another answer. */
export const FIXED = { staleTime: FOREVER, meta: { keptTrueBy: "key" } } as const;

/** Answers about what changes without an event. */
export const LOOKED_UP = { staleTime: 10_000 } as const;
