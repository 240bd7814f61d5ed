// Whether everything of an attempt is in its target, and as which commit.

import type { BranchStatus, DirectMerge } from "@forge/client";

/** The commit that landed last; none while the branch has anything that its target lacks. */
export function landedAs(status: BranchStatus | undefined): DirectMerge | undefined {
  const [last] = status?.merges ?? [];
  if (!status || last?.type !== "direct" || status.commits_ahead || status.has_uncommitted_changes) return undefined;
  return last;
}
