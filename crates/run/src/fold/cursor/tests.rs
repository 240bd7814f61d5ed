//! The dialect as documented and as in older logs; no recording of it exists.

use pretty_assertions::assert_eq;

use super::super::{Dialect, Fold, RunOutcome, entries};
use super::*;
use crate::Secrets;
use crate::journal::{Kind, Record};
use forge_types::RunId;

fn fold(records: &[(Kind, String)]) -> (Vec<NormalizedEntry>, RunOutcome) {
    let context = FoldContext {
        run: RunId::random(),
        worktree: "/repo".into(),
        answer_ms: 1,
        secrets: Secrets::default(),
    };
    let mut fold = Fold::new(Dialect::Cursor, &context);
    let mut out = Vec::new();
    for (kind, text) in records {
        fold.push(&Record { kind: *kind, at_ms: 0, bytes: text.as_bytes().to_vec() }, &mut out);
    }
    fold.finish(&mut out);
    (entries::apply(&out), fold.outcome().clone())
}

fn lines(messages: &[Value]) -> Vec<(Kind, String)> {
    messages.iter().map(|message| (Kind::Stdout, format!("{message}\n"))).collect()
}

#[test]
fn a_conversation_reads_well() {
    let chunk = |text: &str| {
        let content = json!([{"type": "text", "text": text}]);
        json!({"type": "assistant", "message": {"role": "assistant", "content": content}, "session_id": "s-1"})
    };
    let call = |subtype: &str, call: Value| json!({"type": "tool_call", "subtype": subtype, "call_id": "c", "tool_call": call});
    let shell = json!({"args": {"command": "ls"}});
    let mut done = shell.clone();
    done["result"] = json!({"success": {"exitCode": 0, "stdout": "a\n", "stderr": ""}});
    let (entries, outcome) = fold(&lines(&[
        json!({"type": "system", "subtype": "init", "model": "auto", "session_id": "s-1"}),
        json!({"type": "user", "message": {}}),
        json!({"type": "thinking", "subtype": "delta", "text": "hm "}),
        json!({"type": "thinking", "subtype": "delta", "text": "so"}),
        chunk("one "),
        chunk("two"),
        call("started", json!({"shellToolCall": shell})),
        call("completed", json!({"shellToolCall": done})),
        chunk("done"),
        json!({"type": "result", "subtype": "success", "is_error": false, "result": "done"}),
    ]));
    let texts: Vec<_> = entries.iter().map(|entry| entry.content.as_str()).collect();
    assert_eq!(texts, ["System initialized with model: auto", "hm so", "one two", "`ls`", "done"]);
    let shown = serde_json::to_value(&entries[3]).unwrap();
    assert_eq!(shown["entry_type"]["status"]["status"], "success");
    let result = &shown["entry_type"]["action_type"]["result"];
    assert_eq!(result, &json!({"exit_status": {"type": "exit_code", "code": 0}, "output": "a\n"}));
    assert_eq!((outcome.session_id.as_deref(), outcome.summary.as_deref()), (Some("s-1"), Some("done")));
    assert_eq!(outcome.verdict, Some(Verdict::Success));
}

#[test]
fn every_tool_has_its_action() {
    let cases = [
        ("readToolCall", json!({"path": "/repo/a"}), "file_read", "`a`"),
        ("writeToolCall", json!({"path": "/repo/a", "fileText": "x"}), "file_edit", "`a`"),
        ("editToolCall", json!({"path": "/repo/a"}), "file_edit", "`a`"),
        ("deleteToolCall", json!({"path": "a"}), "file_edit", "`a`"),
        ("lsToolCall", json!({"path": "/repo"}), "other", "List: `.`"),
        ("globToolCall", json!({"globPattern": "*.rs"}), "search", "`*.rs`"),
        ("grepToolCall", json!({"pattern": "x"}), "search", "`x`"),
        ("semSearchToolCall", json!({"query": "q"}), "search", "`q`"),
        ("updateTodosToolCall", json!({"todos": []}), "todo_management", "TODO list updated"),
        ("mcpToolCall", json!({"providerIdentifier": "s", "toolName": "t"}), "tool", "mcp:s:t"),
        ("novelToolCall", json!({}), "tool", "novel"),
    ];
    for (name, args, action, content) in cases {
        let call = json!({"type": "tool_call", "subtype": "started", "call_id": name, "tool_call": {name: {"args": args}}});
        let (entries, _) = fold(&lines(&[call]));
        let shown = serde_json::to_value(&entries[0]).unwrap();
        let got = (shown["entry_type"]["action_type"]["action"].as_str(), shown["content"].as_str());
        assert_eq!(got, (Some(action), Some(content)), "{name}");
    }
}

#[test]
fn a_missing_login_asks_for_set_up() {
    let text = "Error: Authentication required. Please run 'cursor-agent login' first.\n";
    let (entries, _) = fold(&[(Kind::Stderr, text.to_owned()), (Kind::Stderr, "other\n".to_owned())]);
    let kinds: Vec<_> = entries.iter().map(|entry| entry.entry_type.clone()).collect();
    let error = |error_type| EntryType::ErrorMessage { error_type };
    assert_eq!(kinds, [error(ErrorType::SetupRequired), error(ErrorType::Other)]);
}
