//! Cards show the newest attempt and nothing else, and a change of their figures makes an event.

use forge_store::{Spender, Store, UsageLine};
use forge_types::*;

use crate::fixture::*;

async fn card(store: &Store, task: &Task) -> TaskCard {
    let cards = store.cards(task.project_id, Some(task.id), Millis(1000)).await.unwrap();
    assert_eq!(cards.len(), 1);
    cards.into_iter().next().unwrap()
}

fn approval(run: RunId) -> Approval {
    Approval {
        id: ApprovalId::random(),
        run_id: Some(run),
        tool_name: "Bash".into(),
        tool_input: serde_json::Value::Null,
        call_id: None,
        session_id: None,
        status: ApprovalStatus::Pending,
        created_at: Millis(1),
        timeout_at: Millis(9),
        answered_at: None,
        attempt_id: None,
        task_id: None,
    }
}

fn line(cost: i64) -> UsageLine {
    let usage = Usage { input_tokens: 1, cost_microusd: Some(cost), ..Usage::default() };
    UsageLine { model: "model".into(), usage, source: Some(CostSource::Reported) }
}

#[tokio::test]
async fn a_card_shows_the_runs_of_the_newest_attempt_and_the_cost_of_all() {
    let (store, _dir) = store().await;
    let project = insert_project(&store).await.id;
    let mut tx = store.begin().await.unwrap();
    let (task, old) = insert_attempt(&mut tx, project, 10).await;
    let new = Attempt { branch: "forge/new".into(), ..attempt(&task, 20) };
    tx.insert_attempt(&new).await.unwrap();
    let before = agent_run(RunOwner::Attempt(old.id), 11);
    let setup = script_run(RunOwner::Attempt(new.id), ScriptContext::SetupScript, 20);
    let first = agent_run(RunOwner::Attempt(new.id), 100);
    let live = agent_run(RunOwner::Attempt(new.id), 400);
    let queued = Run { phase: RunPhase::Queued, ..agent_run(RunOwner::Attempt(new.id), 300) };
    let replaced = Run { dropped: true, ..agent_run(RunOwner::Attempt(new.id), 90) };
    let server = script_run(RunOwner::Attempt(new.id), ScriptContext::DevServer, 1);
    for run in [
        &ended(&before, RunStatus::Failed, 99),
        &ended(&setup, RunStatus::Completed, 99),
        &ended(&first, RunStatus::Completed, 150),
        &ended(&replaced, RunStatus::Killed, 99),
        &queued,
        &live,
        &server,
    ] {
        tx.insert_run(run).await.unwrap();
    }
    for (run, cost) in [(&before, 5), (&first, 7)] {
        let spender = Spender { run, project, executor: Executor::ClaudeCode };
        tx.put_usage(spender, Day::of(Millis(1)), &[line(cost)]).await.unwrap();
    }
    let asked = tx.insert_approval(&approval(live.id)).await.unwrap();
    assert_eq!((asked.attempt_id, asked.task_id), (Some(new.id), Some(task.id)));
    tx.insert_approval(&approval(before.id)).await.unwrap();
    tx.put_draft(&Draft { queued: true, ..draft(new.id, 30) }).await.unwrap();
    tx.insert_merge(&pull_request(new.id, PrStatus::Open, 40)).await.unwrap();
    tx.insert_merge(&direct_merge(old.id, 41)).await.unwrap();
    tx.commit().await.unwrap();

    let shown = card(&store, &task).await;
    let Merge::Pr { pr_info, .. } = pull_request(new.id, PrStatus::Open, 40) else { panic!() };
    assert_eq!(
        shown,
        TaskCard {
            task_id: task.id,
            attempt_id: new.id,
            attempts: 2,
            status: AttemptStatus::Running,
            executor: Executor::ClaudeCode,
            variant: Some("PLAN".into()),
            branch: "forge/new".into(),
            target_branch: "main".into(),
            running_since: Some(Millis(400)),
            elapsed_ms: 50 + 600,
            cost_usd: Some(MicroUsd(12)),
            files_changed: None,
            additions: None,
            deletions: None,
            earlier_changes: true,
            waiting_approvals: 1,
            parked_until: None,
            unverified: false,
            commit_error: None,
            setup_required: false,
            open_conflicts: Vec::new(),
            worktree_deleted: false,
            queued_draft: true,
            pr: Some(pr_info),
            merged: false,
        }
    );

    let mut tx = store.begin().await.unwrap();
    let until = Some(Millis(9000));
    tx.update_run(&Run {
        phase: RunPhase::Parked,
        parked_until: until,
        updated_at: Millis(450),
        ..live.clone()
    })
    .await
    .unwrap();
    tx.commit().await.unwrap();
    let parked = card(&store, &task).await;
    assert_eq!((parked.parked_until, parked.running_since, parked.elapsed_ms), (until, None, 100));

    let mut tx = store.begin().await.unwrap();
    let commit_error = Some("the disk is full".to_owned());
    let done = Run {
        unverified: true,
        commit_error,
        setup_required: true,
        open_conflicts: vec!["README.md".to_owned()],
        parked_until: until,
        ..ended(&live, RunStatus::Completed, 500)
    };
    tx.update_run(&done).await.unwrap();
    tx.commit().await.unwrap();
    let done = card(&store, &task).await;
    assert_eq!((done.status, done.unverified, done.parked_until), (AttemptStatus::Completed, true, None));
    assert_eq!(done.commit_error.as_deref(), Some("the disk is full"));
    assert_eq!((done.setup_required, done.open_conflicts), (true, vec!["README.md".to_owned()]));
}

#[tokio::test]
async fn a_change_of_the_figures_makes_an_event_and_nothing_else_does() {
    let (store, _dir) = store().await;
    let project = insert_project(&store).await.id;
    let mut tx = store.begin().await.unwrap();
    let (task, attempt) = insert_attempt(&mut tx, project, 10).await;
    tx.commit().await.unwrap();
    let changes = Some(Changes { files_changed: 2, additions: 30, deletions: 4 });
    for (changes, is_news) in [(changes, true), (changes, false), (None, true)] {
        let before = store.latest_seq();
        let mut tx = store.begin().await.unwrap();
        tx.put_changes(attempt.id, changes).await.unwrap();
        tx.commit().await.unwrap();
        let events = events_since(&store, before).await;
        assert_eq!(events.len(), usize::from(is_news), "{events:?}");
        assert!(
            events
                .iter()
                .all(|event| matches!(event, Event::Task { task: one, .. } if one.task.id == task.id))
        );
        let card = card(&store, &task).await;
        assert_eq!(card.files_changed, changes.map(|changes| changes.files_changed));
        assert_eq!(card.additions, changes.map(|changes| changes.additions));
        assert_eq!(card.deletions, changes.map(|changes| changes.deletions));
    }
    // Another change of the attempt keeps them.
    let mut tx = store.begin().await.unwrap();
    tx.put_changes(attempt.id, changes).await.unwrap();
    tx.update_attempt(&Attempt { worktree_deleted: true, ..attempt }).await.unwrap();
    tx.commit().await.unwrap();
    let card = card(&store, &task).await;
    assert_eq!((card.files_changed, card.worktree_deleted), (Some(2), true));
}

#[tokio::test]
async fn cards_come_in_the_order_of_the_list_without_chats_and_without_other_projects() {
    let (store, _dir) = store().await;
    let (project, other) = (insert_project(&store).await.id, insert_project(&store).await.id);
    let mut tx = store.begin().await.unwrap();
    let (older, _) = insert_attempt(&mut tx, project, 10).await;
    let (newer, _) = insert_attempt(&mut tx, project, 20).await;
    insert_attempt(&mut tx, other, 30).await;
    let chat = task(project, 40);
    tx.insert_task(&chat, true).await.unwrap();
    tx.insert_attempt(&attempt(&chat, 40)).await.unwrap();
    tx.commit().await.unwrap();
    let cards = store.cards(project, None, Millis(50)).await.unwrap();
    assert_eq!(cards.iter().map(|card| card.task_id).collect::<Vec<_>>(), [newer.id, older.id]);
    for (project, task) in [(other, older.id), (project, chat.id)] {
        assert_eq!(store.cards(project, Some(task), Millis(50)).await.unwrap(), []);
    }
}
