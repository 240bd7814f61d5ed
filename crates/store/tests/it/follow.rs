//! Following the log: nothing missed, nothing twice, from memory or from disk.

use std::collections::HashMap;
use std::time::Duration;

use forge_store::Store;
use forge_types::*;
use pretty_assertions::assert_eq;

use crate::fixture::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_snapshot_and_the_events_after_it_are_the_present() {
    const WRITERS: usize = 8;
    const EACH: usize = 60;
    let (store, _dir) = store().await;
    let project = insert_project(&store).await.id;
    let writers: Vec<_> = (0..WRITERS).map(|_| tokio::spawn(write(store.clone(), project, EACH))).collect();
    let followers: Vec<_> =
        (0..6).map(|_| tokio::spawn(follow(store.clone(), project, WRITERS * EACH * 2 + 1))).collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let (_, present) = store.tasks_snapshot(project).await.unwrap();
    let present: HashMap<_, _> = present.into_iter().map(|task| (task.task.id, task)).collect();
    assert_eq!(present.len(), WRITERS * EACH);
    for follower in followers {
        assert_eq!(follower.await.unwrap(), present);
    }
}

/// Creates tasks and changes each of them once.
async fn write(store: Store, project: ProjectId, count: usize) {
    for at in 0..count as i64 {
        let mut task = insert_task(&store, project, at).await;
        task.status = TaskStatus::Done;
        let mut tx = store.begin().await.unwrap();
        tx.update_task(&task).await.unwrap();
        tx.commit().await.unwrap();
    }
}

/// A client that connects in the middle and stays until event `last`.
async fn follow(store: Store, project: ProjectId, last: usize) -> HashMap<TaskId, TaskSummary> {
    let mut news = store.subscribe();
    news.wait_for(|seq| *seq > 20).await.unwrap();
    let (mut seen, tasks) = store.tasks_snapshot(project).await.unwrap();
    let mut known: HashMap<_, _> = tasks.into_iter().map(|task| (task.task.id, task)).collect();
    while seen < last as i64 {
        tokio::time::timeout(Duration::from_secs(30), news.wait_for(|seq| *seq > seen))
            .await
            .unwrap()
            .unwrap();
        for record in store.events_after(seen, 7).await.unwrap() {
            assert_eq!(record.seq, seen + 1);
            seen = record.seq;
            if let Event::Task { change, task, .. } = &record.event {
                let old = known.insert(task.task.id, task.clone());
                assert_eq!(old.is_none(), *change == Change::Created, "seq {seen}");
            }
        }
    }
    known
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sixteen_creators_at_once_all_succeed() {
    let (store, _dir) = store().await;
    let project = insert_project(&store).await.id;
    let creators = (0..16).map(|_| {
        let store = store.clone();
        tokio::spawn(async move {
            for at in 0..50 {
                insert_task(&store, project, at).await;
            }
        })
    });
    for creator in creators.collect::<Vec<_>>() {
        creator.await.unwrap();
    }
    assert_eq!(store.tasks_snapshot(project).await.unwrap().1.len(), 800);
    assert_eq!(store.latest_seq(), 801);
}

#[tokio::test]
async fn the_disk_returns_the_same_as_the_memory() {
    let (store, dir) = store().await;
    let project = insert_project(&store).await;
    let mut tx = store.begin().await.unwrap();
    for at in 0..1100 {
        let (task, attempt) = insert_attempt(&mut tx, project.id, at).await;
        if at % 100 == 0 {
            tx.insert_run(&agent_run(RunOwner::Attempt(attempt.id), at)).await.unwrap();
            tx.put_draft(&draft(attempt.id, at)).await.unwrap();
        }
        if at % 150 == 0 {
            tx.delete_task(task.id).await.unwrap();
        }
    }
    let last = tx.commit().await.unwrap();
    assert!(last > 2000, "more than the memory holds");

    let all = store.events_after(0, usize::MAX).await.unwrap();
    assert_eq!(all.iter().map(|record| record.seq).collect::<Vec<_>>(), (1..=last).collect::<Vec<_>>());
    let recent = store.events_after(last - 1000, usize::MAX).await.unwrap();
    assert_eq!(recent[..], all[all.len() - 1000..]);
    assert_eq!(store.events_after(last, 10).await.unwrap(), []);
    assert_eq!(store.events_after(5, 10).await.unwrap()[..], all[5..15]);

    // After a restart nothing is in memory.
    store.close().await;
    let store = Store::open(&dir.path().join("forge.db")).await.unwrap();
    assert_eq!((store.start_seq(), store.latest_seq()), (last, last));
    assert_eq!(store.events_after(0, usize::MAX).await.unwrap(), all);
    assert_eq!(store.events_after(last - 1000, usize::MAX).await.unwrap(), recent);
}

#[tokio::test]
async fn pruning_keeps_the_newest_and_the_count() {
    let (store, dir) = store().await;
    let project = insert_project(&store).await;
    let mut tx = store.begin().await.unwrap();
    for at in 0..6000 {
        tx.insert_task(&task(project.id, at), false).await.unwrap();
    }
    assert_eq!(tx.commit().await.unwrap(), 6001);
    assert_eq!(store.prune_events(10_000).await.unwrap(), 0);
    assert_eq!(store.prune_events(100).await.unwrap(), 5901);
    let path = dir.path().join("forge.db");
    store.close().await;

    let store = Store::open(&path).await.unwrap();
    let left = store.events_after(0, usize::MAX).await.unwrap();
    assert_eq!((left.len(), left[0].seq), (100, 5902), "a follower sees the gap");
    assert_eq!(store.prune_events(0).await.unwrap(), 99);
    store.close().await;

    let store = Store::open(&path).await.unwrap();
    assert_eq!(store.latest_seq(), 6001);
    insert_task(&store, project.id, 9).await;
    assert_eq!(store.latest_seq(), 6002, "a number is never given twice");
}

#[tokio::test]
async fn reads_do_not_wait_for_the_writer() {
    let (store, _dir) = store().await;
    let project = insert_project(&store).await;
    let mut tx = store.begin().await.unwrap();
    tx.insert_task(&task(project.id, 5), false).await.unwrap();
    let reads = async {
        assert_eq!(store.tasks_snapshot(project.id).await.unwrap().1, []);
        assert_eq!(store.projects().await.unwrap(), std::slice::from_ref(&project));
    };
    tokio::time::timeout(Duration::from_secs(20), reads).await.expect("the writer is still busy");
    tx.commit().await.unwrap();
}
