use proptest::prelude::*;
use serde_json::{Value, json};

use super::noted::{Link, with_attempts};
use super::session::{Runner, Session};
use super::{noted, store};
use forge_types::{AttemptId, Millis, TaskStatus};

const ID: &str = "35a403e3-fe62-4545-bffe-0285dbfa472d";
const OTHER: &str = "e84ff7e9-db49-4cdb-8f5b-3c1afd2df94f";
const NEW: &str = "aaaaaaaa-1111-4222-8333-444444444444";

fn one(store: &Value) -> Session {
    let mut found = store::read(&store.to_string()).unwrap().sessions;
    assert_eq!(found.len(), 1, "{store}");
    found.remove(0)
}

#[test]
fn a_store_of_agents_is_read_with_or_without_its_wrapper() {
    let entry = json!({
        "agent": "code/fix", "executor": "claude", "status": "completed", "sessionId": ID, "exitCode": 0,
        "logFile": ".genie/state/agents/logs/x.log", "lastPrompt": "Fix it", "startTime": 1760000000000i64,
        "created": "2025-10-01T10:00:00.000Z", "lastUsed": "2025-10-01T11:00:00.000Z", "mood": "good",
    });
    let bare = one(&json!({"code/fix": entry}));
    // The number says nothing.
    assert_eq!(bare, one(&json!({"version": 4, "agents": {"code/fix": entry}})));
    assert_eq!(
        (bare.runner, bare.title.as_str(), bare.profile().as_str()),
        (Runner::Genie, "code/fix", "CLAUDE_CODE")
    );
    assert_eq!((bare.attempt, bare.resume_id.as_deref(), bare.exit_code), (None, Some(ID), Some(0)));
    assert_eq!(bare.logs[1], ".genie/state/agents/logs/code-fix-1760000000000.log");
    assert_eq!(bare.last_used.unwrap().to_string(), "2025-10-01T11:00:00.000Z");
    assert_eq!((&bare.rest["mood"], bare.task_status()), (&json!("good"), TaskStatus::Done));
}

#[test]
fn a_store_keyed_by_the_agents_id_keeps_it_for_resuming() {
    let entry =
        json!({"agent": "plan", "name": "plan-1", "sessionId": ID, "executor": "codex", "status": "running"});
    for store in [json!({"version": 2, "sessions": {ID: entry}}), json!({"sessions": {ID: entry}})] {
        let session = one(&store);
        assert_eq!((session.attempt, session.resume_id.as_deref()), (None, Some(ID)));
        assert_eq!((session.title.as_str(), session.profile().as_str()), ("plan-1", "CODEX"));
        assert_eq!(session.task_status(), TaskStatus::Cancelled, "its process is gone");
    }
}

#[test]
fn a_store_keyed_by_names_leads_to_the_attempt() {
    let entry = json!({"agent": "plan", "executor": "OPENCODE", "executorVariant": "PLAN", "sessionId": ID});
    let session = one(&json!({"version": 3, "sessions": {"plan-2510181200": entry}}));
    assert_eq!((session.attempt, session.resume_id), (Some(ID.parse().unwrap()), None));
    let moved = json!({"agent": "plan", "sessionId": ID, "logFile": "x.log"});
    let session = one(&json!({"version": 3, "sessions": {"plan-2510171200": moved}}));
    assert_eq!(
        (session.attempt, session.resume_id.as_deref()),
        (None, Some(ID)),
        "moved there from an older store"
    );
}

#[test]
fn a_store_keyed_by_attempts_needs_nothing_else() {
    let session = one(&json!({"version": 4, "sessions": {ID: {"agent": "plan", "taskId": OTHER}}}));
    assert_eq!(session.attempt, Some(ID.parse::<AttemptId>().unwrap()));
    assert_eq!((session.task.unwrap().to_string().as_str(), session.profile().as_str()), (OTHER, "OPENCODE"));
    let empty = one(&json!({"sessions": {ID: {}}}));
    assert_eq!((empty.attempt.unwrap().to_string().as_str(), empty.title.as_str()), (ID, ID));
}

#[test]
fn stray_keys_are_passed_over_and_sessions_among_agents_are_not_lost() {
    let store = json!({"version": 1, "agents": {
        "version": 2, "executor": "codex", "plan": {"status": "failed"}, "note": "text",
        "sessions": {ID: {"agent": "deep", "sessionId": ID}},
    }});
    let found = store::read(&store.to_string()).unwrap();
    let mut titles: Vec<&str> = found.sessions.iter().map(|session| session.title.as_str()).collect();
    titles.sort();
    assert_eq!((titles, found.strays), (vec!["deep", "plan"], vec!["note".to_owned()]));
    let other = store::read(r#"{"name": "a package", "scripts": {"test": "x"}}"#).unwrap();
    assert!(other.sessions.is_empty(), "a file about something else has no sessions");
    assert!(store::read("{").is_err() && store::read("").unwrap().sessions.is_empty());
}

#[test]
fn noted_sessions_have_an_id_a_title_and_times() {
    let text = format!(
        "## 🎯 Active Sessions\n\n### Session 1: Learn\n**Session ID:** `{ID}`\n**Started:** 2025-10-17 22:45 UTC\n\
         **Status:** active\n**Purpose:** Learn it\n\n## 🔄 Session History (Recent)\n\n### Old one\n\
         **Session ID:** {OTHER}\n**Started:** 2025-10-16\n**Completed:** 2025-10-16 23:00 UTC\n**Outcome:** fine\n\
         \n### Without an id\nwords\n"
    );
    let found = noted::sessions(&text);
    assert_eq!(found.len(), 2);
    assert_eq!((found[0].title.as_str(), found[0].prompt.as_deref()), ("Session 1: Learn", Some("Learn it")));
    assert_eq!(found[0].created.unwrap().to_string(), "2025-10-17T22:45:00.000Z");
    assert_eq!((found[0].has_completed(), found[1].has_completed()), (false, true));
    assert_eq!(found[1].rest["Outcome"], "fine");
}

fn link() -> Vec<Link> {
    vec![Link { ids: vec![ID.to_owned()], attempt: NEW.to_owned() }]
}

#[test]
fn a_noted_session_gets_a_line_and_nothing_else_changes() {
    let text = format!(
        "# S\r\n### One\r\n**Session ID:** `{ID}`\r\n**Next:** x\r\n\r\n### Two\r\n**Session ID:** `{OTHER}`\r\n"
    );
    let want = text.replace("**Next:** x", &format!("**Attempt ID:** `{NEW}`\r\n**Next:** x"));
    assert_eq!(with_attempts(&text, &link()), want);
    assert_eq!(with_attempts(&want, &link()), want, "once is enough");
    let short = "### Forge Task - x\n**Attempt ID Prefix:** `35a4`\n";
    assert_eq!(with_attempts(short, &link()), format!("{short}**Attempt ID:** `{NEW}`\n"));
}

#[test]
fn tables_and_lists_get_the_new_id_in_the_old_ones_place() {
    let text = "## Tasks\n| Task | Branch |\n| `35a403e3` x | 35a4 |\n\n### Todo\n- 35A403E3 fix\n- e84ff7e9 other\n";
    let want = text.replace("35a403e3", "aaaaaaaa").replace("35A403E3", "aaaaaaaa");
    assert_eq!(with_attempts(text, &link()), want);
    let both =
        [link(), vec![Link { ids: vec![format!("35a403e3{}", &OTHER[8..])], attempt: OTHER.to_owned() }]]
            .concat();
    assert_eq!(with_attempts(text, &both), text, "what may mean two sessions means none");
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        Just(json!(ID)),
    ];
    let key = prop_oneof![
        "(version|agents|sessions|executor|agent|sessionId|logFile|created)",
        ".{0,6}",
        Just(ID.to_owned())
    ];
    leaf.prop_recursive(5, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..6)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_json_and_any_text_is_a_store_or_none(value in any_json(), text in ".{0,200}") {
        for session in store::read(&value.to_string()).unwrap().sessions {
            session.profile();
            session.ids();
        }
        let _ = store::read(&text);
    }

    #[test]
    fn any_text_is_read_and_only_grows_by_whole_lines(
        text in "(## |### |\\*\\*Session ID:\\*\\* |[|] |- |`|35a403e3|35a403e3-fe62-4545-bffe-0285dbfa472d|é|\r?\n|.){0,60}",
    ) {
        let _ = noted::sessions(&text);
        let once = with_attempts(&text, &link());
        prop_assert_eq!(with_attempts(&once, &link()), once.clone());
        if !text.contains("35a4") {
            prop_assert_eq!(once, text);
        }
    }

    #[test]
    fn a_time_is_read_or_none(text in "[0-9TZ: .UC-]{0,30}") {
        let noted = noted::sessions(&format!("### x\n**Session ID:** {ID}\n**Started:** {text}\n"));
        let _: Option<Millis> = noted[0].created;
    }
}

#[test]
fn a_store_that_is_no_file_is_found_and_says_why_it_is_not_read() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join(".genie/state");
    std::fs::create_dir_all(&state).unwrap();
    let pipe = state.join("tasks.json");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    std::fs::create_dir(state.join("agents")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", state.join("agents/sessions.json")).unwrap();
    let reports: Vec<_> = super::stores(dir.path())
        .iter()
        .map(|store| super::read_store(dir.path(), store).unwrap_err())
        .collect();
    assert!(
        reports.len() == 2 && reports[0].contains("is a pipe") && reports[1].contains("leads out of"),
        "{reports:?}"
    );
}
