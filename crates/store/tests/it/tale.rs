//! The life of a project, step by step: its rows and exactly their events.

use forge_store::{Dropped, Page, Store, StoreError, Tx};
use forge_types::*;
use pretty_assertions::assert_eq;

use crate::fixture::*;

/// Commits one step and returns its events.
async fn step(store: &Store, work: impl AsyncFnOnce(&mut Tx)) -> Vec<Event> {
    let before = store.latest_seq();
    let mut tx = store.begin().await.unwrap();
    work(&mut tx).await;
    assert_eq!(tx.commit().await.unwrap(), store.latest_seq());
    events_since(store, before).await
}

fn fresh(task: &Task) -> TaskSummary {
    TaskSummary {
        task: task.clone(),
        has_in_progress_attempt: false,
        has_merged_attempt: false,
        last_attempt_failed: false,
        executor: String::new(),
        attempt_count: 0,
    }
}

fn shown(change: Change, task: &TaskSummary) -> Event {
    Event::Task { change, task: task.clone(), hidden: false }
}

#[tokio::test]
async fn a_project_from_creation_to_deletion() {
    let (store, _dir) = store().await;
    assert_eq!((store.start_seq(), store.latest_seq()), (0, 0));

    let mut project = project(1);
    let events = step(&store, async |tx| tx.insert_project(&project).await.unwrap()).await;
    assert_eq!(events, [Event::Project { change: Change::Created, project: project.clone() }]);

    project.name = "renamed".into();
    project.dev_script = Some("make run".into());
    project.updated_at = Millis(2);
    let events = step(&store, async |tx| tx.update_project(&project).await.unwrap()).await;
    assert_eq!(events, [Event::Project { change: Change::Updated, project: project.clone() }]);
    assert_eq!(store.project(project.id).await.unwrap().as_ref(), Some(&project));
    assert_eq!(store.project_by_path(&project.git_repo_path).await.unwrap().as_ref(), Some(&project));

    let task = task(project.id, 10);
    let mut summary = fresh(&task);
    let events = step(&store, async |tx| tx.insert_task(&task, false).await.unwrap()).await;
    assert_eq!(events, [shown(Change::Created, &summary)]);

    // An attempt and its setup run, made together.
    let attempt = attempt(&task, 20);
    let setup = script_run(RunOwner::Attempt(attempt.id), ScriptContext::SetupScript, 21);
    let events = step(&store, async |tx| {
        tx.insert_attempt(&attempt).await.unwrap();
        tx.insert_run(&setup).await.unwrap();
    })
    .await;
    summary.has_in_progress_attempt = true;
    summary.attempt_count = 1;
    summary.executor = "CLAUDE_CODE:PLAN".into();
    assert_eq!(
        events,
        [
            Event::AttemptCreated {
                id: attempt.id,
                task_id: task.id,
                project_id: project.id,
                attempt: Some(Box::new(attempt.clone()))
            },
            shown(Change::Updated, &summary),
            Event::Run { change: Change::Created, run: setup.clone() },
        ]
    );
    assert_eq!(store.attempt(attempt.id).await.unwrap().as_ref(), Some(&attempt));
    assert_eq!(store.open_runs().await.unwrap(), std::slice::from_ref(&setup));

    // The setup ends and the agent starts.
    let setup = ended(&setup, RunStatus::Completed, 30);
    let agent = agent_run(RunOwner::Attempt(attempt.id), 31);
    let events = step(&store, async |tx| {
        tx.update_run(&setup).await.unwrap();
        tx.insert_run(&agent).await.unwrap();
    })
    .await;
    assert_eq!(
        events,
        [
            shown(Change::Updated, &summary),
            Event::Run { change: Change::Updated, run: setup.clone() },
            Event::Run { change: Change::Created, run: agent.clone() },
        ]
    );
    assert_eq!(store.attempt(attempt.id).await.unwrap().unwrap().status, AttemptStatus::Running);

    // The agent fails; a dev server does not count as work.
    let agent = ended(&agent, RunStatus::Failed, 40);
    let server = script_run(RunOwner::Attempt(attempt.id), ScriptContext::DevServer, 41);
    let events = step(&store, async |tx| {
        tx.update_run(&agent).await.unwrap();
        tx.insert_run(&server).await.unwrap();
    })
    .await;
    summary.has_in_progress_attempt = false;
    summary.last_attempt_failed = true;
    assert_eq!(events[0], shown(Change::Updated, &summary));
    assert_eq!(store.attempt(attempt.id).await.unwrap().unwrap().status, AttemptStatus::Failed);

    // A retry drops the failed run.
    let agent = Run { dropped: true, ..agent };
    let retry = ended(&agent_run(RunOwner::Attempt(attempt.id), 50), RunStatus::Completed, 51);
    step(&store, async |tx| {
        tx.update_run(&agent).await.unwrap();
        tx.insert_run(&retry).await.unwrap();
    })
    .await;
    summary.last_attempt_failed = false;
    assert_eq!(store.task_summary(task.id).await.unwrap().as_ref(), Some(&summary));
    let kept = store.runs(attempt.id, Dropped::Hidden).await.unwrap();
    assert_eq!(kept, [setup.clone(), server.clone(), retry.clone()]);
    let all = store.runs(attempt.id, Dropped::Shown).await.unwrap();
    assert_eq!(all, [setup.clone(), agent.clone(), server.clone(), retry.clone()]);

    // An open pull request is not a merge; a direct one is.
    let request = pull_request(attempt.id, PrStatus::Open, 60);
    let events = step(&store, async |tx| tx.insert_merge(&request).await.unwrap()).await;
    assert_eq!(events, [shown(Change::Updated, &summary)]);
    let landed = direct_merge(attempt.id, 61);
    let events = step(&store, async |tx| tx.insert_merge(&landed).await.unwrap()).await;
    summary.has_merged_attempt = true;
    assert_eq!(events, [shown(Change::Updated, &summary)]);
    assert_eq!(store.merges(attempt.id).await.unwrap(), [landed, request]);

    // A draft is written, replaced and deleted without touching the task.
    let draft_event = |draft| Event::Draft {
        attempt_id: attempt.id,
        project_id: project.id,
        kind: DraftKind::FollowUp,
        draft,
    };
    for version in 1..=2 {
        let draft = Draft { version, ..draft(attempt.id, 70) };
        let events = step(&store, async |tx| tx.put_draft(&draft).await.unwrap()).await;
        assert_eq!(events, [draft_event(Some(draft.clone()))]);
        let (_, drafts) = store.drafts_snapshot(project.id).await.unwrap();
        assert_eq!(drafts, [(attempt.id, vec![draft])]);
    }
    let events = step(&store, async |tx| {
        assert!(tx.delete_draft(attempt.id, DraftKind::FollowUp).await.unwrap());
        assert!(!tx.delete_draft(attempt.id, DraftKind::Retry).await.unwrap());
    })
    .await;
    assert_eq!(events, [draft_event(None)]);

    // The attempt changes: the task is shown again.
    let attempt = Attempt { worktree_deleted: true, updated_at: Millis(80), ..attempt };
    let events = step(&store, async |tx| tx.update_attempt(&attempt).await.unwrap()).await;
    assert_eq!(events, [shown(Change::Updated, &summary)]);
    let stored = store.attempt(attempt.id).await.unwrap().unwrap();
    assert_eq!(stored, Attempt { status: AttemptStatus::Completed, ..attempt.clone() });

    // A child task of the attempt outlives it; an errand belongs to the project alone.
    let child = Task { parent_task_attempt: Some(attempt.id), ..crate::fixture::task(project.id, 90) };
    let errand = errand(project.id, 91);
    let errand_run = agent_run(RunOwner::Errand(errand.id), 92);
    let events = step(&store, async |tx| {
        tx.insert_errand(&errand).await.unwrap();
        tx.insert_run(&errand_run).await.unwrap();
        tx.insert_task(&child, false).await.unwrap();
    })
    .await;
    let run_event = Event::Run { change: Change::Created, run: errand_run.clone() };
    assert_eq!(events, [shown(Change::Created, &fresh(&child)), run_event]);
    assert_eq!(store.child_tasks(attempt.id).await.unwrap(), std::slice::from_ref(&child));
    assert_eq!(store.errand_runs(errand.id).await.unwrap(), std::slice::from_ref(&errand_run));
    assert_eq!(store.errands(Some(project.id)).await.unwrap(), std::slice::from_ref(&errand));

    let removed = |run: &Run| Event::RunRemoved { id: run.id, attempt_id: run.owner.attempt() };
    let events = step(&store, async |tx| assert!(tx.delete_task(task.id).await.unwrap())).await;
    let child = Task { parent_task_attempt: None, ..child };
    assert_eq!(
        events,
        [
            removed(&setup),
            removed(&agent),
            removed(&server),
            removed(&retry),
            Event::AttemptRemoved { id: attempt.id, task_id: task.id, project_id: project.id },
            Event::TaskRemoved { id: task.id, project_id: project.id },
            shown(Change::Updated, &fresh(&child)),
        ]
    );
    assert_eq!(store.run(setup.id).await.unwrap(), None);
    assert_eq!(store.attempts(None, Page::default()).await.unwrap(), []);
    assert_eq!(store.merges(attempt.id).await.unwrap(), []);

    let events = step(&store, async |tx| assert!(tx.delete_project(project.id).await.unwrap())).await;
    assert_eq!(
        events,
        [
            removed(&errand_run),
            Event::TaskRemoved { id: child.id, project_id: project.id },
            Event::ProjectRemoved { id: project.id },
        ]
    );
    assert_eq!(store.errand(errand.id).await.unwrap(), None);
    assert_eq!(store.open_runs().await.unwrap(), []);
    let events = step(&store, async |tx| {
        assert!(!tx.delete_project(project.id).await.unwrap());
        assert!(!tx.delete_task(child.id).await.unwrap());
    })
    .await;
    assert_eq!(events, []);
}

#[tokio::test]
async fn one_event_per_entity_however_often_it_changes() {
    let (store, _dir) = store().await;
    let project = insert_project(&store).await;
    let mut task = task(project.id, 5);
    let events = step(&store, async |tx| {
        tx.insert_task(&task, true).await.unwrap();
        task.title = "changed".into();
        tx.update_task(&task).await.unwrap();
        let attempt = attempt(&task, 6);
        tx.insert_attempt(&attempt).await.unwrap();
        let run = agent_run(RunOwner::Attempt(attempt.id), 7);
        tx.insert_run(&run).await.unwrap();
        tx.update_run(&ended(&run, RunStatus::Killed, 8)).await.unwrap();
        task.status = TaskStatus::InReview;
        tx.update_task(&task).await.unwrap();
    })
    .await;
    let [
        Event::AttemptCreated { .. },
        Event::Task { change, task: shown, hidden },
        Event::Run { change: of_run, run },
    ] = &events[..]
    else {
        panic!("{events:#?}")
    };
    assert_eq!((*change, *hidden, *of_run), (Change::Created, true, Change::Created));
    assert_eq!((&shown.task, shown.last_attempt_failed, shown.attempt_count), (&task, true, 1));
    assert_eq!(run.status, RunStatus::Killed);
}

#[tokio::test]
async fn what_is_made_and_removed_together_never_happened() {
    let (store, _dir) = store().await;
    let project = insert_project(&store).await;
    let events = step(&store, async |tx| {
        let (task, attempt) = insert_attempt(tx, project.id, 5).await;
        tx.insert_run(&agent_run(RunOwner::Attempt(attempt.id), 6)).await.unwrap();
        tx.put_draft(&draft(attempt.id, 7)).await.unwrap();
        assert!(tx.delete_task(task.id).await.unwrap());
    })
    .await;
    assert_eq!(events, []);
}

#[tokio::test]
async fn a_dropped_transaction_leaves_no_trace() {
    let (store, _dir) = store().await;
    let project = insert_project(&store).await;
    let seq = store.latest_seq();
    let subscriber = store.subscribe();
    let lost = task(project.id, 5);
    let mut tx = store.begin().await.unwrap();
    tx.insert_task(&lost, false).await.unwrap();
    assert_eq!(tx.task(lost.id).await.unwrap().as_ref(), Some(&lost));
    drop(tx);
    // Also callers that go away in the middle of a statement; sometimes it completes before they are gone.
    for _ in 0..50 {
        let mut tx = store.begin().await.unwrap();
        let mut statement = Box::pin(tx.insert_task(&lost, false));
        let _pending_or_done = futures_util::poll!(&mut statement);
        drop(statement);
        drop(tx);
    }

    let kept = insert_task(&store, project.id, 6).await;
    let (newest, tasks) = store.tasks_snapshot(project.id).await.unwrap();
    assert_eq!(newest, seq + 1, "the numbers stay consecutive");
    assert_eq!(tasks.iter().map(|task| task.task.id).collect::<Vec<_>>(), [kept.id]);
    assert_eq!(events_since(&store, seq).await.len(), 1);
    assert_eq!(*subscriber.borrow(), seq + 1);
}

#[tokio::test]
async fn a_commit_is_published_even_when_the_caller_goes_away() {
    let (store, _dir) = store().await;
    let project = insert_project(&store).await;
    let mut subscriber = store.subscribe();
    subscriber.mark_unchanged();
    let mut tx = store.begin().await.unwrap();
    tx.insert_task(&task(project.id, 5), false).await.unwrap();
    let mut commit = Box::pin(tx.commit());
    assert!(futures_util::poll!(&mut commit).is_pending());
    drop(commit);
    tokio::time::timeout(std::time::Duration::from_secs(10), subscriber.changed()).await.unwrap().unwrap();
    assert_eq!(events_since(&store, 1).await.len(), 1);
}

#[tokio::test]
async fn errors_say_what_a_caller_can_act_on() {
    let (store, _dir) = store().await;
    let project = insert_project(&store).await;
    let mut tx = store.begin().await.unwrap();
    let twin = Project { id: ProjectId::random(), ..project.clone() };
    assert!(matches!(tx.insert_project(&twin).await, Err(StoreError::Duplicate)));
    assert!(matches!(tx.insert_project(&project).await, Err(StoreError::Duplicate)));
    let stray = task(ProjectId::random(), 5);
    assert!(matches!(tx.insert_task(&stray, false).await, Err(StoreError::Missing)));
    assert!(matches!(tx.update_task(&stray).await, Err(StoreError::Missing)));
    let attempt = attempt(&stray, 6);
    assert!(matches!(tx.update_attempt(&attempt).await, Err(StoreError::Missing)));
    assert!(matches!(tx.put_draft(&draft(attempt.id, 7)).await, Err(StoreError::Missing)));
    let run = agent_run(RunOwner::Attempt(attempt.id), 7);
    assert!(matches!(tx.insert_run(&run).await, Err(StoreError::Missing)));
    assert!(matches!(tx.update_run(&run).await, Err(StoreError::Missing)));
    // A refused statement spoils nothing.
    tx.put_meta("k", "v1").await.unwrap();
    tx.put_meta("k", "v2").await.unwrap();
    assert_eq!(tx.commit().await.unwrap(), 1);
    assert_eq!(store.meta("k").await.unwrap().as_deref(), Some("v2"));
    assert_eq!(store.meta("other").await.unwrap(), None);
}

#[tokio::test]
async fn the_newest_run_is_the_last_one_that_was_added_though_the_clock_was_set_back() {
    let (store, _dir) = store().await;
    let (project, earlier, later) = (project(1), 1_000_000, 1_000);
    let task = task(project.id, 1);
    let attempt = attempt(&task, 1);
    let owner = RunOwner::Attempt(attempt.id);
    let (first, second) = (agent_run(owner, earlier), agent_run(owner, later));
    let mut tx = store.begin().await.unwrap();
    tx.insert_project(&project).await.unwrap();
    tx.insert_task(&task, false).await.unwrap();
    tx.insert_attempt(&attempt).await.unwrap();
    tx.insert_run(&first).await.unwrap();
    tx.insert_run(&second).await.unwrap();
    tx.commit().await.unwrap();
    let runs = store.runs(attempt.id, Dropped::Hidden).await.unwrap();
    assert_eq!(runs.iter().map(|run| run.id).collect::<Vec<_>>(), [first.id, second.id]);
}
