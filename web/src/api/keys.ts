// Under which key each answer is kept.
// Invariant: no key is written anywhere else, so a question and the event that makes its answer old cannot part.

type Key = readonly unknown[];

/** With fewer parts it names all answers that begin so. */
const named =
  <Parts extends Key = []>(name: string) =>
  (...parts: Partial<Parts>): Key => [name, ...parts];

export const keys = {
  projects: named("projects"),
  branches: named<[projectId: string]>("branches"),
  cards: named<[projectId: string]>("cards"),
  conflicts: named<[projectId: string]>("conflicts"),
  descriptions: named<[projectId: string]>("descriptions"),
  taskCounts: named("task-counts"),
  fileSearch: named<[projectId: string, typed: string]>("file-search"),
  folder: named<[path: string]>("folder"),
  repositories: named("repositories"),
  projectAttempts: named<[projectId: string]>("project-attempts"),

  task: named<[taskId: string]>("task"),
  attempts: named<[taskId: string]>("attempts"),
  taskImages: named<[taskId: string]>("task-images"),
  relations: named<[attemptId: string]>("relations"),
  tags: named<[typed: string]>("tags"),
  templates: named<[projectId: string]>("templates"),

  attempt: named<[attemptId: string]>("attempt"),
  approvals: named("approvals"),
  draft: named<[attemptId: string]>("draft"),

  branchStatus: named<[attemptId: string]>("branch-status"),
  figures: named<[attemptId: string]>("figures"),
  patch: named<[attemptId: string, path: string, revision: number]>("patch"),
  oldLines: named<[attemptId: string, path: string]>("old-lines"),
  fileSize: named<[attemptId: string, path: string, side: "old" | "new", revision: number]>("file-size"),
  commitDistance: named<[attemptId: string, sha: string]>("commit-distance"),

  workers: named("workers"),
  alerts: named("alerts"),
  routing: named("routing"),
  pane: named<[workerId: string]>("pane"),
  workerDefinitions: named("worker-definitions"),
  launchers: named("launchers"),
  beads: named<[projectOrReady: string, workspace: string]>("beads"),
  dispatch: named<[projectId: string]>("dispatch"),

  usage: named<[groupBy: string, period: object]>("usage"),

  info: named("info"),
  agents: named("agents"),
  profiles: named("profiles"),
  mcp: named<[executor: string]>("mcp"),
  worktrees: named("worktrees"),
  omni: named("omni"),
  health: named("health"),
};
