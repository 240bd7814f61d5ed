//! What runs used: no counting twice, days kept apart, groups and sums that agree.

use forge_store::{Spender, Store, UsageLine};
use forge_types::*;
use pretty_assertions::assert_eq;

use crate::fixture::*;

fn day(text: &str) -> Day {
    text.parse().unwrap()
}

fn line(model: &str, tokens: i64, cost: Option<i64>) -> UsageLine {
    let usage =
        Usage { input_tokens: tokens, output_tokens: tokens / 10, cost_microusd: cost, ..Usage::default() };
    UsageLine { model: model.into(), usage, source: cost.map(|_| CostSource::Reported) }
}

async fn note(store: &Store, run: &Run, project: ProjectId, at: &str, lines: &[UsageLine]) {
    let mut tx = store.begin().await.unwrap();
    let spender = Spender { run, project, executor: Executor::ClaudeCode };
    tx.put_usage(spender, day(at), lines).await.unwrap();
    tx.commit().await.unwrap();
}

async fn insert_run(store: &Store, project: ProjectId, at: i64) -> Run {
    let mut tx = store.begin().await.unwrap();
    let (_, attempt) = insert_attempt(&mut tx, project, at).await;
    let run = agent_run(RunOwner::Attempt(attempt.id), at);
    tx.insert_run(&run).await.unwrap();
    tx.commit().await.unwrap();
    run
}

async fn grouped(store: &Store, group_by: &[UsageKey]) -> (Vec<UsageGroup>, UsageSum) {
    store.usage(&UsageQuery { group_by: group_by.to_vec(), ..UsageQuery::default() }).await.unwrap()
}

#[tokio::test]
async fn a_total_that_is_noted_again_takes_the_place_of_the_one_before() {
    let (store, _dir) = store().await;
    let project = insert_project(&store).await.id;
    let run = insert_run(&store, project, 10).await;
    let attempt = run.owner.attempt().unwrap();
    note(&store, &run, project, "2026-01-01", &[line("opus", 100, Some(5))]).await;
    for _ in 0..3 {
        note(&store, &run, project, "2026-01-01", &[line("opus[1m]", 200, Some(12))]).await;
    }
    let (groups, total) = grouped(&store, &[UsageKey::Model]).await;
    assert_eq!(groups.len(), 1, "the name that the agent reported first is gone: {groups:?}");
    assert_eq!((groups[0].model.as_deref(), groups[0].sum.clone()), (Some("opus[1m]"), total.clone()));
    assert_eq!((total.input_tokens, total.cost_usd, total.runs), (200, Some(MicroUsd(12)), 1));
    let mut tx = store.begin().await.unwrap();
    assert_eq!(tx.attempt_tokens(attempt).await.unwrap().input_tokens, Some(200));
    drop(tx);
    assert_eq!(store.attempt(attempt).await.unwrap().unwrap().cost_usd, Some(MicroUsd(12)));
}

#[tokio::test]
async fn a_run_over_midnight_costs_each_day_its_part() {
    let (store, _dir) = store().await;
    let project = insert_project(&store).await.id;
    let run = insert_run(&store, project, 10).await;
    note(&store, &run, project, "2026-01-01", &[line("opus", 100, Some(5))]).await;
    for _ in 0..2 {
        note(&store, &run, project, "2026-01-02", &[line("opus", 300, Some(20)), line("haiku", 7, None)])
            .await;
    }
    let (groups, total) = grouped(&store, &[UsageKey::Day]).await;
    let days: Vec<_> = groups.iter().map(|group| (group.sum.input_tokens, group.sum.cost_usd)).collect();
    assert_eq!(days, [(100, Some(MicroUsd(5))), (207, Some(MicroUsd(15)))]);
    assert_eq!((total.input_tokens, total.cost_usd, total.runs), (307, Some(MicroUsd(20)), 1));
    assert_eq!(total.unpriced_tokens, 7, "what has no price is counted separately");
    let spent = store.spent(run.owner.attempt(), Some(project), day("2026-01-02")).await.unwrap();
    assert_eq!((spent.attempt, spent.project, spent.day), (MicroUsd(20), MicroUsd(20), MicroUsd(15)));
}

#[tokio::test]
async fn groups_and_filters_agree_with_their_sum() {
    let (store, _dir) = store().await;
    let (here, there) = (insert_project(&store).await.id, insert_project(&store).await.id);
    let (a, b) = (insert_run(&store, here, 10).await, insert_run(&store, here, 20).await);
    let c = insert_run(&store, there, 30).await;
    note(&store, &a, here, "2026-01-01", &[line("opus", 10, Some(1)), line("haiku", 20, Some(2))]).await;
    note(&store, &b, here, "2026-01-02", &[line("opus", 30, Some(3))]).await;
    note(&store, &c, there, "2026-01-02", &[line("opus", 40, None)]).await;

    let (groups, total) = grouped(&store, &[UsageKey::Project, UsageKey::Model]).await;
    assert_eq!(groups.len(), 3);
    assert!(groups.iter().all(|group| group.project_id.is_some() && group.day.is_none()));
    assert_eq!((total.input_tokens, total.runs, total.unpriced_tokens), (100, 3, 44));
    assert_eq!(groups.iter().map(|group| group.sum.input_tokens).sum::<i64>(), 100);

    let by = |query: UsageQuery| UsageQuery { group_by: vec![UsageKey::Executor], ..query };
    for (query, tokens) in [
        (UsageQuery { project_id: Some(here), ..UsageQuery::default() }, 60),
        (UsageQuery { attempt_id: a.owner.attempt(), ..UsageQuery::default() }, 30),
        (UsageQuery { from: Some(day("2026-01-02")), ..UsageQuery::default() }, 70),
        (UsageQuery { to: Some(day("2026-01-01")), ..UsageQuery::default() }, 30),
        (UsageQuery { project_id: Some(ProjectId::random()), ..UsageQuery::default() }, 0),
    ] {
        let (groups, total) = store.usage(&by(query.clone())).await.unwrap();
        assert_eq!(total.input_tokens, tokens, "{query:?}");
        assert_eq!(groups.iter().map(|group| group.sum.input_tokens).sum::<i64>(), tokens, "{query:?}");
    }
    assert_eq!(store.spent(None, Some(there), day("2026-01-02")).await.unwrap().day, MicroUsd(3));
}

#[tokio::test]
async fn use_goes_with_its_run_and_limits_are_kept() {
    let (store, _dir) = store().await;
    let mut project = insert_project(&store).await;
    let run = insert_run(&store, project.id, 10).await;
    note(&store, &run, project.id, "2026-01-01", &[line("opus", 10, Some(1))]).await;
    project.max_cost_usd = Some(Budget(MicroUsd(5)));
    let mut attempt = store.attempt(run.owner.attempt().unwrap()).await.unwrap().unwrap();
    attempt.max_cost_usd = Some(Budget(MicroUsd(7)));
    let mut tx = store.begin().await.unwrap();
    tx.update_project(&project).await.unwrap();
    tx.update_attempt(&attempt).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(store.project(project.id).await.unwrap().unwrap().max_cost_usd, project.max_cost_usd);
    assert_eq!(store.attempt(attempt.id).await.unwrap().unwrap().max_cost_usd, attempt.max_cost_usd);
    let mut tx = store.begin().await.unwrap();
    tx.delete_task(attempt.task_id).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(grouped(&store, &[UsageKey::Model]).await, (Vec::new(), UsageSum::default()));
}
