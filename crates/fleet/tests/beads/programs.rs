//! How Forge calls `br` and `bd`, and how it reads their output.

use forge_fleet::beads::{
    BeadQueueReader, BeadsError, Change, Claim, Close, Filter, Linked, NewBead, Release, Status, Unlinked,
};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::fixture::{BR_VERSION, Project, Stub, bd_version};

const ME: &str = "forge/host/w1/r1";
const BR: &str = "br-0.7.6-commands.jsonl";
const BD: &str = "bd-0.21.5-commands.jsonl";

fn br() -> (Project, Stub) {
    let project = Project::new(&[json!({ "id": "fg-1", "status": "open" })]);
    project.write("beads.db", "");
    let stub = project.stub("br").on("version", BR_VERSION, "", 0);
    (project, stub)
}

fn bd(version: &str, layout: &str) -> (Project, Stub) {
    let project = Project::new(&[]);
    project.write(layout, "");
    let stub = project.stub("bd").on("version", &bd_version(version), "", 0);
    (project, stub)
}

fn shown(status: &str, assignee: &str) -> String {
    let updated = "2026-11-15T20:05:23.167727498Z";
    json!([{ "id": "fg-1", "status": status, "assignee": assignee, "updated_at": updated }]).to_string()
}

fn answer(body: Value) -> String {
    body.to_string()
}

#[tokio::test]
async fn a_claim_is_one_call_and_a_look() {
    let (project, stub) = br();
    let stub =
        stub.on("update", &shown("in_progress", ME), "", 0).on("show", &shown("in_progress", ME), "", 0);
    let store = project.open().await;
    assert!(store.claims_atomically());
    assert!(matches!(store.claim("fg-1", ME).await, Claim::Won(_)));
    let calls = stub.calls("update");
    assert_eq!(calls[0].args, ["update", "fg-1", "--json", "--actor=forge/host/w1/r1", "--claim"]);
    assert_eq!(calls[0].env, [project.beads().to_str().unwrap(), ME, "none", "1", ""]);
    assert_eq!(stub.calls("show").len(), 1);
}

#[tokio::test]
async fn a_claim_counts_only_when_the_bead_says_so() {
    let (project, stub) = br();
    stub.on("update", &shown("in_progress", ME), "", 0).on("show", &shown("in_progress", "somebody"), "", 0);
    assert!(
        matches!(project.open().await.claim("fg-1", ME).await, Claim::AlreadyClaimed { by } if by == "somebody")
    );
}

#[tokio::test]
async fn recorded_refusals_of_a_claim_are_distinguished() {
    for (case, expected) in [
        ("30-claim-a-other", "AlreadyClaimed { by: \"worker-alpha\" }"),
        ("31-claim-blocked-b", "Blocked { by: [\"fg-d8s\"] }"),
        ("44-claim-closed", "NotClaimable { status: Closed }"),
        ("32-claim-missing", "Fatal(NoSuchBead { id: \"fg-1\" })"),
    ] {
        let (project, stub) = br();
        let stub = stub.recorded("update", BR, case).on("show", &shown("open", ""), "", 0);
        assert_eq!(format!("{:?}", project.open().await.claim("fg-1", ME).await), expected);
        assert_eq!(stub.calls("update").len(), 1, "no refusal is tried again");
    }
}

#[tokio::test]
async fn a_claim_that_is_already_ours_is_won() {
    let (project, stub) = bd("0.49.6", "beads.db");
    let again = format!("Error claiming fg-1: already claimed by {ME}");
    stub.on("update", "", &again, 1).on("show", &shown("in_progress", ME), "", 0);
    assert!(matches!(project.open().await.claim("fg-1", ME).await, Claim::Won(_)));
}

#[tokio::test]
async fn a_locked_database_is_tried_again() {
    let (project, stub) = bd("1.0.0", "dolt");
    let locked = "Error: database is locked";
    let stub = stub.on("update", "", locked, 1).on("update", "", locked, 1);
    let stub =
        stub.on("update", &shown("in_progress", ME), "", 0).on("show", &shown("in_progress", ME), "", 0);
    assert!(matches!(project.open().await.claim("fg-1", ME).await, Claim::Won(_)));
    assert_eq!(stub.calls("update").len(), 3);
    assert_eq!(stub.calls("update")[0].env[4], "1", "bd is asked for its envelope");
}

#[tokio::test]
async fn without_an_atomic_claim_it_is_checked_set_and_looked_at() {
    let (project, stub) = bd("0.21.5", "beads.db");
    let stub = stub.on("show", &shown("open", ""), "", 0).on("show", &shown("in_progress", ME), "", 0);
    let stub = stub.on("update", &shown("in_progress", ME), "", 0);
    let store = project.open().await;
    assert!(!store.claims_atomically());
    assert!(matches!(store.claim("fg-1", ME).await, Claim::Won(_)));
    let args = &stub.calls("update")[0].args;
    assert_eq!(args[4..], ["--status=in_progress", "--assignee=forge/host/w1/r1"]);
    assert!(project.beads().join(".write.lock").exists());
}

#[tokio::test]
async fn without_an_atomic_claim_a_taken_bead_is_not_touched() {
    let (project, stub) = bd("0.21.5", "beads.db");
    let stub = stub.on("show", &shown("in_progress", "somebody"), "", 0).on("update", "[]", "", 0);
    assert!(
        matches!(project.open().await.claim("fg-1", ME).await, Claim::AlreadyClaimed { by } if by == "somebody")
    );
    assert!(stub.calls("update").is_empty());
}

#[tokio::test]
async fn a_release_is_one_change_if_nothing_changed_since() {
    let (project, stub) = br();
    let changed = answer(json!({ "error": { "code": "UPDATE_PRECONDITION_FAILED", "message": "changed" } }));
    let stub = stub.on("update", &changed, "", 6).on("update", &shown("open", ""), "", 0);
    let stub = stub.on("show", &shown("in_progress", ME), "", 0).on("show", &shown("in_progress", ME), "", 0);
    let stub = stub.on("show", &shown("open", ""), "", 0).on("comments", r#"{"id":1}"#, "", 0);
    let released = project.open().await.release("fg-1", ME, "-died").await.unwrap();
    assert!(matches!(released, Release::Released(bead) if bead.assignee().is_none()));
    let expected = ["--status=open", "--assignee", "", "--if-unchanged=2026-11-15T20:05:23.167727498Z"];
    assert_eq!(stub.calls("update")[1].args[4..], expected);
    assert_eq!(stub.calls("comments")[0].args[4..], ["--", "fg-1", "-died"]);
}

#[tokio::test]
async fn what_another_holds_is_not_released() {
    let (project, stub) = br();
    let stub = stub.on("show", &shown("in_progress", "somebody"), "", 0).on("update", "[]", "", 0);
    let kept = project.open().await.release("fg-1", ME, "x").await.unwrap();
    assert!(matches!(kept, Release::NotHeld { by: Some(by) } if by == "somebody"));
    assert!(stub.calls("update").is_empty());
}

#[tokio::test]
async fn a_close_is_refused_done_or_was_done_before() {
    let (project, stub) = br();
    stub.recorded("close", BR, "39-close-blocked")
        .recorded("close", BR, "41-close-a-again")
        .recorded("close", BR, "40-close-a")
        .on("show", &shown("closed", ME), "", 0);
    let store = project.open().await;
    let close = async || store.close("fg-1", ME, "--merged").await.unwrap();
    assert!(matches!(close().await, Close::Refused(why) if why.contains("fg-d8s")));
    assert!(matches!(close().await, Close::AlreadyClosed));
    assert!(matches!(close().await, Close::Closed(_)));
}

#[tokio::test]
async fn texts_of_people_never_become_flags() {
    let (project, stub) = br();
    let stub = stub.recorded("create", BR, "03-create-a").on("close", "[]", "", 0);
    let stub = stub.on("show", &shown("closed", ME), "", 0);
    let store = project.open().await;
    let new = NewBead {
        description: Some("--force; $(touch /x)".to_owned()),
        labels: vec!["a".to_owned(), "b".to_owned()],
        parent: Some("fg-9".to_owned()),
        dependencies: vec![("blocks".into(), "fg-1".into()), ("discovered-from".into(), "fg-2".into())],
        ..NewBead::new("--title")
    };
    assert_eq!(store.create(&new, ME).await.unwrap().id, "fg-d8s");
    let args = &stub.calls("create")[0].args[3..];
    let expected = [
        "--title=--title",
        "--type=task",
        "--priority=2",
        "--description=--force; $(touch /x)",
        "--labels=a,b",
        "--parent=fg-9",
        "--deps=fg-1,discovered-from:fg-2",
    ];
    assert_eq!(args, expected);
    store.close("fg-1", ME, "--force").await.unwrap();
    assert_eq!(stub.calls("close")[0].args[4], "--reason=--force");
    for bad in ["--force", "fg", "fg-1 fg-2"] {
        assert!(
            matches!(store.close(bad, ME, "x").await, Err(BeadsError::Invalid { name: "id", .. })),
            "{bad}"
        );
    }
    assert_eq!(stub.calls("close").len(), 1);
}

#[tokio::test]
async fn edges_are_added_once_and_never_in_a_ring() {
    for (project, stub, file, dup) in [
        {
            let (project, stub) = br();
            (project, stub, BR, "16-dep-add-dup")
        },
        {
            let (project, stub) = bd("0.21.5", "beads.db");
            (project, stub, BD, "16-dep-add-dup")
        },
    ] {
        stub.recorded("dep", file, "11-dep-add").recorded("dep", file, dup).recorded(
            "dep",
            file,
            "13-dep-add-cycle",
        );
        let store = project.open().await;
        let link = async || store.add_dep("fg-1", "fg-2", "blocks", ME).await;
        assert_eq!(link().await.unwrap(), Linked::Added);
        assert_eq!(link().await.unwrap(), Linked::AlreadyThere);
        assert!(matches!(link().await, Err(BeadsError::Refused(why)) if why.contains("ycle")));
    }
}

#[tokio::test]
async fn a_dependency_is_removed_and_a_missing_one_is_reported() {
    let (project, stub) = br();
    let said = |action: &str| answer(json!({"status": "ok", "action": action}));
    let stub = stub.on("dep", &said("removed"), "", 0).on("dep", &said("not_found"), "", 0).on(
        "dep",
        "",
        "Error: dependency from fg-1 to fg-2 does not exist\n",
        1,
    );
    let store = project.open().await;
    let unlink = async || store.remove_dep("fg-1", "fg-2", None, ME).await.unwrap();
    assert_eq!(unlink().await, Unlinked::Removed);
    assert_eq!(unlink().await, Unlinked::NotThere);
    assert_eq!(unlink().await, Unlinked::NotThere);
    assert_eq!(stub.calls("dep")[0].args[..4], ["dep", "remove", "fg-1", "fg-2"]);
}

#[tokio::test]
async fn a_failure_that_ends_with_success_is_noticed() {
    let (project, stub) = bd("0.21.5", "beads.db");
    stub.recorded("update", BD, "47-defer-c");
    let change = Change { status: Some(Status::Deferred), ..Change::default() };
    let error = project.open().await.update("fg-1", ME, &change).await.unwrap_err().to_string();
    assert!(error.contains("invalid status: deferred"), "{error}");
}

#[tokio::test]
async fn br_is_read_from_its_file() {
    let (project, stub) = br();
    let store = project.open().await;
    assert_eq!(store.ready(&Filter::default()).await.unwrap()[0].id, "fg-1");
    assert_eq!(store.snapshot().await.unwrap().beads().len(), 1);
    let reader = BeadQueueReader::new(project.beads().parent().unwrap()).unwrap();
    assert_eq!(reader.read_ready_beads().unwrap()[0].id, "fg-1", "whoever only reads needs no program");
    assert!(stub.calls("ready").is_empty() && stub.calls("list").is_empty());
}

#[tokio::test]
async fn modern_bd_is_asked_for_everything() {
    let (project, stub) = bd("1.2.0", "dolt");
    // An outdated export.
    project.write("issues.jsonl", "{\"id\":\"fg-stale\"}\n");
    let beads = json!([{ "id": "fg-2", "assignee": "x" }, { "id": "fg-1" }]);
    let wrapped = answer(json!({ "schema_version": 1, "data": beads }));
    let stub =
        stub.on("ready", &wrapped, "", 0).on("list", "fg-1\n└─ fg-2\n", "", 0).on("list", &wrapped, "", 0);
    let store = project.open().await;
    let ready = store.ready(&Filter { unassigned: true, ..Filter::default() }).await.unwrap();
    assert_eq!(ready.iter().map(|bead| bead.id.as_str()).collect::<Vec<_>>(), ["fg-1"]);
    assert_eq!(stub.calls("ready")[0].args[1..], ["--json", "--limit", "0"]);
    assert_eq!(store.snapshot().await.unwrap().beads().len(), 2);
    assert_eq!(stub.calls("list")[0].args[1..], ["--json", "--all", "--limit", "0"]);
    assert_eq!(stub.calls("list")[1].args[5..], ["--flat"], "a tree is not JSON");
}

#[tokio::test]
async fn several_beads_are_shown_with_one_call() {
    let (project, stub) = bd("1.2.0", "dolt");
    let beads = answer(json!([{ "id": "fg-2" }, { "id": "fg-1" }]));
    let stub = stub.on("show", &beads, "", 0).recorded("show", BD, "27-show-missing");
    let store = project.open().await;
    let shown = store.show(&["fg-1", "fg-2"]).await.unwrap();
    assert_eq!(shown.iter().map(|bead| bead.id.as_str()).collect::<Vec<_>>(), ["fg-1", "fg-2"]);
    assert_eq!(stub.calls("show").len(), 1);
    assert!(matches!(store.show(&["fg-nope"]).await, Err(BeadsError::NoSuchBead { .. })));
}

#[tokio::test]
async fn a_change_says_what_changes_and_nothing_else() {
    let (project, stub) = br();
    let stub = stub.on("update", "[]", "", 0).on("show", &shown("open", ""), "", 0);
    let store = project.open().await;
    let change = Change {
        title: Some("--new".to_owned()),
        description: Some(String::new()),
        status: Some(Status::Open),
        unassigned: true,
        ..Change::default()
    };
    store.update("fg-1", ME, &change).await.unwrap();
    let expected = ["--title=--new", "--description=", "--assignee", "", "--status=open"];
    assert_eq!(stub.calls("update")[0].args[4..], expected);
}
