//! What goes over sockets and into settings, in the notation of `schema`.
//!
//! Invariant: a frame is one of the shapes that its stream's row in `shape` names; tests compare every kind of entry,
//! diff and draft with these lines.

pub(super) const SCHEMAS: &[(&str, &str)] = &[
    ("PatchOp", "op:PatchWord path:string value?:any -- One RFC 6902 operation; `remove` has no value."),
    ("PatchWord", "= add replace remove"),
    (
        "PatchFrame",
        "JsonPatch:PatchOp[] seq?:int -- `seq` is present when the stream was requested with `after`.",
    ),
    ("EndFrame", "finished:bool seq?:int -- The last frame of a stream that ends."),
    ("StreamFrame", "| PatchFrame EndFrame"),
    (
        "FramePage",
        "frames:StreamFrame[] finished:bool more:bool \
         -- Frames after a number, for clients that cannot use streams; `more` is true when there are more right now.",
    ),
    (
        "EventFrame",
        "| HelloFrame PatchEvent ApprovalEvent WorkerEvent WorkerRemovedEvent AlertEvent RoutingEvent ProjectEvent \
         ProjectRemovedEvent AttemptEvent -- Something that happened; `seq` is its number in the server's log.",
    ),
    (
        "HelloFrame",
        "seq:int event:'hello' data:Hello \
         -- The first frame: the stream continues after `seq`, which differs from the requested number when the events \
         since then are no longer in the log.",
    ),
    ("Hello", "version:string"),
    ("PatchEvent", "seq:int event:'json_patch' data:PatchOp[]"),
    ("ApprovalEvent", "seq:int event:'approval' data:Approval"),
    ("WorkerEvent", "seq:int event:'worker' data:Worker"),
    ("WorkerRemovedEvent", "seq:int event:'worker_removed' data:string"),
    ("AlertEvent", "seq:int event:'alert' data:Alert"),
    ("RoutingEvent", "seq:int event:'routing' data:Routing"),
    ("ProjectEvent", "seq:int event:'project' data:Project"),
    ("ProjectRemovedEvent", "seq:int event:'project_removed' data:uuid"),
    ("AttemptEvent", "seq:int event:'attempt' data:TaskAttempt -- An attempt as it was when it was created."),
    ("StdoutFrame", "Stdout:string seq?:int"),
    ("StderrFrame", "Stderr:string seq?:int"),
    ("OutputFrame", "| StdoutFrame StderrFrame EndFrame"),
    ("RawLogWord", "= STDOUT STDERR"),
    (
        "RawLogEntry",
        "type:RawLogWord content:string bytes?:string \
         -- A chunk of output; chunks are not lines. One that is not UTF-8 has its bytes in base64, in numbered streams.",
    ),
    ("NormalizedLogEntry", "type:'NORMALIZED_ENTRY' content:NormalizedEntry"),
    ("DiffEntry", "type:'DIFF' content:Diff"),
    (
        "NormalizedEntry",
        "timestamp:string|null entry_type:EntryType content:string metadata:any \
         -- One readable step of what an agent did.",
    ),
    ("EntryType", "| PlainEntry UserFeedbackEntry ToolUseEntry ErrorEntry"),
    ("PlainEntryWord", "= user_message assistant_message system_message thinking"),
    ("PlainEntry", "type:PlainEntryWord"),
    ("UserFeedbackEntry", "type:'user_feedback' denied_tool:string"),
    ("ToolUseEntry", "type:'tool_use' tool_name:string action_type:ActionType status:ToolStatus"),
    ("ErrorEntry", "type:'error_message' error_type:ErrorType"),
    ("ErrorType", "type:ErrorWord"),
    ("ErrorWord", "= setup_required other"),
    (
        "ActionType",
        "| FileReadAction FileEditAction CommandRunAction SearchAction WebFetchAction ToolAction TaskCreateAction \
         PlanPresentationAction TodoManagementAction OtherAction",
    ),
    ("FileReadAction", "action:'file_read' path:string"),
    ("FileEditAction", "action:'file_edit' path:string changes:FileChange[]"),
    ("CommandRunAction", "action:'command_run' command:string result:CommandResult|null"),
    ("SearchAction", "action:'search' query:string"),
    ("WebFetchAction", "action:'web_fetch' url:string"),
    ("ToolAction", "action:'tool' tool_name:string arguments:any result:ToolResult|null"),
    ("TaskCreateAction", "action:'task_create' description:string"),
    ("PlanPresentationAction", "action:'plan_presentation' plan:string"),
    ("TodoManagementAction", "action:'todo_management' todos:TodoItem[] operation:string"),
    ("OtherAction", "action:'other' description:string"),
    ("FileChange", "| WriteChange DeleteChange RenameChange EditChange"),
    ("WriteChange", "action:'write' content:string"),
    ("DeleteChange", "action:'delete'"),
    ("RenameChange", "action:'rename' new_path:string"),
    (
        "EditChange",
        "action:'edit' unified_diff:string has_line_numbers:bool \
         -- Without line numbers those of the diff are placeholders.",
    ),
    ("CommandResult", "exit_status:ExitStatus|null output:string|null"),
    ("ExitStatus", "| ExitCode ExitSuccess"),
    ("ExitCode", "type:'exit_code' code:int"),
    ("ExitSuccess", "type:'success' success:bool"),
    ("ToolResult", "type:ToolResultKind value:any"),
    ("ToolResultKind", "type:ToolResultWord"),
    ("ToolResultWord", "= markdown json"),
    ("ToolStatus", "| PlainToolStatus DeniedStatus PendingApprovalStatus"),
    ("PlainToolWord", "= created success failed timed_out"),
    ("PlainToolStatus", "status:PlainToolWord"),
    ("DeniedStatus", "status:'denied' reason:string|null"),
    (
        "PendingApprovalStatus",
        "status:'pending_approval' approval_id:string requested_at:string timeout_at:string",
    ),
    ("TodoItem", "content:string status:string priority:string|null"),
    ("DiffChange", "= added deleted modified renamed copied permissionChange"),
    (
        "Diff",
        "change:DiffChange oldPath:string|null newPath:string|null oldContent:string|null newContent:string|null \
         contentOmitted:bool additions:int|null deletions:int|null lockFile:bool \
         -- One changed file. Contents are left out for large and binary files and when only figures are requested.",
    ),
    (
        "ChangedFile",
        "path:string old_path:string|null change:DiffChange additions:int|null deletions:int|null",
    ),
    (
        "AttemptDiff",
        "attempt_id:uuid target_branch:string files:ChangedFile[] files_changed:int additions:int deletions:int \
         diff:string truncated:bool -- The patch of an attempt, or as much of it as was requested.",
    ),
    (
        "Draft",
        "id:uuid task_attempt_id:uuid draft_type:DraftType retry_process_id?:uuid prompt:string queued:bool \
         sending:bool variant:string|null image_ids?:uuid[] created_at:time updated_at:time version:int \
         -- A prompt that was written but not sent.",
    ),
    ("AttemptDrafts", "follow_up:Draft retry:Draft|null"),
    ("TasksDocument", "tasks:TaskWithAttemptStatus{} -- What the patches of the task stream build."),
    (
        "ProcessesDocument",
        "execution_processes:ExecutionProcess{} -- What the patches of the process stream build.",
    ),
    ("DraftsDocument", "drafts:AttemptDrafts{} -- What the patches of the draft stream build, by attempt."),
    ("DiffDocument", "entries:DiffEntry{} -- What the patches of the diff stream build, by path."),
    ("Theme", "= LIGHT DARK SYSTEM"),
    ("Language", "= BROWSER EN JA ES KO"),
    (
        "SoundFile",
        "= ABSTRACT_SOUND1 ABSTRACT_SOUND2 ABSTRACT_SOUND3 ABSTRACT_SOUND4 GENIE_NOTIFY1 GENIE_NOTIFY2 PHONE_VIBRATION",
    ),
    (
        "Config",
        "config_version:string theme:Theme executor_profile:ExecutorProfileId disclaimer_acknowledged:bool \
         onboarding_acknowledged:bool github_login_acknowledged:bool telemetry_acknowledged:bool \
         notifications:NotificationSettings editor:EditorSettings github:GithubSettings analytics_enabled:bool|null \
         contact_email_opt_in:bool|null contact_username_opt_in:bool|null workspace_dir:string|null \
         last_app_version:string|null show_release_notes:bool auto_resume:bool language:Language \
         git_branch_prefix:string showcases:Showcases fleet:FleetSettings max_cost_usd_per_day?:number \
         max_cost_usd_per_month?:number budget_warning_percent:int budget_critical_percent:int -- The user's settings; secrets are masked.",
    ),
    ("NotificationSettings", "sound_enabled:bool push_enabled:bool sound_file:SoundFile"),
    (
        "EditorSettings",
        "editor_type:string custom_command:string|null remote_ssh_host:string|null remote_ssh_user:string|null",
    ),
    (
        "GithubSettings",
        "pat:string|null oauth_token:string|null username:string|null primary_email:string|null \
         default_pr_base:string|null",
    ),
    ("Showcases", "seen_features:string[]"),
    ("Environment", "os_type:string os_version:string os_architecture:string bitness:string"),
];
