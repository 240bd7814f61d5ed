//! Codex's app server: recorded conversations read back, and what Forge would have sent in them.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use forge_run::Kind;
use forge_run::Record;
use forge_run::fold::{Dialect, Verdict};
use forge_run::talk::{ConversationPlan, Opening, Talk};
use forge_types::{ApprovalId, ApprovalStatus, Millis, NormalizedEntry};
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::fold::{chunks, data, folded, patches, record, recorded, statuses, transcript, view};
use crate::stage::{context, json_of_words};

fn conversations() -> Vec<(String, Vec<Record>)> {
    let files = recorded("codex");
    assert!(files.len() >= 8, "transcripts are missing");
    let name = |file: &Path| file.file_stem().unwrap().to_str().unwrap().to_owned();
    files.iter().map(|file| (name(file), transcript(file))).collect()
}

fn to_agent(message: Value) -> Record {
    record(Kind::Stdin, format!("{message}\n"))
}

fn from_agent(message: Value) -> Record {
    record(Kind::Stdout, format!("{message}\n"))
}

fn json_of(record: &Record) -> Value {
    serde_json::from_slice(&record.bytes).unwrap()
}

#[test]
fn every_recorded_conversation_reads_well() {
    for (name, records) in conversations() {
        insta::assert_json_snapshot!(name, view(Dialect::Codex, &records));
    }
}

/// The opening of a recorded conversation.
fn opening(records: &[Record]) -> Opening {
    let sent: Vec<Value> = records.iter().filter(|record| record.kind == Kind::Stdin).map(json_of).collect();
    let params = |id: u64| {
        sent.iter().find(|line| line["id"] == id).map_or(Value::Null, |line| line["params"].clone())
    };
    let mut settings = params(2).as_object().unwrap().clone();
    let resume = settings.remove("threadId").map(|id| id.as_str().unwrap().to_owned());
    let prompt = params(3)["input"][0]["text"].as_str().unwrap_or_default().to_owned();
    Opening { resume, prompt, settings }
}

/// Everything in `part` is also in `whole`.
fn is_within(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => {
            part.iter().all(|(key, value)| whole.get(key).is_some_and(|other| is_within(value, other)))
        }
        (part, whole) => part == whole,
    }
}

#[test]
fn what_is_due_is_what_was_sent() {
    for (name, records) in conversations() {
        let mut talk = Talk::new(ConversationPlan::Codex(opening(&records)));
        for record in &records {
            let line = json_of(record);
            // A second turn, an interrupt and the like are not sent by the conversation itself.
            let prompted =
                record.kind == Kind::Stdin && line["id"].as_u64().is_none_or(|id| matches!(id, 0 | 2 | 3));
            let text = line["params"]["input"][0]["text"].as_str();
            let reason = text.and_then(|text| text.strip_prefix("User feedback: ")).filter(|_| prompted);
            if let Some(reason) = reason {
                let key = talk.asks()[0].key.clone();
                talk.answer(&key, &ApprovalStatus::Denied { reason: Some(reason.to_owned()) });
            } else if prompted && !line["result"].is_null() && !talk.asks().is_empty() {
                let answer = match line["result"]["decision"].as_str() {
                    Some("accept") => ApprovalStatus::Approved,
                    _ => ApprovalStatus::Denied { reason: None },
                };
                let key = talk.asks()[0].key.clone();
                talk.answer(&key, &answer);
            }
            if prompted {
                let due: Value = serde_json::from_str(&talk.due().first().expect(&name).line).unwrap();
                let mut wanted = line.clone();
                if wanted["method"] == "thread/resume" {
                    // Forge does not change the old thread.
                    wanted["method"] = "thread/fork".into();
                }
                assert!(is_within(&wanted, &due), "{name}: sent {wanted}, due {due}");
            }
            let before = talk.due().len();
            talk.push(record);
            assert!(!prompted || talk.due().len() + 1 == before, "{name}: {line} is still due");
        }
        assert_eq!((talk.due(), talk.asks()), (&[][..], &[][..]), "{name}");
        assert!(talk.is_over(), "{name}");
    }
}

/// The records of the conversation up to and including the first one that `last` accepts.
fn until(name: &str, last: impl Fn(&Value) -> bool) -> Vec<Record> {
    let records = transcript(&data(&format!("codex/{name}.jsonl")));
    let end = records.iter().position(|record| last(&json_of(record))).unwrap();
    records[..=end].to_vec()
}

fn talk_of(records: &[Record]) -> Talk {
    let mut talk = Talk::new(ConversationPlan::Codex(opening(records)));
    records.iter().for_each(|record| talk.push(record));
    talk
}

fn due(talk: &Talk) -> Vec<Value> {
    talk.due().iter().map(|due| serde_json::from_str(&due.line).unwrap()).collect()
}

fn asked() -> Vec<Record> {
    until("approval_decline", |line| line["method"] == "item/commandExecution/requestApproval")
}

#[test]
fn a_reason_is_sent_before_the_denial_and_only_once() {
    let mut records = asked();
    let denied = ApprovalStatus::Denied { reason: Some(" use git ".into()) };
    let mut talk = talk_of(&records);
    let ask = talk.asks()[0].clone();
    assert_eq!((ask.tool_name.as_str(), ask.tool_input["cwd"].as_str()), ("bash", Some("/repo")));
    assert!(ask.call_id.unwrap().starts_with("call_"));
    talk.answer(&ask.key, &denied);
    let lines = due(&talk);
    assert_eq!(lines[0]["method"], "turn/steer");
    assert_eq!(lines[0]["params"]["input"][0]["text"], "User feedback: use git");
    assert_eq!(lines[1], json!({"id": 0, "result": {"decision": "decline"}}));
    // A server that died between the two lines sends only the second one again.
    records.push(to_agent(lines[0].clone()));
    let mut later = talk_of(&records);
    later.answer(&ask.key, &denied);
    assert_eq!(due(&later), lines[1..]);
    records.push(to_agent(lines[1].clone()));
    assert_eq!((due(&talk_of(&records)), talk_of(&records).asks().len()), (Vec::new(), 0));
    let (entries, _) = folded(Dialect::Codex, &records);
    let status = |entry: &NormalizedEntry| serde_json::to_value(entry).unwrap()["entry_type"].clone();
    let [.., call, feedback, _] = &entries[..] else { panic!("{entries:?}") };
    assert_eq!(status(call)["status"], json!({"status": "denied", "reason": "use git"}));
    assert_eq!(status(feedback), json!({"type": "user_feedback", "denied_tool": "bash"}));
    assert_eq!(feedback.content, "use git");
}

#[test]
fn a_missing_answer_is_reported_to_agent_and_reader() {
    let mut records = asked();
    let mut talk = talk_of(&records);
    talk.answer("0", &ApprovalStatus::TimedOut);
    let lines = due(&talk);
    assert_eq!(lines[0]["params"]["input"][0]["text"], "Approval request timed out");
    assert_eq!(lines[1]["result"]["decision"], "decline");
    records.extend(lines.into_iter().map(to_agent));
    let (entries, _) = folded(Dialect::Codex, &records);
    let texts: Vec<_> = entries.iter().map(|entry| entry.content.as_str()).collect();
    assert!(texts.contains(&"Approval timed out for tool bash"), "{texts:?}");
}

#[test]
fn a_question_is_shown_until_it_is_answered() {
    let records = transcript(&data("codex/approval_ww_accept.jsonl"));
    let (patches, _) = patches(Dialect::Codex, &records);
    let call = patches
        .iter()
        .find(|patch| patch.entry.as_ref().is_some_and(|entry| entry.content.starts_with("`touch")));
    let shown = statuses(&patches, call.unwrap().index);
    let words: Vec<_> = shown.iter().map(|status| status["status"].as_str().unwrap()).collect();
    assert_eq!(words, ["created", "pending_approval", "created", "success"]);
    assert_eq!(shown[1]["approval_id"], json!(ApprovalId::of(context(Path::new("/repo")).run, "0")));
}

#[test]
fn a_file_change_is_asked_about_with_its_changes_and_shown_per_file() {
    let changes = json!([
        {"path": "/repo/a.txt", "kind": {"type": "update", "move_path": null}, "diff": "@@ -1 +1 @@\n-hi\n+ho\n"},
        {"path": "/repo/b.txt", "kind": {"type": "add"}, "diff": "new\n"},
        {"path": "/repo/c.txt", "kind": {"type": "delete"}, "diff": "old\n"},
    ]);
    let item =
        |status: &str| json!({"type": "fileChange", "id": "call_1", "changes": changes, "status": status});
    let event = |method: &str, status: &str| {
        from_agent(
            json!({"method": method, "params": {"item": item(status), "threadId": "t", "turnId": "u"}}),
        )
    };
    let request = json!({"threadId": "t", "turnId": "u", "itemId": "call_1"});
    let mut records = vec![
        event("item/started", "inProgress"),
        from_agent(json!({"id": 7, "method": "item/fileChange/requestApproval", "params": request})),
    ];
    let opening = Opening { resume: None, prompt: String::new(), settings: serde_json::Map::new() };
    let mut talk = Talk::new(ConversationPlan::Codex(opening));
    records.iter().for_each(|record| talk.push(record));
    let ask = talk.asks()[0].clone();
    assert_eq!((ask.tool_name.as_str(), &ask.tool_input["changes"]), ("edit", &changes));
    talk.answer(&ask.key, &ApprovalStatus::Approved);
    records.push(to_agent(due(&talk).remove(0)));
    records.push(event("item/completed", "completed"));
    let (patches, _) = patches(Dialect::Codex, &records);
    for index in 0..3 {
        let words: Vec<_> = statuses(&patches, index)
            .iter()
            .map(|status| status["status"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(words, ["created", "pending_approval", "created", "success"], "file {index}");
    }
    let (entries, _) = folded(Dialect::Codex, &records);
    let shown: Vec<Value> = entries[..3]
        .iter()
        .map(|entry| serde_json::to_value(entry).unwrap()["entry_type"]["action_type"]["changes"][0].clone())
        .collect();
    let diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-hi\n+ho\n";
    assert_eq!(shown[0], json!({"action": "edit", "unified_diff": diff, "has_line_numbers": true}));
    assert_eq!(shown[1], json!({"action": "write", "content": "new\n"}));
    assert_eq!(shown[2], json!({"action": "delete"}));
}

#[test]
fn an_unknown_request_is_refused_so_that_the_agent_continues() {
    let mut talk = talk_of(&until("fresh", |line| line["method"] == "turn/started"));
    talk.push(&from_agent(
        json!({"id": 4, "method": "item/tool/requestUserInput", "params": {"questions": []}}),
    ));
    let lines = due(&talk);
    assert_eq!((&lines[0]["id"], &lines[0]["error"]["code"]), (&json!(4), &json!(-32601)));
}

#[test]
fn a_question_that_is_resolved_elsewhere_is_closed() {
    let mut talk = talk_of(&asked());
    assert_eq!(talk.asks().len(), 1);
    talk.push(&from_agent(json!({"method": "serverRequest/resolved", "params": {"requestId": 0}})));
    assert_eq!(talk.asks().len(), 0);
}

#[test]
fn a_running_turn_takes_messages_and_can_be_interrupted() {
    assert_eq!(talk_of(&until("interrupt", |line| line["method"] == "thread/started")).message("x"), None);
    let records = until("interrupt", |line| line["method"] == "turn/started");
    let talk = talk_of(&records);
    let turn = json_of(records.last().unwrap())["params"]["turn"]["id"].clone();
    let message: Value = serde_json::from_str(&talk.message("also this").unwrap()).unwrap();
    assert_eq!((&message["id"], &message["method"]), (&json!(4), &json!("turn/steer")));
    assert_eq!(message["params"]["expectedTurnId"], turn);
    let interrupt: Value = serde_json::from_str(&talk.interrupt().unwrap()).unwrap();
    assert_eq!((&interrupt["method"], &interrupt["params"]["turnId"]), (&json!("turn/interrupt"), &turn));
    let over = talk_of(&until("interrupt", |line| line["method"] == "turn/completed"));
    assert_eq!((over.message("late"), over.interrupt()), (None, None));
    // What was sent to it is in the log, once.
    let (entries, _) = folded(Dialect::Codex, &[&records[..], &[to_agent(message)]].concat());
    assert_eq!(entries.last().unwrap().content, "Codex ended before its turn was over");
    assert_eq!(entries[entries.len() - 2].content, "also this");
}

#[test]
fn a_message_that_came_too_late_for_its_turn_is_not_lost() {
    let records = until("fresh", |line| line["method"] == "turn/started");
    let message: Value = serde_json::from_str(&talk_of(&records).message("also this").unwrap()).unwrap();
    let reply = |outcome: Value| {
        let mut reply = json!({"id": message["id"]});
        reply.as_object_mut().unwrap().extend(outcome.as_object().unwrap().clone());
        folded(Dialect::Codex, &[&records[..], &[to_agent(message.clone()), from_agent(reply)]].concat())
            .1
            .unsaid
    };
    assert_eq!(reply(json!({"error": {"code": -32600, "message": "no active turn"}})), ["also this"]);
    assert_eq!(reply(json!({"result": {}})), [""; 0]);
    let unanswered = folded(Dialect::Codex, &[&records[..], &[to_agent(message.clone())]].concat()).1;
    assert_eq!(unanswered.unsaid, ["also this"]);
}

#[test]
fn a_thread_that_is_gone_is_reported() {
    let mut records = until("resume", |line| line["id"] == 2 && !line["method"].is_null());
    let message = "no rollout found for thread id 00000000-0000-7000-8000-000000000000";
    records.push(from_agent(json!({"id": 2, "error": {"code": -32600, "message": message}})));
    assert!(talk_of(&records).is_over());
    let (_, outcome) = folded(Dialect::Codex, &records);
    assert_eq!(outcome.verdict, Some(Verdict::Failed { message: message.into() }));
    assert_eq!((outcome.session_lost, outcome.session_id), (true, None));
}

#[test]
fn a_continued_thread_counts_only_what_this_run_used() {
    let (_, outcome) = folded(Dialect::Codex, &transcript(&data("codex/resume.jsonl")));
    let usage = outcome.usage["gpt-5-codex"];
    assert_eq!((usage.input_tokens, usage.cache_read_tokens, usage.output_tokens), (234, 1000, 56));
    let (_, outcome) = folded(Dialect::Codex, &transcript(&data("codex/fresh.jsonl")));
    let usage = outcome.usage["gpt-5-codex"];
    assert_eq!((usage.input_tokens, usage.reasoning_tokens, usage.output_tokens), (4 * 234, 28, 224));
}

#[test]
fn a_used_up_plan_is_a_limit_with_its_end() {
    let limits = json!({"primary": {"usedPercent": 100, "resetsAt": 1_800_000_000},
        "secondary": {"usedPercent": 40, "resetsAt": 1_900_000_000, "windowDurationMins": 10_080}});
    let failed = |info: Value| {
        let error = json!({"message": "You've hit your usage limit.", "codexErrorInfo": info});
        let turn = json!({"id": "u", "status": "failed", "error": error});
        vec![
            from_agent(json!({"method": "account/rateLimits/updated", "params": {"rateLimits": limits}})),
            from_agent(json!({"method": "error", "params": {"error": error, "willRetry": false}})),
            from_agent(json!({"method": "turn/completed", "params": {"threadId": "t", "turn": turn}})),
        ]
    };
    for info in
        [json!("usageLimitExceeded"), json!({"responseTooManyFailedAttempts": {"httpStatusCode": 429}})]
    {
        let (entries, outcome) = folded(Dialect::Codex, &failed(info));
        let limit = outcome.limit.unwrap();
        assert_eq!(limit.reset_at, Some(Millis(1_800_000_000_000)));
        assert_eq!(entries.len(), 1, "the failure is shown once");
        let windows: Vec<_> =
            outcome.windows.iter().map(|window| (window.is_used_up, window.is_long)).collect();
        assert_eq!(windows, [(true, false), (false, true)]);
    }
    let (_, outcome) = folded(Dialect::Codex, &failed(json!("unauthorized")));
    assert_eq!(outcome.limit, None);
    assert!(matches!(outcome.verdict, Some(Verdict::Failed { .. })));
}

#[test]
fn an_unknown_notification_is_shown_once() {
    let strange = || from_agent(json!({"method": "brand/new", "params": {"x": 1}}));
    let (entries, _) =
        folded(Dialect::Codex, &[strange(), strange(), from_agent(json!({"method": "thread/brandNew"}))]);
    let texts: Vec<_> = entries.iter().map(|entry| entry.content.as_str()).collect();
    assert!(texts[0].starts_with("Unrecognized JSON message: "));
    assert_eq!(texts.len(), 2, "{texts:?}");
}

/// JSON of any shape made of the protocol's own words, so that every reader of a field meets every type.
fn confused_json() -> impl Strategy<Value = Value> {
    let words = [
        "threadId",
        "thread",
        "turn",
        "turnId",
        "id",
        "item",
        "itemId",
        "type",
        "status",
        "changes",
        "kind",
        "diff",
        "path",
        "command",
        "delta",
        "error",
        "message",
        "codexErrorInfo",
        "rateLimits",
        "primary",
        "usedPercent",
        "resetsAt",
        "tokenUsage",
        "total",
        "last",
        "inputTokens",
        "plan",
        "step",
        "decision",
        "permissions",
        "fileChange",
        "commandExecution",
        "agentMessage",
        "reasoning",
        "mcpToolCall",
        "summary",
        "content",
        "completed",
        "failed",
        "requestId",
        "requestedSchema",
        "properties",
        "mode",
        "form",
        "arguments",
        "result",
        "model",
    ];
    json_of_words(&words)
}

/// A line that reaches the reader of its method.
fn confused_line() -> impl Strategy<Value = Value> {
    let methods = [
        "thread/started",
        "turn/started",
        "turn/completed",
        "turn/plan/updated",
        "item/started",
        "item/completed",
        "item/agentMessage/delta",
        "item/reasoning/summaryPartAdded",
        "thread/tokenUsage/updated",
        "account/rateLimits/updated",
        "error",
        "warning",
        "serverRequest/resolved",
        "item/fileChange/patchUpdated",
        "item/commandExecution/requestApproval",
        "item/fileChange/requestApproval",
        "applyPatchApproval",
        "execCommandApproval",
        "item/permissions/requestApproval",
        "mcpServer/elicitation/request",
        "turn/steer",
        "?",
    ];
    let method = prop::option::of(prop::sample::select(methods.to_vec()));
    let id = prop_oneof![Just(Value::Null), (0..5u64).prop_map(Value::from), confused_json()];
    let kinds =
        prop::sample::select(vec!["fileChange", "commandExecution", "mcpToolCall", "agentMessage", "?"]);
    (method, id, confused_json(), confused_json(), kinds).prop_map(|(method, id, mut params, inner, kind)| {
        if let Some(params) = params.as_object_mut() {
            params.entry("item").or_insert_with(|| inner.clone());
            if let Some(item) = params["item"].as_object_mut() {
                item.insert("type".into(), kind.into());
            }
        }
        json!({"method": method, "id": id, "params": params, "result": inner})
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_protocol_line_panics_and_chunk_boundaries_do_not_matter(
        lines in prop::collection::vec((any::<bool>(), confused_line()), 1..12),
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let records: Vec<Record> =
            lines.iter().map(|(ours, line)| if *ours { to_agent(line.clone()) } else { from_agent(line.clone()) }).collect();
        let opening = Opening { resume: None, prompt: String::new(), settings: serde_json::Map::new() };
        let mut talk = Talk::new(ConversationPlan::Codex(opening));
        records.iter().for_each(|record| talk.push(record));
        let asks = talk.asks().to_vec();
        asks.iter().for_each(|ask| talk.answer(&ask.key, &ApprovalStatus::TimedOut));
        prop_assert_eq!(folded(Dialect::Codex, &records), folded(Dialect::Codex, &records));
        let bytes = lines.iter().flat_map(|(_, line)| format!("{line}\n").into_bytes()).collect::<Vec<_>>();
        let whole = folded(Dialect::Codex, &[record(Kind::Stdout, bytes.clone())]);
        prop_assert_eq!(whole, folded(Dialect::Codex, &chunks(&bytes, &places)));
    }
}

#[test]
fn every_line_of_codex_exec_leaves_an_entry() {
    let item = |kind: &str, id: &str, more: Value| {
        let mut item = json!({"id": id, "type": kind});
        item.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        item
    };
    let command = |status: &str, code: Value| {
        let fields = json!({"command": "/bin/bash -lc 'ls'", "aggregated_output": "a", "exit_code": code, "status": status});
        item("command_execution", "i1", fields)
    };
    let lines = [
        json!({"type": "thread.started", "thread_id": "t-1"}),
        json!({"type": "turn.started"}),
        json!({"type": "item.completed", "item": item("error", "i0", json!({"message": "no metadata"}))}),
        json!({"type": "item.started", "item": command("in_progress", Value::Null)}),
        json!({"type": "item.completed", "item": command("completed", 0.into())}),
        json!({"type": "item.completed", "item": item("agent_message", "i2", json!({"text": "Done."}))}),
        json!({"role": "assistant", "text": "one"}),
        json!({"role": "assistant", "text": "two"}),
        json!({"type": "turn.completed", "usage": {"input_tokens": 2468, "cached_input_tokens": 2000, "output_tokens": 112}}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let (entries, outcome) = folded(Dialect::Codex, &[record(Kind::Stdout, text)]);
    let texts: Vec<_> = entries.iter().map(|entry| entry.content.as_str()).collect();
    assert_eq!(
        texts,
        [
            "thread: t-1",
            "Turn started",
            "no metadata",
            "`ls`",
            "Done.",
            r#"Unrecognized JSON message: {"role":"assistant","text":"one"}"#,
            r#"Unrecognized JSON message: {"role":"assistant","text":"two"}"#,
            "Turn completed",
        ]
    );
    assert_eq!(outcome.session_id.as_deref(), Some("t-1"));
    assert_eq!(outcome.verdict, Some(Verdict::Success));
    assert_eq!((outcome.tokens().input_tokens, outcome.tokens().cache_read_tokens), (Some(468), Some(2000)));
}
