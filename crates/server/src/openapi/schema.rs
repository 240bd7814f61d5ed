//! The objects of the wire, one line each.
//!
//! A line lists fields as `name:type`, `name?:type` when the key may be absent; `+Name` includes another object, `=`
//! starts a list of words, `|` a choice; after ` -- ` comes the description. Types: `string uuid time bool int number
//! any null object`, a `'word'` that is always the same, a name of this list, and any of them with `[]`, `{}` (a map by
//! string) or `|null`. `shared/types.ts` is made from these lines. Invariant: every name that is used is listed (a test
//! resolves every reference).

use serde_json::{Map, Value, json};

use super::{beads, streams, workers};

const SCHEMAS: &[(&str, &str)] = &[
    ("Envelope", "success:bool data:any error_data:any message:string|null -- Around every JSON response."),
    ("Failure", "success:bool data:null error_data:any message:string|null"),
    ("Ready", "status:string service:string version:string message:string"),
    ("RouteList", "version:string routes:object note:string"),
    ("AuthRequired", "auth_required:bool"),
    (
        "Project",
        "id:uuid name:string git_repo_path:string setup_script:string|null dev_script:string|null \
         cleanup_script:string|null copy_files:string|null commit_prompt:string|null default_base_branch:string|null \
         created_at:time updated_at:time max_cost_usd?:number task_counts?:int{} \
         -- A repository. `task_counts`, by status, is present in a list that was requested with `counts`.",
    ),
    (
        "RegisteredProject",
        "+Project first_commit?:string -- `first_commit` is the branch on which an empty first commit was made, because the \
         repository had none.",
    ),
    (
        "CreateProject",
        "name:string git_repo_path:string use_existing_repo:bool setup_script?:string|null dev_script?:string|null \
         cleanup_script?:string|null copy_files?:string|null commit_prompt?:string|null \
         default_base_branch?:string|null max_cost_usd?:number|null",
    ),
    (
        "UpdateProject",
        "name?:string git_repo_path?:string setup_script?:string|null dev_script?:string|null \
         cleanup_script?:string|null copy_files?:string|null commit_prompt?:string|null \
         default_base_branch?:string|null max_cost_usd?:number|null -- Absent keeps the stored value, null clears it.",
    ),
    ("GitBranch", "name:string is_current:bool is_remote:bool last_commit_date:time"),
    ("SearchResult", "path:string is_file:bool match_type:string"),
    ("OpenEditor", "editor_type?:string|null file_path?:string|null"),
    ("EditorUrl", "url:string|null"),
    ("TaskStatus", "= todo inprogress inreview done cancelled agent archived"),
    (
        "Task",
        "id:uuid project_id:uuid title:string description:string|null status:TaskStatus \
         parent_task_attempt:uuid|null dev_server_id:uuid|null created_at:time updated_at:time labels?:string[] -- A piece of work in a project.",
    ),
    (
        "TaskWithAttemptStatus",
        "+Task has_in_progress_attempt:bool has_merged_attempt:bool last_attempt_failed:bool executor:string \
         attempt_count:int",
    ),
    ("TaskWithLatestAttempt", "+TaskWithAttemptStatus latest_attempt:TaskAttempt|null"),
    ("StartedTask", "+TaskWithAttemptStatus attempts:TaskAttempt[] task_attempt:TaskAttempt task:Task"),
    (
        "TaskCard",
        "task_id:uuid attempt_id:uuid attempts:int status:AttemptStatus executor:string variant:string|null branch:string \
         target_branch:string running_since:time|null elapsed_ms:int cost_usd:number|null files_changed:int|null \
         additions:int|null deletions:int|null waiting_approvals:int parked_until:time|null unverified:bool commit_error:string|null \
         setup_required?:bool open_conflicts?:string[] worktree_deleted:bool queued_draft:bool pr:PrInfo|null merged:bool \
         earlier_changes?:bool \
         -- A summary of a task's newest attempt; the cost is that of all its attempts. `setup_required`: its agent has to be \
         installed, logged in or given a key first. `open_conflicts`: files in which its agent left conflicts open. \
         `earlier_changes`: an earlier attempt has changes, or may have some.",
    ),
    ("CreateTask", "+CreateTaskHere project_id:uuid"),
    (
        "CreateTaskHere",
        "title:string description?:string|null parent_task_attempt?:uuid|null image_ids?:uuid[]|null \
         labels?:string[]|null",
    ),
    (
        "UpdateTask",
        "title?:string description?:string|null status?:TaskStatus parent_task_attempt?:uuid|null \
         image_ids?:uuid[]|null labels?:string[]|null \
         -- Absent and null keep the stored value; a blank description or an empty list clears it.",
    ),
    (
        "AttemptOptions",
        "executor_profile_id:ProfileChoice base_branch?:string|null use_worktree?:bool|null auto_pr?:bool|null \
         max_cost_usd?:number|null",
    ),
    ("AutoPr", "state:AutoPrState url?:string message?:string"),
    ("AutoPrState", "= waiting opened failed"),
    (
        "TaskFromIssue",
        "number?:int|null url?:string|null start?:bool|null executor_profile_id?:ProfileChoice \
         base_branch?:string|null auto_pr?:bool|null max_cost_usd?:number|null",
    ),
    ("IssueLink", "task_id:uuid project_id:uuid repository:string number:int url:string"),
    (
        "TaskOfIssue",
        "+TaskWithAttemptStatus attempts:TaskAttempt[] task_attempt:TaskAttempt|null task:Task issue:IssueLink",
    ),
    ("PrStatus", "= open merged closed unknown"),
    ("PrInfo", "number:int url:string status:PrStatus merged_at:time|null merge_commit_sha:string|null"),
    (
        "Merge",
        "| DirectMerge PrMerge -- A record that an attempt's work landed, or is on its way as a pull request.",
    ),
    (
        "DirectMerge",
        "type:'direct' id:uuid task_attempt_id:uuid target_branch_name:string created_at:time merge_commit:string",
    ),
    (
        "PrMerge",
        "type:'pr' id:uuid task_attempt_id:uuid target_branch_name:string created_at:time pr_info:PrInfo",
    ),
    ("ConflictOp", "= rebase merge cherry_pick revert"),
    (
        "BranchStatus",
        "commits_behind:int|null commits_ahead:int|null has_uncommitted_changes:bool|null head_oid:string|null \
         uncommitted_count:int|null untracked_count:int|null target_branch_name:string remote_commits_behind:int|null \
         remote_commits_ahead:int|null merges:Merge[] is_rebase_in_progress:bool conflict_op:ConflictOp|null \
         conflicted_files:string[] left_open?:string[] no_remote?:bool -- `left_open`: conflicted files that the agent's last \
         turn left as they are; ask again, resolve them yourself, or abort. `no_remote`: there is no remote; add one \
         with `git remote add origin <url>`.",
    ),
    ("MergeAttempt", "message?:string|null -- `message` is the commit message."),
    ("RebaseAttempt", "old_base_branch?:string|null new_base_branch?:string|null"),
    ("ChangeTargetBranch", "new_target_branch:string"),
    ("TargetBranchChanged", "new_target_branch:string status:int[]"),
    ("CommitInfo", "sha:string subject:string author:string committed_at:time"),
    (
        "CommitComparison",
        "head_oid:string target_oid:string ahead_from_head:int behind_from_head:int is_linear:bool",
    ),
    ("TaskRelationships", "parent_task:Task|null current_attempt:TaskAttempt children:Task[]"),
    ("TargetConflict", "attempt_id:uuid branch:string target_branch:string files:string[]"),
    ("PairConflict", "attempts:uuid[] branches:string[] files:string[]"),
    (
        "ConflictReport",
        "target:TargetConflict[] pairs:PairConflict[] checked_at:time checked:int skipped:int",
    ),
    ("CreatePullRequest", "title:string body?:string|null target_branch?:string|null"),
    ("AttachPullRequest", "pr_number?:int|null"),
    ("AttachedPullRequest", "pr_attached:bool pr_url:string|null pr_number:int|null pr_status:PrStatus|null"),
    ("LoginLink", "path:string"),
    ("DeviceStart", "user_code:string verification_uri:string expires_in:int interval:int"),
    ("LoginAnswer", "= SLOW_DOWN AUTHORIZATION_PENDING SUCCESS"),
    ("LoginCheck", "= VALID INVALID"),
    ("Pulled", "success:bool message:string details?:string"),
    (
        "Release",
        "tag_name:string name:string body:string|null prerelease:bool created_at:string published_at:string|null \
         html_url:string",
    ),
    (
        "SystemInfo",
        "config:Config analytics_user_id:string executors:object environment:Environment capabilities:string[]{} \
         agents:KnownAgent{} -- `agents` describes the agents that Forge knows, by executor.",
    ),
    (
        "KnownAgent",
        "options:AgentOption[] built_in_variants:string[] \
         -- What a form for the variants of an agent needs to know. A built-in variant can be changed, not removed.",
    ),
    (
        "AgentOption",
        "key:string label:string hint?:string kind:OptionKind choices?:string[] \
         -- An option that a variant may have. `choices` belongs to `kind` choice.",
    ),
    ("OptionKind", "= flag text long_text lines choice"),
    ("McpAnswer", "mcp_config:McpConfig config_path:string"),
    (
        "McpConfig",
        "servers:object servers_path:string[] template:any preconfigured:any is_toml_config:bool \
         -- The MCP servers of one agent program, and what can be added.",
    ),
    ("ForgeSettings", "omni_enabled:bool omni_config:OmniConfig|null"),
    ("ForgeSettingsChange", "omni_enabled?:bool omni_config?:object|null"),
    (
        "OmniConfig",
        "enabled:bool host:string|null api_key:string|null instance:string|null recipient:string|null \
         recipient_type:string|null",
    ),
    ("OmniStatus", "enabled:bool config:OmniConfig|null"),
    (
        "OmniInstance",
        "instance_name:string channel_type:string display_name:string status:string is_healthy:bool",
    ),
    ("OmniInstances", "instances:OmniInstance[] error?:string"),
    ("OmniProbe", "host:string api_key:string"),
    ("OmniProbed", "valid:bool instances:OmniInstance[] error:string|null"),
    (
        "Notification",
        "id:uuid task_id:uuid notification_type:string status:string message:string error_message:string|null \
         sent_at:time|null created_at:time metadata:object",
    ),
    ("Notifications", "notifications:Notification[]"),
    ("CreateAgent", "project_id:uuid agent_type:string"),
    ("ForgeAgent", "id:uuid project_id:uuid agent_type:string task_id:uuid created_at:time updated_at:time"),
    (
        "Neuron",
        "type:string|null task:Task attempt:TaskAttempt|null -- An agent chat that another attempt spawned.",
    ),
    ("CreateAndStartTask", "+AttemptOptions task:CreateTask"),
    ("CreateAndStartTaskHere", "+AttemptOptions task:CreateTaskHere"),
    ("CreateTaskAttempt", "+AttemptOptions task_id:uuid"),
    (
        "StartAttempt",
        "executor:ProfileChoice base_branch?:string|null use_worktree?:bool|null max_cost_usd?:number|null",
    ),
    ("SetBudget", "max_cost_usd:number|null"),
    (
        "UsageSum",
        "input_tokens:int output_tokens:int cache_read_tokens:int cache_write_tokens:int reasoning_tokens:int \
         cost_usd:number|null unpriced_tokens:int runs:int",
    ),
    (
        "UsageGroup",
        "+UsageSum project_id?:uuid executor?:string model?:string day?:string task_id?:uuid worker_id?:string \
         bead?:string workspace?:string",
    ),
    ("UsageReport", "groups:UsageGroup[] total:UsageSum prices_as_of:string month:MonthSpending"),
    (
        "MonthSpending",
        "month:string spent_usd:number projected_usd:number limit_usd:number|null days_passed:int days:int \
         -- What the current month (UTC) has cost.",
    ),
    (
        "WorkerEfficiency",
        "worker_id:string call_count:int total_cost_usd:number total_tokens:int avg_cost_per_call:number \
         avg_tokens_per_call:number efficiency_score:number|null last_active:time tier:WorkerTier|null \
         -- How much a worker does for its money; the score is tokens per dollar.",
    ),
    (
        "ModelPerformance",
        "model:string call_count:int total_tokens:int total_cost_usd:number avg_cost_per_1k_tokens:number \
         avg_latency_ms:number|null cache_hit_rate:number|null -- What a model costs and how fast it is.",
    ),
    ("Demo", "project:Project tasks:Task[] -- A project to try things out, with scripted agents running."),
    (
        "ImportRequest",
        "kind:string path?:string|null dry_run?:bool project?:string|null worktrees?:OldWorktrees -- `worktrees`: what \
         happens to worktrees of the other system that still exist.",
    ),
    ("OldWorktrees", "= leave adopt"),
    ("ImportTally", "new:int changed?:int known:int skipped:int -- `changed` were here and were updated."),
    ("ImportStanding", "= new merged known"),
    (
        "ImportedProject",
        "id:uuid name:string git_repo_path:string standing:ImportStanding tasks:ImportTally attempts:ImportTally \
         runs:ImportTally merges:ImportTally images:ImportTally templates:ImportTally agents?:ImportTally log_bytes:int",
    ),
    ("ImportSkipped", "kind:string key:string name:string reason:string"),
    ("ImportedAttempt", "key:string attempt_id:uuid task_id:uuid project_id:uuid"),
    (
        "ImportReport",
        "source:string path:string|null dry_run:bool projects:ImportedProject[] tags:ImportTally templates:ImportTally \
         skipped:ImportSkipped[] notes:string[] attempts:ImportedAttempt[]",
    ),
    ("ExecutorProfileId", "executor:string variant?:string|null model?:string|null"),
    ("ProfileChoice", "| string ExecutorProfileId -- `EXECUTOR`, `EXECUTOR:VARIANT`, or the object."),
    ("AttemptStatus", "= pending running completed failed stopped"),
    (
        "TaskAttempt",
        "id:uuid task_id:uuid container_ref:string|null branch:string target_branch:string executor:string \
         worktree_deleted:bool setup_completed_at:time|null input_tokens:int|null output_tokens:int|null \
         cache_creation_tokens:int|null cache_read_tokens:int|null created_at:time updated_at:time \
         status:AttemptStatus project_id:uuid executor_profile_id:ExecutorProfileId worktree_path:string|null \
         use_worktree:bool auto_pr?:AutoPr|null cost_usd?:number max_cost_usd?:number -- One try at a task, with its own branch \
         and worktree.",
    ),
    ("ListedAttempt", "+TaskAttempt task_title:string"),
    ("TaskAttemptDetail", "+TaskAttempt task:Task execution_processes:ProcessDigest[]"),
    (
        "ProcessDigest",
        "id:uuid status:string normalized_logs:TextEntry[] -- A process as its attempt shows it; its status is in capitals here.",
    ),
    ("TextEntry", "type:string content:string"),
    (
        "FollowUp",
        "prompt:string variant?:string|null image_ids?:uuid[]|null retry_process_id?:uuid|null \
         force_when_dirty?:bool|null perform_git_reset?:bool|null fresh?:bool|null -- An absent variant keeps the last one, null selects the default. `fresh` begins a new conversation.",
    ),
    (
        "ReplaceProcess",
        "prompt:string process_id?:uuid|null variant?:string|null executor_profile_id?:ProfileChoice \
         force_when_dirty?:bool|null perform_git_reset?:bool|null",
    ),
    (
        "ReplaceProcessResult",
        "deleted_count:int git_reset_needed:bool git_reset_applied:bool target_before_oid:string|null \
         new_execution_id:uuid|null",
    ),
    ("SetUpAgent", "executor_profile_id:ProfileChoice"),
    ("DraftType", "= follow_up retry"),
    (
        "DraftResponse",
        "task_attempt_id:uuid draft_type:DraftType retry_process_id:uuid|null prompt:string queued:bool sending:bool \
         variant:string|null image_ids:uuid[]|null version:int",
    ),
    ("SaveDraft", "| string DraftChange"),
    (
        "DraftChange",
        "prompt?:string|null variant?:string|null image_ids?:uuid[]|null retry_process_id?:uuid|null \
         version?:int|null -- Absent and null keep the stored value.",
    ),
    ("QueueDraft", "queued:bool prompt?:string|null expected_queued?:bool|null expected_version?:int|null"),
    ("RunReason", "= setupscript cleanupscript codingagent devserver"),
    ("RunStatus", "= running completed failed killed"),
    ("ExecutorAction", "typ:ActionStep next_action:ExecutorAction|null"),
    ("ActionStep", "| InitialRequest FollowUpRequest ScriptRequest"),
    (
        "InitialRequest",
        "type:'CodingAgentInitialRequest' prompt:string executor_profile_id:ExecutorProfileId",
    ),
    (
        "FollowUpRequest",
        "type:'CodingAgentFollowUpRequest' prompt:string session_id:string executor_profile_id:ExecutorProfileId",
    ),
    ("ScriptContext", "= SetupScript CleanupScript DevServer"),
    ("ScriptRequest", "type:'ScriptRequest' script:string language:'Bash' context:ScriptContext"),
    (
        "ExecutionProcess",
        "id:uuid task_attempt_id:uuid|null execution_run_id:uuid|null run_reason:RunReason \
         executor_action:ExecutorAction before_head_commit:string|null after_head_commit:string|null status:RunStatus \
         exit_code:int|null dropped:bool started_at:time completed_at:time|null created_at:time updated_at:time \
         output:string|null parked_until?:time unverified?:bool commit_error?:string setup_required?:bool \
         open_conflicts?:string[] -- One process of an attempt: a script or a turn of its \
         agent. `output` is the transcript, only of the newest one. `parked_until`: it waits, or waited, for its provider. \
         `unverified`: the agent reported success and nothing shows that it did anything. \
         `commit_error`: why its work is not committed yet; it stays in the worktree and the commit is tried again. \
         `setup_required`: the agent has to be installed, logged in or given a key first. `open_conflicts`: files in which the \
         agent left conflicts open.",
    ),
    (
        "ExecutionRun",
        "id:uuid project_id:uuid branch:string target_branch:string executor:string variant:string|null \
         container_ref:string|null prompt:string worktree_deleted:bool created_at:time updated_at:time -- An agent invocation without a task.",
    ),
    (
        "CreateExecutionRun",
        "project_id:uuid prompt:string executor_profile_id:ProfileChoice base_branch?:string|null",
    ),
    ("StartedExecutionRun", "execution_run:ExecutionRun execution_process:ExecutionProcess|null"),
    ("FollowUpRun", "prompt:string variant?:string|null"),
    (
        "Image",
        "id:uuid file_path:string original_name:string mime_type:string|null size_bytes:int hash:string \
         created_at:time updated_at:time",
    ),
    ("Upload", "image?:any file?:any"),
    ("Tag", "id:uuid tag_name:string content:string created_at:time updated_at:time"),
    ("CreateTag", "tag_name:string content:string"),
    ("UpdateTag", "tag_name?:string|null content?:string|null"),
    (
        "TaskTemplate",
        "id:uuid project_id:uuid|null title:string description:string|null template_name:string created_at:time \
         updated_at:time",
    ),
    (
        "CreateTaskTemplate",
        "title:string template_name:string project_id?:uuid|null description?:string|null",
    ),
    ("UpdateTaskTemplate", "title?:string|null description?:string|null template_name?:string|null"),
    ("DirectoryEntry", "name:string path:string is_directory:bool is_git_repo:bool last_modified:int|null"),
    ("DirectoryListing", "entries:DirectoryEntry[] current_path:string"),
    ("ContainerInfo", "attempt_id:uuid task_id:uuid project_id:uuid"),
    ("ApprovalWord", "= pending approved denied timed_out"),
    ("ApprovalStatus", "status:ApprovalWord reason?:string|null"),
    ("CreateApproval", "tool_name:string tool_input:any session_id:string"),
    (
        "Approval",
        "+ApprovalStatus id:uuid tool_name:string tool_input:any session_id:string|null \
         execution_process_id:uuid|null tool_call_id:string|null created_at:time timeout_at:time \
         task_attempt_id?:uuid task_id?:uuid",
    ),
    (
        "PendingApproval",
        "id:uuid approval_id:uuid execution_process_id:uuid|null tool_name:string tool_input:any message:string created_at:time \
         requested_at:time timeout_at:time task_attempt_id?:uuid task_id?:uuid",
    ),
    ("RespondToApproval", "| NativeAnswer PlainAnswer"),
    ("NativeAnswer", "execution_process_id:uuid status:ApprovalStatus"),
    ("PlainAnswer", "approved:bool comment?:string|null"),
    ("AgentSource", "= path login_path npx built_in"),
    (
        "FoundAgent",
        "executor:string name:string program:string protocol:string found:AgentSource|null path:string|null \
         version:string|null keys:string[] logged_in:bool ready:bool state?:AgentState install:string log_in:string|null -- An agent \
         program on this machine. `keys` names variables, `install` and `log_in` are commands; `ready`: it is installed, reports \
         its version, and has a key or a login. `ACP` is listed only when a profile names its command. An executor that is not \
         listed cannot be started.",
    ),
    ("AgentState", "= ready not_installed not_working not_logged_in"),
    ("ProfilesFile", "content:string path:string"),
    (
        "WorktreeReport",
        "base:string free_bytes:int used_bytes:int worktrees:WorktreeLine[] spares:int trash:TrashLine[]",
    ),
    ("Standing", "= in_use orphan other_forge stranger"),
    (
        "WorktreeLine",
        "path:string bytes:int standing:Standing attempt_id:uuid|null branch:string|null repo:string|null",
    ),
    ("TrashLine", "path:string bytes:int attempt_id:uuid|null retired_at:time"),
    ("KeptWorktree", "attempt_id:uuid reference:string commit:string trash:string|null"),
    ("RestoredWorktree", "attempt_id:uuid path:string from:string missing:string[]"),
    ("AdoptedWorktree", "attempt_id:uuid path:string from:string -- `from` is where the worktree was."),
    ("ReleasedWorktree", "attempt_id:uuid path:string|null branch:string"),
    ("GarbageRequest", "older_than_h?:int|null"),
    ("GarbageReport", "removed:string[] freed_bytes:int kept:string[] removed_logs:int"),
];

/// Every schema by its name.
pub(crate) fn all() -> Map<String, Value> {
    SCHEMAS
        .iter()
        .chain(streams::SCHEMAS)
        .chain(beads::SCHEMAS)
        .chain(workers::SCHEMAS)
        .map(|(name, line)| ((*name).to_owned(), read(line)))
        .collect()
}

/// A type as a schema.
pub(crate) fn of(text: &str) -> Value {
    if let Some(text) = text.strip_suffix("|null") {
        return json!({"anyOf": [of(text), {"type": "null"}]});
    }
    if let Some(text) = text.strip_suffix("[]") {
        return json!({"type": "array", "items": of(text)});
    }
    if let Some(text) = text.strip_suffix("{}") {
        return json!({"type": "object", "additionalProperties": of(text)});
    }
    if let Some(word) = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')) {
        return json!({"type": "string", "const": word});
    }
    match text {
        "any" => json!({}),
        "uuid" => json!({"type": "string", "format": "uuid"}),
        "time" => json!({"type": "string", "format": "date-time"}),
        "bool" => json!({"type": "boolean"}),
        "int" => json!({"type": "integer"}),
        "string" | "number" | "null" | "object" => json!({"type": text}),
        name => json!({"$ref": format!("#/components/schemas/{name}")}),
    }
}

fn read(line: &str) -> Value {
    let Some((line, words)) = line.split_once(" -- ") else { return read_fields(line) };
    let mut schema = read_fields(line);
    schema["description"] = words.into();
    schema
}

fn read_fields(line: &str) -> Value {
    if let Some(words) = line.strip_prefix("= ") {
        return json!({"type": "string", "enum": words.split_whitespace().collect::<Vec<_>>()});
    }
    if let Some(choices) = line.strip_prefix("| ") {
        return json!({"anyOf": choices.split_whitespace().map(of).collect::<Vec<_>>()});
    }
    let (mut properties, mut required, mut parts) = (Map::new(), Vec::new(), Vec::new());
    for word in line.split_whitespace() {
        match word.split_once(':') {
            Some((name, text)) => {
                let optional = name.strip_suffix('?');
                if optional.is_none() {
                    required.push(name);
                }
                properties.insert(optional.unwrap_or(name).to_owned(), of(text));
            }
            None => parts.push(of(word.trim_start_matches('+'))),
        }
    }
    let own = json!({"type": "object", "required": required, "properties": properties});
    if parts.is_empty() {
        return own;
    }
    parts.push(own);
    json!({ "allOf": parts })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_a_schema() {
        let read = read("+Base id:uuid tags?:Tag[]|null");
        let tags = json!({"anyOf": [{"type": "array", "items": {"$ref": "#/components/schemas/Tag"}}, {"type": "null"}]});
        assert_eq!(
            read,
            json!({"allOf": [
                {"$ref": "#/components/schemas/Base"},
                {
                    "type": "object",
                    "required": ["id"],
                    "properties": {"id": {"type": "string", "format": "uuid"}, "tags": tags},
                },
            ]})
        );
    }
}
