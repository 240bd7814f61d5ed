//! Forge's own writer, where there is no program.

use forge_fleet::beads::{
    BeadsError, Change, Claim, Close, Filter, Linked, NewBead, Release, Status, Store, Unlinked,
};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::fixture::Project;

const ME: &str = "forge/host/w1/r1";
const OTHER: &str = "forge/host/w2/r2";

fn open(id: &str) -> Value {
    json!({ "id": id, "title": id, "status": "open", "priority": 2, "created_at": "2026-11-01T00:00:00Z" })
}

fn with(mut record: Value, name: &str, value: Value) -> Value {
    record[name] = value;
    record
}

fn on(id: &str, kind: &str) -> Value {
    json!([{ "depends_on_id": id, "type": kind }])
}

async fn ready(store: &Store) -> Vec<String> {
    store.ready(&Filter::default()).await.unwrap().into_iter().map(|bead| bead.id).collect()
}

#[tokio::test]
async fn a_bead_goes_from_claim_to_close() {
    let project = Project::new(&[open("f-a"), with(open("f-b"), "dependencies", on("f-a", "blocks"))]);
    let store = project.open().await;
    assert_eq!(ready(&store).await, ["f-a"]);
    assert!(matches!(store.claim("f-a", ME).await, Claim::Won(bead) if bead.assignee() == Some(ME)));
    assert_eq!(project.record("f-a")["status"], "in_progress");
    assert!(ready(&store).await.is_empty());
    let closed = store.close("f-a", ME, "merged in abc123").await.unwrap();
    assert!(matches!(closed, Close::Closed(bead) if bead.closed_at.is_some()));
    let record = project.record("f-a");
    assert_eq!((&record["close_reason"], &record["assignee"]), (&json!("merged in abc123"), &json!(ME)));
    assert_eq!(ready(&store).await, ["f-b"]);
    assert!(matches!(store.close("f-a", ME, "again").await.unwrap(), Close::AlreadyClosed));
    assert_eq!(project.record("f-a"), record);
}

#[tokio::test]
async fn an_impossible_claim_is_reported_and_changes_nothing() {
    let project = Project::new(&[
        with(open("f-taken"), "assignee", json!(OTHER)),
        with(open("f-closed"), "status", json!("closed")),
        with(open("f-late"), "defer_until", json!("2099-01-01T00:00:00Z")),
        with(open("f-blocked"), "dependencies", on("f-taken", "blocks")),
        with(open("f-gone"), "status", json!("tombstone")),
    ]);
    let store = project.open().await;
    let before = project.read("issues.jsonl");
    assert!(matches!(store.claim("f-taken", ME).await, Claim::AlreadyClaimed { by } if by == OTHER));
    assert!(matches!(store.claim("f-closed", ME).await, Claim::NotClaimable { status: Status::Closed }));
    assert!(matches!(store.claim("f-late", ME).await, Claim::NotClaimable { status: Status::Deferred }));
    assert!(matches!(store.claim("f-blocked", ME).await, Claim::Blocked { by } if by == ["f-taken"]));
    for id in ["f-gone", "f-never"] {
        assert!(matches!(store.claim(id, ME).await, Claim::Fatal(BeadsError::NoSuchBead { .. })));
    }
    assert!(matches!(
        store.claim("f-taken", " ").await,
        Claim::Fatal(BeadsError::Invalid { name: "actor", .. })
    ));
    assert_eq!(project.read("issues.jsonl"), before);
}

#[tokio::test]
async fn the_same_actor_may_claim_again() {
    let project = Project::new(&[open("f-a")]);
    let store = project.open().await;
    for _ in 0..2 {
        assert!(matches!(store.claim("f-a", ME).await, Claim::Won(_)));
    }
}

#[tokio::test]
async fn only_the_holder_releases_and_says_why() {
    let project = Project::new(&[open("f-a")]);
    let store = project.open().await;
    store.claim("f-a", ME).await;
    let refused = store.release("f-a", OTHER, "mine").await.unwrap();
    assert!(matches!(refused, Release::NotHeld { by: Some(by) } if by == ME));
    assert!(matches!(store.release("f-a", ME, "the worker died").await.unwrap(), Release::Released(_)));
    let record = project.record("f-a");
    assert_eq!((&record["status"], record.get("assignee")), (&json!("open"), None));
    assert_eq!(record["comments"][0]["text"], "the worker died");
    assert_eq!(record["comments"][0]["author"], ME);
    assert!(matches!(store.claim("f-a", OTHER).await, Claim::Won(_)));
}

#[tokio::test]
async fn what_others_wrote_is_kept_byte_for_byte() {
    let memory = r#"{"_type":"memory", "key":"k",  "value": 1.50}"#;
    let strange = r#"{"future":{"deep":[1,2,{"x":null}]},  "id":"f-z","labels":[],"assignee":null}"#;
    let project = Project::new(&[open("f-a")]);
    let first = with(with(open("f-a"), "metadata", json!({ "k": [1] })), "source_repo", json!("x"));
    project.write("issues.jsonl", &format!("{memory}\n{first}\n{strange}\n"));
    let store = project.open().await;
    store.claim("f-a", ME).await;
    let text = project.read("issues.jsonl");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines[0], lines[2]), (memory, strange));
    let record = project.record("f-a");
    assert_eq!((&record["metadata"], &record["source_repo"]), (&json!({ "k": [1] }), &json!("x")));
    store.claim("f-z", ME).await;
    let record = project.record("f-z");
    assert_eq!(record["future"], json!({ "deep": [1, 2, { "x": null }] }));
    assert_eq!((&record["assignee"], &record["labels"]), (&json!(ME), &json!([])));
}

#[tokio::test]
async fn a_damaged_file_is_never_written() {
    let project = Project::new(&[]);
    let damaged = format!("{}\n<<<<<<< HEAD\n", open("f-a"));
    project.write("issues.jsonl", &damaged);
    let store = project.open().await;
    let claim = store.claim("f-a", ME).await;
    assert!(matches!(claim, Claim::Fatal(BeadsError::Damaged { problem, .. }) if problem.line == 2));
    assert_eq!(project.read("issues.jsonl"), damaged);
}

#[tokio::test]
async fn a_database_that_appears_stops_the_writer() {
    let project = Project::new(&[open("f-a")]);
    let store = project.open().await;
    project.write("beads.db", "");
    assert!(matches!(store.claim("f-a", ME).await, Claim::Fatal(BeadsError::ReadOnly(_))));
    assert_eq!(project.record("f-a")["status"], "open");
}

#[tokio::test]
async fn close_is_refused_while_something_is_open() {
    let project = Project::new(&[
        open("f-a"),
        with(open("f-b"), "dependencies", on("f-a", "blocks")),
        with(open("f-e"), "issue_type", json!("epic")),
        with(open("f-e.1"), "dependencies", on("f-e", "parent-child")),
    ]);
    let store = project.open().await;
    assert!(matches!(store.close("f-b", ME, "x").await.unwrap(), Close::Refused(why) if why.contains("f-a")));
    assert!(
        matches!(store.close("f-e", ME, "x").await.unwrap(), Close::Refused(why) if why.contains("f-e.1"))
    );
    store.close("f-e.1", ME, "x").await.unwrap();
    assert!(matches!(store.close("f-e", ME, "x").await.unwrap(), Close::Closed(_)));
}

#[tokio::test]
async fn new_beads_get_ids_and_edges() {
    let project = Project::new(&[]);
    let store = project.open().await;
    let first = store.create(&NewBead::new("First"), ME).await.unwrap();
    assert!(first.id.starts_with("app-"), "the directory's name: {}", first.id);
    let mut second = NewBead::new("-second “日本”\n");
    second.dependencies = vec![("blocks".to_owned(), first.id.clone())];
    second.labels = vec!["x".to_owned()];
    let second = store.create(&second, ME).await.unwrap();
    let child = NewBead { parent: Some(second.id.clone()), ..NewBead::new("Child") };
    let child = store.create(&child, ME).await.unwrap();
    assert_eq!(child.id, format!("{}.1", second.id));
    assert_eq!(ready(&store).await, [first.id.as_str()]);
    let record = project.record(&second.id);
    assert_eq!((&record["title"], &record["created_by"]), (&json!("-second “日本”\n"), &json!(ME)));
    assert_eq!(record["dependencies"][0]["issue_id"], json!(second.id));
    project.write("config.yaml", "# kept\nissue-prefix: zz\n");
    assert!(store.create(&NewBead::new("Third"), ME).await.unwrap().id.starts_with("zz-"));
}

#[tokio::test]
async fn new_beads_go_on_with_the_prefix_that_all_have() {
    let project = Project::new(&[open("my-team-a1"), open("my-team-a1.1")]);
    let made = project.open().await.create(&NewBead::new("x"), ME).await.unwrap();
    assert!(made.id.starts_with("my-team-"), "{}", made.id);
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_by_name() {
    let project = Project::new(&[open("f-a")]);
    let store = project.open().await;
    let refusal = async |new: NewBead| store.create(&new, ME).await.unwrap_err().to_string();
    assert!(refusal(NewBead::new(" ")).await.contains("title"));
    assert!(refusal(NewBead::new("x".repeat(501))).await.contains("501"));
    assert!(refusal(NewBead { priority: 5, ..NewBead::new("x") }).await.contains("priority"));
    assert!(refusal(NewBead { labels: vec!["a,b".into()], ..NewBead::new("x") }).await.contains("label"));
    assert!(refusal(NewBead { issue_type: String::new(), ..NewBead::new("x") }).await.contains("issue_type"));
    let two_edges = NewBead { dependencies: vec![("x,f-a".into(), "f-a".into())], ..NewBead::new("x") };
    assert!(refusal(two_edges).await.contains("dependency type"));
    let on_nothing = NewBead { dependencies: vec![("blocks".into(), "f-no".into())], ..NewBead::new("x") };
    assert!(refusal(on_nothing).await.contains("f-no"));
    let closing = Change { status: Some(Status::Closed), ..Change::default() };
    assert!(matches!(
        store.update("f-a", ME, &closing).await,
        Err(BeadsError::Invalid { name: "status", .. })
    ));
    assert_eq!(project.read("issues.jsonl").lines().count(), 1);
}

#[tokio::test]
async fn edges_that_would_wait_for_ever_are_refused() {
    let project = Project::new(&[
        open("f-a"),
        open("f-b"),
        open("f-c"),
        with(open("f-e"), "issue_type", json!("epic")),
        with(open("f-e.1"), "dependencies", on("f-e", "parent-child")),
        with(open("f-e.2"), "dependencies", on("f-e", "parent-child")),
    ]);
    let store = project.open().await;
    let link = async |id: &str, on: &str, kind: &str| store.add_dep(id, on, kind, ME).await;
    assert_eq!(link("f-a", "f-b", "blocks").await.unwrap(), Linked::Added);
    assert_eq!(link("f-a", "f-b", "blocks").await.unwrap(), Linked::AlreadyThere);
    assert_eq!(link("f-b", "f-c", "blocks").await.unwrap(), Linked::Added);
    for (id, on) in [("f-a", "f-a"), ("f-c", "f-a"), ("f-b", "f-a"), ("f-e.1", "f-e"), ("f-e", "f-e.1")] {
        assert!(matches!(link(id, on, "blocks").await, Err(BeadsError::Refused(_))), "{id} on {on}");
    }
    assert!(matches!(link("f-e", "f-e.1", "parent-child").await, Err(BeadsError::Refused(_))));
    assert_eq!(link("f-c", "f-a", "related").await.unwrap(), Linked::Added);
    // Siblings may wait for each other, one way.
    assert_eq!(link("f-e.1", "f-e.2", "blocks").await.unwrap(), Linked::Added);
    assert!(matches!(link("f-e.2", "f-e.1", "blocks").await, Err(BeadsError::Refused(_))));
    assert!(
        matches!(link("f-a", "f-no", "blocks").await, Err(BeadsError::NoSuchBead { id }) if id == "f-no")
    );
    let unlink = async |id: &str, on: &str, kind| store.remove_dep(id, on, kind, ME).await.unwrap();
    assert_eq!(unlink("f-a", "f-b", Some("related")).await, Unlinked::NotThere);
    assert_eq!(unlink("f-a", "f-b", None).await, Unlinked::Removed);
    assert_eq!(unlink("f-a", "f-b", None).await, Unlinked::NotThere);
    assert_eq!(link("f-b", "f-a", "blocks").await.unwrap(), Linked::Added, "now the other way is free");
}

#[tokio::test]
async fn priority_status_and_comments_change() {
    let project = Project::new(&[with(open("f-a"), "comments", json!([]))]);
    let store = project.open().await;
    let change = Change { priority: Some(0), status: Some(Status::Deferred), ..Change::default() };
    let bead = store.update("f-a", ME, &change).await.unwrap();
    assert_eq!((bead.priority(), bead.status()), (0, &Status::Deferred));
    store.comment("f-a", ME, "one").await.unwrap();
    store.comment("f-a", OTHER, "two").await.unwrap();
    let record = project.record("f-a");
    assert_eq!((&record["comments"][1]["id"], &record["comments"][1]["text"]), (&json!(2), &json!("two")));
    store.close("f-a", ME, "x").await.unwrap();
    let reopened =
        store.update("f-a", ME, &Change { status: Some(Status::Open), ..Change::default() }).await.unwrap();
    assert_eq!((reopened.closed_at, reopened.close_reason), (None, None));
}
