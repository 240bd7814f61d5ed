//! Many tasks in little time: copies of one that the server made and finished itself, written into its database.
//!
//! The server must not be running. Every column is copied, whatever the schema is; only ids, names of places, and the
//! time of creation differ, so that order and indexes are as with tasks that were made one by one. Copies have no
//! worktree any more, like all old attempts. They have no journal and no event either: neither is read by what is
//! measured with them.

use std::path::Path;

use anyhow::Result;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, Connection, Row, SqliteConnection};

use crate::flow::Started;

/// Tables with rows of a task, and the column that leads to the original's.
const TABLES: [(&str, &str, &str); 4] = [
    ("tasks", "id", "task"),
    ("attempts", "id", "attempt"),
    ("runs", "id", "run"),
    ("usage", "run_id", "run"),
];

const UUID: &str = "lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) \
     || '-a' || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))";

/// Copies the task of this attempt until its project has `tasks` tasks.
pub async fn fill(home: &Path, original: &Started, tasks: usize) -> Result<()> {
    let mut database = open(home).await?;
    run(&mut database, "BEGIN IMMEDIATE").await?;
    let ids = format!(
        "CREATE TEMP TABLE copied AS SELECT id AS attempt, task_id AS task, '{}' AS run FROM attempts WHERE id = '{}'",
        original.process, original.attempt
    );
    run(&mut database, &ids).await?;
    let numbers = format!(
        "CREATE TEMP TABLE copies AS WITH RECURSIVE numbers (number) AS (\
           SELECT COUNT(*) FROM tasks WHERE project_id = (SELECT project_id FROM tasks JOIN copied ON id = task) \
           UNION ALL SELECT number + 1 FROM numbers WHERE number + 1 < {tasks}) \
         SELECT number, {UUID} AS task, {UUID} AS attempt, {UUID} AS run FROM numbers WHERE number < {tasks}"
    );
    run(&mut database, &numbers).await?;
    for (table, key, id) in TABLES {
        let columns = format!("SELECT name, type FROM pragma_table_info('{table}')");
        let columns = sqlx::query(AssertSqlSafe(columns)).fetch_all(&mut database).await?;
        let columns = columns.iter().map(|row| Ok((row.try_get("name")?, row.try_get("type")?)));
        let columns: Vec<(String, String)> = columns.collect::<sqlx::Result<_>>()?;
        let names: Vec<_> = columns.iter().map(|(name, _)| name.as_str()).collect();
        let values: Vec<_> = columns.iter().map(|(name, kind)| value(table, name, kind)).collect();
        // In this order: SQLite would read the whole table for every copy.
        let copy = format!(
            "INSERT INTO {table} ({}) SELECT {} FROM copied CROSS JOIN {table} ON {table}.{key} = copied.{id} \
             CROSS JOIN copies",
            names.join(", "),
            values.join(", ")
        );
        run(&mut database, &copy).await?;
    }
    run(&mut database, "COMMIT").await?;
    Ok(database.close().await?)
}

/// Counts rows for SQLite, which chooses its ways by these figures. A server does so when it stops, but only for what it
/// finds worth it: copies would keep the figures of a home with one task.
pub async fn count_again(home: &Path) -> Result<()> {
    let mut database = open(home).await?;
    run(&mut database, "ANALYZE").await?;
    Ok(database.close().await?)
}

async fn open(home: &Path) -> Result<SqliteConnection> {
    let options = SqliteConnectOptions::new().filename(home.join("db.sqlite")).foreign_keys(false);
    Ok(SqliteConnection::connect_with(&options).await?)
}

/// What the copy has in a column.
fn value(table: &str, name: &str, kind: &str) -> String {
    match name {
        "created_ms" => format!("{table}.created_ms - copies.number"),
        "worktree_deleted" => "1".to_owned(),
        "branch" | "container_ref" => format!("{table}.{name} || '-' || copies.number"),
        _ if kind == "TEXT" => ["task", "attempt", "run"]
            .iter()
            .fold(format!("{table}.{name}"), |text, id| format!("replace({text}, copied.{id}, copies.{id})")),
        _ => format!("{table}.{name}"),
    }
}

async fn run(database: &mut SqliteConnection, sql: &str) -> Result<()> {
    sqlx::query(AssertSqlSafe(sql.to_owned())).execute(database).await?;
    Ok(())
}
