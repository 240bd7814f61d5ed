//! `issues.jsonl`: what is read, what is refused, and that nothing is lost.

use forge_fleet::beads::{Bead, CommentId, Filter, ProblemKind, ReadyPolicy, Snapshot, Status};
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::fixture::data;

fn values(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn problem(text: &str) -> (usize, ProblemKind) {
    let problem = Snapshot::parse(text.as_bytes()).unwrap_err();
    (problem.line, problem.kind)
}

#[test]
fn recorded_files_come_back_as_they_were() {
    for name in ["br-0.7.6-issues.jsonl", "bd-0.21.5-issues.jsonl", "semantics-input.jsonl"] {
        let text = data(name);
        let snapshot = Snapshot::parse(text.as_bytes()).unwrap();
        let written: Vec<Value> =
            snapshot.beads().iter().map(|bead| serde_json::to_value(bead).unwrap()).collect();
        assert_eq!(written, values(&text), "{name}");
    }
}

#[test]
fn known_fields_have_their_types() {
    let snapshot = Snapshot::parse(data("br-0.7.6-issues.jsonl").as_bytes()).unwrap();
    let bead = snapshot.get("fg-d8s").unwrap();
    assert_eq!((bead.title.as_str(), bead.priority(), bead.status()), ("Design schema", 1, &Status::Closed));
    assert_eq!(bead.assignee(), Some("worker-bravo"));
    assert_eq!(bead.closed_at.as_ref().unwrap().text(), "2026-11-15T20:05:30.890570591Z");
    assert_eq!(bead.closed_at.as_ref().unwrap().at(), "2026-11-15T20:05:30.890570591Z".parse().ok());
    assert_eq!(bead.comments[0].id, CommentId::Number(1));
    assert_eq!(bead.rest["compaction_level"], 0);
    assert_eq!(snapshot.get("fg-44k").unwrap().dependencies[0].depends_on_id, "fg-d8s");
    assert_eq!(snapshot.get("fg-u0v").unwrap().labels, ["backend", "triaged", "urgent"]);
}

#[test]
fn what_is_absent_has_its_default() {
    let bead: Bead = serde_json::from_value(json!({ "id": "f-a", "assignee": "" })).unwrap();
    assert_eq!((bead.status(), bead.issue_type(), bead.priority()), (&Status::Open, "task", 0));
    assert_eq!(bead.assignee(), None);
}

#[test]
fn ids_of_comments_are_numbers_or_text() {
    let comment = |id: Value| json!({ "id": id, "issue_id": "f-a", "author": "me", "text": "x" });
    let record = json!({ "id": "f-a", "comments": [comment(json!(7)), comment(json!("0190-ab"))] });
    let bead: Bead = serde_json::from_value(record.clone()).unwrap();
    assert_eq!(bead.comments[0].id, CommentId::Number(7));
    assert_eq!(bead.comments[1].id, CommentId::Text("0190-ab".to_owned()));
    assert_eq!(serde_json::to_value(&bead).unwrap(), record);
}

#[test]
fn what_is_not_an_issue_is_passed_over() {
    let text = "\u{feff}{\"_type\":\"memory\",\"key\":\"k\",\"value\":\"v\"}\n\n{\"_type\":\"issue\",\"id\":\"f-a\"}\r\n";
    let snapshot = Snapshot::parse(text.as_bytes()).unwrap();
    assert_eq!(snapshot.beads().len(), 1);
    assert_eq!(snapshot.get("f-a").unwrap().rest["_type"], "issue");
}

#[test]
fn of_two_records_with_one_id_the_later_holds() {
    let text = "{\"id\":\"f-a\",\"title\":\"old\"}\n{\"id\":\"f-b\"}\n{\"id\":\"f-a\",\"title\":\"new\"}\n";
    let snapshot = Snapshot::parse(text.as_bytes()).unwrap();
    assert_eq!((snapshot.beads().len(), snapshot.get("f-a").unwrap().title.as_str()), (2, "new"));
}

#[test]
fn an_unfinished_merge_is_reported_with_its_line() {
    let text = "{\"id\":\"f-a\"}\n<<<<<<< HEAD\n{\"id\":\"f-b\"}\n=======\n{\"id\":\"f-c\"}\n>>>>>>> x\n";
    assert_eq!(problem(text), (2, ProblemKind::Conflicted));
}

#[test]
fn a_cut_off_record_differs_from_a_broken_one() {
    assert_eq!(problem("{\"id\":\"f-a\"}\n{\"id\":\"f-"), (2, ProblemKind::HalfWritten));
    assert!(matches!(problem("{\"id\":\"f-a\"}\n{\"id\":\"f-\n"), (2, ProblemKind::NotJson(_))));
    assert!(matches!(problem("{\"id\":\"f-\n{\"id\":\"f-a\"}\n"), (1, ProblemKind::NotJson(_))));
}

#[test]
fn a_record_that_could_hide_a_blocker_is_not_passed_over() {
    for record in [
        json!([]),
        json!({ "title": "x" }),
        json!({ "id": 7 }),
        json!({ "id": "f-a", "dependencies": "f-b" }),
        json!({ "id": "f-a", "dependencies": ["f-b"] }),
        json!({ "id": "f-a", "dependencies": [{ "type": "blocks" }] }),
    ] {
        assert!(matches!(problem(&format!("{record}\n")), (1, ProblemKind::NotABead(_))), "{record}");
    }
}

#[test]
fn ready_is_what_br_calls_ready() {
    let snapshot = Snapshot::parse(data("semantics-input.jsonl").as_bytes()).unwrap();
    let now = "2026-11-16T00:00:00Z".parse().unwrap();
    let ready = ReadyPolicy::BR.ready(&snapshot, &Filter::default(), now);
    let ready: Vec<&str> = ready.iter().map(|bead| bead.id.as_str()).collect();
    let golden: Vec<Bead> = serde_json::from_str(&data("semantics-br-0.7.6-ready.json")).unwrap();
    let golden: Vec<&str> = golden.iter().map(|bead| bead.id.as_str()).collect();
    assert_eq!(ready, golden);
}

/// The file was kept a little later: one of the ready beads was deleted since, and others were made.
#[test]
fn ready_has_the_order_of_classic_bd() {
    let commands = values(&data("bd-0.21.5-commands.jsonl"));
    let golden = commands.iter().find(|record| record["case"] == "48-ready-deferred").unwrap();
    let golden: Vec<Bead> = serde_json::from_str(golden["out"].as_str().unwrap()).unwrap();
    let golden: Vec<&str> =
        golden.iter().map(|bead| bead.id.as_str()).filter(|id| *id != "fg-36dd").collect();
    let snapshot = Snapshot::parse(data("bd-0.21.5-issues.jsonl").as_bytes()).unwrap();
    let now = "2026-11-16T00:00:00Z".parse().unwrap();
    let ready = ReadyPolicy::CLASSIC_BD.ready(&snapshot, &Filter::default(), now);
    let ready: Vec<&str> = ready.iter().map(|bead| bead.id.as_str()).filter(|id| *id != "fg-51b1").collect();
    assert_eq!(ready, golden);
}

/// Any JSON value, a few levels deep.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_filter("JSON has no other", |n| n.is_finite()).prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z_]{1,8}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Known names with any value, of the right kind or not, and unknown names.
fn any_record() -> impl Strategy<Value = Value> {
    const KNOWN: &[&str] = &[
        "title",
        "description",
        "design",
        "notes",
        "status",
        "priority",
        "issue_type",
        "assignee",
        "owner",
        "estimated_minutes",
        "created_at",
        "updated_at",
        "closed_at",
        "defer_until",
        "close_reason",
        "pinned",
        "ephemeral",
        "is_template",
        "labels",
        "comments",
        "metadata",
    ];
    let name = prop_oneof![prop::sample::select(KNOWN).prop_map(str::to_owned), "[a-z_]{1,10}"];
    let fields = prop::collection::btree_map(name, any_value(), 0..12);
    let labels = prop::option::of(prop::collection::vec("[a-z]{0,5}", 0..3));
    let comment = (any::<i64>(), any_value())
        .prop_map(|(id, extra)| json!({ "id": id, "author": "a", "text": "t", "extra": extra }));
    let comments = prop::option::of(prop::collection::vec(comment, 0..3));
    let edge = ("[a-z]{1,5}", prop::option::of("[a-z_-]{0,9}"), any_value()).prop_map(|(on, kind, extra)| {
        let mut edge = json!({ "depends_on_id": on, "issue_id": "f-a", "extra": extra });
        if let Some(kind) = kind {
            edge["type"] = kind.into();
        }
        edge
    });
    let edges = prop::option::of(prop::collection::vec(edge, 0..4));
    (fields, labels, comments, edges).prop_map(|(fields, labels, comments, edges)| {
        let mut record = Value::Object(fields.into_iter().collect());
        record["id"] = "f-a".into();
        record.as_object_mut().unwrap().remove("_type");
        record.as_object_mut().unwrap().remove("dependencies");
        for (name, list) in [("labels", labels.map(Value::from)), ("comments", comments.map(Value::from))] {
            if let Some(list) = list {
                record[name] = list;
            }
        }
        if let Some(edges) = edges {
            record["dependencies"] = edges.into();
        }
        record
    })
}

proptest! {
    #[test]
    fn no_field_of_a_record_is_ever_lost(record in any_record()) {
        let snapshot = Snapshot::parse(format!("{record}\n").as_bytes()).unwrap();
        prop_assert_eq!(serde_json::to_value(snapshot.get("f-a").unwrap()).unwrap(), record);
    }
}
