//! The entries of an item of a turn.
//!
//! Owns nothing: an item contains everything about itself, at its start and at its end. Invariant: an item of an
//! unknown kind is still shown; a change of several files is one entry per file, up to [`MAX_FILES`].

use std::path::Path;

use forge_types::{
    ActionType, CommandResult, EntryType, ExitStatus, FileChange, NormalizedEntry, ToolResult,
    ToolResultKind, ToolStatus,
};
use serde_json::{Value, json};

use super::super::dialogue::unrecognised;
use super::super::diff;
use super::super::entries::{plain, with_source};
use super::super::tool::{in_backticks, relative};

/// Further files of one change are counted, not shown.
pub(super) const MAX_FILES: usize = 100;

pub(super) struct ItemEntry {
    pub id: String,
    pub entry: NormalizedEntry,
}

/// The id of the part of an item that an entry shows.
pub(super) fn part_id(item: &str, part: usize) -> String {
    match part {
        0 => item.to_owned(),
        part => format!("{item}#{part}"),
    }
}

/// The entries of an item; none for items that readers already know.
pub(super) fn show(item: &Value, worktree: &Path) -> Vec<ItemEntry> {
    let id = item["id"].as_str().unwrap_or_default();
    let text = |key: &str| item[key].as_str().unwrap_or_default();
    let path = |key: &str| relative(text(key), worktree);
    let call = |tool_name: &str, action_type: ActionType, content: String| {
        let entry_type =
            EntryType::ToolUse { tool_name: tool_name.to_owned(), action_type, status: status(item) };
        with_source(entry_type, content, json!({"tool_call_id": id}))
    };
    let entry = match item["type"].as_str().unwrap_or_default() {
        "userMessage" | "hookPrompt" | "functionCallOutput" | "subAgentActivity" => return Vec::new(),
        "fileChange" => return show_changes(item, id, worktree),
        "agentMessage" | "reasoning" => match text_entry(item) {
            Some(entry) => entry,
            None => return Vec::new(),
        },
        "commandExecution" => {
            let command = script(text("command"));
            let content = in_backticks(&command);
            call("bash", ActionType::CommandRun { command, result: command_result(item) }, content)
        }
        "mcpToolCall" => {
            let name = format!("mcp:{}:{}", text("server"), text("tool"));
            let error = Some(&item["error"]["message"]).filter(|error| !error.is_null());
            let result = error.unwrap_or(&item["result"]);
            call(&name, tool(&name, &item["arguments"], tool_result(result)), name.clone())
        }
        "dynamicToolCall" => {
            let name = text("tool");
            call(name, tool(name, &item["arguments"], tool_result(&item["contentItems"])), name.to_owned())
        }
        "collabAgentToolCall" if item["tool"] == "spawnAgent" => {
            let description = text("prompt").to_owned();
            let content = format!("Task: {}", in_backticks(&description));
            call("spawnAgent", ActionType::TaskCreate { description }, content)
        }
        "collabAgentToolCall" => {
            let name = text("tool");
            call(name, tool(name, &item["prompt"], tool_result(&item["agentsStates"])), name.to_owned())
        }
        "webSearch" => {
            let query = text("query").to_owned();
            let content = in_backticks(&query);
            call("web_search", ActionType::WebFetch { url: query }, content)
        }
        "imageView" => {
            let content = in_backticks(&path("path"));
            call("view_image", ActionType::FileRead { path: path("path") }, content)
        }
        "plan" => {
            let plan = text("text").to_owned();
            call("plan", ActionType::PlanPresentation { plan: plan.clone() }, plan)
        }
        "enteredReviewMode" | "exitedReviewMode" => {
            plain(EntryType::SystemMessage, text("review").to_owned())
        }
        "contextCompaction" => plain(EntryType::SystemMessage, "Context compacted".into()),
        "question" => {
            let name = text("tool");
            call(name, tool(name, &item["arguments"], None), name.to_owned())
        }
        _ => unrecognised("item", &item.to_string()),
    };
    vec![ItemEntry { id: id.to_owned(), entry }]
}

/// The item that a permission request is about, as far as the request describes it; `None` when nobody is asked.
pub(super) fn requested_item(method: &str, params: &Value) -> Option<Value> {
    let question =
        |tool: &str, arguments: &Value| json!({"type": "question", "tool": tool, "arguments": arguments});
    let mut item = match method {
        "item/commandExecution/requestApproval" => {
            json!({"type": "commandExecution", "command": params["command"]})
        }
        "execCommandApproval" => {
            let words = params["command"].as_array().into_iter().flatten().filter_map(Value::as_str);
            json!({"type": "commandExecution", "command": words.collect::<Vec<_>>().join(" ")})
        }
        "item/fileChange/requestApproval" | "applyPatchApproval" => question("edit", params),
        "item/permissions/requestApproval" => question("permissions", &params["permissions"]),
        "mcpServer/elicitation/request" if params["mode"] == "form" => question("mcp", &params["message"]),
        _ => return None,
    };
    let id = [&params["itemId"], &params["callId"]].into_iter().find(|id| id.is_string());
    item["id"] = id.cloned().unwrap_or_default();
    Some(item)
}

fn status(item: &Value) -> ToolStatus {
    match item["status"].as_str() {
        Some("failed" | "interrupted") => ToolStatus::Failed,
        Some("declined") => ToolStatus::Denied { reason: None },
        Some("completed") => ToolStatus::Success,
        Some(_) => ToolStatus::Created,
        // Items without a status of their own have a time at which they were done.
        None if item["completedAtMs"].is_i64() => ToolStatus::Success,
        None => ToolStatus::Created,
    }
}

fn text_entry(item: &Value) -> Option<NormalizedEntry> {
    let joined = |key: &str| {
        let parts = item[key].as_array().into_iter().flatten().filter_map(Value::as_str);
        Some(parts.collect::<Vec<_>>().join("\n\n")).filter(|text| !text.trim().is_empty())
    };
    if item["type"] == "reasoning" {
        return Some(plain(EntryType::Thinking, joined("summary").or_else(|| joined("content"))?));
    }
    let text = item["text"].as_str().filter(|text| !text.is_empty())?;
    Some(plain(EntryType::AssistantMessage, text.to_owned()))
}

/// The script that a shell runs, without the shell itself.
fn script(command: &str) -> String {
    let is_shell = |word: &str| matches!(word.rsplit('/').next(), Some("bash" | "sh" | "zsh"));
    match shlex::split(command).as_deref() {
        Some([shell, flag, script]) if is_shell(shell) && matches!(flag.as_str(), "-lc" | "-c") => {
            script.clone()
        }
        _ => command.to_owned(),
    }
}

fn command_result(item: &Value) -> Option<CommandResult> {
    if matches!(status(item), ToolStatus::Created | ToolStatus::Denied { .. }) {
        return None;
    }
    let code = item["exitCode"].as_i64().and_then(|code| i32::try_from(code).ok());
    let exit_status = code.map(|code| ExitStatus::ExitCode { code });
    let output = item["aggregatedOutput"].as_str().unwrap_or_default().to_owned();
    Some(CommandResult { exit_status, output: Some(output) })
}

fn tool(name: &str, arguments: &Value, result: Option<ToolResult>) -> ActionType {
    let arguments = Some(arguments.clone()).filter(|arguments| !arguments.is_null());
    ActionType::Tool { tool_name: name.to_owned(), arguments, result }
}

fn tool_result(result: &Value) -> Option<ToolResult> {
    let content = result.get("content").unwrap_or(result);
    let texts = content.as_array().and_then(|parts| {
        let texts = parts.iter().map(|part| part["text"].as_str());
        texts.collect::<Option<Vec<_>>>().map(|texts| texts.join("\n"))
    });
    match (texts.or_else(|| result.as_str().map(str::to_owned)), result) {
        (Some(text), _) => Some(ToolResult { r#type: ToolResultKind::Markdown, value: text.into() }),
        (None, Value::Null) => None,
        (None, result) => Some(ToolResult { r#type: ToolResultKind::Json, value: result.clone() }),
    }
}

fn show_changes(item: &Value, id: &str, worktree: &Path) -> Vec<ItemEntry> {
    let changes = item["changes"].as_array().map(Vec::as_slice).unwrap_or_default();
    let show = |(part, change): (usize, &Value)| {
        let path = relative(change["path"].as_str().unwrap_or_default(), worktree);
        let content = in_backticks(&path);
        let action_type = ActionType::FileEdit { changes: file_changes(change, &path, worktree), path };
        let entry_type = EntryType::ToolUse { tool_name: "edit".into(), action_type, status: status(item) };
        let entry = with_source(entry_type, content, json!({"tool_call_id": id}));
        ItemEntry { id: part_id(id, part), entry }
    };
    let mut shown: Vec<ItemEntry> = changes.iter().take(MAX_FILES).enumerate().map(show).collect();
    if changes.len() > MAX_FILES {
        let text = format!("and {} more files", changes.len() - MAX_FILES);
        shown.push(ItemEntry { id: String::new(), entry: plain(EntryType::SystemMessage, text) });
    }
    shown
}

/// A new or deleted file comes with its content, a changed one with the hunks of its diff.
fn file_changes(change: &Value, path: &str, worktree: &Path) -> Vec<FileChange> {
    let text = change["diff"].as_str().unwrap_or_default();
    match change["kind"]["type"].as_str() {
        Some("add") => vec![FileChange::Write { content: text.to_owned() }],
        Some("delete") => vec![FileChange::Delete],
        _ => {
            let moved = change["kind"]["move_path"].as_str();
            let moved = moved.map(|moved| FileChange::Rename { new_path: relative(moved, worktree) });
            let edit = Some(text).filter(|text| !text.is_empty()).map(|text| diff::hunks(path, text));
            moved.into_iter().chain(edit).collect()
        }
    }
}
