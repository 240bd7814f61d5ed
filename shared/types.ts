// Made by `npm run generate-types` from the server's description of its API. Do not edit.

/** A UUID in lower case. */
export type Uuid = string;
/** RFC 3339 in UTC, with milliseconds. */
export type Timestamp = string;

/** The kinds of step. */
export type ActionStep = InitialRequest | FollowUpRequest | ScriptRequest;

export type ActionType = FileReadAction | FileEditAction | CommandRunAction | SearchAction | WebFetchAction | ToolAction | TaskCreateAction | PlanPresentationAction | TodoManagementAction | OtherAction;

/** Where an attempt works from now on. */
export interface AdoptedWorktree {
  attempt_id: Uuid;
  path: string;
  from: string;
}

export interface AgentOption {
  key: string;
  label: string;
  kind: OptionKind;
  choices?: string[];
  hint?: string;
}

/** How an agent program was found. */
export type AgentSource = "path" | "built_in" | "login_path" | "npx";

export type AgentState = "ready" | "not_logged_in" | "not_installed" | "not_working";

/** Something that a person should know. */
export interface Alert {
  id: Uuid;
  kind: AlertKind;
  severity: AlertSeverity;
  subject: string;
  message: string;
  count: number;
  first_at: Timestamp;
  last_at: Timestamp;
  acknowledged_at: Timestamp | null;
  resolved_at: Timestamp | null;
}

export interface AlertEvent {
  seq: number;
  event: "alert";
  data: Alert;
}

export type AlertKind = "worker_crashed" | "recovery_exhausted" | "worker_stale" | "task_stuck" | "waits_for_permission" | "context_full" | "memory_high" | "status_bad" | "budget" | "quota" | "queue_empty" | "bead_blocked" | "bead_parked" | "stale_assignee" | "disk_low" | "auto_restart" | "worker_parked" | "worker_recovered";

export interface AlertSettings {
  min_severity: AlertSeverity;
  bell_on_critical: boolean;
  bell_on_warning: boolean;
  bell_interval_secs: number;
  desktop: boolean;
  webhook: string | null;
  command: string[];
  escalate_after_mins: number;
}

export interface AlertSettingsChange {
  bell_interval_secs?: number | null;
  bell_on_critical?: boolean | null;
  bell_on_warning?: boolean | null;
  command?: string[] | null;
  desktop?: boolean | null;
  escalate_after_mins?: number | null;
  min_severity?: AlertSeverity | null;
  webhook?: string | null;
}

export type AlertSeverity = "info" | "warning" | "critical";

/** A question with its state. */
export interface Approval extends ApprovalStatus {
  id: Uuid;
  tool_name: string;
  tool_input: unknown;
  session_id: string | null;
  execution_process_id: Uuid | null;
  tool_call_id: string | null;
  created_at: Timestamp;
  timeout_at: Timestamp;
  task_attempt_id?: Uuid;
  task_id?: Uuid;
}

export interface ApprovalEvent {
  seq: number;
  event: "approval";
  data: Approval;
}

export interface ApprovalStatus {
  status: ApprovalWord;
  reason?: string | null;
}

export type ApprovalWord = "pending" | "approved" | "denied" | "timed_out";

/** A bead that a worker holds. */
export interface AssignedBead {
  workspace: string;
  id: string;
  title: string;
  actor: string;
  attempt_id: Uuid | null;
}

export interface AttachPullRequest {
  pr_number?: number | null;
}

export interface AttachedPullRequest {
  pr_attached: boolean;
  pr_url: string | null;
  pr_number: number | null;
  pr_status: PrStatus | null;
}

/** The patch of an attempt, or as much of it as was requested. */
export interface AttemptDiff {
  attempt_id: Uuid;
  target_branch: string;
  files: ChangedFile[];
  files_changed: number;
  additions: number;
  deletions: number;
  diff: string;
  truncated: boolean;
}

/** The drafts of one attempt. */
export interface AttemptDrafts {
  follow_up: Draft;
  retry: Draft | null;
}

/** An attempt as it was when it was created. */
export interface AttemptEvent {
  seq: number;
  event: "attempt";
  data: TaskAttempt;
}

/** How an attempt is to be started. */
export interface AttemptOptions {
  executor_profile_id: ProfileChoice;
  auto_pr?: boolean | null;
  base_branch?: string | null;
  max_cost_usd?: number | null;
  use_worktree?: boolean | null;
}

/** State of the newest agent run of an attempt. */
export type AttemptStatus = "pending" | "running" | "completed" | "failed" | "stopped";

export interface AuthRequired {
  auth_required: boolean;
}

export interface AutoPr {
  state: AutoPrState;
  message?: string;
  url?: string;
}

export type AutoPrState = "waiting" | "opened" | "failed";

/** A piece of work as its tracker has it; fields that the tracker adds are included. */
export interface Bead {
  id: string;
  standing: BeadStanding;
  acceptance_criteria?: string;
  assignee?: string;
  close_reason?: string;
  closed_at?: string;
  comments?: BeadComment[];
  created_at?: string;
  dependencies?: BeadDependency[];
  description?: string;
  design?: string;
  issue_type?: string;
  labels?: string[];
  notes?: string;
  owner?: string;
  priority?: number;
  status?: string;
  title?: string;
  updated_at?: string;
}

export interface BeadComment {
  id: unknown;
  author: string;
  text: string;
}

export interface BeadDependency {
  depends_on_id: string;
  type?: string;
}

/** A dependency; `added` is false when it already existed. */
export interface BeadLink {
  bead: string;
  depends_on: string;
  added: boolean;
}

export interface BeadStanding {
  ready: boolean;
  blocked_by: string[];
  lease: Lease | null;
  failures: number;
  parked: string | null;
  task_id: Uuid | null;
}

/** A dependency; `removed` is false when there was none. */
export interface BeadUnlink {
  bead: string;
  depends_on: string;
  removed: boolean;
}

/** The project whose beads changed. */
export interface BeadsEvent {
  seq: number;
  event: "beads";
  data: Uuid;
}

/** Selects a workspace of beads. Without either field: the only workspace that has any. */
export interface BeadsOf {
  project_id?: Uuid | null;
  workspace?: string | null;
}

/** The state of a branch that somebody was shown differently. */
export interface BranchChange {
  attempt_id: Uuid;
  project_id: Uuid;
  status: BranchStatus;
}

export interface BranchEvent {
  seq: number;
  event: "branch";
  data: BranchChange;
}

export interface BranchStatus {
  commits_behind: number | null;
  commits_ahead: number | null;
  has_uncommitted_changes: boolean | null;
  head_oid: string | null;
  uncommitted_count: number | null;
  untracked_count: number | null;
  target_branch_name: string;
  remote_commits_behind: number | null;
  remote_commits_ahead: number | null;
  merges: Merge[];
  is_rebase_in_progress: boolean;
  conflict_op: ConflictOp | null;
  conflicted_files: string[];
  left_open?: string[];
  no_remote?: boolean;
}

/** How a launcher takes its arguments. The environment is the same for all. */
export type CallStyle = "positional" | "flags" | "model-workspace-session";

/** What a board shows of a task's attempts, as it is now. */
export interface CardChange {
  project_id: Uuid;
  task_id: Uuid;
  card: TaskCard | null;
  attempts: TaskAttempt[];
}

/** Only for `view=board`, like all that follow. */
export interface CardEvent {
  seq: number;
  event: "card";
  data: CardChange;
}

export interface ChangeTargetBranch {
  new_target_branch: string;
}

/** A changed file without its contents. */
export interface ChangedFile {
  path: string;
  old_path: string | null;
  change: DiffChange;
  additions: number | null;
  deletions: number | null;
}

export interface ClaimBead extends BeadsOf {
  worker?: string | null;
}

export interface CloseBead extends BeadsOf {
  reason: string;
}

/** When a bead counts as done. */
export type CloseOn = "success" | "merge";

export interface CommandResult {
  exit_status: ExitStatus | null;
  output: string | null;
}

export interface CommandRunAction {
  action: "command_run";
  command: string;
  result: CommandResult | null;
}

export interface CommentBead extends BeadsOf {
  text: string;
}

/** A commit compared with the HEAD of an attempt. */
export interface CommitComparison {
  head_oid: string;
  target_oid: string;
  ahead_from_head: number;
  behind_from_head: number;
  is_linear: boolean;
}

export interface CommitInfo {
  sha: string;
  subject: string;
  author: string;
  committed_at: Timestamp;
}

export interface Config {
  config_version: string;
  theme: Theme;
  executor_profile: ExecutorProfileId;
  disclaimer_acknowledged: boolean;
  notifications: NotificationSettings;
  editor: EditorSettings;
  github: GithubSettings;
  auto_resume: boolean;
  git_branch_prefix: string;
  fleet: FleetSettings;
  budget_warning_percent: number;
  budget_critical_percent: number;
  onboarding_acknowledged: boolean;
  github_login_acknowledged: boolean;
  telemetry_acknowledged: boolean;
  analytics_enabled: boolean | null;
  contact_email_opt_in: boolean | null;
  contact_username_opt_in: boolean | null;
  workspace_dir: string | null;
  last_app_version: string | null;
  show_release_notes: boolean;
  language: Language;
  showcases: Showcases;
  max_cost_usd_per_day?: number;
  max_cost_usd_per_month?: number;
}

/** A git operation that has stopped in the middle. */
export type ConflictOp = "rebase" | "merge" | "cherry_pick" | "revert";

/** Which attempts of a project would conflict, judged by their commits. */
export interface ConflictReport {
  target: TargetConflict[];
  pairs: PairConflict[];
  checked_at: Timestamp;
  checked: number;
  skipped: number;
}

/** The conflicts of a project that somebody was shown differently. */
export interface ConflictsChange {
  project_id: Uuid;
  report: ConflictReport;
}

export interface ConflictsEvent {
  seq: number;
  event: "conflicts";
  data: ConflictsChange;
}

/** Whose worktree a path is in. */
export interface ContainerInfo {
  attempt_id: Uuid;
  task_id: Uuid;
  project_id: Uuid;
}

export interface CreateAgent {
  project_id: Uuid;
  agent_type: string;
}

export interface CreateAndStartTask extends AttemptOptions {
  task: CreateTask;
}

export interface CreateAndStartTaskHere extends AttemptOptions {
  task: CreateTaskHere;
}

/** A question from outside the engine. */
export interface CreateApproval {
  tool_name: string;
  tool_input: unknown;
  session_id: string;
}

export interface CreateBead extends BeadsOf {
  title: string;
  depends_on?: string[];
  description?: string | null;
  issue_type?: string | null;
  labels?: string[];
  parent?: string | null;
  priority?: number | null;
}

export interface CreateExecutionRun {
  project_id: Uuid;
  prompt: string;
  executor_profile_id: ProfileChoice;
  base_branch?: string | null;
}

export interface CreateProject {
  name: string;
  git_repo_path: string;
  use_existing_repo: boolean;
  cleanup_script?: string | null;
  commit_prompt?: string | null;
  copy_files?: string | null;
  default_base_branch?: string | null;
  dev_script?: string | null;
  max_cost_usd?: number | null;
  setup_script?: string | null;
}

export interface CreatePullRequest {
  title: string;
  body?: string | null;
  target_branch?: string | null;
}

export interface CreateTag {
  tag_name: string;
  content: string;
}

export interface CreateTask extends CreateTaskHere {
  project_id: Uuid;
}

export interface CreateTaskAttempt extends AttemptOptions {
  task_id: Uuid;
}

export interface CreateTaskHere {
  title: string;
  description?: string | null;
  image_ids?: Uuid[] | null;
  labels?: string[] | null;
  parent_task_attempt?: Uuid | null;
}

export interface CreateTaskTemplate {
  title: string;
  template_name: string;
  description?: string | null;
  project_id?: Uuid | null;
}

export interface DeleteChange {
  action: "delete";
}

/** A project to try things out, with scripted agents running. */
export interface Demo {
  project: Project;
  tasks: Task[];
}

export interface DeniedStatus {
  status: "denied";
  reason: string | null;
}

/** What the user needs to finish the login on GitHub's page. */
export interface DeviceStart {
  user_code: string;
  verification_uri: string;
  expires_in: number;
  interval: number;
}

/** One changed file. Contents are omitted for large and binary files and when only figures are requested. */
export interface Diff {
  change: DiffChange;
  oldPath: string | null;
  newPath: string | null;
  oldContent: string | null;
  newContent: string | null;
  contentOmitted: boolean;
  additions: number | null;
  deletions: number | null;
  lockFile: boolean;
}

export type DiffChange = "added" | "deleted" | "modified" | "renamed" | "copied" | "permissionChange";

/** What the patches of the diff stream build, by path. */
export interface DiffDocument {
  entries: Record<string, DiffEntry>;
}

export interface DiffEntry {
  type: "DIFF";
  content: Diff;
}

export type DigestStatus = "RUNNING" | "COMPLETED" | "FAILED" | "KILLED";

export interface DirectMerge {
  type: "direct";
  id: Uuid;
  task_attempt_id: Uuid;
  merge_commit: string;
  target_branch_name: string;
  created_at: Timestamp;
}

export interface DirectoryEntry {
  name: string;
  path: string;
  is_directory: boolean;
  is_git_repo: boolean;
  last_modified: number | null;
}

export interface DirectoryListing {
  entries: DirectoryEntry[];
  current_path: string;
}

/** Absent fields stay as they are; null removes a limit or an agent. */
export interface DispatchChange {
  close_on?: CloseOn | null;
  enabled?: boolean | null;
  executor_profile_id?: ProfileChoice | null;
  landing?: DispatchLanding | null;
  max_workers?: number | null;
  mirror?: boolean | null;
  mode?: DispatchMode | null;
  tasks?: boolean | null;
  worker?: string | null;
}

/** What happens to the branch when the agent succeeds. */
export type DispatchLanding = "merge" | "review" | "pr";

/** What works on a bead. */
export type DispatchMode = "attempt" | "worker";

/** The result of a round. */
export interface DispatchReport {
  project_id: Uuid;
  workspace: string;
  dry_run: boolean;
  started: DispatchedBead[];
  waiting: WaitingBead[];
}

/** One round of giving out beads. */
export interface DispatchRequest extends DispatchChange {
  project_id: Uuid;
  dry_run?: boolean;
}

/** The rule of a project, and whether it keeps beads that could be given out. */
export interface DispatchRule {
  enabled: boolean;
  mode: DispatchMode;
  landing: DispatchLanding;
  close_on: CloseOn;
  max_workers: number | null;
  executor_profile_id: ExecutorProfileId | null;
  worker: string | null;
  tasks: boolean;
  mirror: boolean;
  has_beads: boolean;
}

export interface DispatchedBead {
  bead: string;
  title: string;
  score: ScoreComponents;
  complexity: number;
  decision: RoutingDecision;
  attempt_id?: Uuid;
  task_id?: Uuid;
  worker?: string;
}

export interface Draft {
  id: Uuid;
  task_attempt_id: Uuid;
  draft_type: DraftType;
  prompt: string;
  queued: boolean;
  sending: boolean;
  variant: string | null;
  created_at: Timestamp;
  updated_at: Timestamp;
  version: number;
  image_ids?: Uuid[];
  retry_process_id?: Uuid;
}

/** A change of a draft; absent and null keep what is stored. */
export interface DraftChange {
  image_ids?: Uuid[] | null;
  prompt?: string | null;
  retry_process_id?: Uuid | null;
  variant?: string | null;
  version?: number | null;
}

/** A draft as responses about one draft show it; streams show the whole [`Draft`]. */
export interface DraftResponse {
  task_attempt_id: Uuid;
  draft_type: DraftType;
  retry_process_id: Uuid | null;
  prompt: string;
  queued: boolean;
  sending: boolean;
  variant: string | null;
  image_ids: Uuid[] | null;
  version: number;
}

export type DraftType = "follow_up" | "retry";

/** What the patches of the draft stream build, by attempt. */
export interface DraftsDocument {
  drafts: Record<string, AttemptDrafts>;
}

export interface EditChange {
  action: "edit";
  unified_diff: string;
  has_line_numbers: boolean;
}

export interface EditorChange {
  custom_command?: string | null;
  editor_type?: EditorType | null;
  remote_ssh_host?: string | null;
  remote_ssh_user?: string | null;
}

export interface EditorSettings {
  editor_type: string;
  custom_command: string | null;
  remote_ssh_host: string | null;
  remote_ssh_user: string | null;
}

/** The editors that can be chosen. */
export type EditorType = "VS_CODE" | "CURSOR" | "WINDSURF" | "INTELLI_J" | "ZED" | "XCODE" | "CUSTOM";

/** Present for an editor that opens by a link. */
export interface EditorUrl {
  url: string | null;
}

/** The last frame of a stream that ends. */
export interface EndFrame {
  finished: boolean;
  seq?: number;
}

export type EntryType = PlainEntry | UserFeedbackEntry | ToolUseEntry | ErrorEntry;

/** Around every JSON response. */
export interface Envelope {
  success: boolean;
  data: unknown;
  error_data: unknown;
  message: string | null;
}

export interface Environment {
  os_type: string;
  os_version: string;
  os_architecture: string;
  bitness: string;
}

/** What went wrong, for programs. */
export type ErrorCode = "not_found" | "invalid" | "too_large" | "refused" | "conflict" | "denied" | "unavailable" | "upstream" | "internal" | "project_not_found" | "task_not_found" | "attempt_not_found" | "run_not_found" | "errand_not_found" | "approval_not_found" | "worker_not_found" | "branch_not_found" | "repository_not_found" | "project_required" | "not_served" | "method_not_allowed" | "token_required" | "too_many_tries" | "body_not_json" | "stopping" | "branch_diverged" | "merge_conflicts" | "operation_in_progress" | "uncommitted_changes" | "nothing_to_merge" | "branch_in_use" | "not_a_worktree" | "no_remote" | "push_rejected" | "repository_untrusted" | "git_unusable" | "host_token_invalid" | "host_permission_missing" | "host_repository_not_found" | "still_running" | "not_running" | "agent_not_found" | "no_dev_script" | "no_draft" | "budget_reached" | "disk_full";

export interface ErrorEntry {
  type: "error_message";
  error_type: ErrorType;
}

export interface ErrorType {
  type: ErrorWord;
}

export type ErrorWord = "setup_required" | "other";

/** Something that happened; `seq` is its number in the server's log. */
export type EventFrame = HelloFrame | PatchEvent | ApprovalEvent | WorkerEvent | WorkerRemovedEvent | AlertEvent | RoutingEvent | ProjectEvent | ProjectRemovedEvent | AttemptEvent | CardEvent | BranchEvent | ConflictsEvent | BeadsEvent;

/** One process of an attempt: a script or a turn of its agent. */
export interface ExecutionProcess {
  id: Uuid;
  task_attempt_id: Uuid | null;
  execution_run_id: Uuid | null;
  run_reason: RunReason;
  executor_action: ExecutorAction;
  before_head_commit: string | null;
  after_head_commit: string | null;
  status: RunStatus;
  exit_code: number | null;
  dropped: boolean;
  started_at: Timestamp;
  completed_at: Timestamp | null;
  created_at: Timestamp;
  updated_at: Timestamp;
  output: string | null;
  commit_error?: string;
  open_conflicts?: string[];
  parked_until?: Timestamp;
  setup_required?: boolean;
  unverified?: boolean;
}

export interface ExecutionRun {
  id: Uuid;
  project_id: Uuid;
  branch: string;
  target_branch: string;
  executor: string;
  variant: string | null;
  container_ref: string | null;
  prompt: string;
  worktree_deleted: boolean;
  created_at: Timestamp;
  updated_at: Timestamp;
}

/** One step and the step that follows it when this one succeeds. */
export interface ExecutorAction {
  typ: ActionStep;
  next_action: ExecutorAction | null;
}

/** An agent with a variant and, for one attempt, a model. */
export interface ExecutorProfileId {
  executor: string;
  model?: string | null;
  variant?: string | null;
}

export interface ExitCode {
  type: "exit_code";
  code: number;
}

export type ExitStatus = ExitCode | ExitSuccess;

export interface ExitSuccess {
  type: "success";
  success: boolean;
}

/** Around every failure. */
export interface Failure {
  success: boolean;
  data: null;
  error_data: unknown;
  message: string | null;
  error_code: ErrorCode;
  hint: string | null;
  field: string | null;
}

/** Which tier is tried next when a tier is unavailable, always by one step. */
export type Fallback = "up" | "down" | "none" | "both";

export type FileChange = WriteChange | DeleteChange | RenameChange | EditChange;

export interface FileEditAction {
  action: "file_edit";
  path: string;
  changes: FileChange[];
}

export interface FileReadAction {
  action: "file_read";
  path: string;
}

/** A partial change; an absent key keeps the stored value. */
export interface FleetChange {
  alerts?: AlertSettingsChange | null;
  caps?: TierCapsInput | null;
  fallback?: Fallback | null;
  health?: HealthChange | null;
  launcher_dir?: string | null;
  max_failures?: number | null;
  max_load_per_core?: number | null;
  max_workers?: number | null;
  min_free_disk_mb?: number | null;
  min_free_memory_mb?: number | null;
  models?: TierModelsInput | null;
  no_change_ok?: string[] | null;
  priority_tiers?: PriorityTiersInput | null;
  recovery?: RecoveryChange | null;
  socket?: string | null;
  status_keep_days?: number | null;
  stop_at_budget?: boolean | null;
  workspaces?: string[] | null;
}

export interface FleetSettings {
  socket: string | null;
  max_workers: number;
  caps: TierCaps;
  models: TierModels;
  max_failures: number;
  no_change_ok: string[];
  min_free_memory_mb: number;
  min_free_disk_mb: number;
  stop_at_budget: boolean;
  max_load_per_core: number | null;
  priority_tiers: PriorityTiers;
  fallback: Fallback;
  workspaces: string[];
  launcher_dir: string | null;
  health: HealthMonitorConfig;
  recovery: RecoveryRules;
  alerts: AlertSettings;
  status_keep_days: number;
}

export interface FollowUp {
  prompt: string;
  force_when_dirty?: boolean | null;
  fresh?: boolean | null;
  image_ids?: Uuid[] | null;
  perform_git_reset?: boolean | null;
  retry_process_id?: Uuid | null;
  variant?: string | null;
}

export interface FollowUpRequest {
  type: "CodingAgentFollowUpRequest";
  prompt: string;
  session_id: string;
  executor_profile_id: ExecutorProfileId;
}

export interface FollowUpRun {
  prompt: string;
  variant?: string | null;
}

export interface ForgeAgent {
  id: Uuid;
  project_id: Uuid;
  agent_type: string;
  task_id: Uuid;
  created_at: Timestamp;
  updated_at: Timestamp;
}

/** Settings of the forge group, for all projects or for one. */
export interface ForgeSettings {
  omni_enabled: boolean;
  omni_config: OmniConfig | null;
}

/** A change of the settings: absent keys keep, null clears. */
export interface ForgeSettingsChange {
  omni_config?: OmniChange | null;
  omni_enabled?: boolean | null;
}

/** What this machine has of one agent program. */
export interface FoundAgent {
  executor: string;
  name: string;
  program: string;
  protocol: string;
  found: AgentSource | null;
  path: string | null;
  version: string | null;
  keys: string[];
  logged_in: boolean;
  ready: boolean;
  state: AgentState;
  install: string;
  log_in: string | null;
}

/** Frames after a number, for clients that cannot use streams. */
export interface FramePage {
  frames: StreamFrame[];
  finished: boolean;
  more: boolean;
}

export interface GarbageReport {
  removed: string[];
  freed_bytes: number;
  kept: string[];
  removed_logs: number;
}

export interface GarbageRequest {
  older_than_h?: number | null;
}

/** A local or remote-tracking branch (the wire calls it a git branch). */
export interface GitBranch {
  name: string;
  is_current: boolean;
  is_remote: boolean;
  last_commit_date: Timestamp;
}

export interface GithubChange {
  default_pr_base?: string | null;
  oauth_token?: string | null;
  pat?: string | null;
  primary_email?: string | null;
  username?: string | null;
}

/** Tokens are in clear here and in the file (mode 600); whoever shows settings masks them. */
export interface GithubSettings {
  pat: string | null;
  oauth_token: string | null;
  username: string | null;
  primary_email: string | null;
  default_pr_base: string | null;
}

export interface Health {
  level: HealthLevel;
  findings: HealthFinding[];
  memory_mb: number | null;
}

export interface HealthChange {
  check_interval_secs?: number | null;
  max_recovery_attempts?: number | null;
  memory_limit_mb?: number | null;
  stale_threshold_secs?: number | null;
}

export type HealthFinding = "process_gone" | "agent_gone" | "session_gone" | "stale" | "task_stuck" | "memory_high" | "waits_for_permission" | "rate_limited" | "context_full" | "recovery_exhausted" | "says_failed" | "says_stopped" | "says_error";

export type HealthLevel = "healthy" | "degraded" | "critical" | "failed";

/** When a worker counts as unhealthy; the defaults are those of the documentation. */
export interface HealthMonitorConfig {
  check_interval_secs: number;
  stale_threshold_secs: number;
  max_recovery_attempts: number;
  memory_limit_mb: number;
}

export interface Hello {
  version: string;
}

/** The first frame: the stream continues after `seq`, which differs from the requested number when the events since then are no longer in the log. */
export interface HelloFrame {
  seq: number;
  event: "hello";
  data: Hello;
}

export interface Image {
  id: Uuid;
  file_path: string;
  original_name: string;
  mime_type: string | null;
  size_bytes: number;
  hash: string;
  created_at: Timestamp;
  updated_at: Timestamp;
}

/** What an import did, or would do. */
export interface ImportReport {
  source: string;
  path: string | null;
  dry_run: boolean;
  projects: ImportedProject[];
  tags: ImportTally;
  templates: ImportTally;
  skipped: ImportSkipped[];
  notes: string[];
  attempts: ImportedAttempt[];
}

/** Asks the server to read another system's data. */
export interface ImportRequest {
  kind: string;
  dry_run?: boolean;
  path?: string | null;
  project?: string | null;
  worktrees?: OldWorktrees;
}

/** Something that was not imported, and why. */
export interface ImportSkipped {
  kind: string;
  key: string;
  name: string;
  reason: string;
}

/** How a project of the source corresponds to one of Forge. */
export type ImportStanding = "new" | "merged" | "known";

/** How many of a kind there were. */
export interface ImportTally {
  new: number;
  known: number;
  skipped: number;
  changed?: number;
}

/** Which attempt an attempt of the source is now. */
export interface ImportedAttempt {
  key: string;
  attempt_id: Uuid;
  task_id: Uuid;
  project_id: Uuid;
}

/** What became of one project. */
export interface ImportedProject {
  id: Uuid;
  name: string;
  git_repo_path: string;
  standing: ImportStanding;
  tasks: ImportTally;
  attempts: ImportTally;
  runs: ImportTally;
  merges: ImportTally;
  images: ImportTally;
  templates: ImportTally;
  agents: ImportTally;
  log_bytes: number;
}

export interface InitialRequest {
  type: "CodingAgentInitialRequest";
  prompt: string;
  executor_profile_id: ExecutorProfileId;
}

export interface IssueLink {
  task_id: Uuid;
  project_id: Uuid;
  repository: string;
  number: number;
  url: string;
}

/** Where a retired worktree went. */
export interface KeptWorktree {
  attempt_id: Uuid;
  reference: string;
  commit: string;
  trash: string | null;
}

/** What a form for the variants of an agent needs to know. */
export interface KnownAgent {
  options: AgentOption[];
  built_in_variants: string[];
}

export type Language = "BROWSER" | "EN" | "JA" | "ES" | "KO";

/** What a launcher reported when it had started a worker. */
export interface LauncherAnswer {
  model: string | null;
  message: string | null;
  bead_id: string | null;
  bead_title: string | null;
}

/** A launcher that workers can be started with. */
export interface LauncherFile {
  name: string;
  path: string;
  shipped: boolean;
}

/** Who works on a bead. Forge's own record, whatever the tracker says. */
export interface Lease {
  workspace: string;
  bead: string;
  worker: string;
  actor: string;
  taken_at: Timestamp;
}

export interface LinkBead extends BeadsOf {
  depends_on: string;
  type?: string | null;
}

/** An attempt as lists show it, under the name of its task. */
export interface ListedAttempt extends TaskAttempt {
  task_title: string;
}

/** A project in a list. */
export interface ListedProject extends Project {
  task_counts?: Record<string, number>;
}

/** A worker, and what is seen of it right now. Workers that are not managed are sessions of others, which Forge leaves alone. */
export interface ListedWorker extends Worker {
  managed: boolean;
  has_session: boolean;
  attached: boolean;
  socket: string;
  log: string;
}

export type LoginAnswer = "SLOW_DOWN" | "AUTHORIZATION_PENDING" | "SUCCESS";

export type LoginCheck = "VALID" | "INVALID";

export interface LoginLink {
  path: string;
}

/** What the text was found in. */
export type MatchType = "FileName" | "DirectoryName" | "FullPath";

export interface McpAnswer {
  mcp_config: McpConfig;
  config_path: string;
}

/** The MCP servers of one agent program, and what can be added. */
export interface McpConfig {
  servers: Record<string, unknown>;
  servers_path: string[];
  template: unknown;
  preconfigured: unknown;
  is_toml_config: boolean;
}

export type Merge = DirectMerge | PrMerge;

export interface MergeAttempt {
  message?: string | null;
}

/** What a model costs and how it serves. */
export interface ModelPerformance {
  model: string;
  call_count: number;
  total_tokens: number;
  total_cost_usd: number;
  avg_cost_per_1k_tokens: number;
  avg_latency_ms: number | null;
  cache_hit_rate: number | null;
}

/** What the current month (UTC) has cost in total. */
export interface MonthSpending {
  month: string;
  spent_usd: number;
  projected_usd: number;
  limit_usd: number | null;
  days_passed: number;
  days: number;
}

export interface NativeAnswer {
  execution_process_id: Uuid;
  status: ApprovalStatus;
}

/** An agent chat that another attempt spawned. */
export interface Neuron {
  type: string | null;
  task: Task;
  attempt: TaskAttempt | null;
}

export interface NormalizedEntry {
  timestamp: string | null;
  entry_type: EntryType;
  content: string;
  metadata: unknown;
}

export interface NormalizedLogEntry {
  type: "NORMALIZED_ENTRY";
  content: NormalizedEntry;
}

/** A message that an attempt ended. */
export interface Notification {
  id: Uuid;
  task_id: Uuid;
  notification_type: string;
  status: NotificationStatus;
  message: string;
  error_message: string | null;
  sent_at: Timestamp | null;
  created_at: Timestamp;
  metadata: Record<string, unknown>;
}

export interface NotificationChange {
  push_enabled?: boolean | null;
  sound_enabled?: boolean | null;
  sound_file?: SoundFile | null;
}

export interface NotificationSettings {
  sound_enabled: boolean;
  push_enabled: boolean;
  sound_file: SoundFile;
}

export type NotificationStatus = "pending" | "processing" | "sent" | "skipped" | "failed";

export interface Notifications {
  notifications: Notification[];
}

/** What happens to worktrees of the other system that still exist. */
export type OldWorktrees = "leave" | "adopt";

export interface OmniChange {
  api_key?: string | null;
  enabled?: boolean | null;
  host?: string | null;
  instance?: string | null;
  recipient?: string | null;
  recipient_type?: RecipientType | null;
}

export interface OmniConfig {
  enabled: boolean;
  host: string | null;
  api_key: string | null;
  instance: string | null;
  recipient: string | null;
  recipient_type: RecipientType | null;
}

/** A messenger account of the gateway. */
export interface OmniInstance {
  instance_name: string;
  channel_type: string;
  display_name: string;
  status: string;
  is_healthy: boolean;
}

export interface OmniInstances {
  instances: OmniInstance[];
  error?: string;
}

/** An address and a key of Omni to try. */
export interface OmniProbe {
  host: string;
  api_key: string;
}

export interface OmniProbed {
  valid: boolean;
  instances: OmniInstance[];
  error: string | null;
}

export interface OmniStatus {
  enabled: boolean;
  config: OmniConfig | null;
}

/** Open a project, or a file of it, in an editor. */
export interface OpenEditor {
  editor_type?: string | null;
  file_path?: string | null;
}

export type OptionKind = "flag" | "text" | "long_text" | "lines" | "choice";

export interface OtherAction {
  action: "other";
  description: string;
}

export type OutputFrame = StdoutFrame | StderrFrame | EndFrame;

/** Two attempts; the second to land will conflict. */
export interface PairConflict {
  attempts: Uuid[];
  branches: string[];
  files: string[];
}

/** A model that was unavailable, and why. */
export interface PassedOver {
  model: string;
  tier: WorkerTier;
  why: string;
}

export interface PatchEvent {
  seq: number;
  event: "json_patch";
  data: PatchOp[];
}

/** Changes of the document that a stream builds. */
export interface PatchFrame {
  JsonPatch: PatchOp[];
  seq?: number;
}

/** One RFC 6902 operation; `remove` has no value. */
export interface PatchOp {
  op: PatchWord;
  path: string;
  value?: unknown;
}

export type PatchWord = "add" | "replace" | "remove";

export interface PauseWorker {
  freeze?: boolean;
  reason?: string;
}

/** A waiting question, with the names of both generations of clients. */
export interface PendingApproval {
  id: Uuid;
  approval_id: Uuid;
  execution_process_id: Uuid | null;
  tool_name: string;
  tool_input: unknown;
  message: string;
  created_at: Timestamp;
  requested_at: Timestamp;
  timeout_at: Timestamp;
  task_attempt_id?: Uuid;
  task_id?: Uuid;
}

export interface PendingApprovalStatus {
  status: "pending_approval";
  approval_id: string;
  requested_at: string;
  timeout_at: string;
}

export interface PlainAnswer {
  approved: boolean;
  comment?: string | null;
}

export interface PlainEntry {
  type: PlainEntryWord;
}

export type PlainEntryWord = "user_message" | "assistant_message" | "system_message" | "thinking";

export interface PlainToolStatus {
  status: PlainToolWord;
}

export type PlainToolWord = "created" | "success" | "failed" | "timed_out";

export interface PlanPresentationAction {
  action: "plan_presentation";
  plan: string;
}

export interface PrInfo {
  number: number;
  url: string;
  status: PrStatus;
  merged_at: Timestamp | null;
  merge_commit_sha: string | null;
}

export interface PrMerge {
  type: "pr";
  id: Uuid;
  task_attempt_id: Uuid;
  created_at: Timestamp;
  target_branch_name: string;
  pr_info: PrInfo;
}

export type PrStatus = "open" | "merged" | "closed" | "unknown";

/** P0, the most urgent, to P4. */
export interface PriorityTiers {
  P0: WorkerTier;
  P1: WorkerTier;
  P2: WorkerTier;
  P3: WorkerTier;
  P4: WorkerTier;
}

/** P0, the most urgent, to P4. */
export interface PriorityTiersInput {
  P0?: WorkerTier;
  P1?: WorkerTier;
  P2?: WorkerTier;
  P3?: WorkerTier;
  P4?: WorkerTier;
}

/** A process as its attempt shows it. */
export interface ProcessDigest {
  id: Uuid;
  status: DigestStatus;
  normalized_logs: TextEntry[];
}

/** A process that cannot be confused with another one of the same number. */
export interface ProcessMark {
  pid: number;
  start_time: number;
  boot_id: string;
}

/** What the patches of the process stream build. */
export interface ProcessesDocument {
  execution_processes: Record<string, ExecutionProcess>;
}

/** `EXECUTOR`, `EXECUTOR:VARIANT`, or the object. */
export type ProfileChoice = string | ExecutorProfileId;

export interface ProfilesFile {
  content: string;
  path: string;
}

export interface Project {
  id: Uuid;
  name: string;
  git_repo_path: string;
  setup_script: string | null;
  dev_script: string | null;
  cleanup_script: string | null;
  copy_files: string | null;
  commit_prompt: string | null;
  default_base_branch: string | null;
  created_at: Timestamp;
  updated_at: Timestamp;
  max_cost_usd?: number;
}

export interface ProjectEvent {
  seq: number;
  event: "project";
  data: Project;
}

export interface ProjectRemovedEvent {
  seq: number;
  event: "project_removed";
  data: Uuid;
}

/** The result of a pull into the project's checkout. */
export interface Pulled {
  success: boolean;
  message: string;
  details?: string;
}

/** Requests that a draft is sent as soon as nothing runs, or withdraws that. */
export interface QueueDraft {
  queued: boolean;
  expected_queued?: boolean | null;
  expected_version?: number | null;
  prompt?: string | null;
}

/** A chunk of output; chunks are not lines. */
export interface RawLogEntry {
  type: RawLogWord;
  content: string;
  bytes?: string;
}

export type RawLogWord = "STDOUT" | "STDERR";

export interface Ready {
  status: string;
  service: string;
  version: string;
  message: string;
}

export interface ReassignWorker {
  bead: string;
}

/** Both names default to the attempt's target branch. */
export interface RebaseAttempt {
  new_base_branch?: string | null;
  old_base_branch?: string | null;
}

export type RecipientType = "PhoneNumber" | "UserId";

export interface RecoveryChange {
  at_once?: number | null;
  dead_worker_policy?: RecoveryPolicy | null;
  max_pause_secs?: number | null;
  max_restart_attempts?: number | null;
  memory_kill_mb?: number | null;
  memory_policy?: RecoveryPolicy | null;
  pause_secs?: number | null;
  stale_assignee_mins?: number | null;
  stale_assignee_policy?: RecoveryPolicy | null;
  stuck_after_mins?: number | null;
  stuck_task_policy?: RecoveryPolicy | null;
  window_secs?: number | null;
}

/** What may be done about a problem automatically. */
export type RecoveryPolicy = "disabled" | "auto" | "notify";

/** What happens to a worker that died or makes no progress, and to beads that nobody works on. */
export interface RecoveryRules {
  dead_worker_policy: RecoveryPolicy;
  max_restart_attempts: number;
  window_secs: number;
  pause_secs: number;
  max_pause_secs: number;
  at_once: number;
  memory_policy: RecoveryPolicy;
  memory_kill_mb: number | null;
  stuck_task_policy: RecoveryPolicy;
  stuck_after_mins: number;
  stale_assignee_policy: RecoveryPolicy;
  stale_assignee_mins: number;
}

/** A project that was just added, and what Forge had to do for that. */
export interface RegisteredProject extends Project {
  first_commit?: string;
}

export interface Release {
  tag_name: string;
  name: string | null;
  body: string | null;
  prerelease: boolean;
  created_at: string;
  published_at: string | null;
  html_url: string;
}

export interface ReleaseBead extends BeadsOf {
  comment?: string | null;
}

/** An attempt whose branch is free. */
export interface ReleasedWorktree {
  attempt_id: Uuid;
  path: string | null;
  branch: string;
}

export interface RenameChange {
  action: "rename";
  new_path: string;
}

export interface ReplaceProcess {
  prompt: string;
  executor_profile_id?: ProfileChoice | null;
  force_when_dirty?: boolean | null;
  perform_git_reset?: boolean | null;
  process_id?: Uuid | null;
  variant?: string | null;
}

/** What a replacement did. */
export interface ReplaceProcessResult {
  deleted_count: number;
  git_reset_needed: boolean;
  git_reset_applied: boolean;
  target_before_oid: string | null;
  new_execution_id: Uuid | null;
}

/** An answer in either form. */
export type RespondToApproval = NativeAnswer | PlainAnswer;

/** Where the files of a restored worktree came from. */
export type RestoreSource = "trash" | "snapshot";

export interface RestoredWorktree {
  attempt_id: Uuid;
  path: string;
  from: RestoreSource;
  missing: string[];
}

export interface RouteList {
  version: string;
  routes: Record<string, string[]>;
  note: string;
}

/** A decision, its expected result and its actual result. */
export interface Routing {
  id: Uuid;
  workspace: string;
  work: string;
  title: string;
  score: ScoreComponents;
  complexity: number;
  decision: RoutingDecision;
  wanted: WorkerTier | null;
  passed_over: PassedOver[];
  worker: string | null;
  attempt_id: Uuid | null;
  by: string | null;
  landing: DispatchLanding;
  close_on: CloseOn;
  outcome: RoutingOutcome | null;
  actual_cost: number | null;
  decided_at: Timestamp;
  ended_at: Timestamp | null;
}

export interface RoutingDecision {
  chosen_worker: string | null;
  model: string;
  tier: WorkerTier;
  reason: RoutingReason;
  estimated_cost: number | null;
}

export interface RoutingEvent {
  seq: number;
  event: "routing";
  data: Routing;
}

/** The result of work that was given to a worker. */
export type RoutingOutcome = "closed" | "released" | "parked";

/** The reason of a decision. */
export type RoutingReason = "priority_match" | "cost_optimization" | "availability" | "specialized" | "fallback";

/** Why a run exists. */
export type RunReason = "setupscript" | "cleanupscript" | "codingagent" | "devserver";

/** What clients see. */
export type RunStatus = "running" | "completed" | "failed" | "killed";

/** A change of a draft; a bare string is its prompt. */
export type SaveDraft = string | DraftChange;

/** The parts of a score, in points; together at most 100. */
export interface ScoreComponents {
  priority: number;
  type: number;
  complexity: number;
  availability: number;
}

/** Why a script runs. */
export type ScriptContext = "SetupScript" | "CleanupScript" | "DevServer";

/** The only script language of the contract. */
export type ScriptLanguage = "Bash";

export interface ScriptRequest {
  type: "ScriptRequest";
  script: string;
  language: ScriptLanguage;
  context: ScriptContext;
}

export interface SearchAction {
  action: "search";
  query: string;
}

/** A file or directory whose path contains what was searched for. */
export interface SearchResult {
  path: string;
  is_file: boolean;
  match_type: MatchType;
}

export interface SendToWorker {
  line: string;
}

/** Change or remove the limit of what an attempt may cost. */
export interface SetBudget {
  max_cost_usd: number | null;
}

/** Install an agent's program and log it in, then let the agent continue. */
export interface SetUpAgent {
  executor_profile_id: ProfileChoice;
}

export interface SettingsChange {
  analytics_enabled?: boolean | null;
  auto_resume?: boolean | null;
  budget_critical_percent?: number | null;
  budget_warning_percent?: number | null;
  contact_email_opt_in?: boolean | null;
  contact_username_opt_in?: boolean | null;
  disclaimer_acknowledged?: boolean | null;
  editor?: EditorChange | null;
  executor_profile?: ProfileChoice | null;
  fleet?: FleetChange | null;
  git_branch_prefix?: string | null;
  github?: GithubChange | null;
  github_login_acknowledged?: boolean | null;
  language?: Language | null;
  last_app_version?: string | null;
  max_cost_usd_per_day?: number | null;
  max_cost_usd_per_month?: number | null;
  notifications?: NotificationChange | null;
  onboarding_acknowledged?: boolean | null;
  show_release_notes?: boolean | null;
  showcases?: ShowcasesChange | null;
  telemetry_acknowledged?: boolean | null;
  theme?: Theme | null;
  workspace_dir?: string | null;
}

export interface Showcases {
  seen_features: string[];
}

export interface ShowcasesChange {
  seen_features?: string[] | null;
}

export type SoundFile = "ABSTRACT_SOUND1" | "ABSTRACT_SOUND2" | "ABSTRACT_SOUND3" | "ABSTRACT_SOUND4" | "GENIE_NOTIFY1" | "GENIE_NOTIFY2" | "PHONE_VIBRATION";

/** A worker to be started: by a definition, by the other fields, or both; then the fields take precedence. */
export interface SpawnWorker {
  bead?: string | null;
  default_workspace?: string | null;
  definition?: string | null;
  env?: Record<string, string>;
  id?: string | null;
  launcher?: string | null;
  model?: string | null;
  style?: CallStyle | null;
  tier?: WorkerTier | null;
  timeout_secs?: number | null;
  workspace?: string | null;
}

/** Whose directory it is. */
export type Standing = "in_use" | "orphan" | "other_forge" | "stranger";

/** An attempt of the task that the path names. */
export interface StartAttempt {
  executor: ProfileChoice;
  base_branch?: string | null;
  max_cost_usd?: number | null;
  use_worktree?: boolean | null;
}

/** The response to starting an errand. */
export interface StartedExecutionRun {
  execution_run: ExecutionRun;
  execution_process: ExecutionProcess | null;
}

/** The response to create-and-start: the task flat, and again beside its attempt. */
export interface StartedTask extends TaskWithAttemptStatus {
  attempts: TaskAttempt[];
  task_attempt: TaskAttempt;
  task: Task;
}

export interface StderrFrame {
  Stderr: string;
  seq?: number;
}

export interface StdoutFrame {
  Stdout: string;
  seq?: number;
}

export interface StopWorker {
  timeout_secs?: number | null;
}

export type StreamFrame = PatchFrame | EndFrame;

/** Everything that a client asks for when it opens. */
export interface SystemInfo {
  config: Config;
  analytics_user_id: string;
  executors: Record<string, unknown>;
  environment: Environment;
  capabilities: Record<string, string[]>;
  agents: Record<string, KnownAgent>;
}

/** A word that stands for a longer text in prompts. */
export interface Tag {
  id: Uuid;
  tag_name: string;
  content: string;
  created_at: Timestamp;
  updated_at: Timestamp;
}

export interface TargetBranchChanged {
  new_target_branch: string;
  status: number[];
}

/** An attempt that conflicts with its target branch. */
export interface TargetConflict {
  attempt_id: Uuid;
  branch: string;
  target_branch: string;
  files: string[];
}

export interface Task {
  id: Uuid;
  project_id: Uuid;
  title: string;
  description: string | null;
  status: TaskStatus;
  parent_task_attempt: Uuid | null;
  dev_server_id: Uuid | null;
  created_at: Timestamp;
  updated_at: Timestamp;
  labels?: string[];
}

/** An attempt as every response shows it, with what follows from its runs. */
export interface TaskAttempt {
  id: Uuid;
  task_id: Uuid;
  container_ref: string | null;
  branch: string;
  target_branch: string;
  executor: string;
  worktree_deleted: boolean;
  setup_completed_at: Timestamp | null;
  input_tokens: number | null;
  output_tokens: number | null;
  cache_creation_tokens: number | null;
  cache_read_tokens: number | null;
  created_at: Timestamp;
  updated_at: Timestamp;
  status: AttemptStatus;
  project_id: Uuid;
  executor_profile_id: ExecutorProfileId;
  worktree_path: string | null;
  use_worktree: boolean;
  auto_pr?: AutoPr;
  cost_usd?: number;
  max_cost_usd?: number;
}

/** One attempt with its task and the transcript of its runs. */
export interface TaskAttemptDetail extends TaskAttempt {
  task: Task;
  execution_processes: ProcessDigest[];
}

/** A task's newest attempt at a glance, and what all of its attempts cost. */
export interface TaskCard {
  task_id: Uuid;
  attempt_id: Uuid;
  attempts: number;
  status: AttemptStatus;
  executor: string;
  variant: string | null;
  branch: string;
  target_branch: string;
  running_since: Timestamp | null;
  elapsed_ms: number;
  cost_usd: number | null;
  files_changed: number | null;
  additions: number | null;
  deletions: number | null;
  waiting_approvals: number;
  parked_until: Timestamp | null;
  unverified: boolean;
  commit_error: string | null;
  worktree_deleted: boolean;
  queued_draft: boolean;
  pr: PrInfo | null;
  merged: boolean;
  earlier_changes?: boolean;
  open_conflicts?: string[];
  setup_required?: boolean;
}

export interface TaskCreateAction {
  action: "task_create";
  description: string;
}

/** Make a task of an issue, named by its number or by its address. */
export interface TaskFromIssue {
  auto_pr?: boolean | null;
  base_branch?: string | null;
  executor_profile_id?: ProfileChoice | null;
  max_cost_usd?: number | null;
  number?: number | null;
  start?: boolean | null;
  url?: string | null;
}

/** The task of an issue, flat like a started task, with its newest attempt when there is one. */
export interface TaskOfIssue extends TaskWithAttemptStatus {
  attempts: TaskAttempt[];
  task_attempt: TaskAttempt | null;
  task: Task;
  issue: IssueLink;
}

/** An attempt between the task it came from and the tasks it spawned. */
export interface TaskRelationships {
  parent_task: Task | null;
  current_attempt: TaskAttempt;
  children: Task[];
}

/** The state of a task. */
export type TaskStatus = "todo" | "inprogress" | "inreview" | "done" | "cancelled" | "archived" | "agent";

/** A task to begin from; without a project it is for all projects. */
export interface TaskTemplate {
  id: Uuid;
  project_id: Uuid | null;
  title: string;
  description: string | null;
  template_name: string;
  created_at: Timestamp;
  updated_at: Timestamp;
}

/** A task with the flags that lists and streams carry. */
export interface TaskWithAttemptStatus extends Task {
  has_in_progress_attempt: boolean;
  has_merged_attempt: boolean;
  last_attempt_failed: boolean;
  executor: string;
  attempt_count: number;
}

/** A task in the list of its project. */
export interface TaskWithLatestAttempt extends TaskWithAttemptStatus {
  latest_attempt: TaskAttempt | null;
}

/** What the patches of the task stream build. */
export interface TasksDocument {
  tasks: Record<string, TaskWithAttemptStatus>;
}

export interface TextEntry {
  type: string;
  content: string;
}

export type Theme = "LIGHT" | "DARK" | "SYSTEM";

export interface TierCaps {
  premium: number | null;
  standard: number | null;
  budget: number | null;
  free: number | null;
}

export interface TierCapsInput {
  budget?: number | null;
  free?: number | null;
  premium?: number | null;
  standard?: number | null;
}

export interface TierModels {
  premium: ExecutorProfileId[];
  standard: ExecutorProfileId[];
  budget: ExecutorProfileId[];
  free: ExecutorProfileId[];
}

export interface TierModelsInput {
  premium: ProfileChoice[];
  standard: ProfileChoice[];
  budget: ProfileChoice[];
  free: ProfileChoice[];
}

export interface TodoItem {
  content: string;
  status: string;
  priority: string | null;
}

export interface TodoManagementAction {
  action: "todo_management";
  todos: TodoItem[];
  operation: string;
}

export interface ToolAction {
  action: "tool";
  tool_name: string;
  arguments: unknown;
  result: ToolResult | null;
}

export interface ToolResult {
  type: ToolResultKind;
  value: unknown;
}

export interface ToolResultKind {
  type: ToolResultWord;
}

export type ToolResultWord = "markdown" | "json";

export type ToolStatus = PlainToolStatus | DeniedStatus | PendingApprovalStatus;

export interface ToolUseEntry {
  type: "tool_use";
  tool_name: string;
  action_type: ActionType;
  status: ToolStatus;
}

export interface TrashLine {
  path: string;
  bytes: number;
  attempt_id: Uuid | null;
  retired_at: Timestamp;
}

/** Absent fields stay as they are. */
export interface UpdateBead extends BeadsOf {
  priority?: number | null;
  status?: string | null;
}

/** A partial update: an absent key keeps the stored value, an explicit null clears it. */
export interface UpdateProject {
  cleanup_script?: string | null;
  commit_prompt?: string | null;
  copy_files?: string | null;
  default_base_branch?: string | null;
  dev_script?: string | null;
  git_repo_path?: string | null;
  max_cost_usd?: number | null;
  name?: string | null;
  setup_script?: string | null;
}

/** Absent and null keep the stored value. */
export interface UpdateTag {
  content?: string | null;
  tag_name?: string | null;
}

export interface UpdateTask {
  description?: string | null;
  image_ids?: Uuid[] | null;
  labels?: string[] | null;
  parent_task_attempt?: Uuid | null;
  status?: TaskStatus | null;
  title?: string | null;
}

/** An absent key keeps the stored value; a null description clears it. */
export interface UpdateTaskTemplate {
  description?: string | null;
  template_name?: string | null;
  title?: string | null;
}

/** The parts of a form; one of them holds the picture. */
export interface Upload {
  file?: string;
  image?: string;
}

/** The use of a group of runs and workers; only what it is grouped by is named. */
export interface UsageGroup extends UsageSum {
  bead?: string;
  day?: string;
  executor?: string;
  model?: string;
  project_id?: Uuid;
  task_id?: Uuid;
  worker_id?: string;
  workspace?: string;
}

export interface UsageReport {
  groups: UsageGroup[];
  total: UsageSum;
  prices_as_of: string;
  month: MonthSpending;
}

export interface UsageSum {
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  reasoning_tokens: number;
  cost_usd: number | null;
  unpriced_tokens: number;
  runs: number;
}

export interface UserFeedbackEntry {
  type: "user_feedback";
  denied_tool: string;
}

/** A bead that is ready and was not given out, and why. */
export interface WaitingBead {
  bead: string;
  title: string;
  reason: string;
}

export interface WebFetchAction {
  action: "web_fetch";
  url: string;
}

export interface Worker {
  id: string;
  session: string;
  model: string;
  tier: WorkerTier;
  workspace: string;
  phase: WorkerPhase;
  config: unknown;
  process: ProcessMark | null;
  pane: ProcessMark | null;
  bead: AssignedBead | null;
  health: Health;
  status: unknown;
  restarts: Timestamp[];
  parked_until: Timestamp | null;
  started_at: Timestamp | null;
  note: string | null;
  created_at: Timestamp;
  updated_at: Timestamp;
  answer?: LauncherAnswer;
  paused_by_file?: boolean;
  tmux?: string;
}

/** A worker of `workers.yaml`, or a type of `workers/`. */
export interface WorkerDefinition {
  name: string;
  launcher: string;
  model: string;
  tier: WorkerTier;
  workspace: string | null;
}

export interface WorkerDefinitions {
  definitions: WorkerDefinition[];
  problems: string[];
}

/** How much a worker does for its money. */
export interface WorkerEfficiency {
  worker_id: string;
  call_count: number;
  total_cost_usd: number;
  total_tokens: number;
  avg_cost_per_call: number;
  avg_tokens_per_call: number;
  efficiency_score: number | null;
  last_active: Timestamp;
  tier: WorkerTier | null;
}

export interface WorkerEvent {
  seq: number;
  event: "worker";
  data: Worker;
}

/** How one worker is. */
export interface WorkerHealth extends Health {
  id: string;
  phase: WorkerPhase;
  note: string | null;
}

export interface WorkerPane {
  text: string;
}

/** The intended state of a worker. Its actual state is its [`Health`]. */
export type WorkerPhase = "running" | "starting" | "paused" | "parked" | "recovering" | "stopped" | "finished" | "failed";

export interface WorkerRemovedEvent {
  seq: number;
  event: "worker_removed";
  data: string;
}

/** What a worker costs and is good for, the cheapest first. */
export type WorkerTier = "free" | "budget" | "standard" | "premium";

/** How all workers are. */
export interface WorkersHealth {
  healthy: number;
  degraded: number;
  critical: number;
  failed: number;
  workers: WorkerHealth[];
}

export interface WorktreeLine {
  path: string;
  bytes: number;
  standing: Standing;
  attempt_id: Uuid | null;
  branch: string | null;
  repo: string | null;
}

/** Every directory below the worktree base and what may be done with it. */
export interface WorktreeReport {
  base: string;
  free_bytes: number;
  used_bytes: number;
  worktrees: WorktreeLine[];
  spares: number;
  trash: TrashLine[];
}

export interface WriteChange {
  action: "write";
  content: string;
}

/** What each route takes and gives; `answer` is what the envelope holds where there is one. */
export interface Routes {
  "GET /": { answer: string };
  "GET /api/agents": { query?: { fresh?: boolean }; answer: FoundAgent[] };
  "GET /api/alerts": { query?: { limit?: number }; answer: Alert[] };
  "POST /api/alerts/ack-all": { body?: unknown; answer: Alert[] };
  "POST /api/alerts/{alert_id}/ack": { path: { alert_id: Uuid }; body?: unknown; answer: Alert };
  "POST /api/approvals/create": { body: CreateApproval; answer: Approval };
  "GET /api/approvals/pending": { answer: PendingApproval[] };
  "POST /api/approvals/{approval_id}/respond": { path: { approval_id: string }; body: RespondToApproval; answer: ApprovalStatus };
  "GET /api/approvals/{approval_id}/status": { path: { approval_id: string }; query?: { wait?: number }; answer: ApprovalStatus };
  "GET /api/auth/github/check": { answer: LoginCheck };
  "POST /api/auth/github/device/poll": { body?: unknown; answer: LoginAnswer };
  "POST /api/auth/github/device/start": { body?: unknown; answer: DeviceStart };
  "POST /api/auth/login-link": { answer: LoginLink };
  "GET /api/beads": { query?: { project_id?: Uuid; workspace?: string; ready?: boolean; status?: string }; answer: Bead[] };
  "POST /api/beads": { body: CreateBead; answer: Bead };
  "GET /api/beads/{bead_id}": { path: { bead_id: string }; query?: { project_id?: Uuid; workspace?: string }; answer: Bead };
  "PUT /api/beads/{bead_id}": { path: { bead_id: string }; body: UpdateBead; answer: Bead };
  "POST /api/beads/{bead_id}/claim": { path: { bead_id: string }; body?: ClaimBead | null; answer: Bead };
  "POST /api/beads/{bead_id}/close": { path: { bead_id: string }; body: CloseBead; answer: Bead };
  "POST /api/beads/{bead_id}/comment": { path: { bead_id: string }; body: CommentBead; answer: Bead };
  "POST /api/beads/{bead_id}/dep": { path: { bead_id: string }; body: LinkBead; answer: BeadLink };
  "POST /api/beads/{bead_id}/release": { path: { bead_id: string }; body?: ReleaseBead | null; answer: Bead };
  "POST /api/beads/{bead_id}/undep": { path: { bead_id: string }; body: LinkBead; answer: BeadUnlink };
  "GET /api/config": { answer: Config };
  "PUT /api/config": { body: SettingsChange; answer: Config };
  "GET /api/containers/info": { query: { ref: string }; answer: ContainerInfo };
  "POST /api/demo": { body?: unknown; answer: Demo };
  "POST /api/dispatch": { body: DispatchRequest; answer: DispatchReport };
  "GET /api/events": { query?: { after?: number }; answer: string };
  "GET /api/execution-processes": { query: { task_attempt_id: Uuid; show_soft_deleted?: boolean; limit?: number; offset?: number }; answer: ExecutionProcess[] };
  "GET /api/execution-processes/stream": { query: { task_attempt_id: Uuid; show_soft_deleted?: boolean; after?: number; wait_ms?: number }; answer: FramePage };
  "GET /api/execution-processes/stream/sse": { query: { task_attempt_id: Uuid; show_soft_deleted?: boolean; after?: number }; answer: string };
  "GET /api/execution-processes/{process_id}": { path: { process_id: Uuid }; answer: ExecutionProcess };
  "GET /api/execution-processes/{process_id}/normalized-logs": { path: { process_id: Uuid }; query?: { after?: number; wait_ms?: number }; answer: FramePage };
  "GET /api/execution-processes/{process_id}/normalized-logs/sse": { path: { process_id: Uuid }; query?: { after?: number }; answer: string };
  "GET /api/execution-processes/{process_id}/raw-logs": { path: { process_id: Uuid }; query?: { after?: number; tail?: number; wait_ms?: number }; answer: FramePage };
  "GET /api/execution-processes/{process_id}/raw-logs/sse": { path: { process_id: Uuid }; query?: { after?: number; tail?: number }; answer: string };
  "POST /api/execution-processes/{process_id}/stop": { path: { process_id: Uuid }; body?: unknown; answer: null };
  "GET /api/execution-runs": { query?: { project_id?: Uuid; limit?: number; offset?: number }; answer: ExecutionRun[] };
  "POST /api/execution-runs": { body: CreateExecutionRun; answer: StartedExecutionRun };
  "GET /api/execution-runs/{run_id}": { path: { run_id: Uuid }; answer: ExecutionRun };
  "POST /api/execution-runs/{run_id}/follow-up": { path: { run_id: Uuid }; body: FollowUpRun; answer: ExecutionProcess };
  "GET /api/execution-runs/{run_id}/processes": { path: { run_id: Uuid }; query?: { limit?: number; offset?: number }; answer: ExecutionProcess[] };
  "POST /api/execution-runs/{run_id}/stop": { path: { run_id: Uuid }; body?: unknown; answer: null };
  "GET /api/filesystem/directory": { query?: { path?: string }; answer: DirectoryListing };
  "GET /api/filesystem/git-repos": { query?: { path?: string }; answer: DirectoryEntry[] };
  "GET /api/forge/agents": { query: { project_id: Uuid; agent_type?: string }; answer: ForgeAgent[] };
  "POST /api/forge/agents": { body: CreateAgent; answer: ForgeAgent };
  "GET /api/forge/auth-required": { answer: AuthRequired };
  "GET /api/forge/config": { answer: ForgeSettings };
  "PUT /api/forge/config": { body: ForgeSettingsChange; answer: ForgeSettings };
  "GET /api/forge/master-genie/{attempt_id}/neurons": { path: { attempt_id: Uuid }; answer: Neuron[] };
  "GET /api/forge/neurons/{attempt_id}/subtasks": { path: { attempt_id: Uuid }; answer: Task[] };
  "GET /api/forge/omni/instances": { answer: OmniInstances };
  "GET /api/forge/omni/notifications": { answer: Notifications };
  "GET /api/forge/omni/status": { answer: OmniStatus };
  "POST /api/forge/omni/validate": { body: OmniProbe; answer: OmniProbed };
  "GET /api/forge/projects/{project_id}/branch-status": { path: { project_id: Uuid }; query?: { base?: string }; answer: BranchStatus };
  "GET /api/forge/projects/{project_id}/profiles": { path: { project_id: Uuid }; answer: Record<string, unknown> };
  "POST /api/forge/projects/{project_id}/pull": { path: { project_id: Uuid }; body?: unknown; answer: Pulled };
  "GET /api/forge/projects/{project_id}/settings": { path: { project_id: Uuid }; answer: ForgeSettings };
  "PUT /api/forge/projects/{project_id}/settings": { path: { project_id: Uuid }; body: ForgeSettingsChange; answer: ForgeSettings };
  "GET /api/forge/releases": { answer: Release[] };
  "GET /api/health": { answer: string };
  "GET /api/health/workers": { answer: WorkersHealth };
  "GET /api/images/task/{task_id}": { path: { task_id: Uuid }; answer: Image[] };
  "POST /api/images/task/{task_id}/upload": { path: { task_id: Uuid }; body: FormData; answer: Image };
  "POST /api/images/upload": { body: FormData; answer: Image };
  "DELETE /api/images/{image_id}": { path: { image_id: Uuid }; answer: null };
  "GET /api/images/{image_id}/file": { path: { image_id: Uuid }; answer: Blob };
  "POST /api/import": { body: ImportRequest; answer: ImportReport };
  "GET /api/info": { query?: { project_id?: Uuid }; answer: SystemInfo };
  "GET /api/launchers": { answer: LauncherFile[] };
  "GET /api/mcp-config": { query: { executor: string }; answer: McpAnswer };
  "POST /api/mcp-config": { query: { executor: string }; body: Record<string, Record<string, unknown>>; answer: string };
  "GET /api/openapi.json": { answer: Record<string, unknown> };
  "GET /api/profiles": { query?: { project_id?: Uuid }; answer: ProfilesFile };
  "PUT /api/profiles": { body: string; answer: string };
  "GET /api/projects": { query?: { limit?: number; offset?: number; counts?: boolean }; answer: ListedProject[] };
  "POST /api/projects": { body: CreateProject; answer: RegisteredProject };
  "DELETE /api/projects/{project_id}": { path: { project_id: Uuid }; answer: null };
  "GET /api/projects/{project_id}": { path: { project_id: Uuid }; answer: Project };
  "PUT /api/projects/{project_id}": { path: { project_id: Uuid }; body: UpdateProject; answer: RegisteredProject };
  "GET /api/projects/{project_id}/branches": { path: { project_id: Uuid }; answer: GitBranch[] };
  "GET /api/projects/{project_id}/cards": { path: { project_id: Uuid }; query?: { task_id?: Uuid }; answer: TaskCard[] };
  "GET /api/projects/{project_id}/conflicts": { path: { project_id: Uuid }; answer: ConflictReport };
  "GET /api/projects/{project_id}/dispatch": { path: { project_id: Uuid }; answer: DispatchRule };
  "PUT /api/projects/{project_id}/dispatch": { path: { project_id: Uuid }; body: DispatchChange; answer: DispatchRule };
  "POST /api/projects/{project_id}/open-editor": { path: { project_id: Uuid }; body?: OpenEditor | null; answer: EditorUrl };
  "GET /api/projects/{project_id}/search": { path: { project_id: Uuid }; query: { q: string; mode?: string }; answer: SearchResult[] };
  "GET /api/projects/{project_id}/tasks": { path: { project_id: Uuid }; query?: { limit?: number; offset?: number }; answer: TaskWithLatestAttempt[] };
  "POST /api/projects/{project_id}/tasks": { path: { project_id: Uuid }; body: CreateTaskHere; answer: Task };
  "POST /api/projects/{project_id}/tasks/create-and-start": { path: { project_id: Uuid }; body: CreateAndStartTaskHere; answer: StartedTask };
  "POST /api/projects/{project_id}/tasks/from-issue": { path: { project_id: Uuid }; body: TaskFromIssue; answer: TaskOfIssue };
  "DELETE /api/projects/{project_id}/tasks/{task_id}": { path: { project_id: Uuid; task_id: Uuid }; answer: null };
  "GET /api/projects/{project_id}/tasks/{task_id}": { path: { project_id: Uuid; task_id: Uuid }; answer: Task };
  "PUT /api/projects/{project_id}/tasks/{task_id}": { path: { project_id: Uuid; task_id: Uuid }; body: UpdateTask; answer: Task };
  "GET /api/routes": { answer: RouteList };
  "GET /api/routing": { query?: { limit?: number }; answer: Routing[] };
  "GET /api/routing/explain": { query: { bead: string; project_id?: Uuid; workspace?: string }; answer: Routing[] };
  "GET /api/sounds/{sound}": { path: { sound: string }; answer: Blob };
  "GET /api/tags": { query?: { search?: string }; answer: Tag[] };
  "POST /api/tags": { body: CreateTag; answer: Tag };
  "DELETE /api/tags/{tag_id}": { path: { tag_id: Uuid }; answer: null };
  "GET /api/tags/{tag_id}": { path: { tag_id: Uuid }; answer: Tag };
  "PUT /api/tags/{tag_id}": { path: { tag_id: Uuid }; body: UpdateTag; answer: Tag };
  "GET /api/task-attempts": { query?: { task_id?: Uuid; project_id?: Uuid; limit?: number; offset?: number }; answer: ListedAttempt[] };
  "POST /api/task-attempts": { body: CreateTaskAttempt; answer: TaskAttempt };
  "GET /api/task-attempts/{attempt_id}": { path: { attempt_id: Uuid }; answer: TaskAttemptDetail };
  "GET /api/task-attempts/{attempt_id}/branch-status": { path: { attempt_id: Uuid }; answer: BranchStatus };
  "PUT /api/task-attempts/{attempt_id}/budget": { path: { attempt_id: Uuid }; body: SetBudget; answer: TaskAttempt };
  "POST /api/task-attempts/{attempt_id}/change-target-branch": { path: { attempt_id: Uuid }; body: ChangeTargetBranch; answer: TargetBranchChanged };
  "GET /api/task-attempts/{attempt_id}/children": { path: { attempt_id: Uuid }; answer: TaskRelationships };
  "GET /api/task-attempts/{attempt_id}/commit-compare": { path: { attempt_id: Uuid }; query: { sha: string }; answer: CommitComparison };
  "GET /api/task-attempts/{attempt_id}/commit-info": { path: { attempt_id: Uuid }; query: { sha: string }; answer: CommitInfo };
  "POST /api/task-attempts/{attempt_id}/conflicts/abort": { path: { attempt_id: Uuid }; body?: unknown; answer: null };
  "POST /api/task-attempts/{attempt_id}/conflicts/resolve": { path: { attempt_id: Uuid }; body?: unknown; answer: ExecutionProcess };
  "POST /api/task-attempts/{attempt_id}/delete-file": { path: { attempt_id: Uuid }; query: { file_path: string }; body?: unknown; answer: null };
  "GET /api/task-attempts/{attempt_id}/diff": { path: { attempt_id: Uuid }; query?: { path?: string; context?: number; max_bytes?: number }; answer: AttemptDiff };
  "GET /api/task-attempts/{attempt_id}/diff/sse": { path: { attempt_id: Uuid }; query?: { stats_only?: boolean; after?: number }; answer: string };
  "DELETE /api/task-attempts/{attempt_id}/draft": { path: { attempt_id: Uuid }; query: { type: "follow_up" | "retry" }; answer: null };
  "GET /api/task-attempts/{attempt_id}/draft": { path: { attempt_id: Uuid }; query: { type: "follow_up" | "retry" }; answer: DraftResponse };
  "POST /api/task-attempts/{attempt_id}/draft": { path: { attempt_id: Uuid }; query: { type: "follow_up" | "retry" }; body: SaveDraft; answer: DraftResponse };
  "PUT /api/task-attempts/{attempt_id}/draft": { path: { attempt_id: Uuid }; query: { type: "follow_up" | "retry" }; body: SaveDraft; answer: DraftResponse };
  "POST /api/task-attempts/{attempt_id}/draft/queue": { path: { attempt_id: Uuid }; query: { type: "follow_up" | "retry" }; body: QueueDraft; answer: DraftResponse };
  "GET /api/task-attempts/{attempt_id}/file": { path: { attempt_id: Uuid }; query: { path: string; side?: "old" | "new" }; answer: Blob };
  "POST /api/task-attempts/{attempt_id}/follow-up": { path: { attempt_id: Uuid }; body: FollowUp; answer: ExecutionProcess };
  "POST /api/task-attempts/{attempt_id}/merge": { path: { attempt_id: Uuid }; body?: MergeAttempt | null; answer: null };
  "POST /api/task-attempts/{attempt_id}/open-editor": { path: { attempt_id: Uuid }; body?: OpenEditor | null; answer: EditorUrl };
  "POST /api/task-attempts/{attempt_id}/pr": { path: { attempt_id: Uuid }; body: CreatePullRequest; answer: string };
  "POST /api/task-attempts/{attempt_id}/pr/attach": { path: { attempt_id: Uuid }; body?: AttachPullRequest | null; answer: AttachedPullRequest };
  "POST /api/task-attempts/{attempt_id}/push": { path: { attempt_id: Uuid }; body?: unknown; answer: null };
  "POST /api/task-attempts/{attempt_id}/rebase": { path: { attempt_id: Uuid }; body?: RebaseAttempt | null; answer: null };
  "POST /api/task-attempts/{attempt_id}/replace-process": { path: { attempt_id: Uuid }; body: ReplaceProcess; answer: ReplaceProcessResult };
  "POST /api/task-attempts/{attempt_id}/run-agent-setup": { path: { attempt_id: Uuid }; body: SetUpAgent; answer: Record<string, unknown> };
  "POST /api/task-attempts/{attempt_id}/start-dev-server": { path: { attempt_id: Uuid }; body?: unknown; answer: null };
  "POST /api/task-attempts/{attempt_id}/stop": { path: { attempt_id: Uuid }; body?: unknown; answer: null };
  "GET /api/tasks": { query: { project_id: Uuid; limit?: number; offset?: number }; answer: TaskWithAttemptStatus[] };
  "POST /api/tasks": { body: CreateTask; answer: Task };
  "POST /api/tasks/create-and-start": { body: CreateAndStartTask; answer: StartedTask };
  "GET /api/tasks/stream": { query: { project_id: Uuid; after?: number; wait_ms?: number; brief?: boolean }; answer: FramePage };
  "GET /api/tasks/stream/sse": { query: { project_id: Uuid; after?: number; brief?: boolean }; answer: string };
  "DELETE /api/tasks/{task_id}": { path: { task_id: Uuid }; answer: null };
  "GET /api/tasks/{task_id}": { path: { task_id: Uuid }; answer: Task };
  "PUT /api/tasks/{task_id}": { path: { task_id: Uuid }; body: UpdateTask; answer: Task };
  "POST /api/tasks/{task_id}/attempts/start": { path: { task_id: Uuid }; body: StartAttempt; answer: TaskAttempt };
  "GET /api/templates": { query?: { global?: boolean; project_id?: Uuid }; answer: TaskTemplate[] };
  "POST /api/templates": { body: CreateTaskTemplate; answer: TaskTemplate };
  "DELETE /api/templates/{template_id}": { path: { template_id: Uuid }; answer: null };
  "GET /api/templates/{template_id}": { path: { template_id: Uuid }; answer: TaskTemplate };
  "PUT /api/templates/{template_id}": { path: { template_id: Uuid }; body: UpdateTaskTemplate; answer: TaskTemplate };
  "GET /api/usage": { query?: { group_by?: string; project_id?: Uuid; task_attempt_id?: Uuid; from?: string; to?: string }; answer: UsageReport };
  "GET /api/usage/models": { query?: { project_id?: Uuid; task_attempt_id?: Uuid; from?: string; to?: string }; answer: ModelPerformance[] };
  "GET /api/usage/workers": { query?: { project_id?: Uuid; task_attempt_id?: Uuid; from?: string; to?: string }; answer: WorkerEfficiency[] };
  "GET /api/worker-definitions": { answer: WorkerDefinitions };
  "GET /api/workers": { answer: ListedWorker[] };
  "POST /api/workers": { body: SpawnWorker; answer: Worker };
  "DELETE /api/workers/{worker_id}": { path: { worker_id: string }; answer: null };
  "GET /api/workers/{worker_id}": { path: { worker_id: string }; answer: ListedWorker };
  "POST /api/workers/{worker_id}/adopt": { path: { worker_id: string }; body?: unknown; answer: Worker };
  "POST /api/workers/{worker_id}/interrupt": { path: { worker_id: string }; body?: unknown; answer: null };
  "POST /api/workers/{worker_id}/kill": { path: { worker_id: string }; body?: unknown; answer: Worker };
  "POST /api/workers/{worker_id}/pause": { path: { worker_id: string }; body?: PauseWorker | null; answer: Worker };
  "GET /api/workers/{worker_id}/peek": { path: { worker_id: string }; query?: { lines?: number }; answer: WorkerPane };
  "POST /api/workers/{worker_id}/reassign": { path: { worker_id: string }; body: ReassignWorker; answer: Worker };
  "POST /api/workers/{worker_id}/restart": { path: { worker_id: string }; body?: unknown; answer: Worker };
  "POST /api/workers/{worker_id}/resume": { path: { worker_id: string }; body?: unknown; answer: Worker };
  "POST /api/workers/{worker_id}/send": { path: { worker_id: string }; body: SendToWorker; answer: null };
  "POST /api/workers/{worker_id}/stop": { path: { worker_id: string }; body?: StopWorker | null; answer: Worker };
  "GET /api/worktrees": { answer: WorktreeReport };
  "POST /api/worktrees/gc": { body?: GarbageRequest | null; answer: GarbageReport };
  "POST /api/worktrees/{attempt_id}/adopt": { path: { attempt_id: Uuid }; body?: unknown; answer: AdoptedWorktree };
  "POST /api/worktrees/{attempt_id}/release": { path: { attempt_id: Uuid }; body?: unknown; answer: ReleasedWorktree };
  "POST /api/worktrees/{attempt_id}/restore": { path: { attempt_id: Uuid }; body?: unknown; answer: RestoredWorktree };
  "POST /api/worktrees/{attempt_id}/retire": { path: { attempt_id: Uuid }; body?: unknown; answer: KeptWorktree };
  "GET /docs": { answer: string };
  "GET /health": { answer: Ready };
  "GET /login": { query: { code: string }; answer: string };
  "POST /logout": { answer: string };
  "POST /mcp": { body: Record<string, unknown>; answer: string };
  "GET /plain.css": { answer: string };
  "GET /site.webmanifest": { answer: Blob };
}

/** What each WebSocket takes, and what it sends. */
export interface Sockets {
  "GET /api/drafts/stream/ws": { query: { project_id: Uuid; after?: number }; frame: StreamFrame };
  "GET /api/events/ws": { query?: { after?: number; view?: "board" }; frame: EventFrame };
  "GET /api/execution-processes/stream/ws": { query: { task_attempt_id: Uuid; show_soft_deleted?: boolean; after?: number }; frame: StreamFrame };
  "GET /api/execution-processes/{process_id}/normalized-logs/ws": { path: { process_id: Uuid }; query?: { after?: number }; frame: StreamFrame };
  "GET /api/execution-processes/{process_id}/raw-logs/ws": { path: { process_id: Uuid }; query?: { after?: number; tail?: number }; frame: StreamFrame };
  "GET /api/execution-runs/{run_id}/logs/ws": { path: { run_id: Uuid }; query?: { after?: number }; frame: OutputFrame };
  "GET /api/projects/{project_id}/tasks/stream/ws": { path: { project_id: Uuid }; query?: { after?: number; brief?: boolean }; frame: StreamFrame };
  "GET /api/task-attempts/{attempt_id}/diff/ws": { path: { attempt_id: Uuid }; query?: { stats_only?: boolean; after?: number }; frame: StreamFrame };
  "GET /api/tasks/stream/ws": { query: { project_id: Uuid; after?: number; brief?: boolean }; frame: StreamFrame };
}
