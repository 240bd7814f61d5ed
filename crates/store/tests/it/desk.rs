//! Images, approvals and drafts as rows.

use std::slice::from_ref;

use forge_types::{
    Approval, ApprovalId, ApprovalStatus, Change, Draft, DraftKind, Event, Image, ImageId, Millis,
};
use pretty_assertions::assert_eq;

use crate::fixture::*;

fn image(at: i64) -> Image {
    Image {
        id: ImageId::random(),
        file_path: format!(".forge-images/{at}.png"),
        original_name: "x.png".into(),
        mime_type: Some("image/png".into()),
        size_bytes: 3,
        hash: at.to_string(),
        created_at: Millis(at),
        updated_at: Millis(at),
    }
}

#[tokio::test]
async fn only_old_images_that_no_task_shows_are_loose() {
    let (store, _dir) = store().await;
    let project = insert_project(&store).await;
    let task = insert_task(&store, project.id, 1).await;
    let [shown, loose, young] = [image(1), image(2), image(30)];
    let mut tx = store.begin().await.unwrap();
    for image in [&shown, &loose, &young] {
        tx.insert_image(image).await.unwrap();
    }
    tx.attach_images(task.id, &[shown.id, shown.id]).await.unwrap();
    assert_eq!(tx.image_by_hash("2").await.unwrap(), Some(loose.clone()));
    assert_eq!(tx.delete_loose_images(Millis(10)).await.unwrap(), from_ref(&loose));
    tx.commit().await.unwrap();
    assert_eq!(store.task_images(task.id).await.unwrap(), from_ref(&shown));
    assert_eq!(store.missing_image(&[shown.id, loose.id, young.id]).await.unwrap(), Some(loose.id));
    let mut tx = store.begin().await.unwrap();
    tx.delete_task(task.id).await.unwrap();
    assert_eq!(tx.delete_loose_images(Millis(10)).await.unwrap(), [shown], "loose with its task gone");
}

#[tokio::test]
async fn an_approval_is_answered_once_and_each_step_makes_an_event() {
    let (store, _dir) = store().await;
    let approval = Approval {
        id: ApprovalId::random(),
        run_id: None,
        tool_name: "Bash".into(),
        tool_input: serde_json::json!({"command": "ls"}),
        call_id: Some("c".into()),
        session_id: None,
        status: ApprovalStatus::Pending,
        created_at: Millis(1),
        timeout_at: Millis(9),
        answered_at: None,
        attempt_id: None,
        task_id: None,
    };
    let mut tx = store.begin().await.unwrap();
    tx.insert_approval(&approval).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(store.pending_approvals().await.unwrap(), from_ref(&approval));
    let denied = ApprovalStatus::Denied { reason: Some("no".into()) };
    let mut tx = store.begin().await.unwrap();
    let answered = tx.answer_approval(approval.id, &denied, Millis(5)).await.unwrap().unwrap();
    assert_eq!(tx.answer_approval(approval.id, &ApprovalStatus::Approved, Millis(6)).await.unwrap(), None);
    tx.commit().await.unwrap();
    assert_eq!(answered, Approval { status: denied, answered_at: Some(Millis(5)), ..approval.clone() });
    assert_eq!(store.approval(approval.id).await.unwrap(), Some(answered.clone()));
    assert_eq!(
        events_since(&store, 0).await,
        [
            Event::Approval { change: Change::Created, approval },
            Event::Approval { change: Change::Updated, approval: answered },
        ]
    );
}

#[tokio::test]
async fn drafts_that_wait_or_were_on_their_way_are_found() {
    let (store, _dir) = store().await;
    let project = insert_project(&store).await;
    let mut tx = store.begin().await.unwrap();
    let mut waiting = Vec::new();
    for (at, queued, sending) in [(1, true, false), (2, false, true), (3, false, false)] {
        let (_, attempt) = insert_attempt(&mut tx, project.id, at).await;
        let draft = Draft { queued, sending, ..Draft::empty(attempt.id, Millis(at)) };
        tx.put_draft(&draft).await.unwrap();
        assert_eq!(tx.draft(attempt.id, DraftKind::FollowUp).await.unwrap().as_ref(), Some(&draft));
        waiting.extend((queued || sending).then_some(draft.id));
    }
    tx.commit().await.unwrap();
    let found: Vec<_> = store.waiting_drafts().await.unwrap().iter().map(|draft| draft.id).collect();
    assert!(found.len() == 2 && waiting.iter().all(|id| found.contains(id)));
}
