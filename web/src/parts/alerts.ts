// Which alerts want a person. Wherever the page counts them in a mark, it counts these. Pure.

import type { Alert } from "@forge/client";

export const pressing = (alerts: readonly Alert[] | undefined): number =>
  alerts?.filter((alert) => !alert.resolved_at && !alert.acknowledged_at && alert.severity !== "info").length ?? 0;
