//! Tool calls, as entries of the readable log.
//!
//! Owns how the kinds of calls become actions. A call arrives in parts: each part replaces the fields it contains
//! and leaves the rest, and a result without a diff does not remove the diff that was shown before. Invariant: a
//! call of an unknown kind, or of a known one without the fields that its kind needs, is still shown, as a plain
//! tool.

use std::path::Path;

use forge_types::{
    ActionType, CommandResult, EntryType, ExitStatus, FileChange, NormalizedEntry, ToolResult,
    ToolResultKind, ToolStatus,
};
use serde_json::{Map, Value, json};

use super::super::entries::with_source;
use super::super::tool::{in_backticks, relative};
use super::super::{cut, diff};
use super::content_text;
use crate::talk::acp::tool_name;

/// What is kept of a call besides its entry, because a later part may omit it.
const KEPT: [&str; 5] = ["title", "kind", "rawInput", "locations", "_meta"];
const OUTPUT_BYTES: usize = 256 << 10;

/// The entry of a call after this part of it, and its approximate size in memory.
pub(super) fn describe(
    id: &str,
    part: &mut Value,
    before: Option<&NormalizedEntry>,
    worktree: &Path,
) -> (NormalizedEntry, usize) {
    let known = before.and_then(|entry| entry.metadata.as_ref()).and_then(Value::as_object);
    let mut call = known.cloned().unwrap_or_else(Map::new);
    call.insert("tool_call_id".into(), json!(id));
    for key in KEPT {
        let value = part.get_mut(key).map(Value::take).filter(has_content);
        if let Some(value) = value {
            call.insert(key.to_owned(), value);
        }
    }
    let call = Value::Object(call);
    let (old_action, old_status) = match before.map(|entry| &entry.entry_type) {
        Some(EntryType::ToolUse { action_type, status, .. }) => (Some(action_type), Some(status)),
        _ => (None, None),
    };
    let status = next_status(old_status, part["status"].as_str());
    let ended = matches!(part["status"].as_str(), Some("completed" | "failed"));
    let update = CallUpdate { call: &call, part, worktree, failed: part["status"] == "failed", ended };
    let (action_type, content) = update.action(old_action);
    let bytes = approximate_bytes(&call) + approximate_bytes(part) + content.len();
    let entry_type = EntryType::ToolUse { tool_name: tool_name(&call), action_type, status };
    (with_source(entry_type, content, call), bytes)
}

/// A person's decision stays, and a question stays open until the call has ended.
fn next_status(old: Option<&ToolStatus>, new: Option<&str>) -> ToolStatus {
    match (old, new) {
        (Some(decided @ (ToolStatus::Denied { .. } | ToolStatus::TimedOut)), _) => decided.clone(),
        (_, Some("completed")) => ToolStatus::Success,
        (_, Some("failed")) => ToolStatus::Failed,
        (Some(old), _) => old.clone(),
        (None, _) => ToolStatus::Created,
    }
}

/// A call as it is known now, and the part that has just arrived.
struct CallUpdate<'a> {
    call: &'a Value,
    part: &'a Value,
    worktree: &'a Path,
    failed: bool,
    ended: bool,
}

impl CallUpdate<'_> {
    fn action(&self, old: Option<&ActionType>) -> (ActionType, String) {
        self.known_action(old).unwrap_or_else(|| {
            let name = tool_name(self.call);
            let title = self.call["title"].as_str().unwrap_or(&name).to_owned();
            let arguments = Some(self.call["rawInput"].clone()).filter(|input| !input.is_null());
            let result = self.result().or_else(|| match old {
                Some(ActionType::Tool { result, .. }) => result.clone(),
                _ => None,
            });
            (ActionType::Tool { tool_name: name, arguments, result }, title)
        })
    }

    fn known_action(&self, old: Option<&ActionType>) -> Option<(ActionType, String)> {
        Some(match self.call["kind"].as_str()? {
            "read" => {
                let path = self.path()?;
                let content = in_backticks(&path);
                (ActionType::FileRead { path }, content)
            }
            "edit" => {
                let path = self.path()?;
                let changes = self.changes(&path, old);
                let content = in_backticks(&path);
                (ActionType::FileEdit { path, changes }, content)
            }
            "delete" => {
                let path = self.path()?;
                let content = in_backticks(&path);
                (ActionType::FileEdit { path, changes: vec![FileChange::Delete] }, content)
            }
            "execute" => {
                let command = self.command()?;
                let result = self.command_result().or_else(|| match old {
                    Some(ActionType::CommandRun { result, .. }) => result.clone(),
                    _ => None,
                });
                let content = in_backticks(&command);
                (ActionType::CommandRun { command, result }, content)
            }
            "search" => {
                let query = self.input(&["pattern", "query", "q", "regex"]).or_else(|| self.title())?;
                let content = in_backticks(&query);
                (ActionType::Search { query }, content)
            }
            "fetch" => {
                let url = self.input(&["url", "query", "prompt"]).or_else(|| self.title())?;
                let content = in_backticks(&url);
                (ActionType::WebFetch { url }, content)
            }
            "switch_mode" => {
                let description = self.title()?;
                (ActionType::Other { description: description.clone() }, description)
            }
            _ => return None,
        })
    }

    fn title(&self) -> Option<String> {
        self.call["title"].as_str().map(str::to_owned)
    }

    /// The first of these keys that the call's input has.
    fn input(&self, keys: &[&str]) -> Option<String> {
        let input = &self.call["rawInput"];
        keys.iter().find_map(|key| input[*key].as_str()).map(str::to_owned)
    }

    fn command(&self) -> Option<String> {
        let words = self.call["rawInput"]["command"].as_array();
        let joined = words.map(|words| {
            let words: Vec<_> = words.iter().filter_map(Value::as_str).collect();
            words.join(" ")
        });
        self.input(&["command", "cmd"]).or(joined).or_else(|| self.title())
    }

    fn diffs(&self) -> impl Iterator<Item = &Value> {
        let content = self.part["content"].as_array().into_iter().flatten();
        content.filter(|block| block["type"] == "diff")
    }

    fn path(&self) -> Option<String> {
        let location = self.call["locations"].as_array().and_then(|locations| locations.first());
        let location = location.and_then(|location| location["path"].as_str()).map(str::to_owned);
        let keys = ["path", "file_path", "filePath", "filepath", "fileName", "absolute_path"];
        let in_diff = || self.diffs().find_map(|diff| diff["path"].as_str()).map(str::to_owned);
        let path = self.input(&keys).or(location).or_else(in_diff)?;
        Some(relative(&path, self.worktree))
    }

    /// The diffs of this part, or else those that were shown, or else a diff made from the input.
    fn changes(&self, path: &str, old: Option<&ActionType>) -> Vec<FileChange> {
        let changes = self.diffs().map(|diff| {
            let path = diff["path"].as_str().map_or(path.to_owned(), |path| relative(path, self.worktree));
            let new = diff["newText"].as_str().unwrap_or_default();
            match diff["oldText"].as_str().filter(|old| !old.is_empty()) {
                Some(old) => diff::edit(&path, old, new),
                None => FileChange::Write { content: new.to_owned() },
            }
        });
        let changes: Vec<_> = changes.collect();
        if !changes.is_empty() {
            return changes;
        }
        if let Some(ActionType::FileEdit { changes, .. }) = old
            && !changes.is_empty()
        {
            return changes.clone();
        }
        let replaced = self.input(&["old_string", "oldString", "old_str"]);
        let replacement = self.input(&["new_string", "newString", "new_str"]);
        if let Some((old, new)) = replaced.zip(replacement) {
            return vec![diff::edit(path, &old, &new)];
        }
        let written = self.input(&["content", "file_text"]);
        written.into_iter().map(|content| FileChange::Write { content }).collect()
    }

    fn text(&self) -> Option<String> {
        let content = self.part["content"].as_array().into_iter().flatten();
        let texts: Vec<_> = content
            .filter(|block| block["type"] == "content")
            .map(|block| content_text(&block["content"]))
            .collect();
        let text = texts.join("\n");
        let raw = &self.part["rawOutput"];
        let in_output =
            || ["output", "content", "stdout", "message", "error"].iter().find_map(|key| raw[*key].as_str());
        match text.is_empty() {
            false => Some(text),
            true => raw.as_str().or_else(in_output).map(str::to_owned),
        }
        .map(|text| cut(&text, OUTPUT_BYTES, "…"))
    }

    fn result(&self) -> Option<ToolResult> {
        let raw = &self.part["rawOutput"];
        match self.text() {
            Some(text) => Some(ToolResult { r#type: ToolResultKind::Markdown, value: text.into() }),
            None if has_content(raw) => Some(ToolResult { r#type: ToolResultKind::Json, value: raw.clone() }),
            None => None,
        }
    }

    fn command_result(&self) -> Option<CommandResult> {
        let output = self.text();
        if !self.ended {
            // The content of a permission request is not the output of the command.
            return output
                .filter(|_| self.part["status"] == "in_progress")
                .map(|output| CommandResult { exit_status: None, output: Some(output) });
        }
        let code = self.exit_code().or_else(|| output.as_deref().and_then(exit_code_in));
        let exit_status = match code.and_then(|code| i32::try_from(code).ok()) {
            Some(code) => ExitStatus::ExitCode { code },
            None => ExitStatus::Success { success: !self.failed },
        };
        Some(CommandResult { exit_status: Some(exit_status), output })
    }

    fn exit_code(&self) -> Option<i64> {
        let raw = &self.part["rawOutput"];
        let here = ["exitCode", "exit_code", "exit"].iter().find_map(|key| raw[*key].as_i64());
        let parts = || raw["contents"].as_array().into_iter().flatten();
        here.or_else(|| raw["metadata"]["exit"].as_i64())
            .or_else(|| parts().find_map(|part| part["exitCode"].as_i64()))
    }
}

/// Some agents report the exit code only within the text.
fn exit_code_in(output: &str) -> Option<i64> {
    let line = output.lines().find_map(|line| line.strip_prefix("Exit Code: "))?;
    line.trim().parse().ok()
}

fn has_content(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(items) => !items.is_empty(),
        _ => true,
    }
}

/// The approximate size of a value in memory.
fn approximate_bytes(value: &Value) -> usize {
    const NODE: usize = 32;
    NODE + match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(approximate_bytes).sum(),
        Value::Object(items) => items.iter().map(|(key, item)| key.len() + approximate_bytes(item)).sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(parts: &[Value]) -> Value {
        let mut entry = None;
        for part in parts {
            entry = Some(describe("c", &mut part.clone(), entry.as_ref(), Path::new("/repo")).0);
        }
        let mut shown = serde_json::to_value(entry.unwrap()).unwrap();
        let action = shown["entry_type"]["action_type"].take();
        json!([action, shown["entry_type"]["status"]["status"], shown["content"]])
    }

    #[test]
    fn every_kind_has_its_action() {
        let cases = [
            (json!({"kind": "read", "locations": [{"path": "/repo/a/b"}]}), "file_read", "`a/b`"),
            (json!({"kind": "edit", "rawInput": {"file_path": "/repo/a"}}), "file_edit", "`a`"),
            (json!({"kind": "delete", "rawInput": {"path": "/etc/x"}}), "file_edit", "`/etc/x`"),
            (json!({"kind": "execute", "title": "ls"}), "command_run", "`ls`"),
            (json!({"kind": "execute", "rawInput": {"command": ["ls", "-l"]}}), "command_run", "`ls -l`"),
            (json!({"kind": "search", "title": "x", "rawInput": {"pattern": "y.*"}}), "search", "`y.*`"),
            (json!({"kind": "fetch", "rawInput": {"url": "https://a"}}), "web_fetch", "`https://a`"),
            (json!({"kind": "switch_mode", "title": "plan now"}), "other", "plan now"),
            (json!({"kind": "think", "title": "hm"}), "tool", "hm"),
            (json!({"kind": "move", "title": "a to b"}), "tool", "a to b"),
            (json!({"title": "novel"}), "tool", "novel"),
            (json!({"kind": "read"}), "tool", "read"),
        ];
        for (part, action, content) in cases {
            let got = described(std::slice::from_ref(&part));
            assert_eq!((got[0]["action"].as_str(), got[2].as_str()), (Some(action), Some(content)), "{part}");
        }
    }

    #[test]
    fn a_result_without_a_diff_keeps_the_diff() {
        let diff = json!({"type": "diff", "path": "/repo/a", "oldText": "x", "newText": "y"});
        let text = json!({"type": "content", "content": {"type": "text", "text": "Wrote file."}});
        let got = described(&[
            json!({"kind": "edit", "title": "write", "locations": [{"path": "/repo/a"}]}),
            json!({"content": [diff]}),
            json!({"status": "completed", "content": [text]}),
        ]);
        assert_eq!(got[0]["changes"][0]["unified_diff"], "--- a/a\n+++ b/a\n@@ -1,1 +1,1 @@\n-x\n+y\n");
        assert_eq!(got[1], "success");
    }

    #[test]
    fn an_exit_code_is_found_where_each_agent_puts_it() {
        let text = |text: &str| json!([{"type": "content", "content": {"type": "text", "text": text}}]);
        let cases = [
            json!({"rawOutput": {"contents": [{"type": "shell_exit", "exitCode": 3}]}}),
            json!({"rawOutput": {"output": "o", "metadata": {"exit": 3}}}),
            json!({"content": text("Output: (empty)\nExit Code: 3\nSignal: 0")}),
        ];
        for mut part in cases {
            part["status"] = json!("completed");
            let got = described(&[json!({"kind": "execute", "title": "ls"}), part]);
            assert_eq!(got[0]["result"]["exit_status"], json!({"type": "exit_code", "code": 3}));
        }
        let got = described(&[json!({"kind": "execute", "title": "ls", "status": "failed"})]);
        assert_eq!(got[0]["result"]["exit_status"], json!({"type": "success", "success": false}));
    }
}
