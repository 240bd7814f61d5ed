// The branches of a project as a person looks for them.

import type { GitBranch } from "@forge/client";

export interface BranchGroup {
  heading: string;
  branches: readonly GitBranch[];
}

/** The branch that work starts from when nobody says: the project's own, else the one that is checked out. */
export function baseBranch(branches: readonly GitBranch[], projectDefault: string | null | undefined): string | null {
  return projectDefault || (branches.find(({ is_current }) => is_current)?.name ?? null);
}

/** Ordinary branches first, then those of attempts, then remote ones; newest first, the default before all. */
export function branchGroups(branches: readonly GitBranch[], prefix: string, first: string | null): BranchGroup[] {
  const ofAttempts = ({ name }: GitBranch): boolean => prefix !== "" && name.startsWith(`${prefix}/`);
  const rank = ({ name, is_current }: GitBranch): number => (name === first ? 0 : is_current ? 1 : 2);
  const newest = [...branches].sort(
    (a, b) => rank(a) - rank(b) || b.last_commit_date.localeCompare(a.last_commit_date),
  );
  const local = newest.filter(({ is_remote }) => !is_remote);
  return [
    { heading: "Branches", branches: local.filter((branch) => !ofAttempts(branch)) },
    { heading: "Of attempts", branches: local.filter(ofAttempts) },
    { heading: "Remote", branches: newest.filter(({ is_remote }) => is_remote) },
  ];
}
