//! The file itself: that it can always be opened, is noticed when it goes, and is copied before it changes.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use forge_store::{Store, StoreError, copies, copy_database, examine_database};
use pretty_assertions::assert_eq;
use sqlx::migrate::Migrator;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, SqliteConnection};

use crate::fixture::*;

static MIGRATIONS: Migrator = sqlx::migrate!("./migrations");

fn beside(path: &Path, ending: &str) -> PathBuf {
    format!("{}{ending}", path.display()).into()
}

async fn connect(path: &Path) -> SqliteConnection {
    SqliteConnectOptions::new().filename(path).create_if_missing(true).connect().await.unwrap()
}

/// What a process leaves behind when it is killed while it writes without a write-ahead log: pages of a transaction that is not
/// committed, and the journal that undoes them.
async fn leave_hot_journal(from: &Path, path: &Path) {
    let mut conn = connect(from).await;
    let half = "PRAGMA journal_mode = DELETE; PRAGMA cache_size = 2; PRAGMA cache_spill = 2; BEGIN IMMEDIATE; \
                CREATE TABLE half (x); INSERT INTO half SELECT randomblob(9000) FROM (VALUES (1),(2),(3),(4),(5),(6));";
    sqlx::raw_sql(half).execute(&mut conn).await.unwrap();
    std::fs::copy(from, path).unwrap();
    std::fs::copy(beside(from, "-journal"), beside(path, "-journal")).unwrap();
    assert!(std::fs::metadata(path).unwrap().len() > 9000, "pages were written before the end");
    conn.close().await.unwrap();
}

/// Opens, writes, closes and opens again.
async fn assert_usable(path: &Path, state: &str) {
    let store = Store::open(path).await.unwrap_or_else(|error| panic!("{state}: {error}"));
    insert_project(&store).await;
    store.close().await;
    let store = Store::open(path).await.unwrap();
    assert_eq!(store.projects().await.unwrap().len(), 1, "{state}");
    store.close().await;
    let names: Vec<_> =
        std::fs::read_dir(path.parent().unwrap()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, [path.file_name().unwrap()], "{state}: nothing is left beside it");
}

#[tokio::test]
async fn whatever_a_killed_first_start_leaves_the_next_one_opens() {
    let scratch = tempfile::tempdir().unwrap();
    let state = async |name: &str| {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("forge.db");
        match name {
            "nothing" => {}
            "an empty file" => std::fs::write(&path, "").unwrap(),
            "an empty file with a journal" => {
                leave_hot_journal(&scratch.path().join("one"), &path).await;
                std::fs::write(&path, "").unwrap();
            }
            "half a file with a hot journal" => leave_hot_journal(&scratch.path().join("two"), &path).await,
            "half a file under the other name" => {
                leave_hot_journal(&scratch.path().join("three"), &beside(&path, ".new")).await;
            }
            _ => {
                std::fs::write(beside(&path, ".new"), "half").unwrap();
                std::fs::write(beside(&path, ".new-wal"), "half").unwrap();
                std::fs::write(beside(&path, ".new-shm"), "half").unwrap();
            }
        }
        (dir, path)
    };
    for name in [
        "nothing",
        "an empty file",
        "an empty file with a journal",
        "half a file with a hot journal",
        "half a file under the other name",
        "half a file under the other name with its log",
    ] {
        let (_dir, path) = state(name).await;
        assert_usable(&path, name).await;
    }
}

#[tokio::test]
async fn a_hot_journal_beside_a_database_with_rows_is_rolled_back_and_loses_none() {
    let (store, dir) = store().await;
    insert_project(&store).await;
    store.close().await;
    let path = dir.path().join("killed.db");
    leave_hot_journal(&dir.path().join("forge.db"), &path).await;
    let store = Store::open(&path).await.unwrap();
    assert_eq!(store.projects().await.unwrap().len(), 1);
}

#[tokio::test]
async fn two_first_starts_at_once_make_one_database() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("forge.db");
    let stores: Vec<_> = futures_util::future::join_all((0..4).map(|_| Store::open(&path))).await;
    for store in stores {
        insert_project(&store.unwrap()).await;
    }
    let store = Store::open(&path).await.unwrap();
    assert_eq!(store.projects().await.unwrap().len(), 4);
}

#[tokio::test]
async fn a_log_without_its_database_is_not_thrown_away() {
    let (store, dir) = store().await;
    insert_project(&store).await;
    let path = dir.path().join("forge.db");
    let alone = tempfile::tempdir().unwrap();
    let lone = alone.path().join("forge.db");
    std::fs::copy(beside(&path, "-wal"), beside(&lone, "-wal")).unwrap();
    let log = std::fs::read(beside(&lone, "-wal")).unwrap();
    assert!(!log.is_empty());
    let error = Store::open(&lone).await.err().unwrap();
    assert!(error.to_string().contains("forge backup restore"), "{error}");
    assert!(std::fs::read(beside(&lone, "-wal")).unwrap() == log);
    store.close().await;
}

#[tokio::test]
async fn nothing_is_answered_as_saved_when_the_database_vanished_or_was_replaced() {
    let (store, dir) = store().await;
    let project = insert_project(&store).await.id;
    let path = dir.path().join("forge.db");
    let away = dir.path().join("away");
    for name in [path.clone(), beside(&path, "-wal")] {
        for replaced in [false, true] {
            std::fs::rename(&name, &away).unwrap();
            if replaced {
                std::fs::copy(&away, &name).unwrap();
            }
            let is_gone =
                |error: StoreError| matches!(&error, StoreError::Gone { path, .. } if *path == name);
            assert!(is_gone(store.check().err().unwrap()));
            assert!(is_gone(store.begin().await.err().unwrap()));
            let error = store.create_task(&task(project, 1), None).await.err().unwrap();
            assert!(error.to_string().contains("forge backup restore"), "{error}");
            assert!(is_gone(error));
            std::fs::rename(&away, &name).unwrap();
            store.check().unwrap();
        }
    }
    // It disappears while a transaction is open.
    let mut tx = store.begin().await.unwrap();
    tx.put_meta("key", "value").await.unwrap();
    std::fs::rename(&path, &away).unwrap();
    assert!(matches!(tx.commit().await, Err(StoreError::Gone { .. })));
    std::fs::rename(&away, &path).unwrap();
    insert_task(&store, project, 2).await;
    store.close().await;
}

#[tokio::test]
async fn nothing_is_answered_as_saved_when_the_database_was_emptied_in_its_place() {
    let (store, dir) = store().await;
    let project = insert_project(&store).await.id;
    std::fs::File::options().write(true).open(dir.path().join("forge.db")).unwrap().set_len(0).unwrap();
    let error = store.create_task(&task(project, 1), None).await.err().unwrap();
    assert!(error.to_string().contains("it was emptied"), "{error}");
    assert!(matches!(store.check(), Err(StoreError::Gone { .. })));
}

#[tokio::test]
async fn a_value_of_a_closed_database_is_read_and_replaced() {
    let (store, dir) = store().await;
    let path = dir.path().join("forge.db");
    let mut tx = store.begin().await.unwrap();
    tx.put_meta("key", "old").await.unwrap();
    tx.commit().await.unwrap();
    store.close().await;
    forge_store::replace_meta(&path, "key", "new").await.unwrap();
    forge_store::replace_meta(&path, "none", "new").await.unwrap();
    assert_eq!(forge_store::read_meta(&path, "key").await.unwrap().as_deref(), Some("new"));
    assert_eq!(forge_store::read_meta(&path, "none").await.unwrap(), None);
}

/// A database as the version before the newest left it.
async fn older(path: &Path) {
    let mut conn = connect(path).await;
    let count = MIGRATIONS.iter().count() - 1;
    Migrator::with_migrations(MIGRATIONS.iter().take(count).cloned().collect()).run(&mut conn).await.unwrap();
    sqlx::raw_sql("INSERT INTO meta VALUES ('made_by', 'the one before')").execute(&mut conn).await.unwrap();
    conn.close().await.unwrap();
}

fn newest() -> i64 {
    MIGRATIONS.iter().map(|one| one.version).max().unwrap()
}

#[tokio::test]
async fn a_database_is_copied_before_it_is_brought_up_to_date() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("forge.db");
    for round in 0..5 {
        let _ = std::fs::remove_file(&path);
        older(&path).await;
        Store::open(&path).await.unwrap().close().await;
        assert_eq!(copies(&path).len(), 3.min(round + 1), "the newest three are kept");
    }
    Store::open(&path).await.unwrap().close().await;
    let kept = copies(&path);
    assert_eq!(kept.len(), 3, "one that is up to date is not copied");
    let folder = dir.path().join("backups");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 3);
    assert_eq!(std::fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    for copy in kept {
        assert_eq!(std::fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
        let name = copy.file_name().unwrap().to_str().unwrap();
        assert!(name.starts_with(&format!("db-before-{:04}-2", newest())), "{name}");
        assert!(examine_database(&copy).await.unwrap().schema.unwrap() < newest());
        let mut conn = connect(&copy).await;
        let made_by: String = sqlx::query_scalar("SELECT value FROM meta WHERE key = 'made_by'")
            .fetch_one(&mut conn)
            .await
            .unwrap();
        assert_eq!(made_by, "the one before");
    }
}

#[tokio::test]
async fn no_migration_begins_when_its_copy_cannot_be_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("forge.db");
    older(&path).await;
    std::fs::write(dir.path().join("backups"), "in the way").unwrap();
    let error = Store::open(&path).await.err().unwrap();
    let needed = std::fs::metadata(&path).unwrap().len();
    assert!(matches!(&error, StoreError::NoCopy { needed: reported, .. } if *reported >= needed), "{error}");
    assert!(examine_database(&path).await.unwrap().schema.unwrap() < newest(), "nothing was changed");
}

#[tokio::test]
async fn a_damaged_database_is_reported_with_its_newest_copy_and_how_to_recover() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("forge.db");
    older(&path).await;
    Store::open(&path).await.unwrap().close().await;
    std::fs::write(&path, "this is no database, and long enough to be looked at as if it were one").unwrap();
    let error = Store::open(&path).await.err().unwrap().to_string();
    let copy = copies(&path).remove(0);
    for part in [path.to_str().unwrap(), copy.to_str().unwrap(), "forge backup restore", "not touched"] {
        assert!(error.contains(part), "{part}: {error}");
    }
}

#[tokio::test]
async fn a_copy_beside_a_running_writer_is_one_moment_of_it() {
    let (store, dir) = store().await;
    let project = insert_project(&store).await.id;
    let writing = tokio::spawn({
        let store = store.clone();
        async move {
            for at in 0..200 {
                insert_task(&store, project, at).await;
            }
        }
    });
    let copy = dir.path().join("copy");
    copy_database(&dir.path().join("forge.db"), &copy).await.unwrap();
    writing.await.unwrap();
    assert_eq!(examine_database(&copy).await.unwrap().schema, Some(newest()));
    assert!(copy_database(&dir.path().join("forge.db"), &copy).await.is_err(), "nothing is written over");
    let copied = Store::open(&copy).await.unwrap();
    let (seq, tasks) = copied.tasks_snapshot(project).await.unwrap();
    assert_eq!(seq, 1 + tasks.len() as i64, "the rows and the events of one moment");
}

#[tokio::test]
async fn a_synced_commit_writes_the_log_through_once_and_a_plain_one_does_not() {
    let (store, _dir) = store().await;
    let mut tx = store.begin().await.unwrap();
    tx.put_meta("plain", "1").await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(store.syncs(), 0);
    let mut tx = store.begin().await.unwrap();
    tx.put_meta("synced", "1").await.unwrap();
    tx.commit_synced().await.unwrap();
    assert_eq!(store.syncs(), 1);
}
