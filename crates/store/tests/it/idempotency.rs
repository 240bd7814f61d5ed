//! The key of a request is written with what the request made, or not at all.

use forge_store::{Keyed, StoreError};
use forge_types::{Millis, ProjectId};

use crate::fixture::{project, store, task};

fn keyed(key: &str, at: i64) -> Keyed {
    Keyed {
        key: key.into(),
        route: "POST /api/tasks".into(),
        fingerprint: "f".into(),
        effect: "{}".into(),
        answer: None,
        created_at: Millis(at),
    }
}

#[tokio::test]
async fn in_a_crowd_each_task_comes_with_its_own_key_and_a_refused_one_leaves_none() {
    let (store, _dir) = store().await;
    let home = project(1);
    let mut tx = store.begin().await.unwrap();
    tx.insert_project(&home).await.unwrap();
    tx.commit().await.unwrap();
    let creations = (0..60).map(|n| {
        let (store, home) = (store.clone(), home.id);
        tokio::spawn(async move {
            let owner = if n == 17 { ProjectId::random() } else { home };
            let task = task(owner, n);
            let key = (n % 3 > 0).then(|| keyed(&format!("k{n}"), n));
            (n, task.id, store.create_task(&task, key).await)
        })
    });
    for creation in futures_util::future::join_all(creations).await {
        let (n, id, outcome) = creation.unwrap();
        let known = store.keyed(&format!("k{n}"), Millis(0)).await.unwrap();
        match outcome {
            Ok(()) => {
                assert!(store.task(id).await.unwrap().is_some());
                assert_eq!(known, (n % 3 > 0).then(|| keyed(&format!("k{n}"), n)));
            }
            Err(StoreError::Missing) => assert_eq!((n, known), (17, None)),
            Err(error) => panic!("task {n}: {error}"),
        }
    }
}

#[tokio::test]
async fn a_key_counts_until_it_is_too_old_and_is_then_forgotten() {
    let (store, _dir) = store().await;
    let mut tx = store.begin().await.unwrap();
    tx.put_keyed(&keyed("old", 10)).await.unwrap();
    tx.put_keyed(&keyed("new", 20)).await.unwrap();
    tx.put_answer("new", "1").await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(store.keyed("old", Millis(11)).await.unwrap(), None, "even before it is removed");
    assert_eq!(store.forget_keys(Millis(20)).await.unwrap(), 1);
    assert_eq!(store.keyed("old", Millis(0)).await.unwrap(), None);
    let kept = store.keyed("new", Millis(20)).await.unwrap();
    assert_eq!(kept, Some(Keyed { answer: Some("1".into()), ..keyed("new", 20) }));
}
