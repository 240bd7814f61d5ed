//! Where tasks go without a person moving them, and where they stay.

use TaskStatus::*;
use forge_store::Why;
use forge_types::*;
use pretty_assertions::assert_eq;

use crate::fixture::*;

/// Where a task is after the engine wanted to move it.
async fn after(from: TaskStatus, to: TaskStatus, why: Why) -> TaskStatus {
    let (store, _dir) = store().await;
    let task = Task { status: from, ..task(insert_project(&store).await.id, 1) };
    let mut tx = store.begin().await.unwrap();
    tx.insert_task(&task, from == Agent).await.unwrap();
    let moved = tx.move_task(task.id, to, why).await.unwrap();
    tx.commit().await.unwrap();
    let now = store.task(task.id).await.unwrap().unwrap().status;
    assert_eq!(moved, now != from);
    now
}

const AGENT: RunReason = RunReason::CodingAgent;

#[tokio::test]
async fn an_archived_task_stays_archived_whatever_its_attempts_do() {
    for (to, why) in [
        (Done, Why::Landed),
        (InProgress, Why::Run(AGENT)),
        (InReview, Why::Run(AGENT)),
        (InProgress, Why::Answered),
        (Todo, Why::TriedAgain),
    ] {
        assert_eq!(after(Archived, to, why).await, Archived, "{why:?}");
    }
    assert_eq!(after(Archived, InProgress, Why::Asked(AGENT)).await, InProgress);
}

#[tokio::test]
async fn a_task_that_a_person_moved_is_not_brought_back_to_be_reviewed() {
    assert_eq!(after(InProgress, InReview, Why::Run(AGENT)).await, InReview);
    for elsewhere in [Todo, Done, Cancelled] {
        assert_eq!(after(elsewhere, InReview, Why::Run(AGENT)).await, elsewhere);
    }
    assert_eq!(after(Done, InProgress, Why::Answered).await, Done);
    assert_eq!(after(Cancelled, Todo, Why::TriedAgain).await, Cancelled);
}

#[tokio::test]
async fn work_moves_a_task_and_dev_servers_and_chats_move_nothing() {
    assert_eq!(after(Todo, InProgress, Why::Asked(AGENT)).await, InProgress);
    assert_eq!(after(InReview, Done, Why::Landed).await, Done);
    assert_eq!(after(InReview, Todo, Why::TriedAgain).await, Todo);
    assert_eq!(after(Todo, InProgress, Why::Asked(RunReason::DevServer)).await, Todo);
    assert_eq!(after(Agent, InProgress, Why::Asked(AGENT)).await, Agent);
}
