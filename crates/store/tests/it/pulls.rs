//! Open pull requests, and issues that became tasks.

use forge_store::StoreError;
use forge_types::*;
use pretty_assertions::assert_eq;

use crate::fixture::*;

#[tokio::test]
async fn an_open_pull_request_is_found_until_it_is_merged() {
    let (store, _dir) = store().await;
    let project = insert_project(&store).await;
    let mut tx = store.begin().await.unwrap();
    let (task, attempt) = insert_attempt(&mut tx, project.id, 10).await;
    let open = pull_request(attempt.id, PrStatus::Open, 20);
    tx.insert_merge(&open).await.unwrap();
    tx.insert_merge(&pull_request(attempt.id, PrStatus::Closed, 21)).await.unwrap();
    tx.insert_merge(&direct_merge(attempt.id, 22)).await.unwrap();
    tx.commit().await.unwrap();
    let found = store.open_pulls().await.unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((&found[0].merge, found[0].task_id, found[0].project_id), (&open, task.id, project.id));

    let Merge::Pr { id, pr_info, .. } = &open else { panic!("a pull request") };
    let info = PrInfo {
        status: PrStatus::Merged,
        merged_at: Some(Millis(30)),
        merge_commit_sha: Some("c0ffee".into()),
        ..pr_info.clone()
    };
    let merged = Merge::Pr {
        id: *id,
        task_attempt_id: attempt.id,
        created_at: Millis(20),
        target_branch_name: "main".into(),
        pr_info: info,
    };
    let seq = store.latest_seq();
    let mut tx = store.begin().await.unwrap();
    assert_eq!(tx.merge(*id).await.unwrap().as_ref(), Some(&open));
    tx.update_merge(&merged).await.unwrap();
    tx.commit().await.unwrap();
    assert!(store.open_pulls().await.unwrap().is_empty());
    assert!(store.merges(attempt.id).await.unwrap().contains(&merged));
    let events = events_since(&store, seq).await;
    assert!(matches!(&events[..], [Event::Task { task, .. }] if task.has_merged_attempt), "{events:?}");
    let mut tx = store.begin().await.unwrap();
    let direct = direct_merge(attempt.id, 1);
    assert!(matches!(tx.update_merge(&direct).await, Err(StoreError::Missing)));
}

#[tokio::test]
async fn an_issue_leads_to_one_task_and_goes_with_it() {
    let (store, _dir) = store().await;
    let project = insert_project(&store).await;
    let first = insert_task(&store, project.id, 10).await;
    let second = insert_task(&store, project.id, 11).await;
    let link = |task: &Task| IssueLink {
        task_id: task.id,
        project_id: project.id,
        repository: "host.example/a/b".into(),
        number: 7,
        url: "https://host.example/a/b/issues/7".into(),
    };
    let mut tx = store.begin().await.unwrap();
    tx.insert_issue(&link(&first)).await.unwrap();
    tx.commit().await.unwrap();
    let mut tx = store.begin().await.unwrap();
    assert!(matches!(tx.insert_issue(&link(&second)).await, Err(StoreError::Duplicate)));
    drop(tx);
    assert_eq!(store.issue_of(first.id).await.unwrap(), Some(link(&first)));
    assert_eq!(store.issue(project.id, "host.example/a/b", 7).await.unwrap(), Some(link(&first)));
    assert_eq!(store.issue(project.id, "host.example/a/b", 8).await.unwrap(), None);
    let mut tx = store.begin().await.unwrap();
    tx.delete_task(first.id).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(store.issue(project.id, "host.example/a/b", 7).await.unwrap(), None);
}

#[tokio::test]
async fn what_became_of_an_automatic_pull_request_is_kept() {
    let (store, _dir) = store().await;
    let project = insert_project(&store).await;
    let mut tx = store.begin().await.unwrap();
    let (_, mut attempt) = insert_attempt(&mut tx, project.id, 10).await;
    tx.commit().await.unwrap();
    let states = [
        None,
        Some(AutoPr::Waiting),
        Some(AutoPr::Failed { message: "why".into() }),
        Some(AutoPr::Opened { url: "u".into() }),
    ];
    for state in states {
        attempt.auto_pr = state;
        let mut tx = store.begin().await.unwrap();
        tx.update_attempt(&attempt).await.unwrap();
        tx.commit().await.unwrap();
        let stored = store.attempt(attempt.id).await.unwrap().unwrap();
        assert_eq!(stored.auto_pr, attempt.auto_pr);
        let waiting = store.attempts_to_publish().await.unwrap().len();
        assert_eq!(waiting, usize::from(attempt.auto_pr == Some(AutoPr::Waiting)));
    }
}
