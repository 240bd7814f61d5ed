//! Claude's tools, as actions of the readable log.
//!
//! Owns the table of tool names. Invariant: an unknown tool, or a known one with input of an unknown shape, is still
//! shown, as a plain tool with its arguments. Paths inside the worktree are shown relative to it.

use std::path::{Path, PathBuf};

use forge_types::{ActionType, CommandResult, ExitStatus, FileChange, TodoItem, ToolResult, ToolResultKind};
use serde_json::Value;

use super::diff;

/// The action of a tool call and its one-line text.
pub(super) fn describe(name: &str, input: &Value, worktree: &Path) -> (ActionType, String) {
    known(name, input, worktree).unwrap_or_else(|| {
        let shown = display_name(name);
        let arguments = Some(input.clone()).filter(|input| !input.is_null());
        (ActionType::Tool { tool_name: shown.clone(), arguments, result: None }, shown)
    })
}

fn known(name: &str, input: &Value, worktree: &Path) -> Option<(ActionType, String)> {
    let text = |key: &str| input.get(key).and_then(Value::as_str);
    let path = |key: &str| text(key).map(|path| relative(path, worktree));
    Some(match name {
        "Read" => {
            let path = path("file_path")?;
            let content = in_backticks(&path);
            (ActionType::FileRead { path }, content)
        }
        "Edit" => file_edit(path("file_path")?, std::slice::from_ref(input))?,
        "MultiEdit" => file_edit(path("file_path")?, input.get("edits")?.as_array()?)?,
        "Write" => {
            let path = path("file_path")?;
            let changes = vec![FileChange::Write { content: text("content")?.to_owned() }];
            let content = in_backticks(&path);
            (ActionType::FileEdit { path, changes }, content)
        }
        "Bash" => {
            // Amp names it `cmd`.
            let command = text("command").or_else(|| text("cmd"))?.to_owned();
            let content = in_backticks(&command);
            (ActionType::CommandRun { command, result: None }, content)
        }
        "Grep" | "Glob" => {
            let query = text("pattern")?.to_owned();
            let content = in_backticks(&query);
            (ActionType::Search { query }, content)
        }
        "WebFetch" | "WebSearch" => {
            let url = text(if name == "WebFetch" { "url" } else { "query" })?.to_owned();
            let content = in_backticks(&url);
            (ActionType::WebFetch { url }, content)
        }
        "Task" | "Agent" => {
            let description = text("description").or_else(|| text("prompt"))?.to_owned();
            let content = format!("Task: {}", in_backticks(&description));
            (ActionType::TaskCreate { description }, content)
        }
        "ExitPlanMode" => {
            let plan = text("plan")?.to_owned();
            let content = plan.clone();
            (ActionType::PlanPresentation { plan }, content)
        }
        "TodoWrite" => {
            let todos = input.get("todos")?.as_array()?.iter().map(todo).collect();
            (ActionType::TodoManagement { todos, operation: "write".into() }, "TODO list updated".into())
        }
        "TodoRead" => (
            ActionType::TodoManagement { todos: Vec::new(), operation: "read".into() },
            "TODO list read".into(),
        ),
        "NotebookEdit" => {
            let arguments = Some(input.clone());
            (
                ActionType::Tool { tool_name: name.into(), arguments, result: None },
                in_backticks(&path("notebook_path")?),
            )
        }
        "LS" | "Oracle" | "Mermaid" | "CodebaseSearchAgent" | "UndoEdit" => {
            let about = path("path")
                .or_else(|| ["task", "query", "code"].iter().find_map(|key| text(key).map(str::to_owned)));
            let description = match about {
                Some(about) => format!("{name}: {}", in_backticks(&about)),
                None => name.to_owned(),
            };
            (ActionType::Other { description: description.clone() }, description)
        }
        _ => return None,
    })
}

fn file_edit(path: String, edits: &[Value]) -> Option<(ActionType, String)> {
    let change = |edit: &Value| {
        let text = |key: &str| edit.get(key).and_then(Value::as_str);
        Some(diff::edit(&path, text("old_string")?, text("new_string")?))
    };
    let changes = edits.iter().map(change).collect::<Option<Vec<_>>>()?;
    let content = in_backticks(&path);
    Some((ActionType::FileEdit { path, changes }, content))
}

pub(super) fn todo(item: &Value) -> TodoItem {
    let text = |key: &str| item.get(key).and_then(Value::as_str).map(str::to_owned);
    TodoItem {
        content: text("content").unwrap_or_default(),
        status: text("status").unwrap_or_else(|| "pending".into()),
        priority: text("priority"),
    }
}

/// Adds the result of the tool to its action, where the action has a field for it.
pub(super) fn add_result(action: &mut ActionType, content: &Value, failed: bool) {
    match action {
        ActionType::CommandRun { result, .. } => {
            let output = joined(content).unwrap_or_else(|| content.to_string());
            let exit_status = Some(exit_status(&output, failed));
            *result = Some(CommandResult { exit_status, output: Some(output) });
        }
        ActionType::Tool { result, .. } => {
            *result = Some(match joined(content) {
                Some(text) => ToolResult { r#type: ToolResultKind::Markdown, value: text.into() },
                None => ToolResult { r#type: ToolResultKind::Json, value: content.clone() },
            });
        }
        _ => {}
    }
}

/// A failed command's output begins with its exit code; otherwise only success or failure is known.
fn exit_status(output: &str, failed: bool) -> ExitStatus {
    let code = output.strip_prefix("Exit code ").and_then(|rest| rest.lines().next()?.trim().parse().ok());
    match code {
        Some(code) if failed => ExitStatus::ExitCode { code },
        _ => ExitStatus::Success { success: !failed },
    }
}

/// The text of a result that consists only of text.
fn joined(content: &Value) -> Option<String> {
    match content {
        Value::Null => Some(String::new()),
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let texts = parts.iter().map(|part| part.get("text").and_then(Value::as_str));
            texts.collect::<Option<Vec<_>>>().map(|texts| texts.join("\n"))
        }
        _ => None,
    }
}

/// `mcp__server__tool` is shown as `mcp:server:tool`.
fn display_name(name: &str) -> String {
    match name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) {
        Some((server, tool)) => format!("mcp:{server}:{tool}"),
        None => name.to_owned(),
    }
}

pub(super) fn in_backticks(text: &str) -> String {
    format!("`{text}`")
}

pub(super) fn relative(path: &str, worktree: &Path) -> String {
    match Path::new(path).strip_prefix(worktree) {
        Ok(inside) if inside == PathBuf::new() => ".".into(),
        Ok(inside) => inside.display().to_string(),
        Err(_) => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn described(name: &str, input: Value) -> (Value, String) {
        let (action, content) = describe(name, &input, Path::new("/repo"));
        (serde_json::to_value(action).unwrap(), content)
    }

    #[test]
    fn every_tool_of_the_table_has_its_action() {
        let cases = [
            ("Read", json!({"file_path": "/repo/a/b.rs"}), "file_read", "`a/b.rs`"),
            (
                "Edit",
                json!({"file_path": "/repo/a", "old_string": "x", "new_string": "y"}),
                "file_edit",
                "`a`",
            ),
            ("MultiEdit", json!({"file_path": "/etc/a", "edits": []}), "file_edit", "`/etc/a`"),
            ("Write", json!({"file_path": "rel", "content": ""}), "file_edit", "`rel`"),
            ("Bash", json!({"command": "ls"}), "command_run", "`ls`"),
            ("Grep", json!({"pattern": "x.*"}), "search", "`x.*`"),
            ("Glob", json!({"pattern": "*.rs"}), "search", "`*.rs`"),
            ("WebFetch", json!({"url": "https://a"}), "web_fetch", "`https://a`"),
            ("WebSearch", json!({"query": "rust"}), "web_fetch", "`rust`"),
            ("Task", json!({"description": "look"}), "task_create", "Task: `look`"),
            ("ExitPlanMode", json!({"plan": "1. go"}), "plan_presentation", "1. go"),
            ("TodoWrite", json!({"todos": []}), "todo_management", "TODO list updated"),
            ("NotebookEdit", json!({"notebook_path": "/repo/n.ipynb"}), "tool", "`n.ipynb`"),
            ("LS", json!({"path": "/repo"}), "other", "LS: `.`"),
            ("mcp__srv__do__it", json!({"x": 1}), "tool", "mcp:srv:do__it"),
            ("Novel", json!({}), "tool", "Novel"),
            ("Bash", json!({"cmd": "ls"}), "command_run", "`ls`"),
            ("Bash", json!({"line": "ls"}), "tool", "Bash"),
        ];
        for (name, input, action, content) in cases {
            let got = described(name, input);
            assert_eq!((got.0["action"].as_str().unwrap(), got.1.as_str()), (action, content), "{name}");
        }
    }

    #[test]
    fn an_edit_is_a_diff_with_the_relative_path() {
        let (action, _) =
            described("Edit", json!({"file_path": "/repo/a", "old_string": "x", "new_string": "y"}));
        assert_eq!(action["changes"][0]["unified_diff"], "--- a/a\n+++ b/a\n@@ -1,1 +1,1 @@\n-x\n+y\n");
    }

    #[test]
    fn a_command_keeps_its_exit_code_when_it_is_known() {
        let cases = [
            ("ok", false, json!({"type": "success", "success": true})),
            ("Exit code 127\nno such", true, json!({"type": "exit_code", "code": 127})),
            ("Exit code 1", false, json!({"type": "success", "success": true})),
            ("denied", true, json!({"type": "success", "success": false})),
        ];
        for (output, failed, want) in cases {
            assert_eq!(serde_json::to_value(exit_status(output, failed)).unwrap(), want, "{output}");
        }
    }
}
