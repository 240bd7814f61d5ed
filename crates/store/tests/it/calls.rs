//! What workers used: counted once however often it is read, beside what runs used, and kept when workers go.

use forge_store::{CallRow, CallSource, Caller, LogPlace, Spender, Store, UsageLine};
use forge_types::*;
use pretty_assertions::assert_eq;

use crate::fixture::*;

fn line(model: &str, tokens: i64, cost: i64) -> UsageLine {
    let usage = Usage { input_tokens: tokens, cost_microusd: Some(cost), ..Usage::default() };
    UsageLine { model: model.into(), usage, source: Some(CostSource::Reported) }
}

fn call(key: &str, line: UsageLine) -> CallRow {
    let caller = Caller {
        worker: WorkerId::new("a").unwrap(),
        workspace: "/w".into(),
        bead: Some("bd-1".into()),
        actor: Some("forge/a/1".into()),
        attempt: None,
        project: None,
    };
    let (key, session) = (key.to_owned(), "s".to_owned());
    let (source, executor, at) = (CallSource::Log, Some(Executor::ClaudeCode), Millis(86_400_000));
    CallRow { key, session, source, caller, executor, at, line, latency_ms: Some(300) }
}

async fn total(store: &Store) -> UsageSum {
    let query = UsageQuery { group_by: vec![UsageKey::Worker], ..UsageQuery::default() };
    store.usage(&query).await.unwrap().1
}

#[tokio::test]
async fn a_sum_takes_the_place_of_its_calls_and_reading_again_changes_nothing() {
    let (store, _dir) = store().await;
    for _ in 0..3 {
        let mut tx = store.begin().await.unwrap();
        tx.note_call(&call("m1", line("opus", 1, 1))).await.unwrap();
        tx.note_call(&call("m1", line("opus", 10, 10))).await.unwrap();
        tx.note_call(&call("m2", line("opus", 20, 20))).await.unwrap();
        tx.sum_calls(&[call("r1:o", line("opus[1m]", 35, 35)), call("r1:h", line("haiku", 4, 4))])
            .await
            .unwrap();
        tx.note_call(&call("m3", line("opus", 5, 5))).await.unwrap();
        tx.commit().await.unwrap();
        let sum = total(&store).await;
        assert_eq!((sum.input_tokens, sum.cost_usd, sum.runs), (44, Some(MicroUsd(44)), 1));
    }
    let models = store.model_performance(&UsageQuery::default()).await.unwrap();
    let counts: Vec<_> = models.iter().map(|model| (model.model.as_str(), model.call_count)).collect();
    assert_eq!(counts, [("opus[1m]", 2), ("opus", 1), ("haiku", 1)]);
    assert_eq!(models[0].avg_latency_ms, Some(150.0), "it is of both calls");
}

#[tokio::test]
async fn a_session_is_known_by_what_was_noted_of_it() {
    let (store, _dir) = store().await;
    assert!(!store.is_counted_elsewhere("s").await.unwrap());
    let mut tx = store.begin().await.unwrap();
    tx.add_call(&call("t1", line("gpt-5", 10, 1))).await.unwrap();
    assert_eq!(tx.session_usage("s").await.unwrap().input_tokens, 10);
    tx.commit().await.unwrap();
    assert!(store.is_counted_elsewhere("s").await.unwrap());
    let lease = Lease {
        workspace: "/w".into(),
        bead: "bd-1".into(),
        worker: WorkerId::new("a").unwrap(),
        actor: "forge/a/1".into(),
        taken_at: Millis(0),
    };
    assert_eq!(store.cost_of_lease(&lease).await.unwrap(), Some(MicroUsd(1)));
    let later = Lease { actor: "forge/a/2".into(), ..lease };
    assert_eq!(store.cost_of_lease(&later).await.unwrap(), None, "another turn at the bead");
}

#[tokio::test]
async fn runs_and_workers_are_counted_together() {
    let (store, _dir) = store().await;
    let project = insert_project(&store).await.id;
    let mut tx = store.begin().await.unwrap();
    let (task, attempt) = insert_attempt(&mut tx, project, 10).await;
    let run = agent_run(RunOwner::Attempt(attempt.id), 10);
    tx.insert_run(&run).await.unwrap();
    let link = forge_store::BeadTask { workspace: "/w".into(), bead: "bd-1".into(), task_id: task.id };
    tx.link_bead(&link).await.unwrap();
    let day: Day = "1970-01-02".parse().unwrap();
    let spender = Spender { run: &run, project, executor: Executor::ClaudeCode };
    tx.put_usage(spender, day, &[line("opus", 100, 100)]).await.unwrap();
    let mut mine = call("m1", line("opus", 7, 7));
    (mine.caller.attempt, mine.caller.project) = (Some(attempt.id), Some(project));
    tx.note_call(&mine).await.unwrap();
    tx.note_call(&call("m2", line("opus", 1, 1))).await.unwrap();
    tx.commit().await.unwrap();

    let spent = store.spent(Some(attempt.id), Some(project), day).await.unwrap();
    let money = [spent.attempt, spent.project, spent.day, spent.month].map(|money| money.0);
    assert_eq!(money, [107, 107, 108, 108]);
    assert_eq!(store.attempt(attempt.id).await.unwrap().unwrap().cost_usd, Some(MicroUsd(107)));
    let by = |key| UsageQuery { group_by: vec![key], ..UsageQuery::default() };
    let (beads, sum) = store.usage(&by(UsageKey::Bead)).await.unwrap();
    let named = (beads[0].bead.as_deref(), beads[0].workspace.as_deref(), beads[0].sum.cost_usd);
    assert_eq!((beads.len(), named), (1, (Some("bd-1"), Some("/w"), Some(MicroUsd(108)))));
    assert_eq!((sum.cost_usd, sum.runs), (Some(MicroUsd(108)), 2));
    let (workers, _) = store.usage(&by(UsageKey::Worker)).await.unwrap();
    let cost = |group: &UsageGroup| group.sum.cost_usd.unwrap().0;
    assert_eq!(workers.iter().map(cost).collect::<Vec<_>>(), [100, 8]);

    let mut tx = store.begin().await.unwrap();
    tx.delete_task(task.id).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(total(&store).await.cost_usd, Some(MicroUsd(8)), "what a worker cost stays");
    let workers = store.worker_efficiency(&UsageQuery::default()).await.unwrap();
    assert_eq!((workers.len(), workers[0].call_count, workers[0].tier), (1, 2, None));
    assert_eq!(workers[0].efficiency_score, Some(1e6));
}

#[tokio::test]
async fn the_place_of_a_file_is_kept() {
    let (store, _dir) = store().await;
    let worker = WorkerId::new("a").unwrap();
    let place = |body: &str| LogPlace {
        device: u64::MAX,
        inode: 3,
        worker: WorkerId::new("a").unwrap(),
        path: "/logs/a.log".into(),
        body: body.into(),
    };
    for body in ["1", "2"] {
        let mut tx = store.begin().await.unwrap();
        tx.put_log_place(&place(body)).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(store.log_places(&worker).await.unwrap(), [place(body)]);
    }
    assert_eq!(store.log_owner(u64::MAX, 3).await.unwrap(), Some(worker));
    assert_eq!(store.log_owner(1, 3).await.unwrap(), None);
}
