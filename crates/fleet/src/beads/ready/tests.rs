use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::*;

const NOW: &str = "2026-11-16T00:00:00Z";

fn now() -> Timestamp {
    NOW.parse().unwrap()
}

/// A workspace of records; what is not given is what a tool writes by default.
fn snapshot(records: Value) -> Snapshot {
    let mut text = String::new();
    for record in records.as_array().unwrap() {
        let mut full = json!({ "status": "open", "priority": 2, "created_at": "2026-11-01T00:00:00Z" });
        full.as_object_mut().unwrap().extend(record.as_object().unwrap().clone());
        text += &format!("{full}\n");
    }
    Snapshot::parse(text.as_bytes()).unwrap()
}

fn on(id: &str, kind: &str) -> Value {
    json!([{ "depends_on_id": id, "type": kind }])
}

fn ready(policy: &ReadyPolicy, records: Value) -> Vec<String> {
    let snapshot = snapshot(records);
    let mut ids: Vec<String> =
        policy.ready(&snapshot, &Filter::default(), now()).iter().map(|bead| bead.id.clone()).collect();
    ids.sort();
    ids
}

/// What each tool calls ready of the same records.
#[track_caller]
fn assert_ready(records: Value, by_bd: &[&str], by_br: &[&str]) {
    assert_eq!(ready(&ReadyPolicy::BD, records.clone()), by_bd, "bd");
    assert_eq!(ready(&ReadyPolicy::BR, records), by_br, "br");
}

#[test]
fn an_open_blocker_blocks_and_a_closed_one_does_not() {
    for kind in ["blocks", "conditional-blocks"] {
        let records = |status: &str| {
            json!([
                { "id": "f-a", "status": status }, { "id": "f-b", "dependencies": on("f-a", kind) },
            ])
        };
        for status in ["in_progress", "blocked", "deferred", "hooked", "review"] {
            assert_ready(records(status), &[], &[]);
        }
        assert_ready(records("open"), &["f-a"], &["f-a"]);
        assert_ready(records("closed"), &["f-b"], &["f-b"]);
    }
}

#[test]
fn a_missing_blocker_blocks_nothing() {
    assert_ready(json!([{ "id": "f-b", "dependencies": on("f-gone", "blocks") }]), &["f-b"], &["f-b"]);
}

#[test]
fn a_blocker_in_another_project_blocks_only_in_br() {
    let records = json!([{ "id": "f-b", "dependencies": on("external:api:login", "blocks") }]);
    assert_ready(records, &["f-b"], &[]);
}

#[test]
fn a_pinned_blocker_blocks_only_in_br() {
    let records =
        json!([{ "id": "f-a", "status": "pinned" }, { "id": "f-b", "dependencies": on("f-a", "blocks") }]);
    assert_ready(records, &["f-b"], &[]);
}

#[test]
fn a_deleted_blocker_blocks_nothing() {
    let records =
        json!([{ "id": "f-a", "status": "tombstone" }, { "id": "f-b", "dependencies": on("f-a", "blocks") }]);
    assert_ready(records, &["f-b"], &["f-b"]);
}

#[test]
fn waiting_for_a_bead_means_its_children_in_bd_and_itself_in_br() {
    let records = |target: &str, child: &str| {
        json!([
            { "id": "f-s", "status": target },
            { "id": "f-s.1", "status": child, "dependencies": on("f-s", "parent-child") },
            { "id": "f-w", "dependencies": on("f-s", "waits-for") },
        ])
    };
    assert_ready(records("in_progress", "closed"), &["f-w"], &[]);
    assert_ready(records("closed", "in_progress"), &[], &["f-w"]);
    assert_ready(records("closed", "pinned"), &["f-w"], &["f-w"]);
}

#[test]
fn a_gate_for_any_child_opens_with_the_first_one() {
    let records = |gate: &str| {
        json!([
            { "id": "f-s", "status": "in_progress" },
            { "id": "f-s.1", "status": "closed", "dependencies": on("f-s", "parent-child") },
            { "id": "f-s.2", "status": "in_progress", "dependencies": on("f-s", "parent-child") },
            { "id": "f-w", "dependencies": [
                { "depends_on_id": "f-s", "type": "waits-for", "metadata": json!({ "gate": gate }).to_string() },
            ] },
        ])
    };
    assert_ready(records("any-children"), &["f-w"], &[]);
    assert_ready(records("all-children"), &[], &[]);
}

#[test]
fn an_epic_waits_for_its_children_only_in_br() {
    let records = |child: &str| {
        json!([
            { "id": "f-e", "issue_type": "epic" },
            { "id": "f-e.1", "status": child, "dependencies": on("f-e", "parent-child") },
        ])
    };
    assert_ready(records("open"), &["f-e", "f-e.1"], &["f-e.1"]);
    assert_ready(records("in_progress"), &["f-e"], &[]);
    assert_ready(records("closed"), &["f-e"], &["f-e"]);
}

#[test]
fn a_parent_with_a_date_hides_its_children_only_in_bd() {
    let records = |date: &str| {
        json!([
            { "id": "f-p", "defer_until": date }, { "id": "f-p.1", "dependencies": on("f-p", "parent-child") },
        ])
    };
    assert_ready(records("2099-01-01T00:00:00Z"), &[], &["f-p.1"]);
    assert_ready(records(NOW), &["f-p", "f-p.1"], &["f-p", "f-p.1"]);
}

#[test]
fn types_that_are_no_work_are_hidden_only_in_bd() {
    for kind in ["merge-request", "gate", "molecule", "message", "agent", "role", "rig"] {
        assert_ready(json!([{ "id": "f-a", "issue_type": kind }]), &[], &["f-a"]);
    }
}

#[test]
fn an_assigned_open_bead_is_listed() {
    assert_ready(json!([{ "id": "f-a", "assignee": "w9" }]), &["f-a"], &["f-a"]);
}

#[test]
fn all_below_a_blocked_parent_are_hidden() {
    let records = |blocker: &str| {
        json!([
            { "id": "f-x", "status": blocker },
            { "id": "f-e", "dependencies": on("f-x", "blocks") },
            { "id": "f-e.1", "dependencies": on("f-e", "parent-child") },
            { "id": "f-e.1.1", "dependencies": on("f-e.1", "parent-child") },
        ])
    };
    assert_ready(records("in_progress"), &[], &[]);
    assert_ready(records("closed"), &["f-e", "f-e.1", "f-e.1.1"], &["f-e", "f-e.1", "f-e.1.1"]);
}

#[test]
fn a_closed_parent_passes_nothing_down() {
    let records = json!([
        { "id": "f-x", "status": "in_progress" },
        { "id": "f-e", "status": "closed", "dependencies": on("f-x", "blocks") },
        { "id": "f-e.1", "dependencies": on("f-e", "parent-child") },
    ]);
    assert_ready(records, &["f-e.1"], &["f-e.1"]);
}

#[test]
fn the_other_spelling_of_parent_child_counts_only_in_br() {
    let records = json!([
        { "id": "f-x", "status": "in_progress" },
        { "id": "f-e", "dependencies": on("f-x", "blocks") },
        { "id": "f-e.1", "dependencies": on("f-e", "parent_child") },
    ]);
    assert_ready(records, &["f-e.1"], &[]);
}

#[test]
fn other_kinds_of_edges_never_block() {
    for kind in ["related", "discovered-from", "tracks", "duplicates", "something-new"] {
        let records = json!([{ "id": "f-a" }, { "id": "f-b", "dependencies": on("f-a", kind) }]);
        assert_ready(records, &["f-a", "f-b"], &["f-a", "f-b"]);
    }
}

#[test]
fn only_open_beads_that_are_work_are_ready() {
    for status in
        ["in_progress", "blocked", "deferred", "closed", "pinned", "hooked", "draft", "tombstone", "review"]
    {
        assert_ready(json!([{ "id": "f-a", "status": status }]), &[], &[]);
    }
    for flag in ["pinned", "ephemeral"] {
        assert_ready(json!([{ "id": "f-a", flag: true }]), &[], &[]);
    }
    assert_ready(json!([{ "id": "f-a", "is_template": true }]), &["f-a"], &[]);
    assert_ready(json!([{ "id": "f-wisp-a" }]), &["f-wisp-a"], &[]);
    assert_ready(json!([{ "id": "f-a", "defer_until": "2099-01-01T00:00:00Z" }]), &[], &[]);
}

#[test]
fn what_keeps_a_bead_is_told() {
    let snapshot = snapshot(json!([
        { "id": "f-a" },
        { "id": "f-b", "dependencies": on("f-a", "blocks") },
        { "id": "f-b.1", "dependencies": on("f-b", "parent-child") },
        { "id": "f-e", "issue_type": "epic" },
        { "id": "f-e.1", "dependencies": on("f-e", "parent-child") },
        { "id": "f-d", "defer_until": "2099-01-01T00:00:00Z" },
        { "id": "f-c", "status": "closed" },
        { "id": "f-t", "is_template": true },
    ]));
    let expected = [
        Standing::Ready,
        Standing::Blocked(vec!["f-a".to_owned()]),
        Standing::ParentBlocked("f-b".to_owned()),
        Standing::OpenChildren(vec!["f-e.1".to_owned()]),
        Standing::Ready,
        Standing::Deferred,
        Standing::NotOpen,
        Standing::Hidden,
    ];
    assert_eq!(ReadyPolicy::BR.standings(&snapshot, now()), expected);
}

#[test]
fn each_tool_has_its_order() {
    let records = json!([
        { "id": "f-old2", "priority": 2, "created_at": "2026-11-01T00:00:00Z" },
        { "id": "f-new2", "priority": 2, "created_at": "2026-11-02T00:00:00+01:00" },
        { "id": "f-p3", "priority": 3, "created_at": "2026-10-01T00:00:00Z" },
        { "id": "f-p0", "priority": 0, "created_at": "2026-11-09T00:00:00Z" },
        { "id": "f-p1", "priority": 1, "created_at": "2026-11-08T00:00:00Z" },
        { "id": "f-p1b", "priority": 1, "created_at": "2026-11-08T00:00:00Z" },
    ]);
    let snapshot = snapshot(records);
    let order = |policy: &ReadyPolicy| {
        let ready = policy.ready(&snapshot, &Filter::default(), now());
        ready.iter().map(|bead| bead.id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(order(&ReadyPolicy::BD), ["f-p0", "f-p1", "f-p1b", "f-new2", "f-old2", "f-p3"]);
    assert_eq!(order(&ReadyPolicy::BR), ["f-p1", "f-p1b", "f-p0", "f-p3", "f-old2", "f-new2"]);
}

#[test]
fn a_filter_takes_what_fits() {
    let snapshot = snapshot(json!([
        { "id": "f-a", "assignee": "me", "labels": ["x", "y"], "priority": 1 },
        { "id": "f-b", "assignee": "", "labels": ["x"], "issue_type": "bug" },
        { "id": "f-c", "priority": 4 },
    ]));
    let ids = |filter: Filter| {
        let ready = ReadyPolicy::BR.ready(&snapshot, &filter, now());
        ready.iter().map(|bead| bead.id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(ids(Filter { unassigned: true, ..Filter::default() }), ["f-b", "f-c"]);
    assert_eq!(ids(Filter { assignee: Some("me".into()), ..Filter::default() }), ["f-a"]);
    assert_eq!(ids(Filter { labels: vec!["x".into()], ..Filter::default() }), ["f-a", "f-b"]);
    assert_eq!(ids(Filter { labels: vec!["x".into(), "y".into()], ..Filter::default() }), ["f-a"]);
    assert_eq!(ids(Filter { types: vec!["bug".into(), "docs".into()], ..Filter::default() }), ["f-b"]);
    assert_eq!(ids(Filter { max_priority: Some(2), ..Filter::default() }), ["f-a", "f-b"]);
    assert_eq!(ids(Filter { limit: Some(1), ..Filter::default() }), ["f-a"]);
}

/// Ten thousand beads in the shapes that tempt to look twice: a deep line of parents, a crowd of children under one
/// parent, many that wait for the same bead, and a ring.
#[test]
fn the_work_grows_with_the_edges() {
    let mut records = vec![json!({ "id": "f-root", "status": "in_progress" })];
    for n in 0..2_500 {
        let parent = if n == 0 { "f-root".to_owned() } else { format!("f-deep{}", n - 1) };
        records.push(json!({ "id": format!("f-deep{n}"), "dependencies": [
            { "depends_on_id": parent, "type": "parent-child" }, { "depends_on_id": "f-root", "type": "blocks" },
        ] }));
        records.push(json!({ "id": format!("f-child{n}"), "dependencies": on("f-root", "parent-child") }));
        records.push(json!({ "id": format!("f-wait{n}"), "dependencies": on("f-root", "waits-for") }));
        let next = format!("f-ring{}", (n + 1) % 2_500);
        records.push(json!({ "id": format!("f-ring{n}"), "dependencies": [
            { "depends_on_id": next, "type": "blocks" }, { "depends_on_id": next, "type": "parent-child" },
        ] }));
    }
    let snapshot = snapshot(records.into());
    assert_eq!(snapshot.beads().len(), 10_001);
    let edges: usize = snapshot.beads().iter().map(|bead| bead.dependencies.len()).sum();
    for policy in [&ReadyPolicy::BD, &ReadyPolicy::BR] {
        let evaluation = Evaluation::new(policy, &snapshot);
        let standings = evaluation.standings(now());
        assert!(standings.contains(&Standing::Ready));
        assert!(evaluation.steps.get() >= edges && evaluation.steps.get() <= 2 * edges);
    }
}
