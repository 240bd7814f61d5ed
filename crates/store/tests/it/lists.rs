//! Order, paging and choice of the lists.

use forge_store::{AttemptsOf, Page, Store, TaskBlock};
use forge_types::*;
use futures_util::{StreamExt, TryStreamExt};
use pretty_assertions::assert_eq;

use crate::fixture::*;

async fn listed(store: &Store, project: ProjectId, page: Page) -> Vec<TaskSummary> {
    let blocks: Vec<TaskBlock> = store.stream_tasks(project, page).try_collect().await.unwrap();
    for (id, json) in blocks.iter().flat_map(TaskBlock::rows) {
        assert_eq!(serde_json::from_str::<TaskSummary>(json).unwrap().task.id, id);
    }
    let whole = blocks.iter().map(TaskBlock::json).collect::<Vec<_>>().join(",");
    serde_json::from_str(&format!("[{whole}]")).unwrap()
}

async fn titles(store: &Store, project: ProjectId, page: Page) -> Vec<i64> {
    listed(store, project, page).await.iter().map(|task| task.task.created_at.0).collect()
}

#[tokio::test]
async fn tasks_come_newest_first_without_the_hidden_ones() {
    let (store, _dir) = store().await;
    let project = insert_project(&store).await.id;
    let mut tx = store.begin().await.unwrap();
    for at in [3, 1, 5, 4, 2] {
        tx.insert_task(&task(project, at), at == 4).await.unwrap();
    }
    tx.commit().await.unwrap();
    assert_eq!(titles(&store, project, Page::default()).await, [5, 3, 2, 1]);
    assert_eq!(titles(&store, project, Page { limit: Some(2), offset: 1 }).await, [3, 2]);
    assert_eq!(titles(&store, project, Page { limit: None, offset: 3 }).await, [1]);
    let (_, snapshot) = store.tasks_snapshot(project).await.unwrap();
    assert_eq!(snapshot, listed(&store, project, Page::default()).await);
}

#[tokio::test]
async fn a_long_list_is_whole_and_in_order_across_its_blocks() {
    let (store, _dir) = store().await;
    let project = insert_project(&store).await.id;
    let mut tx = store.begin().await.unwrap();
    for at in 0..1300 {
        // Several tasks share each millisecond, also across the border of a block.
        tx.insert_task(&task(project, at / 7), false).await.unwrap();
    }
    tx.commit().await.unwrap();
    let (_, snapshot) = store.tasks_snapshot(project).await.unwrap();
    assert_eq!(listed(&store, project, Page::default()).await, snapshot);
    let part = listed(&store, project, Page { limit: Some(700), offset: 400 }).await;
    assert_eq!(part, snapshot[400..1100]);
}

#[tokio::test]
async fn a_stream_that_is_dropped_gives_its_reader_back() {
    let (store, _dir) = store().await;
    let project = insert_project(&store).await.id;
    let mut tx = store.begin().await.unwrap();
    for at in 0..500 {
        tx.insert_task(&task(project, at), false).await.unwrap();
    }
    tx.commit().await.unwrap();
    for _ in 0..20 {
        let mut stream = store.stream_tasks(project, Page::default());
        assert!(stream.next().await.unwrap().is_ok());
    }
    let read = tokio::time::timeout(std::time::Duration::from_secs(20), store.projects());
    assert_eq!(read.await.expect("a reader is free").unwrap().len(), 1);
}

#[tokio::test]
async fn projects_attempts_and_errands_come_newest_first() {
    let (store, _dir) = store().await;
    let (old, new) = (project(1), project(2));
    let mut tx = store.begin().await.unwrap();
    tx.insert_project(&old).await.unwrap();
    tx.insert_project(&new).await.unwrap();
    let (task, first) = insert_attempt(&mut tx, old.id, 10).await;
    let second = Attempt { executor: "SHELL".into(), ..attempt(&task, 20) };
    tx.insert_attempt(&second).await.unwrap();
    let (other_task, other) = insert_attempt(&mut tx, new.id, 15).await;
    let errands = [errand(old.id, 1), errand(new.id, 2), errand(old.id, 3)];
    for errand in &errands {
        tx.insert_errand(errand).await.unwrap();
    }
    tx.commit().await.unwrap();

    assert_eq!(store.projects().await.unwrap(), [new.clone(), old.clone()]);
    let ids = |attempts: Vec<Attempt>| attempts.iter().map(|attempt| attempt.id).collect::<Vec<_>>();
    let all = ids(store.attempts(None, Page::default()).await.unwrap());
    assert_eq!(all, [second.id, other.id, first.id]);
    let page = Page { limit: Some(1), offset: 1 };
    assert_eq!(ids(store.attempts(None, page).await.unwrap()), [other.id]);
    assert_eq!(ids(store.attempts(Some(task.id), page).await.unwrap()), [first.id]);
    assert_eq!(ids(store.project_attempts(old.id).await.unwrap()), [second.id, first.id]);
    let listed = store.listed_attempts(AttemptsOf::Project(old.id), page).await.unwrap();
    assert_eq!((listed.len(), listed[0].attempt.id), (1, first.id));
    assert_eq!(listed[0].task_title, task.title);
    let latest = store.latest_attempts(old.id).await.unwrap();
    assert_eq!((latest.len(), latest[&task.id].id), (1, second.id));
    assert_eq!(store.latest_attempts(new.id).await.unwrap()[&other_task.id].id, other.id);
    let summary = store.task_summary(task.id).await.unwrap().unwrap();
    assert_eq!((summary.executor.as_str(), summary.attempt_count), ("SHELL", 2));
    let found = store.attempt_by_path("/trees/15").await.unwrap();
    assert_eq!(found.map(|attempt| attempt.id), Some(other.id));
    assert_eq!(store.attempt_by_path("/nowhere").await.unwrap(), None);
    assert_eq!(store.errands(Some(old.id)).await.unwrap(), [errands[2].clone(), errands[0].clone()]);
    assert_eq!(store.errands(None).await.unwrap().len(), 3);
    assert_eq!(store.errand(errands[2].id).await.unwrap(), Some(errands[2].clone()));
}

#[tokio::test]
async fn only_attempts_that_nobody_uses_are_idle() {
    let (store, _dir) = store().await;
    let project = insert_project(&store).await.id;
    let mut tx = store.begin().await.unwrap();
    let (_, idle) = insert_attempt(&mut tx, project, 10).await;
    let done = ended(&agent_run(RunOwner::Attempt(idle.id), 11), RunStatus::Completed, 12);
    tx.insert_run(&done).await.unwrap();
    let (_, never_run) = insert_attempt(&mut tx, project, 20).await;
    let (_, busy) = insert_attempt(&mut tx, project, 10).await;
    let queued = Run { phase: RunPhase::Queued, ..agent_run(RunOwner::Attempt(busy.id), 11) };
    tx.insert_run(&queued).await.unwrap();
    let (_, lately) = insert_attempt(&mut tx, project, 10).await;
    let just_done = ended(&agent_run(RunOwner::Attempt(lately.id), 11), RunStatus::Completed, 100);
    tx.insert_run(&just_done).await.unwrap();
    let (_, deleted) = insert_attempt(&mut tx, project, 10).await;
    tx.update_attempt(&Attempt { worktree_deleted: true, ..deleted }).await.unwrap();
    let (_, in_checkout) = insert_attempt(&mut tx, project, 10).await;
    tx.update_attempt(&Attempt { use_worktree: false, ..in_checkout }).await.unwrap();
    let (_, touched) = insert_attempt(&mut tx, project, 10).await;
    tx.update_attempt(&Attempt { updated_at: Millis(100), ..touched }).await.unwrap();
    tx.commit().await.unwrap();
    let found = store.idle_attempts(Millis(100)).await.unwrap();
    assert_eq!(found.iter().map(|attempt| attempt.id).collect::<Vec<_>>(), [idle.id, never_run.id]);
}

#[tokio::test]
async fn the_largest_burst_is_of_one_project_and_of_starts_in_worktrees() {
    let (store, _dir) = store().await;
    let (project, other) = (insert_project(&store).await.id, insert_project(&store).await.id);
    let mut tx = store.begin().await.unwrap();
    for at in [5, 10, 11, 25, 26, 27] {
        insert_attempt(&mut tx, project, at).await;
    }
    for at in [12, 13, 14, 15] {
        insert_attempt(&mut tx, other, at).await;
        let (_, in_checkout) = insert_attempt(&mut tx, project, at).await;
        tx.update_attempt(&Attempt { use_worktree: false, ..in_checkout }).await.unwrap();
    }
    tx.commit().await.unwrap();
    let burst = async |project, since| store.largest_burst(project, Millis(since), 10).await.unwrap();
    assert_eq!((burst(project, 0).await, burst(other, 0).await), (3, 4));
    assert_eq!((burst(project, 27).await, burst(project, 28).await), (1, 0));
}
