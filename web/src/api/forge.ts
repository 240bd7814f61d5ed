// The server that this page came from. Everything the page knows comes through this client.

import { ForgeClient } from "@forge/client";

export const forge = new ForgeClient(location.origin);

/** Where the bytes of a file are, before the attempt or after it. */
export function fileAddress(attemptId: string, path: string, side: "old" | "new"): string {
  return `/api/task-attempts/${attemptId}/file?${new URLSearchParams({ path, side })}`;
}
