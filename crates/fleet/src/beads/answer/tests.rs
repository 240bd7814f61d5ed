use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;
use crate::beads::refusal;
use crate::beads::store::{Claim, Close, Linked};

const BR: &str = include_str!("../../../tests/data/beads/br-0.7.6-commands.jsonl");
const BD: &str = include_str!("../../../tests/data/beads/bd-0.21.5-commands.jsonl");

fn answer(code: i32, stdout: &str, stderr: &str) -> Answer {
    let stderr = stderr.trim().to_owned();
    Answer { command: "bd x".to_owned(), code: Some(code), stdout: stdout.as_bytes().to_vec(), stderr }
}

/// The recorded answer of a case.
fn recorded(all: &str, case: &str) -> Answer {
    let records = all.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let record = records.into_iter().find(|record| record["case"] == case).expect(case);
    let text = |name: &str| record[name].as_str().unwrap().to_owned();
    answer(record["rc"].as_i64().unwrap() as i32, &text("out"), &text("err"))
}

fn complaint(all: &str, case: &str) -> Complaint {
    read(&recorded(all, case)).expect_err(case)
}

fn claim(all: &str, case: &str) -> Claim {
    refusal::of_claim(complaint(all, case), "fg-1")
}

#[test]
fn every_recorded_success_is_read_and_every_failure_is_noticed() {
    for all in [BR, BD] {
        for line in all.lines() {
            let record: Value = serde_json::from_str(line).unwrap();
            let case = record["case"].as_str().unwrap();
            let read = read(&recorded(all, case));
            // Two of bd's failures end with 0: nothing but text on standard error, and a page of help.
            let fails = record["rc"] != 0 || all == BD && ["47-defer-c", "17-dep-list"].contains(&case);
            assert_eq!(read.is_err(), fails, "{case}: {read:?}");
        }
    }
}

#[test]
fn every_recorded_bead_is_a_bead() {
    for (all, cases) in [
        (
            BR,
            &["03-create-a", "19-ready", "22-list", "24-list-all", "25-show", "28-claim-a", "40-close-a"][..],
        ),
        (BR, &["21b-blocked-bigstack", "43-show-closed", "46-close-suggest", "45-reopen", "60-ready-brief"]),
        (BD, &["03-create-a", "19-ready", "22-list", "24-list-all", "25-show", "40-close-a", "45-reopen"]),
    ] {
        for case in cases {
            let documents = read(&recorded(all, case)).expect(case);
            let beads = beads("br", documents).expect(case);
            assert!(!beads.is_empty() && beads.iter().all(|bead| bead.id.starts_with("fg-")), "{case}");
        }
    }
}

#[test]
fn the_edges_of_a_shown_bead_are_edges() {
    for (all, blocker) in [(BR, "fg-d8s"), (BD, "fg-50a3")] {
        let documents = read(&recorded(all, "25-show")).unwrap();
        let shown = beads("br show", documents).unwrap().remove(0);
        assert_eq!(shown.dependencies[0].depends_on_id, blocker);
        assert_eq!(shown.dependencies[0].kind(), "blocks");
    }
}

#[test]
fn a_refused_claim_says_why() {
    let by = |by: &str| matches!(claim(BR, "30-claim-a-other"), Claim::AlreadyClaimed { by: found } if found == by);
    assert!(by("worker-alpha"));
    assert!(matches!(claim(BR, "race-1"), Claim::AlreadyClaimed { by } if by == "racer-3"));
    assert!(matches!(claim(BR, "31-claim-blocked-b"), Claim::Blocked { by } if by == ["fg-d8s"]));
    assert!(
        matches!(claim(BR, "44-claim-closed"), Claim::NotClaimable { status } if status.as_str() == "closed")
    );
    assert!(matches!(claim(BR, "32-claim-missing"), Claim::Fatal(BeadsError::NoSuchBead { .. })));
    let of = |text: &str| refusal::of_claim(read(&answer(1, "", text)).unwrap_err(), "fg-1");
    let taken = "Error claiming fg-1: already claimed by forge/host/w1/7f";
    assert!(matches!(of(taken), Claim::AlreadyClaimed { by } if by == "forge/host/w1/7f"));
    let closed = "Error claiming fg-1: issue not claimable: status closed";
    assert!(matches!(of(closed), Claim::NotClaimable { status } if status.as_str() == "closed"));
    assert!(matches!(of("Error: database is locked (5)"), Claim::Retryable(_)));
    assert!(matches!(of("Error: no beads database found"), Claim::Fatal(BeadsError::Program { .. })));
}

#[test]
fn only_a_lock_is_transient() {
    // br calls these retryable.
    for case in ["30-claim-a-other", "31-claim-blocked-b", "09-create-badprio"] {
        assert!(!complaint(BR, case).is_transient(), "{case}");
    }
    let locked = json!({ "error": { "code": "DATABASE_LOCKED", "message": "busy" } }).to_string();
    assert!(read(&answer(2, &locked, "")).unwrap_err().is_transient());
    let blocked = json!({ "error": { "code": "ISSUE_BLOCKED", "message": "no" } }).to_string();
    assert!(!read(&answer(4, &blocked, "")).unwrap_err().is_transient());
}

#[test]
fn a_refused_close_says_why() {
    let close = |case| refusal::of_close(complaint(BR, case), "fg-1").unwrap();
    assert!(matches!(close("39-close-blocked"), Close::Refused(why) if why.contains("fg-d8s")));
    assert!(matches!(close("41-close-a-again"), Close::AlreadyClosed));
}

#[test]
fn a_refused_edge_says_why() {
    for all in [BR, BD] {
        let link = |case| refusal::of_link(complaint(all, case), "fg-d8s", "fg-nope");
        assert!(matches!(link("13-dep-add-cycle"), Err(BeadsError::Refused(_))));
        assert!(matches!(link("14-dep-add-self"), Err(BeadsError::Refused(_))));
        assert!(matches!(link("15-dep-add-missing"), Err(BeadsError::NoSuchBead { id }) if id == "fg-nope"));
    }
    assert_eq!(refusal::of_link(complaint(BD, "16-dep-add-dup"), "a", "b").unwrap(), Linked::AlreadyThere);
}

#[test]
fn text_before_the_json_is_dropped() {
    let noisy = "warning [x]: slow\n[info] again\n[{\"id\":\"fg-1\"}]\n";
    assert_eq!(read(&answer(0, noisy, "")).unwrap(), [json!([{ "id": "fg-1" }])]);
}

#[test]
fn an_envelope_is_taken_off() {
    let wrapped = json!({ "schema_version": 1, "data": [{ "id": "fg-1" }] }).to_string();
    assert_eq!(rows(read(&answer(0, &wrapped, "")).unwrap()), [json!({ "id": "fg-1" })]);
    let wrapped = json!({ "schema_version": 1, "data": { "error": "no such thing" } }).to_string();
    assert_eq!(read(&answer(0, &wrapped, "")).unwrap_err().message, "no such thing");
}

#[test]
fn an_error_is_found_wherever_it_is() {
    let error = json!({ "error": "it broke", "schema_version": 1 }).to_string();
    assert_eq!(read(&answer(1, &error, "")).unwrap_err().message, "it broke");
    assert_eq!(read(&answer(1, "", &error)).unwrap_err().message, "it broke");
    assert_eq!(read(&answer(1, "[]", "Error: plain\nUsage:\n  bd x")).unwrap_err().message, "Error: plain");
    let both = format!("{{\"closed\":[]}}\n{error}");
    assert_eq!(read(&answer(3, &both, "")).unwrap_err().message, "it broke");
    assert!(read(&answer(0, "", "")).is_err());
}
