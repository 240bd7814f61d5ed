use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use forge_types::{Alert, AttemptStatus, Millis, Severity, WorkerPhase};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::*;
use crate::fixture::{self, ASKING, FAILED, NOW, QUESTION, RUNNING, busy, empty, worker, worker_event};
use crate::message::{Attach, Event, Loaded, LogNews, Method};
use crate::state::{Grouping, Purpose, Slot};

fn press(state: &mut State, keys: &str) -> Vec<Effect> {
    let press = |c| match c {
        '\n' => KeyCode::Enter,
        '\u{1b}' => KeyCode::Esc,
        '\t' => KeyCode::Tab,
        c => KeyCode::Char(c),
    };
    let keys: Vec<_> = keys.chars().map(press).map(|code| KeyEvent::new(code, KeyModifiers::NONE)).collect();
    keys.into_iter().flat_map(|key| update(state, Message::Key(key)).effects).collect()
}

/// The requests; what a body leaves open is left out here.
fn calls(effects: &[Effect]) -> Vec<(&str, Value)> {
    let calls = effects.iter().filter_map(|effect| match effect {
        Effect::Call(call) => Some((call.path.as_str(), said(&call.body))),
        _ => None,
    });
    calls.collect()
}

fn said(body: &Value) -> Value {
    let Value::Object(fields) = body else { return body.clone() };
    let open = [Value::Null, json!([]), json!({})];
    let filled = fields.iter().filter(|(_, value)| !open.contains(value));
    filled.map(|(key, value)| (key.clone(), said(value))).collect()
}

fn selected(state: &State) -> Option<Subject> {
    table(state).subject()
}

fn attempt(id: &str) -> Option<Subject> {
    Some(Subject::Attempt(id.parse().unwrap()))
}

#[test]
fn work_is_stopped_only_after_a_yes() {
    let mut state = busy();
    assert_eq!(calls(&press(&mut state, "2s")), []);
    assert!(matches!(state.overlay, Some(Overlay::Confirm { .. })));
    assert_eq!(calls(&press(&mut state, "xn")), [], "any key but y sends nothing");
    assert_eq!(state.overlay, None);
    let effects = press(&mut state, "sy");
    assert_eq!(calls(&effects), [(format!("/api/task-attempts/{RUNNING}/stop").as_str(), json!({}))]);
}

#[test]
fn what_has_ended_is_not_stopped() {
    let mut state = busy();
    assert_eq!(calls(&press(&mut state, "2Gsy")), []);
    assert!(state.notice.as_ref().is_some_and(|notice| notice.is_bad), "{:?}", state.notice);
}

#[test]
fn merging_names_the_branch_and_waits_for_a_yes() {
    let mut state = busy();
    press(&mut state, "2m");
    let Some(Overlay::Confirm { question, .. }) = &state.overlay else { panic!("{:?}", state.overlay) };
    assert!(question.contains("into main"), "{question}");
    assert_eq!(calls(&press(&mut state, "\u{1b}")), []);
    let effects = press(&mut state, "my");
    assert_eq!(calls(&effects)[0].0, format!("/api/task-attempts/{RUNNING}/merge"));
}

#[test]
fn a_question_is_answered_on_its_own_row_and_on_its_attempts() {
    let path = format!("/api/approvals/{QUESTION}/respond");
    let path = path.as_str();
    let mut state = busy();
    assert_eq!(calls(&press(&mut state, "1a")), [(path, json!({"approved": true}))]);
    let mut state = busy();
    assert_eq!(calls(&press(&mut state, "2ja")), [(path, json!({"approved": true}))]);
    let mut state = busy();
    let effects = press(&mut state, "2jdnot here\n");
    assert_eq!(calls(&effects), [(path, json!({"approved": false, "comment": "not here"}))]);
    let mut state = busy();
    assert_eq!(calls(&press(&mut state, "2a")), [], "that agent has no open question");
}

#[test]
fn a_follow_up_is_typed_and_an_empty_one_is_none() {
    let mut state = busy();
    assert_eq!(calls(&press(&mut state, "2f \n")), []);
    let effects = press(&mut state, "fadd a test: q\n");
    let path = format!("/api/task-attempts/{RUNNING}/follow-up");
    assert_eq!(calls(&effects), [(path.as_str(), json!({"prompt": "add a test: q"}))]);
    assert_eq!(state.view, View::Attempts, "no typed letter was a command");
}

#[test]
fn workers_are_paused_resumed_and_sent_lines_at_once_and_restarted_after_a_yes() {
    let mut state = busy();
    assert_eq!(calls(&press(&mut state, "5z"))[0].0, "/api/workers/opus-1/pause");
    assert_eq!(calls(&press(&mut state, "jjz"))[0].0, "/api/workers/haiku-1/resume");
    assert_eq!(
        calls(&press(&mut state, "icontinue\n")),
        [("/api/workers/haiku-1/send", json!({"line": "continue"}))]
    );
    assert_eq!(calls(&press(&mut state, "r")), []);
    assert_eq!(calls(&press(&mut state, "y"))[0].0, "/api/workers/haiku-1/restart");
}

#[test]
fn attaching_gives_the_terminal_away() {
    let mut state = busy();
    press(&mut state, "5");
    let args = ["worker", "attach", "opus-1"].map(str::to_owned).into();
    assert_eq!(press(&mut state, "t"), [Effect::Attach(Attach { args, is_read: false })]);
}

#[test]
fn peeking_reads_until_it_is_left() {
    let mut state = busy();
    press(&mut state, "5");
    assert_eq!(press(&mut state, "p"), [Effect::Peek(Some("opus-1".parse().unwrap()))]);
    let peeked = |worker: &str, text: &str| Message::Peeked {
        worker: worker.parse().unwrap(),
        screen: Ok(text.to_owned()),
    };
    assert!(update(&mut state, peeked("opus-1", "$ \u{1b}[31mls")).redraw);
    assert!(!update(&mut state, peeked("opus-1", "$ \u{1b}[31mls")).redraw, "the same screen");
    assert!(!update(&mut state, peeked("other", "late")).redraw);
    let Some(Overlay::Peek { text: Some(Ok(text)), .. }) = &state.overlay else {
        panic!("{:?}", state.overlay)
    };
    assert_eq!(text, "$ ls");
    assert_eq!(press(&mut state, "q"), [Effect::Peek(None)]);
    assert_eq!(state.overlay, None);
}

#[test]
fn a_form_says_what_is_missing_and_asks_before_it_costs() {
    let mut state = busy();
    press(&mut state, "3n\n\n\n");
    let Some(Overlay::Form(form)) = &state.overlay else { panic!("{:?}", state.overlay) };
    assert_eq!(form.complaint.as_deref(), Some("Title is missing"));
    press(&mut state, "Fix it\nplease\n");
    assert_eq!(calls(&press(&mut state, "\n")), []);
    let effects = press(&mut state, "y");
    let task = json!({
        "task": {"project_id": "b1111111-0000-4000-8000-000000000001", "title": "Fix it", "description": "please"},
        "executor_profile_id": {"executor": "CLAUDE_CODE"},
    });
    assert_eq!(calls(&effects), [("/api/tasks/create-and-start", task)]);
}

#[test]
fn without_a_project_no_task_can_be_given() {
    let mut state = empty();
    press(&mut state, "n");
    assert_eq!(state.overlay, None);
    assert!(state.notice.as_ref().is_some_and(|notice| notice.text.contains("forge project add")));
}

#[test]
fn the_selection_stays_with_its_row_wherever_it_moves() {
    let mut state = busy();
    press(&mut state, "2j");
    assert_eq!(selected(&state), attempt(ASKING));
    press(&mut state, "R");
    assert_eq!(selected(&state), attempt(ASKING));
    let mut rows = state.data.attempts.rows().to_vec();
    rows.retain(|row| Some(Subject::Attempt(row.attempt.id)) != attempt(ASKING));
    update(&mut state, Message::Loaded(Box::new(Loaded::Attempts(rows))));
    assert_eq!(selected(&state), attempt(RUNNING), "the row in its place");
}

#[test]
fn a_filter_works_while_it_is_typed_and_esc_takes_it_away() {
    let mut state = busy();
    press(&mut state, "2/tests");
    assert_eq!(table(&state).rows.len(), 1);
    assert_eq!(selected(&state), attempt(FAILED));
    press(&mut state, "\n");
    assert_eq!((state.overlay.clone(), table(&state).whole), (None, 3));
    press(&mut state, "\u{1b}");
    assert_eq!(table(&state).rows.len(), 3);
}

#[test]
fn columns_are_sorted_by_their_numbers_not_by_their_text() {
    let mut state = busy();
    press(&mut state, "2SSSSS");
    assert_eq!(state.look().sort.map(|at| table(&state).columns[at].head), Some("COST"));
    let ids: Vec<Subject> = table(&state).rows.into_iter().map(|row| row.subject()).collect();
    let want = [RUNNING, FAILED, ASKING].map(|id| attempt(id).unwrap());
    assert_eq!(ids, want, "what has no cost comes last");
}

#[test]
fn the_palette_runs_what_it_finds() {
    let mut state = busy();
    press(&mut state, ":cost\n");
    assert_eq!((state.view, state.overlay.clone()), (View::Costs, None));
    press(&mut state, "b");
    assert_eq!(state.grouping, Grouping::Model);
    assert_eq!(press(&mut state, ":quit\n"), [Effect::Quit]);
}

#[test]
fn the_selected_attempt_is_followed_and_late_news_of_another_is_not_shown() {
    let mut state = busy();
    assert_eq!(press(&mut state, "2"), [Effect::Follow(RUNNING.parse().ok())]);
    assert_eq!(press(&mut state, "j"), [Effect::Follow(ASKING.parse().ok())]);
    fixture::fill_log(&mut state, RUNNING);
    assert_eq!(state.log.blocks().count(), 0);
    fixture::fill_log(&mut state, ASKING);
    assert_eq!(state.log.blocks().count(), 3);
}

#[test]
fn another_run_of_the_attempt_in_sight_is_followed_and_its_state_shown_at_once() {
    let mut state = busy();
    press(&mut state, "2");
    let mut run = fixture::run(RUNNING, "completed");
    run.id = fixture::fill_log(&mut state, RUNNING);
    let outcome = update(&mut state, Message::Event(Event::Run(Box::new(run))));
    assert!(outcome.redraw && !outcome.effects.iter().any(|effect| matches!(effect, Effect::Follow(_))));
    assert_eq!(state.data.attempts.rows()[0].attempt.status, AttemptStatus::Completed);
    let another = Box::new(fixture::run(RUNNING, "running"));
    let outcome = update(&mut state, Message::Event(Event::Run(another)));
    assert!(outcome.effects.contains(&Effect::Follow(RUNNING.parse().ok())));
}

#[test]
fn a_worker_that_changes_is_shown_without_asking_again() {
    let mut state = busy();
    let outcome = update(&mut state, worker_event(worker("sonnet-1", "paused", "healthy", &[], 45)));
    assert_eq!((outcome.redraw, outcome.effects), (true, vec![]));
    assert_eq!(state.data.workers.rows()[1].worker.phase, WorkerPhase::Paused);
    update(&mut state, worker_event(worker("new", "starting", "healthy", &[], 0)));
    assert_eq!(state.data.workers.rows().len(), 6);
    update(&mut state, Message::Event(Event::WorkerGone("new".parse().unwrap())));
    assert_eq!(state.data.workers.rows().len(), 5);
}

#[test]
fn the_clock_draws_only_when_an_age_reads_differently() {
    let mut state = busy();
    press(&mut state, "5");
    assert!(!update(&mut state, Message::Tick(Millis(NOW.0 + 1000))).redraw);
    assert!(update(&mut state, Message::Tick(Millis(NOW.0 + 61_000))).redraw);
    press(&mut state, "6");
    assert!(!update(&mut state, Message::Tick(Millis(NOW.0 + 190_000))).redraw, "costs have no age");
}

#[test]
fn the_clock_also_draws_when_the_detail_reads_differently() {
    let mut state = busy();
    let mut changed = worker("opus-1", "running", "healthy", &[], 45);
    changed["status"] = json!({"status": "active", "last_update": Millis(NOW.0 - 10_000)});
    update(&mut state, worker_event(changed));
    press(&mut state, "5");
    assert!(update(&mut state, Message::Tick(Millis(NOW.0 + 1000))).redraw);
    press(&mut state, "j");
    assert!(!update(&mut state, Message::Tick(Millis(NOW.0 + 2000))).redraw, "another row is selected");
}

#[test]
fn a_server_that_comes_back_is_asked_for_everything() {
    let mut state = busy();
    update(&mut state, Message::Away("refused".to_owned()));
    update(&mut state, Message::Tick(Millis(NOW.0 + 5000)));
    update(&mut state, Message::Away("still refused".to_owned()));
    assert_eq!(state.link, Link::Away { since: NOW, why: "refused".to_owned() }, "since the first time");
    assert!(!state.data.attempts.rows().is_empty(), "what was known is still shown");
    let outcome = update(&mut state, Message::Up);
    for topic in Topic::ALL {
        assert!(outcome.effects.contains(&Effect::Load(topic)), "{topic:?}");
    }
    assert_eq!(state.link, Link::Up);
}

#[test]
fn a_list_that_is_not_served_differs_from_an_empty_one() {
    let mut state = empty();
    update(&mut state, Message::Failed(Topic::Workers, Error::new(Kind::NotServed, "")));
    press(&mut state, "5");
    assert!(table(&state).empty.contains("does not serve"));
    update(&mut state, Message::Loaded(Box::new(Loaded::Workers(vec![]))));
    assert!(table(&state).empty.contains("No worker"));
    assert_eq!(state.notice, None);
}

#[test]
fn a_refusal_is_shown_in_the_servers_words() {
    let mut state = busy();
    let effects = press(&mut state, "2my");
    assert_eq!(state.pending, 1);
    let call = effects.into_iter().find_map(|effect| match effect {
        Effect::Call(call) => Some(call),
        _ => None,
    });
    let refusal = Err(Error::new(Kind::Refused, "there are conflicts in a.rs").hint("resolve them"));
    update(&mut state, Message::Done(call.expect("a call"), refusal));
    let notice = state.notice.clone().expect("a notice");
    assert_eq!((notice.is_bad, notice.text.as_str()), (true, "there are conflicts in a.rs"));
    assert_eq!(notice.hint.as_deref(), Some("resolve them"));
    assert_eq!(state.pending, 0);
}

#[test]
fn keys_in_a_line_are_text_and_a_paste_is_typed() {
    let mut state = busy();
    press(&mut state, "/q");
    update(&mut state, Message::Paste("uit\n".to_owned()));
    let Some(Overlay::Ask { field, purpose, .. }) = &state.overlay else { panic!("{:?}", state.overlay) };
    assert_eq!((field.text(), purpose), ("quit", &Purpose::Filter));
}

#[test]
fn a_log_is_scrolled_no_further_than_it_is_long_and_comes_back_at_once() {
    let mut state = busy();
    press(&mut state, "2");
    fixture::fill_log(&mut state, RUNNING);
    press(&mut state, "KKKKKKKKKK");
    assert_eq!(state.log.scroll, 6);
    press(&mut state, "JJ");
    assert_eq!(state.log.scroll, 0);
}

#[test]
fn what_sends_no_events_is_read_again_when_it_is_opened() {
    let mut state = busy();
    assert_eq!(press(&mut state, "4"), [Effect::Load(Topic::Beads)]);
    assert_eq!(press(&mut state, "5"), [Effect::Load(Topic::Workers), Effect::Load(Topic::Means)]);
}

#[test]
fn an_unmanaged_worker_can_only_be_viewed_and_adopted() {
    let mut state = busy();
    assert_eq!(calls(&press(&mut state, "5jjjsyXyryzb")), []);
    assert!(
        state.notice.as_ref().is_some_and(|notice| notice.text.contains("press a to adopt it")),
        "{:?}",
        state.notice
    );
    assert_eq!(state.overlay, None);
    assert_eq!(calls(&press(&mut state, "a")), [], "not before the yes");
    assert_eq!(calls(&press(&mut state, "y"))[0].0, "/api/workers/claude-code-sonnet-bravo/adopt");
}

#[test]
fn workers_end_only_after_a_yes_and_what_has_ended_is_not_ended_again() {
    let mut state = busy();
    for (keys, verb) in [("5X", "kill"), ("s", "stop")] {
        assert_eq!(calls(&press(&mut state, keys)), []);
        assert_eq!(calls(&press(&mut state, "y"))[0].0, format!("/api/workers/opus-1/{verb}"));
    }
    assert_eq!(calls(&press(&mut state, "dy")), [], "it runs");
    assert_eq!(calls(&press(&mut state, "GsyXyzi")), [], "haiku-2 has ended");
    let effects = press(&mut state, "dy");
    let forgets = effects.iter().any(|effect| {
        matches!(effect, Effect::Call(call)
        if call.method == Method::DELETE && call.path == "/api/workers/haiku-2")
    });
    assert!(forgets, "{effects:?}");
}

#[test]
fn a_worker_gets_another_bead_of_its_folder_after_a_yes() {
    let mut state = busy();
    press(&mut state, "5b");
    let Some(Overlay::Form(form)) = &state.overlay else { panic!("{:?}", state.overlay) };
    let names: Vec<_> = form.fields[0].choices.iter().collect();
    assert_eq!(names, ["shop-13", "shop-15"], "only what is ready");
    update(&mut state, Message::Key(KeyEvent::new(KeyCode::Right, KeyModifiers::NONE)));
    assert_eq!(calls(&press(&mut state, "\n")), []);
    let effects = press(&mut state, "y");
    assert_eq!(calls(&effects), [("/api/workers/opus-1/reassign", json!({"bead": "shop-15"}))]);
}

#[test]
fn a_worker_is_started_by_a_form_that_knows_what_there_is() {
    let mut state = busy();
    press(&mut state, "5ndo");
    update(&mut state, Message::Key(KeyEvent::new(KeyCode::Char('n'), KeyModifiers::CONTROL)));
    assert_eq!(calls(&press(&mut state, "\nw-1\n\n\n\n\n\n")), []);
    let Some(Overlay::Form(form)) = &state.overlay else { panic!("{:?}", state.overlay) };
    assert_eq!(form.complaint.as_deref(), Some("enter the folder that it works in"));
    assert_eq!(form.fields[form.focus].slot, Slot::Workspace);
    press(&mut state, "/work/shop\n\n");
    let Some(Overlay::Confirm { question, .. }) = &state.overlay else { panic!("{:?}", state.overlay) };
    let said =
        "Start worker w-1 as door with scripted model none in /work/shop? Running the agent costs money.";
    assert_eq!(question, said);
    let effects = press(&mut state, "y");
    let body = json!({"definition": "door", "id": "w-1", "workspace": "/work/shop"});
    assert_eq!(calls(&effects), [("/api/workers", body)]);
}

#[test]
fn beads_are_taken_given_back_closed_with_a_reason_and_made_more_urgent() {
    let project = state_project();
    let mut state = busy();
    assert_eq!(
        calls(&press(&mut state, "4c")),
        [("/api/beads/shop-13/claim", json!({"project_id": project}))]
    );
    assert_eq!(calls(&press(&mut state, "+")), [], "nothing is more urgent than P0");
    let lowered = press(&mut state, "-");
    assert_eq!(calls(&lowered), [("/api/beads/shop-13", json!({"project_id": project, "priority": 1}))]);
    assert_eq!(calls(&press(&mut state, "x\n")), [], "without a reason it stays open");
    let closed = json!({"project_id": project, "reason": "no longer sold"});
    assert_eq!(calls(&press(&mut state, "xno longer sold\n")), [("/api/beads/shop-13/close", closed)]);
    assert_eq!(calls(&press(&mut state, "jjr")), [], "somebody has it");
    assert_eq!(calls(&press(&mut state, "y"))[0].0, "/api/beads/shop-12/release");
    assert_eq!(calls(&press(&mut state, "Gcx")), [], "what is closed stays so");
}

fn state_project() -> String {
    busy().data.projects.rows()[0].id.to_string()
}

#[test]
fn a_bead_is_created_by_a_form() {
    let mut state = busy();
    press(&mut state, "4nMend the roof\n\n");
    update(&mut state, Message::Key(KeyEvent::new(KeyCode::Right, KeyModifiers::NONE)));
    let effects = press(&mut state, "\n\nshop-13\n");
    let body = json!({
        "project_id": state_project(), "title": "Mend the roof", "issue_type": "bug", "priority": 2,
        "depends_on": ["shop-13"],
    });
    assert_eq!(calls(&effects), [("/api/beads", body)]);
}

#[test]
fn a_bead_that_changes_hands_is_read_again() {
    let mut state = busy();
    let mut done = worker("opus-1", "running", "healthy", &[], 45);
    done["bead"] = Value::Null;
    assert_eq!(update(&mut state, worker_event(done)).effects, [Effect::Load(Topic::Beads)]);
}

#[test]
fn the_bell_rings_when_an_alert_becomes_more_severe() {
    let mut state = busy();
    let warned = state.data.alerts.rows().iter().find(|alert| alert.severity == Severity::Warning).unwrap();
    let mut news = Alert { resolved_at: None, ..warned.clone() };
    let mut rings = |news: &Alert| {
        let outcome = update(&mut state, Message::Event(Event::Alert(Box::new(news.clone()))));
        outcome.effects.contains(&Effect::Ring)
    };
    assert!(!rings(&news));
    news.severity = Severity::Critical;
    assert!(rings(&news) && !rings(&news), "once");
}

#[test]
fn after_an_action_the_next_key_means_the_same_row() {
    let mut state = busy();
    press(&mut state, "4");
    let before = selected(&state);
    press(&mut state, "c");
    let mut beads = state.data.beads.rows().to_vec();
    // The server answers with another order.
    beads.reverse();
    update(&mut state, Message::Loaded(Box::new(Loaded::Beads(beads))));
    assert!(before.is_some() && selected(&state) == before);
}

#[test]
fn a_log_that_was_scrolled_back_stands_still_while_it_grows() {
    let mut state = busy();
    press(&mut state, "2");
    fixture::fill_log(&mut state, RUNNING);
    press(&mut state, "K");
    let before = state.log.scroll;
    assert!(before > 0);
    let say = |place: usize, text: &str| {
        let entry = fixture::entry(json!({"type": "assistant_message"}), text);
        let entries = vec![((0, place), entry)];
        Message::Log(RUNNING.parse().unwrap(), LogNews::Entries(entries))
    };
    update(&mut state, say(3, "one\ntwo"));
    assert_eq!(state.log.scroll, before + 2, "two rows came below");
    update(&mut state, say(3, "one\ntwo\nthree"));
    assert_eq!(state.log.scroll, before + 3, "the last one grew");
    update(&mut state, say(0, "Fix the login\nand the docs"));
    assert_eq!(state.log.scroll, before + 3, "what is above changes nothing below");
}

#[test]
fn items_that_only_a_newer_forge_knows_are_mentioned_and_the_others_shown() {
    let mut state = busy();
    update(&mut state, Message::LeftOut(Topic::Workers, 2));
    let notice = state.notice.clone().expect("a notice");
    assert!(notice.is_bad && notice.text.starts_with("Workers: left out 2 items"), "{notice:?}");
    assert_eq!(state.data.workers.rows().len(), 5);
}

#[test]
fn what_cannot_be_sent_is_said_at_its_field() {
    let wrong = |keys: &str| {
        let mut state = busy();
        assert_eq!(calls(&press(&mut state, keys)), []);
        let Some(Overlay::Form(form)) = state.overlay else { panic!("{:?}", state.overlay) };
        (form.fields[form.focus].slot, form.complaint.unwrap_or_default())
    };
    let (slot, why) = wrong("3nFix it\n\nX\n");
    assert!(slot == Slot::Agent && why.contains("CLAUDE_CODEX"), "{why}");
    let (slot, why) = wrong("5n\n-w\nscripted\n\n\n/work/shop\n\n");
    assert!(slot == Slot::Id && why.contains("`-w` is not a worker id"), "{why}");
}
