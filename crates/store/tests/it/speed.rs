//! Figures, not promises: run with `cargo test --release -p forge-store -- --ignored --nocapture speed`.

use std::time::Instant;

use forge_store::Page;
use forge_types::{Millis, RunOwner, RunStatus};
use futures_util::StreamExt;

use crate::fixture::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures"]
async fn speed_of_creating_and_listing_tasks() {
    const CALLERS: usize = 16;
    const EACH: usize = 1250;
    let (store, _dir) = store().await;
    let project = insert_project(&store).await.id;
    let start = Instant::now();
    let callers = (0..CALLERS).map(|_| {
        let store = store.clone();
        tokio::spawn(async move {
            for at in 0..EACH as i64 {
                insert_task(&store, project, at).await;
            }
        })
    });
    for caller in callers.collect::<Vec<_>>() {
        caller.await.unwrap();
    }
    let per_second = (CALLERS * EACH) as f64 / start.elapsed().as_secs_f64();
    println!("{CALLERS} callers: {per_second:.0} tasks/s");

    let page = Page { limit: Some(10_000), offset: 0 };
    for _ in 0..3 {
        let start = Instant::now();
        let count = store.stream_tasks(project, page).count().await;
        println!("streamed {count} blocks of tasks in {:?}", start.elapsed());
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    println!("{}", status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or("no VmRSS"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures"]
async fn speed_of_the_cards_of_a_large_board() {
    const TASKS: i64 = 10_000;
    let (store, _dir) = store().await;
    let project = insert_project(&store).await.id;
    let mut tx = store.begin().await.unwrap();
    for at in 0..TASKS {
        let (_, attempt) = insert_attempt(&mut tx, project, at).await;
        for turn in 0..3 {
            let run = agent_run(RunOwner::Attempt(attempt.id), at + turn);
            tx.insert_run(&ended(&run, RunStatus::Completed, at + turn + 5)).await.unwrap();
        }
    }
    tx.commit().await.unwrap();
    for _ in 0..3 {
        let start = Instant::now();
        let count = store.cards(project, None, Millis(1)).await.unwrap().len();
        println!("{count} cards in {:?}", start.elapsed());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures"]
async fn speed_of_plain_and_synced_commits() {
    const COMMITS: u32 = 1000;
    let (store, dir) = store().await;
    let mut took = Vec::new();
    for synced in [false, true, false, true] {
        let start = Instant::now();
        for at in 0..COMMITS {
            let mut tx = store.begin().await.unwrap();
            tx.put_meta("key", &at.to_string()).await.unwrap();
            if synced {
                tx.commit_synced().await.unwrap()
            } else {
                tx.commit().await.unwrap()
            };
        }
        took.push(start.elapsed() / COMMITS);
    }
    println!("plain, synced, plain, synced commit: {took:?}");
    let start = Instant::now();
    for _ in 0..COMMITS {
        store.check().unwrap();
    }
    println!("a look at the files: {:?}", start.elapsed() / COMMITS);
    for level in ["PRAGMA synchronous = NORMAL", "PRAGMA synchronous = FULL"] {
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(dir.path().join("forge.db"));
        let mut conn = sqlx::ConnectOptions::connect(&options).await.unwrap();
        sqlx::query(level).execute(&mut conn).await.unwrap();
        let start = Instant::now();
        for at in 0..COMMITS {
            let row = sqlx::query("INSERT OR REPLACE INTO meta VALUES ('key', $1)").bind(at.to_string());
            row.execute(&mut conn).await.unwrap();
        }
        println!("{level}: {:?} a commit", start.elapsed() / COMMITS);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures"]
async fn speed_of_reading_rows() {
    const TASKS: i64 = 10_000;
    let (store, _dir) = store().await;
    let project = insert_project(&store).await.id;
    let mut tx = store.begin().await.unwrap();
    for at in 0..TASKS {
        insert_attempt(&mut tx, project, at).await;
    }
    tx.commit().await.unwrap();
    let mut took = Vec::new();
    for _ in 0..15 {
        let start = Instant::now();
        assert_eq!(store.tasks_snapshot(project).await.unwrap().1.len(), TASKS as usize);
        let tasks = start.elapsed();
        assert_eq!(store.project_attempts(project).await.unwrap().len(), TASKS as usize);
        took.push((tasks, start.elapsed() - tasks));
    }
    let tasks = took.iter().map(|(tasks, _)| tasks).min().unwrap();
    let attempts = took.iter().map(|(_, attempts)| attempts).min().unwrap();
    println!("{TASKS} tasks as rows in {tasks:?}, {TASKS} attempts in {attempts:?}");
}
