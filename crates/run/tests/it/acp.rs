//! Agents that speak the Agent Client Protocol, as recorded: what is shown of them, and what they are sent.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use forge_run::Kind;
use forge_run::fold::{Dialect, Verdict};
use forge_run::talk::acp::{Opening, Permissions, Replay};
use forge_run::talk::{ConversationPlan, Talk};
use forge_types::ApprovalStatus;
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::fold::{data, folded, patches, record, transcript, view};
use crate::stage::json_of_words;

const AGENTS: [&str; 4] = ["copilot", "gemini", "opencode", "qwen"];

fn transcripts() -> Vec<(String, PathBuf)> {
    let mut all = Vec::new();
    for agent in AGENTS {
        for file in fs::read_dir(data(agent)).unwrap().map(|entry| entry.unwrap().path()) {
            let name = format!("{agent}_{}", file.file_stem().unwrap().to_str().unwrap());
            all.push((name, file));
        }
    }
    all.sort();
    assert!(all.len() >= 23, "transcripts are missing");
    all
}

#[test]
fn every_recorded_conversation_reads_well() {
    for (name, file) in transcripts() {
        insta::assert_json_snapshot!(name, view(Dialect::Acp, &transcript(&file)));
    }
}

/// The exchange of a transcript, `true` for lines to the agent.
fn exchange(file: &Path) -> Vec<(bool, Value)> {
    let text = fs::read_to_string(file).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line["dir"] != "!").map(|mut line| (line["dir"] == ">", line["msg"].take())).collect()
}

/// The relevant part of a line to an agent.
fn essence(line: &Value) -> Value {
    let mut line = line.clone();
    for part in ["params", "result"] {
        if let Some(part) = line[part].as_object_mut() {
            part.remove("_meta");
            part.remove("clientCapabilities");
            part.remove("clientInfo");
        }
    }
    json!([line["id"], line["method"], line["params"], line["result"]])
}

#[test]
fn every_recorded_agent_is_sent_what_it_was_sent() {
    for (name, file) in transcripts() {
        let exchange = exchange(&file);
        let sent = |method: &str| {
            exchange
                .iter()
                .find(|(to_agent, line)| *to_agent && line["method"] == method)
                .map(|(_, line)| &line["params"])
        };
        let denied = name.ends_with("_deny");
        let mut talk = Talk::new(ConversationPlan::Acp(Opening {
            worktree: "/repo".into(),
            prompt: sent("session/prompt").unwrap()["prompt"][0]["text"].as_str().unwrap().to_owned(),
            session: sent("session/load").map(|params| params["sessionId"].as_str().unwrap().to_owned()),
            permissions: if denied { Permissions::Asked } else { Permissions::Granted },
            model: None,
            mode: None,
            replay: if name.starts_with("gemini") { Replay::AfterReply } else { Replay::BeforeReply },
        }));
        // The first line is the keeper's.
        for (to_agent, line) in &exchange[1..] {
            let text = format!("{line}\n");
            if !to_agent {
                talk.push(&record(Kind::Stdout, text));
                for ask in talk.asks().to_vec() {
                    talk.answer(&ask.key, &ApprovalStatus::Denied { reason: None });
                }
                if line["id"] == 3 && line["method"].is_null() {
                    break;
                }
                continue;
            }
            if line["method"] == "session/cancel" {
                let ours = serde_json::from_str::<Value>(&talk.interrupt().unwrap()).unwrap();
                assert_eq!(essence(&ours), essence(line), "{name}");
            } else if let [act] = talk.acts() {
                let key = act.key.clone();
                talk.acted(&key, line.to_string());
            } else {
                let ours = serde_json::from_str::<Value>(&talk.due()[0].line).unwrap();
                assert_eq!(essence(&ours), essence(line), "{name}");
            }
            talk.push(&record(Kind::Stdin, text));
            assert_eq!((talk.due(), talk.acts()), (&[][..], &[][..]), "{name}: nothing is due twice");
        }
        let ended = !name.ends_with("qwen_acp_error500");
        assert_eq!((talk.due(), talk.is_over()), (&[][..], ended), "{name}");
    }
}

fn update(update: Value) -> String {
    json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}})
        .to_string()
        + "\n"
}

/// A conversation up to its prompt, followed by `lines`.
fn after_prompt(lines: &str) -> Vec<forge_run::Record> {
    let ask = |id: u64, method: &str| json!({"id": id, "method": method, "params": {}}).to_string() + "\n";
    vec![
        record(Kind::Stdin, ask(2, "session/new")),
        record(Kind::Stdout, json!({"id": 2, "result": {"sessionId": "s"}}).to_string() + "\n"),
        record(Kind::Stdin, ask(3, "session/prompt")),
        record(Kind::Stdout, lines),
    ]
}

fn end(result: Value) -> String {
    json!({"jsonrpc": "2.0", "id": 3, "result": result}).to_string() + "\n"
}

#[test]
fn a_plan_is_one_entry_that_changes() {
    let plan = |status: &str| {
        update(
            json!({"sessionUpdate": "plan", "entries": [{"content": "a", "status": status, "priority": "high"}]}),
        )
    };
    let text = plan("pending") + &plan("completed") + &end(json!({"stopReason": "end_turn"}));
    let (entries, _) = folded(Dialect::Acp, &after_prompt(&text));
    let todos = serde_json::to_value(&entries[0]).unwrap()["entry_type"]["action_type"]["todos"].clone();
    assert_eq!(todos, json!([{"content": "a", "status": "completed", "priority": "high"}]));
    assert_eq!(entries.len(), 2, "and the word that it is unverified");
}

#[test]
fn the_end_of_the_turn_decides() {
    let verdict = |text: &str| folded(Dialect::Acp, &after_prompt(text)).1;
    let failed = |message: &str| Some(Verdict::Failed { message: message.into() });
    let used = json!({"inputTokens": 5, "outputTokens": 1, "totalTokens": 6});
    assert_eq!(verdict(&end(json!({"stopReason": "end_turn"}))).verdict, Some(Verdict::Unverified));
    assert_eq!(
        verdict(&end(json!({"stopReason": "end_turn", "usage": used}))).verdict,
        Some(Verdict::Success)
    );
    assert_eq!(
        verdict(&end(json!({"stopReason": "cancelled", "usage": used}))).verdict,
        failed("Interrupted")
    );
    let refused = verdict(&end(json!({"stopReason": "refusal", "usage": used})));
    assert_eq!(refused.verdict, failed("The model refused to continue."));
    assert_eq!(verdict("").verdict, failed("The agent ended before it had finished its turn."));
    let words = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Error: 429 wait"}});
    let limited = verdict(&(update(words) + &end(json!({"stopReason": "end_turn"}))));
    assert_eq!(limited.verdict, failed("Error: 429 wait"));
    assert_eq!(limited.limit.unwrap().message, "Error: 429 wait");
}

#[test]
fn a_failure_that_is_reported_as_an_answer_is_a_failure() {
    let verdict = |words: &str, result: Value| {
        let chunk =
            json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": words}});
        folded(Dialect::Acp, &after_prompt(&(update(chunk) + &end(result)))).1.verdict
    };
    let failed = |message: &str| Some(Verdict::Failed { message: message.into() });
    let idle = json!({"stopReason": "end_turn"});
    let worked = json!({"stopReason": "end_turn", "usage": {"inputTokens": 5, "outputTokens": 1}});
    let refused = "Error: Authentication failed with provider at http://host/v1 (HTTP 401).";
    assert_eq!(verdict(refused, idle.clone()), failed(refused));
    assert_eq!(verdict(refused, worked.clone()), failed(refused), "also after work");
    assert_eq!(verdict("Error: 7 tests fail", worked), Some(Verdict::Success), "that is what it found");
    assert_eq!(verdict("Hello", idle), Some(Verdict::Unverified));
}

#[test]
fn a_session_that_is_gone_is_distinguished_from_a_missing_login() {
    let load = json!({"id": 2, "method": "session/load", "params": {"sessionId": "old"}}).to_string() + "\n";
    let lost = |code: i64| {
        let error =
            json!({"id": 2, "error": {"code": code, "message": "Resource not found"}}).to_string() + "\n";
        let (entries, outcome) =
            folded(Dialect::Acp, &[record(Kind::Stdin, load.clone()), record(Kind::Stdout, error)]);
        let kind = serde_json::to_value(&entries[0]).unwrap()["entry_type"]["error_type"]["type"].clone();
        (outcome.session_lost, outcome.session_id, kind)
    };
    assert_eq!(lost(-32002), (true, None, json!("other")));
    assert_eq!(lost(-32000), (false, None, json!("setup_required")));
}

#[test]
fn trouble_beside_the_title_is_shown_and_our_words_part_the_agents() {
    let chunk = |kind: &str, text: &str| {
        update(json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}}))
    };
    let trouble = update(
        json!({"sessionUpdate": "session_info_update", "_meta": {"codex": {"error": "Reconnecting... 1/5"}}}),
    );
    let text = chunk("agent_message_chunk", "before")
        + &chunk("user_message_chunk", "go on")
        + &chunk("agent_message_chunk", "after")
        + &trouble
        + &trouble;
    let (entries, _) = folded(Dialect::Acp, &after_prompt(&text));
    let texts: Vec<_> = entries.iter().map(|entry| entry.content.as_str()).collect();
    assert_eq!(texts, ["before", "after", "Reconnecting... 1/5"]);
}

#[test]
fn unknown_updates_and_broken_lines_are_shown() {
    let text = update(json!({"sessionUpdate": "novel", "x": 1})) + "{broken\nplain\n";
    let (entries, _) = folded(Dialect::Acp, &after_prompt(&text));
    let texts: Vec<_> = entries.iter().map(|entry| entry.content.as_str()).collect();
    assert_eq!(texts, [r#"Unrecognized update: {"sessionUpdate":"novel","x":1}"#, "{broken", "plain"]);
}

/// JSON of any shape made of the protocol's own words.
fn confused_json() -> impl Strategy<Value = Value> {
    let words = [
        "sessionUpdate",
        "agent_message_chunk",
        "tool_call",
        "tool_call_update",
        "plan",
        "usage_update",
        "update",
        "content",
        "type",
        "text",
        "diff",
        "path",
        "oldText",
        "newText",
        "toolCallId",
        "status",
        "completed",
        "kind",
        "edit",
        "execute",
        "rawInput",
        "rawOutput",
        "command",
        "title",
        "entries",
        "cost",
        "amount",
        "options",
        "optionId",
        "toolCall",
        "usage",
        "inputTokens",
        "stopReason",
        "end_turn",
        "models",
        "modes",
        "configOptions",
        "_meta",
        "quota",
        "model_usage",
        "error",
        "message",
        "code",
        "data",
        "locations",
    ];
    json_of_words(&words)
}

fn confused_line() -> impl Strategy<Value = String> {
    let kinds = ["tool_call", "tool_call_update", "plan", "agent_message_chunk", "usage_update", "?"];
    let frames = 0..6_usize;
    (frames, prop::sample::select(kinds.to_vec()), confused_json()).prop_map(|(frame, kind, inner)| {
        let line = match frame {
            0 => inner,
            1 => json!({"id": 3, "result": inner}),
            2 => json!({"id": 2, "error": inner}),
            3 => json!({"id": 7, "method": "session/request_permission", "params": inner}),
            4 => json!({"id": 8, "method": "fs/write_text_file", "params": inner}),
            _ => {
                let mut update = if inner.is_object() { inner } else { json!({"content": inner}) };
                update["sessionUpdate"] = json!(kind);
                json!({"method": "session/update", "params": {"update": update}})
            }
        };
        format!("{line}\n")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn nothing_an_agent_says_is_too_strange(
        lines in prop::collection::vec(confused_line(), 0..12),
        noise in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let mut bytes = lines.concat().into_bytes();
        bytes.extend_from_slice(&noise);
        let mut records = after_prompt("");
        records.push(record(Kind::Stdout, bytes.clone()));
        let whole = patches(Dialect::Acp, &records);
        let mut pieces = after_prompt("");
        pieces.extend(bytes.chunks(7).map(|piece| record(Kind::Stdout, piece)));
        let (cut, outcome) = patches(Dialect::Acp, &pieces);
        prop_assert_eq!(&whole.0, &cut);
        prop_assert_eq!(&whole.1, &outcome);
        let mut talk = Talk::new(ConversationPlan::Acp(Opening {
            worktree: "/repo".into(),
            prompt: "p".into(),
            session: None,
            permissions: Permissions::Asked,
            model: Some("m".into()),
            mode: None,
            replay: Replay::AfterReply,
        }));
        pieces.iter().for_each(|piece| talk.push(piece));
    }
}
