//! Which lines are due when, for an agent whose lines are written here. The integration tests replay recorded
//! agents.

use pretty_assertions::assert_eq;

use super::super::{ConversationPlan, Talk};
use super::*;
use crate::journal::{Kind, Record};

fn opening() -> Opening {
    Opening {
        worktree: "/repo".into(),
        prompt: "do it".into(),
        session: None,
        permissions: Permissions::Asked,
        model: None,
        mode: None,
        replay: Replay::BeforeReply,
    }
}

fn talk(opening: Opening) -> Talk {
    Talk::new(ConversationPlan::Acp(opening))
}

fn push(talk: &mut Talk, kind: Kind, message: &Value) {
    talk.push(&Record { kind, at_ms: 0, bytes: format!("{message}\n").into_bytes() });
}

fn agent_prints(talk: &mut Talk, message: Value) {
    push(talk, Kind::Stdout, &message);
}

/// The only line that is due; it is then sent.
fn send_due(talk: &mut Talk) -> Value {
    let due: Vec<Value> = talk.due().iter().map(|due| serde_json::from_str(&due.line).unwrap()).collect();
    assert_eq!(due.len(), 1, "{due:?}");
    push(talk, Kind::Stdin, &due[0]);
    assert_eq!(talk.due(), []);
    due[0].clone()
}

fn reply(id: u64, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

/// A conversation whose prompt was sent.
fn prompted(opening: Opening) -> Talk {
    let mut talk = talk(opening);
    agent_prints(&mut talk, reply(1, json!({"agentCapabilities": {"loadSession": true}})));
    send_due(&mut talk);
    agent_prints(&mut talk, reply(2, json!({"sessionId": "s"})));
    assert_eq!(send_due(&mut talk)["method"], "session/prompt");
    talk
}

fn question(id: u64) -> Value {
    let options = json!([
        {"optionId": "y!", "kind": "allow_always"},
        {"optionId": "y", "kind": "allow_once"},
        {"optionId": "n", "kind": "reject_once"},
    ]);
    let call = json!({"toolCallId": "c", "kind": "execute", "title": "ls", "rawInput": {"command": "ls"}});
    json!({"jsonrpc": "2.0", "id": id, "method": "session/request_permission",
           "params": {"sessionId": "s", "toolCall": call, "options": options}})
}

#[test]
fn choices_are_made_one_by_one_before_the_prompt() {
    let config = json!([{"id": "model-x", "category": "model"}]);
    let cases = [
        (json!({"sessionId": "s", "configOptions": config}), "session/set_config_option", "configId"),
        (json!({"sessionId": "s", "models": {"currentModelId": "a"}}), "session/set_model", "modelId"),
    ];
    for (session, method, key) in cases {
        let opening = Opening { model: Some("m".into()), mode: Some("plan".into()), ..opening() };
        let mut talk = talk(opening);
        agent_prints(&mut talk, reply(1, json!({})));
        send_due(&mut talk);
        agent_prints(&mut talk, reply(2, session));
        let model = send_due(&mut talk);
        assert_eq!(model["method"], method);
        assert_eq!(model["params"][key], if key == "configId" { "model-x" } else { "m" });
        agent_prints(&mut talk, reply(10, json!({})));
        let mode = send_due(&mut talk);
        assert_eq!(
            (&mode["method"], &mode["params"]["modeId"]),
            (&json!("session/set_mode"), &json!("plan"))
        );
        agent_prints(&mut talk, reply(11, json!({})));
        assert_eq!(send_due(&mut talk)["params"]["prompt"][0]["text"], "do it");
        assert!(!talk.is_over());
    }
}

#[test]
fn a_choice_that_is_refused_ends_it() {
    let mut talk = talk(Opening { model: Some("m".into()), ..opening() });
    agent_prints(&mut talk, reply(1, json!({})));
    send_due(&mut talk);
    agent_prints(&mut talk, reply(2, json!({"sessionId": "s"})));
    send_due(&mut talk);
    agent_prints(&mut talk, json!({"id": 10, "error": {"code": -32602, "message": "no such model"}}));
    assert_eq!(talk.due(), []);
    assert!(talk.is_over());
}

#[test]
fn an_agent_that_cannot_load_gets_a_new_session_that_says_so() {
    let opening = Opening { session: Some("old".into()), ..opening() };
    let mut able = talk(opening.clone());
    agent_prints(&mut able, reply(1, json!({"agentCapabilities": {"loadSession": true}})));
    let load = send_due(&mut able);
    assert_eq!((&load["method"], &load["params"]["sessionId"]), (&json!("session/load"), &json!("old")));
    let mut unable = talk(opening);
    agent_prints(&mut unable, reply(1, json!({})));
    let new = send_due(&mut unable);
    assert_eq!(new["method"], "session/new");
    assert_eq!(new["params"]["_meta"]["forge"]["insteadOf"], "old");
}

#[test]
fn a_late_replay_is_waited_for() {
    let opening = Opening { session: Some("old".into()), replay: Replay::AfterReply, ..opening() };
    let mut talk = talk(opening);
    agent_prints(&mut talk, reply(1, json!({"agentCapabilities": {"loadSession": true}})));
    send_due(&mut talk);
    agent_prints(&mut talk, reply(2, json!({"modes": {"currentModeId": "default"}})));
    let between = send_due(&mut talk);
    assert_eq!(between["params"], json!({"sessionId": "old", "modeId": "default"}));
    agent_prints(&mut talk, reply(10, json!({})));
    assert_eq!(send_due(&mut talk)["method"], "session/prompt");
}

#[test]
fn permissions_are_chosen_by_kind() {
    let answer = |answer: ApprovalStatus| {
        let mut talk = prompted(opening());
        agent_prints(&mut talk, question(0));
        assert_eq!(talk.due(), []);
        let ask = talk.asks()[0].clone();
        assert_eq!((ask.tool_name.as_str(), ask.tool_input), ("execute", json!({"command": "ls"})));
        talk.answer(&ask.key, &answer);
        send_due(&mut talk)["result"].clone()
    };
    let selected = |id: &str| json!({"outcome": "selected", "optionId": id});
    assert_eq!(answer(ApprovalStatus::Approved), json!({"outcome": selected("y")}));
    assert_eq!(answer(ApprovalStatus::Denied { reason: None }), json!({"outcome": selected("n")}));
    assert_eq!(answer(ApprovalStatus::TimedOut)["_meta"]["forge"]["timedOut"], true);

    let mut granted = prompted(Opening { permissions: Permissions::Granted, ..opening() });
    agent_prints(&mut granted, question(0));
    assert_eq!(granted.asks(), []);
    assert_eq!(send_due(&mut granted)["result"]["outcome"], selected("y"));
    let mut none = question(1);
    none["params"]["options"] = json!([{"optionId": "n", "kind": "reject_once"}]);
    agent_prints(&mut granted, none);
    assert_eq!(send_due(&mut granted)["result"]["outcome"], json!({"outcome": "cancelled"}));
}

#[test]
fn the_reason_of_a_denial_is_the_next_prompt_also_for_a_later_server() {
    let mut talk = prompted(opening());
    agent_prints(&mut talk, question(0));
    let key = talk.asks()[0].key.clone();
    talk.answer(&key, &ApprovalStatus::Denied { reason: Some(" use the tests ".into()) });
    let denial = send_due(&mut talk);

    let mut later = prompted(opening());
    agent_prints(&mut later, question(0));
    push(&mut later, Kind::Stdin, &denial);
    assert_eq!(later.asks(), []);
    for talk in [&mut talk, &mut later] {
        agent_prints(talk, reply(3, json!({"stopReason": "end_turn"})));
        assert!(!talk.is_over());
        assert_eq!(send_due(talk)["params"]["prompt"][0]["text"], "User feedback: use the tests");
        agent_prints(talk, reply(100, json!({"stopReason": "end_turn"})));
        assert_eq!(talk.due(), []);
        assert!(talk.is_over());
    }
}

#[test]
fn a_stop_ends_the_conversation_whatever_was_to_follow() {
    let mut talk = prompted(opening());
    assert!(talk.message("more").is_none());
    agent_prints(&mut talk, question(0));
    let key = talk.asks()[0].key.clone();
    talk.answer(&key, &ApprovalStatus::Denied { reason: Some("no".into()) });
    send_due(&mut talk);
    let cancel: Value = serde_json::from_str(&talk.interrupt().unwrap()).unwrap();
    assert_eq!(
        (&cancel["method"], &cancel["params"]),
        (&json!("session/cancel"), &json!({"sessionId": "s"}))
    );
    push(&mut talk, Kind::Stdin, &cancel);
    agent_prints(&mut talk, reply(3, json!({"stopReason": "cancelled"})));
    assert_eq!(talk.due(), []);
    assert!(talk.is_over());
}

#[test]
fn files_are_acts_and_anything_else_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut talk = prompted(Opening { worktree: dir.path().into(), ..opening() });
    let file = dir.path().join("a.txt");
    agent_prints(
        &mut talk,
        json!({"id": 5, "method": "fs/write_text_file", "params": {"path": file, "content": "hello"}}),
    );
    assert_eq!(talk.due(), []);
    let act = talk.acts()[0].clone();
    talk.acted(&act.key, act.carry_out());
    assert_eq!(send_due(&mut talk), json!({"jsonrpc": "2.0", "id": 5, "result": null}));
    assert_eq!(talk.acts(), []);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "hello");

    agent_prints(&mut talk, json!({"id": 6, "method": "terminal/create", "params": {}}));
    assert_eq!(send_due(&mut talk)["error"]["code"], METHOD_NOT_FOUND);
    agent_prints(&mut talk, json!({"method": "session/update", "params": {}}));
    assert_eq!(talk.due(), []);
}
