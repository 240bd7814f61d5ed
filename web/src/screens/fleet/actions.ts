// The actions of the fleet, and of its lists.

import { actionsAt } from "../../shell/action";

export const FLEET = actionsAt("fleet", "Fleet", {
  workers: { label: "Workers", keys: "1" },
  beads: { label: "Beads", keys: "2" },
  routing: { label: "Routing", keys: "3" },
  alerts: { label: "Alerts", keys: "4" },
  next: { label: "Next row", keys: "j" },
  before: { label: "Row before", keys: "k" },
  close: { label: "Close what is open", keys: "escape" },
});

export const WORKERS = actionsAt("fleet/workers", "Fleet", {
  start: { label: "Start a worker", keys: "n" },
});

export const BEADS = actionsAt("fleet/beads", "Fleet", {
  new: { label: "New bead", keys: "n" },
  dispatch: { label: "Dispatch beads", keys: "d" },
});

export const ALERTS = actionsAt("fleet/alerts", "Fleet", {
  seeAll: { label: "Acknowledge all alerts", keys: "a" },
});
