//! Tasks that are created at once are written together, and each caller gets its own result.

use forge_store::StoreError;
use forge_types::{Event, ProjectId};

use crate::fixture::{project, store, task};

#[tokio::test]
async fn one_bad_task_in_a_crowd_fails_alone() {
    let (store, _dir) = store().await;
    let home = project(1);
    let mut tx = store.begin().await.unwrap();
    tx.insert_project(&home).await.unwrap();
    let before = tx.commit().await.unwrap();

    let creations = (0..100).map(|n| {
        let (store, home) = (store.clone(), home.id);
        tokio::spawn(async move {
            let owner = if n % 10 == 7 { ProjectId::random() } else { home };
            let task = task(owner, n);
            (n, task.id, store.create_task(&task, None).await)
        })
    });
    let mut created = Vec::new();
    for creation in futures_util::future::join_all(creations).await {
        let (n, id, outcome) = creation.unwrap();
        match outcome {
            Ok(()) => created.push(id),
            Err(StoreError::Missing) => assert_eq!(n % 10, 7),
            Err(error) => panic!("task {n}: {error}"),
        }
    }
    assert_eq!(created.len(), 90);
    let mut published = Vec::new();
    for record in store.events_after(before, 1000).await.unwrap() {
        published.push(named(&record.event));
    }
    created.sort();
    published.sort();
    assert_eq!(published, created, "every task that exists was published, once");
}

#[tokio::test]
async fn a_task_whose_creator_goes_away_is_published_if_it_exists() {
    let (store, _dir) = store().await;
    let home = project(1);
    let mut tx = store.begin().await.unwrap();
    tx.insert_project(&home).await.unwrap();
    let before = tx.commit().await.unwrap();
    for n in 0..200 {
        let task = task(home.id, n);
        let mut creation = Box::pin(store.create_task(&task, None));
        let _pending_or_done = futures_util::poll!(&mut creation);
        // Sometimes the statement is executed before its caller is gone, sometimes not even begun.
        if n % 2 == 0 {
            tokio::time::sleep(std::time::Duration::from_micros(100)).await;
        }
    }
    let last = task(home.id, 1000);
    store.create_task(&last, None).await.unwrap();
    let (newest, tasks) = store.tasks_snapshot(home.id).await.unwrap();
    let published = store.events_after(before, 1000).await.unwrap();
    assert_eq!(published.last().map(|record| record.seq), Some(newest));
    let published: std::collections::BTreeSet<_> =
        published.iter().map(|record| named(&record.event)).collect();
    let exist: std::collections::BTreeSet<_> = tasks.iter().map(|task| task.task.id).collect();
    assert_eq!(published, exist);
    assert!(exist.len() > 1, "some of those whose creator went away exist");
}

fn named(event: &Event) -> forge_types::TaskId {
    match event {
        Event::Task { task, .. } => task.task.id,
        other => panic!("unexpected {other:?}"),
    }
}
