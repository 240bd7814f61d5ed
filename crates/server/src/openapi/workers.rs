//! Workers and alerts, in the notation of `schema`.

pub(super) const SCHEMAS: &[(&str, &str)] = &[
    ("WorkerTier", "= free budget standard premium"),
    ("WorkerPhase", "= starting running paused parked recovering stopped finished failed"),
    (
        "ProcessMark",
        "pid:int start_time:int boot_id:string -- A process that cannot be confused with another one.",
    ),
    ("AssignedBead", "workspace:string id:string title:string actor:string attempt_id:uuid|null"),
    ("HealthLevel", "= healthy degraded critical failed"),
    (
        "HealthFinding",
        "= process_gone agent_gone session_gone stale task_stuck memory_high waits_for_permission rate_limited \
         context_full says_failed says_stopped says_error recovery_exhausted",
    ),
    ("Health", "level:HealthLevel findings:HealthFinding[] memory_mb:int|null"),
    (
        "LauncherAnswer",
        "model:string|null message:string|null bead_id:string|null bead_title:string|null \
         -- What a launcher reported when it had started a worker.",
    ),
    (
        "Worker",
        "id:string session:string model:string tier:WorkerTier workspace:string phase:WorkerPhase config:any \
         process:ProcessMark|null pane:ProcessMark|null bead:AssignedBead|null answer?:LauncherAnswer tmux?:string \
         paused_by_file?:bool health:Health status:any restarts:time[] parked_until:time|null started_at:time|null note:string|null created_at:time updated_at:time \
         -- An agent that keeps running in a tmux session. `config` is what it is started with, without the values of its \
         variables; `status` is its status file; `tmux` is the socket of its tmux server, unless that is \
         Forge's own.",
    ),
    (
        "ListedWorker",
        "+Worker managed:bool has_session:bool attached:bool socket:string log:string \
         -- Workers that are not managed are sessions of others, which Forge leaves alone.",
    ),
    (
        "SpawnWorker",
        "definition?:string|null id?:string|null launcher?:string|null model?:string|null tier?:WorkerTier|null \
         workspace?:string|null default_workspace?:string|null bead?:string|null env?:string{} timeout_secs?:int|null style?:CallStyle|null \
         -- By a definition, by launcher and workspace, or by both; the fields here take precedence.",
    ),
    (
        "FleetSettings",
        "socket:string|null max_workers:int caps:TierCaps models:TierModels max_failures:int no_change_ok:string[] \
         min_free_memory_mb:int min_free_disk_mb:int stop_at_budget:bool max_load_per_core:number|null priority_tiers:PriorityTiers fallback:Fallback \
         workspaces:string[] launcher_dir:string|null health:HealthMonitorConfig recovery:RecoveryRules \
         alerts:AlertSettings status_keep_days:int",
    ),
    ("PriorityTiers", "P0:WorkerTier P1:WorkerTier P2:WorkerTier P3:WorkerTier P4:WorkerTier"),
    ("Fallback", "= up down both none"),
    (
        "HealthMonitorConfig",
        "check_interval_secs:int stale_threshold_secs:int max_recovery_attempts:int memory_limit_mb:int",
    ),
    ("RecoveryPolicy", "= disabled notify auto"),
    (
        "RecoveryRules",
        "dead_worker_policy:RecoveryPolicy max_restart_attempts:int window_secs:int pause_secs:int \
         max_pause_secs:int at_once:int memory_policy:RecoveryPolicy memory_kill_mb:int|null \
         stuck_task_policy:RecoveryPolicy stuck_after_mins:int stale_assignee_policy:RecoveryPolicy \
         stale_assignee_mins:int",
    ),
    (
        "AlertSettings",
        "min_severity:AlertSeverity bell_on_critical:bool bell_on_warning:bool bell_interval_secs:int desktop:bool \
         webhook:string|null command:string[] escalate_after_mins:int -- How alerts reach people.",
    ),
    ("CallStyle", "= positional flags model-workspace-session"),
    ("StopWorker", "timeout_secs?:int|null -- How long the worker may take to leave before it is killed."),
    ("PauseWorker", "reason?:string freeze?:bool -- With `freeze` its processes are stopped too."),
    ("SendToWorker", "line:string"),
    ("ReassignWorker", "bead:string -- A bead of the worker's workspace that is ready."),
    ("WorkerPane", "text:string"),
    (
        "LauncherFile",
        "name:string path:string shipped:bool -- `shipped`: it is unchanged since it came with Forge.",
    ),
    ("WorkerDefinition", "name:string launcher:string model:string tier:WorkerTier workspace:string|null"),
    ("WorkerDefinitions", "definitions:WorkerDefinition[] problems:string[]"),
    ("WorkerHealth", "+Health id:string phase:WorkerPhase note:string|null"),
    ("WorkersHealth", "healthy:int degraded:int critical:int failed:int workers:WorkerHealth[]"),
    ("AlertSeverity", "= info warning critical"),
    (
        "AlertKind",
        "= worker_crashed recovery_exhausted worker_stale task_stuck waits_for_permission context_full memory_high \
         status_bad budget quota queue_empty bead_blocked bead_parked stale_assignee disk_low auto_restart worker_parked worker_recovered",
    ),
    (
        "Alert",
        "id:uuid kind:AlertKind severity:AlertSeverity subject:string message:string count:int first_at:time \
         last_at:time acknowledged_at:time|null resolved_at:time|null",
    ),
];
