use forge_types::ProjectId;

use super::*;

fn bead(title: &str, description: &str) -> Bead {
    let mut bead = Bead::new("fg-1", title);
    bead.description = Some(description.to_owned());
    bead
}

fn task(title: &str, description: &str) -> Task {
    Task { description: Some(description.to_owned()), ..Task::new(ProjectId::random(), title, Millis(1)) }
}

#[test]
fn the_side_that_changed_is_followed_and_a_clash_is_reported() {
    let (old_bead, old_task) = (bead("a", "b"), task("a", "b"));
    let (bead_mark, task_mark) = (Text::of_bead(&old_bead).mark(), Text::of_task(&old_task).mark());
    let last = Some((bead_mark.as_str(), task_mark.as_str()));
    let (new_bead, new_task) = (bead("a", "by bead"), task("by task", "b"));
    let step = |bead, task, newer| compare_texts(bead, task, last, newer);
    assert_eq!(step(&old_bead, &old_task, Side::Task), TextStep::None);
    assert_eq!(step(&new_bead, &old_task, Side::Task), TextStep::Follow(Side::Task));
    assert_eq!(step(&old_bead, &new_task, Side::Bead), TextStep::Follow(Side::Bead));
    assert_eq!(step(&new_bead, &new_task, Side::Bead), TextStep::GiveWay(Side::Task));
    assert_eq!(step(&new_bead, &new_task, Side::Task), TextStep::GiveWay(Side::Bead));
    let same = task("a", "by bead");
    assert_eq!(step(&new_bead, &same, Side::Task), TextStep::None, "both said the same");
}

#[test]
fn what_a_bead_says_in_fields_of_its_own_does_not_come_back_as_its_description() {
    let mut full = bead("a", "Do it.");
    full.design = Some("Like this.".to_owned());
    full.notes = Some("Soon.".to_owned());
    let shown = Text::of_bead(&full);
    assert_eq!(shown.for_bead(&full), ("a".to_owned(), "Do it.".to_owned()));
    let edited = task("a", &shown.description.unwrap().replace("Do it.", "Do it well."));
    assert_eq!(Text::of_task(&edited).for_bead(&full).1, "Do it well.");
    let long = task(&"x".repeat(700), "");
    assert_eq!(Text::of_task(&long).for_bead(&full).0.len(), TITLE_MAX);
}

#[test]
fn reasons_distinguish_what_was_done_from_what_was_not() {
    for reason in [
        "wontfix",
        "Won't fix: too old",
        "duplicate of fg-2",
        "Closed as duplicate",
        "Cancelled on the board",
    ] {
        assert!(is_in_vain(Some(reason)), "{reason}");
    }
    for reason in ["Done", "Fixed the duplicate rows", "cancellation works now", ""] {
        assert!(!is_in_vain(Some(reason)), "{reason}");
    }
}

#[test]
fn statuses_follow_the_side_that_moved() {
    use TaskStatus::{Cancelled, Done, InProgress, InReview, Todo};
    let about = |last, newer| Circumstances { last: Some(last), newer, is_leased: false, is_settled: false };
    let started = about(("open", "todo"), Side::Bead);
    assert_eq!(compare_statuses(Stage::Open, Todo, started), StatusStep::None);
    assert_eq!(compare_statuses(Stage::Taken, Todo, started), StatusStep::Task(InProgress));
    assert_eq!(compare_statuses(Stage::Dropped, Todo, started), StatusStep::Task(Cancelled));
    assert_eq!(compare_statuses(Stage::Open, Done, started), StatusStep::Bead(Stage::Done));
    assert_eq!(compare_statuses(Stage::Open, InProgress, started), StatusStep::Bead(Stage::Taken));
    assert_eq!(compare_statuses(Stage::Open, InReview, started), StatusStep::None, "it may be tried again");
    let ended = about(("done", "done"), Side::Task);
    assert_eq!(compare_statuses(Stage::Done, Todo, ended), StatusStep::Bead(Stage::Open));
    assert_eq!(compare_statuses(Stage::Open, Done, ended), StatusStep::Task(Todo), "it was reopened");
    let theirs = about(("taken", "todo"), Side::Task);
    assert_eq!(compare_statuses(Stage::Taken, Todo, theirs), StatusStep::None, "nobody insists");
}

#[test]
fn a_bead_that_somebody_has_is_left_to_whoever_gave_it_out() {
    let about =
        |is_leased, is_settled| Circumstances { last: None, newer: Side::Task, is_leased, is_settled };
    let leased = about(true, false);
    assert_eq!(compare_statuses(Stage::Taken, TaskStatus::Done, leased), StatusStep::None);
    assert_eq!(compare_statuses(Stage::Open, TaskStatus::InProgress, leased), StatusStep::None);
    assert_eq!(
        compare_statuses(Stage::Taken, TaskStatus::Todo, leased),
        StatusStep::Task(TaskStatus::InProgress)
    );
    let settled = about(false, true);
    assert_eq!(compare_statuses(Stage::Done, TaskStatus::InReview, settled), StatusStep::None);
}
