//! Databases made by older and by newer versions.

use std::path::Path;

use forge_store::{Store, StoreError};
use forge_types::{UsageKey, UsageQuery};
use pretty_assertions::assert_eq;
use sqlx::migrate::Migrator;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, SqliteConnection};

use crate::fixture::*;

static MIGRATIONS: Migrator = sqlx::migrate!("./migrations");

async fn connect(path: &Path) -> SqliteConnection {
    SqliteConnectOptions::new().filename(path).create_if_missing(true).connect().await.unwrap()
}

/// Rows as the given version wrote them. A new migration that changes tables adds its own rows here.
async fn sample_rows(conn: &mut SqliteConnection, version: i64) {
    let older = MIGRATIONS.iter().map(|migration| migration.version).filter(|older| *older < version);
    if let Some(older) = older.max() {
        // What an older version wrote is still there.
        Box::pin(sample_rows(conn, older)).await;
    }
    let rows = match version {
        1 => {
            "INSERT INTO meta VALUES ('made_by', 'version 1');
             INSERT INTO projects (id, name, git_repo_path, default_base_branch, created_ms, updated_ms)
               VALUES ('00000000-0000-4000-8000-000000000001', 'old', '/old', 'main', 1, 2);
             INSERT INTO tasks (id, project_id, title, status, hidden, created_ms, updated_ms, attempt_count, executor)
               VALUES ('00000000-0000-4000-8000-000000000002', '00000000-0000-4000-8000-000000000001', 'old task',
               'inreview', 0, 3, 4, 1, 'AMP');
             INSERT INTO attempts (id, task_id, container_ref, branch, target_branch, executor, worktree_deleted, created_ms,
               updated_ms, use_worktree) VALUES ('00000000-0000-4000-8000-000000000003',
               '00000000-0000-4000-8000-000000000002', '/tree', 'b', 'main', 'AMP', 0, 5, 6, 1);
             INSERT INTO events (at_ms, kind, body) VALUES (7, 'project_removed',
               '{\"event\":\"project_removed\",\"id\":\"00000000-0000-4000-8000-00000000000f\"}');"
        }
        2 => {
            "INSERT INTO rebases VALUES ('00000000-0000-4000-8000-000000000003', 'other', 'aa', 'bb', 8);"
        }
        3 => {
            "UPDATE attempts SET auto_pr = 'opened', auto_pr_note = 'https://host.example/pull/1';
             INSERT INTO issues VALUES ('00000000-0000-4000-8000-000000000002',
               '00000000-0000-4000-8000-000000000001', 'host.example/a/b', 7, 'https://host.example/issues/7');"
        }
        4 => {
            "INSERT INTO project_settings VALUES ('00000000-0000-4000-8000-000000000001', 1, '{\"host\":\"h\"}');
             INSERT INTO agents VALUES ('00000000-0000-4000-8000-000000000004', '00000000-0000-4000-8000-000000000001',
               'master', '00000000-0000-4000-8000-000000000002', 8, 9);
             INSERT INTO notifications VALUES ('00000000-0000-4000-8000-000000000005',
               '00000000-0000-4000-8000-000000000002', '00000000-0000-4000-8000-000000000003', 'task', 'sent', 'm', NULL,
               '{}', 1, 10, 11, 12);"
        }
        5 => {
            "INSERT INTO images VALUES ('00000000-0000-4000-8000-000000000004', 'ab.png', 'a.png', 'image/png', 2, 'ab', 1, 1);
             INSERT INTO task_images VALUES ('00000000-0000-4000-8000-000000000002',
               '00000000-0000-4000-8000-000000000004', 1);
             INSERT INTO tags VALUES ('00000000-0000-4000-8000-000000000005', 'tag', 'text', 1, 1);
             INSERT INTO templates VALUES ('00000000-0000-4000-8000-000000000006', NULL, 't', NULL, 'n', 1, 1);
             INSERT INTO approvals VALUES ('00000000-0000-4000-8000-000000000007', NULL, 'Bash', '{}', NULL, NULL,
               'pending', NULL, 1, 2, NULL);"
        }
        6 => {
            "UPDATE projects SET max_cost_microusd = 5000000;
             UPDATE attempts SET max_cost_microusd = 1000000;
             INSERT INTO runs (id, attempt_id, reason, action, status, phase, dropped, started_ms, created_ms, updated_ms)
               VALUES ('00000000-0000-4000-8000-000000000008', '00000000-0000-4000-8000-000000000003', 'codingagent',
               '{}', 'completed', 'ended', 0, 1, 1, 1);
             INSERT INTO usage VALUES ('00000000-0000-4000-8000-000000000008', 'model', '2026-01-01',
               '00000000-0000-4000-8000-000000000003', '00000000-0000-4000-8000-000000000001', 'AMP', 1, 2, 3, 4, 5, 6,
               'told');"
        }
        7 => "UPDATE runs SET parked_until_ms = 9, unverified = 1;",
        8 => {
            "INSERT INTO imports (source, kind, key, id, project_id, at_ms) VALUES ('vibe-kanban', 'task', 'k', '00000000-0000-4000-8000-000000000002',
               '00000000-0000-4000-8000-000000000001', 1);"
        }
        9 => {
            "INSERT INTO leases VALUES ('/w', 'fg-1', 'alpha', 'forge/h/alpha/1', 1);
             INSERT INTO bead_failures VALUES ('/w', 'fg-1', 1, 'exit 1', 0, 1);"
        }
        10 => {
            "INSERT INTO dispatch_rules VALUES ('00000000-0000-4000-8000-000000000001', '{}');
             INSERT INTO bead_tasks VALUES ('/w', 'fg-1', '00000000-0000-4000-8000-000000000002');"
        }
        12 => {
            "INSERT INTO calls (key, standing, session, source, worker_id, model, day, at_ms, call_count, input_tokens,
               output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens)
               VALUES ('s:m', 'open', 's', 'log', 'alpha', 'model', '2026-01-01', 1, 1, 1, 2, 3, 4, 0);
             INSERT INTO log_offsets VALUES (1, 2, 'alpha', '/logs/alpha.log', '{}');"
        }
        13 => {
            "INSERT INTO mirrors VALUES ('/w', 'fg-1', '00000000-0000-4000-8000-000000000001',
               '00000000-0000-4000-8000-000000000002', 'a', 'b', 'open', 'todo');"
        }
        14 => {
            "INSERT INTO alerts VALUES ('00000000-0000-4000-8000-000000000009', '\"disk_low\"', '', '{}', 1, NULL);
             INSERT INTO alert_deliveries VALUES ('00000000-0000-4000-8000-000000000009', '\"warning\"', 1, NULL, NULL);
             INSERT INTO lease_actors VALUES ('forge/h/bravo/2', 1);"
        }
        15 => {
            "UPDATE tasks SET labels = '[\"ui\"]';
             UPDATE attempts SET files_changed = 1, additions = 2, deletions = 3;"
        }
        16 => "INSERT INTO idempotency VALUES ('k', 'POST /api/tasks', 'f', '{}', NULL, 1);",
        17 => "UPDATE runs SET commit_error = 'the disk is full';",
        18 => "UPDATE imports SET seen = '{}';",
        19 => "UPDATE runs SET setup_required = 1, open_conflicts = '[\"a\"]';",
        other => panic!("migration {other} has no sample rows"),
    };
    sqlx::raw_sql(rows).execute(conn).await.unwrap();
}

async fn tables(path: &Path) -> Vec<String> {
    let mut conn = connect(path).await;
    let sql = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name";
    let tables = sqlx::query_scalar(sql).fetch_all(&mut conn).await.unwrap();
    conn.close().await.unwrap();
    tables
}

#[tokio::test]
async fn every_older_database_is_brought_up_to_date_with_its_rows() {
    let (fresh, fresh_dir) = store().await;
    fresh.close().await;
    let newest = tables(&fresh_dir.path().join("forge.db")).await;

    for count in 0..=MIGRATIONS.iter().count() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("forge.db");
        let mut conn = connect(&path).await;
        let prefix: Vec<_> = MIGRATIONS.iter().take(count).cloned().collect();
        let version = prefix.last().map(|migration| migration.version);
        Migrator::with_migrations(prefix).run(&mut conn).await.unwrap();
        if let Some(version) = version {
            sample_rows(&mut conn, version).await;
        }
        conn.close().await.unwrap();

        let store = Store::open(&path).await.unwrap();
        if version.is_some() {
            let projects = store.projects().await.unwrap();
            assert_eq!(projects[0].git_repo_path, "/old");
            let (seq, tasks) = store.tasks_snapshot(projects[0].id).await.unwrap();
            assert_eq!(
                (seq, tasks[0].task.title.as_str(), tasks[0].executor.as_str()),
                (1, "old task", "AMP")
            );
            let attempts = store.project_attempts(projects[0].id).await.unwrap();
            assert_eq!(attempts[0].worktree_path.as_deref(), Some("/tree"));
            assert_eq!(events_since(&store, 0).await.len(), 1);
            assert!(store.meta("made_by").await.unwrap().is_some());
        }
        insert_project(&store).await;
        store.close().await;
        assert_eq!(tables(&path).await, newest);
    }
}

#[tokio::test]
async fn what_attempts_used_before_use_was_kept_by_run_is_not_lost() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("forge.db");
    let mut conn = connect(&path).await;
    Migrator::with_migrations(MIGRATIONS.iter().take(5).cloned().collect()).run(&mut conn).await.unwrap();
    sample_rows(&mut conn, 5).await;
    let rows = "UPDATE attempts SET executor = 'AMP:PLAN', input_tokens = 70, output_tokens = 7;
         INSERT INTO runs (id, attempt_id, reason, action, status, phase, dropped, started_ms, created_ms, updated_ms)
           VALUES ('00000000-0000-4000-8000-000000000008', '00000000-0000-4000-8000-000000000003', 'codingagent',
           '{}', 'completed', 'ended', 0, 86400000, 86400000, 86400000);";
    sqlx::raw_sql(rows).execute(&mut conn).await.unwrap();
    conn.close().await.unwrap();

    let store = Store::open(&path).await.unwrap();
    let query = UsageQuery { group_by: UsageKey::ALL.to_vec(), ..UsageQuery::default() };
    let (groups, total) = store.usage(&query).await.unwrap();
    assert_eq!((groups.len(), total.input_tokens, total.unpriced_tokens, total.cost_usd), (1, 70, 77, None));
    assert_eq!(groups[0].executor.as_deref(), Some("AMP"));
    assert_eq!(groups[0].day.map(|day| day.to_string()).as_deref(), Some("1970-01-02"));
    let attempt = "00000000-0000-4000-8000-000000000003".parse().unwrap();
    let tokens = store.begin().await.unwrap().attempt_tokens(attempt).await.unwrap();
    assert_eq!((tokens.input_tokens, tokens.output_tokens), (Some(70), Some(7)));
}

#[tokio::test]
async fn a_database_of_a_newer_forge_is_refused_and_not_touched() {
    let (store, dir) = store().await;
    insert_project(&store).await;
    store.close().await;
    let path = dir.path().join("forge.db");
    let mut conn = connect(&path).await;
    sqlx::raw_sql(
        "PRAGMA journal_mode = DELETE; INSERT INTO _sqlx_migrations (version, description, success, checksum, \
         execution_time) VALUES (9999, 'later', 1, x'00', 0)",
    )
    .execute(&mut conn)
    .await
    .unwrap();
    conn.close().await.unwrap();
    let before = std::fs::read(&path).unwrap();

    let error = Store::open(&path).await.err().unwrap();
    assert!(matches!(error, StoreError::Newer { found: 9999, .. }), "{error}");
    assert!(error.to_string().contains("forge.db") && error.to_string().contains("9999"), "{error}");
    assert!(std::fs::read(&path).unwrap() == before);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "no file was left beside it");
}

#[tokio::test]
async fn what_cannot_be_opened_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let text = dir.path().join("notes.txt");
    std::fs::write(&text, "these are notes, not a database, and long enough to be looked at as one").unwrap();
    let error = Store::open(&text).await.err().unwrap();
    assert!(matches!(&error, StoreError::Damaged { path, .. } if *path == text), "{error}");
    let path = dir.path().join("no/such/dir/forge.db");
    let error = Store::open(&path).await.err().unwrap();
    assert!(matches!(&error, StoreError::Open { path: named, .. } if *named == path), "{error}");
    assert!(std::fs::read_to_string(&text).unwrap().starts_with("these are notes"));
}

#[tokio::test]
async fn a_closed_store_refuses_and_leaves_one_file() {
    let (store, dir) = store().await;
    insert_project(&store).await;
    store.projects().await.unwrap();
    store.close().await;
    assert!(matches!(store.begin().await.err(), Some(StoreError::Sql(_))));
    assert!(matches!(store.projects().await.err(), Some(StoreError::Sql(_))));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn a_database_that_was_small_is_not_taken_for_small_for_ever() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db.sqlite");
    Store::open(&path).await.unwrap().close().await;
    let mut conn = connect(&path).await;
    let rows = "INSERT INTO meta VALUES ('a', 'row'); ANALYZE";
    sqlx::raw_sql(rows).execute(&mut conn).await.unwrap();
    conn.close().await.unwrap();
    // Neither what an older version counted nor what a stop could count is left.
    for _ in 0..2 {
        Store::open(&path).await.unwrap().close().await;
        let mut conn = connect(&path).await;
        let counted = "SELECT COUNT(*) FROM sqlite_schema WHERE name LIKE 'sqlite_stat%'";
        assert_eq!(sqlx::query_scalar::<_, i64>(counted).fetch_one(&mut conn).await.unwrap(), 0);
        conn.close().await.unwrap();
    }
}
