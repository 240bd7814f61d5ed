//! Tasks that are created at once are written together, and each caller hears of its own.

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
            (n, task.id, store.create_task(&task).await)
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
    let mut told = Vec::new();
    for record in store.events_after(before, 1000).await.unwrap() {
        match &record.event {
            Event::Task { task, .. } => told.push(task.task.id),
            other => panic!("unexpected {other:?}"),
        }
    }
    created.sort();
    told.sort();
    assert_eq!(told, created, "every task that exists was told of, once");
}
