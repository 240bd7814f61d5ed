// The views of the screens that have several, in the order of their tabs. Their names are part of the address.

export const ATTEMPT_VIEWS = ["log", "raw", "diffs", "processes"] as const;
export type AttemptView = (typeof ATTEMPT_VIEWS)[number];

export const FLEET_VIEWS = ["workers", "beads", "routing", "alerts"] as const;
export type FleetView = (typeof FLEET_VIEWS)[number];
