//! Streams match their description: every kind of entry, diff and draft.

use forge_types::{
    ActionType, AttemptId, CommandResult, Diff, DiffChange, Draft, EntryType, ErrorType, ExitStatus,
    FileChange, Merge, MergeId, Millis, NormalizedEntry, PrInfo, PrStatus, TodoItem, ToolResult,
    ToolResultKind, ToolStatus,
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::openapi::check;
use crate::world::World;

fn actions() -> Vec<ActionType> {
    let text = String::new;
    let command = |exit_status| ActionType::CommandRun {
        command: text(),
        result: Some(CommandResult { exit_status, output: None }),
    };
    let tool = |r#type| ActionType::Tool {
        tool_name: text(),
        arguments: Some(json!({"a": 1})),
        result: Some(ToolResult { r#type, value: json!([]) }),
    };
    let changes = vec![
        FileChange::Write { content: text() },
        FileChange::Delete,
        FileChange::Rename { new_path: text() },
        FileChange::Edit { unified_diff: text(), has_line_numbers: true },
    ];
    let todo = TodoItem { content: text(), status: text(), priority: None };
    vec![
        ActionType::FileRead { path: text() },
        ActionType::FileEdit { path: text(), changes },
        command(None),
        command(Some(ExitStatus::ExitCode { code: 1 })),
        command(Some(ExitStatus::Success { success: true })),
        ActionType::CommandRun { command: text(), result: None },
        ActionType::Search { query: text() },
        ActionType::WebFetch { url: text() },
        tool(ToolResultKind::Markdown),
        tool(ToolResultKind::Json),
        ActionType::TaskCreate { description: text() },
        ActionType::PlanPresentation { plan: text() },
        ActionType::TodoManagement { todos: vec![todo], operation: text() },
        ActionType::Other { description: text() },
    ]
}

fn entries() -> Vec<NormalizedEntry> {
    let text = String::new;
    let statuses = [
        ToolStatus::Created,
        ToolStatus::Success,
        ToolStatus::Failed,
        ToolStatus::Denied { reason: None },
        ToolStatus::PendingApproval { approval_id: text(), requested_at: text(), timeout_at: text() },
        ToolStatus::TimedOut,
    ];
    let mut types = vec![
        EntryType::UserMessage,
        EntryType::UserFeedback { denied_tool: text() },
        EntryType::AssistantMessage,
        EntryType::SystemMessage,
        EntryType::ErrorMessage { error_type: ErrorType::SetupRequired },
        EntryType::ErrorMessage { error_type: ErrorType::Other },
        EntryType::Thinking,
    ];
    let tool_use = |action_type, status| EntryType::ToolUse { tool_name: text(), action_type, status };
    types.extend(actions().into_iter().map(|action| tool_use(action, ToolStatus::Created)));
    types.extend(
        statuses.into_iter().map(|status| tool_use(ActionType::Other { description: text() }, status)),
    );
    let entry = |entry_type| NormalizedEntry { timestamp: None, entry_type, content: text(), metadata: None };
    types.into_iter().map(entry).collect()
}

fn diffs() -> Vec<Diff> {
    use DiffChange::{Added, Copied, Deleted, Modified, PermissionChange, Renamed};
    let diff = |change| Diff {
        change,
        old_path: Some("a".to_owned()),
        new_path: None,
        old_content: None,
        new_content: None,
        content_omitted: true,
        additions: Some(1),
        deletions: None,
        lock_file: false,
    };
    [Added, Copied, Deleted, Modified, PermissionChange, Renamed].map(diff).into()
}

fn merges() -> [Merge; 2] {
    let (id, task_attempt_id, created_at) = (MergeId::random(), AttemptId::random(), Millis(0));
    let (target_branch_name, merge_commit) = ("main".to_owned(), "c".to_owned());
    let pr_info = PrInfo {
        number: 1,
        url: String::new(),
        status: PrStatus::Open,
        merged_at: None,
        merge_commit_sha: None,
    };
    [
        Merge::Direct {
            id,
            task_attempt_id,
            merge_commit,
            target_branch_name: target_branch_name.clone(),
            created_at,
        },
        Merge::Pr { id, task_attempt_id, created_at, target_branch_name, pr_info },
    ]
}

fn hold<T: Serialize>(document: &Value, name: &str, values: impl IntoIterator<Item = T>) {
    let schema = &document["components"]["schemas"][name];
    assert!(schema.is_object(), "{name} is not described");
    for value in values {
        let value = serde_json::to_value(value).unwrap();
        let mut faults = Vec::new();
        check(document, schema, &value, name, &mut faults);
        assert!(faults.is_empty(), "{faults:#?}\n{value:#}");
    }
}

#[tokio::test]
async fn every_kind_of_entry_is_as_described() {
    let world = World::new().await;
    let (_, document) = world.get("/api/openapi.json").await;
    hold(&document, "NormalizedEntry", entries());
    hold(&document, "Diff", diffs());
    hold(&document, "Draft", [Draft::empty(AttemptId::random(), Millis(0))]);
    hold(&document, "Merge", merges());
    let entry = json!({"type": "NORMALIZED_ENTRY", "content": entries()[0]});
    hold(&document, "NormalizedLogEntry", [entry]);
    world.close().await;
}
