//! All tables of a foreign database that an import reads, except for the logs.

use std::collections::HashMap;

use sqlx::{Row, SqliteConnection};

use super::cell::Record;

/// Columns that may be huge: only their size is read here.
const LOG_COLUMNS: [&str; 3] = ["logs", "stdout", "stderr"];

/// Tables by the names they had over time, the oldest last.
const NAMES: [&[&str]; 17] = [
    &["projects"],
    &["project_repos"],
    &["repos"],
    &["tasks"],
    &["workspaces", "task_attempts"],
    &["workspace_repos", "attempt_repos"],
    &["sessions"],
    &["execution_processes"],
    &["execution_process_repo_states"],
    &["coding_agent_turns", "executor_sessions"],
    &["execution_process_logs"],
    &["merges"],
    &["pull_requests", "tracked_prs"],
    &["attachments", "images"],
    &["task_attachments", "task_images"],
    &["drafts", "follow_up_drafts"],
    &["tags"],
];
/// Tables that were not renamed and are read under their own names.
const OTHERS: [&str; 4] = ["task_templates", "forge_task_attempt_config", "scratch", "forge_agents"];

#[derive(Default)]
pub(super) struct Tables {
    rows: HashMap<&'static str, Vec<Record>>,
    columns: HashMap<&'static str, Vec<String>>,
}

impl Tables {
    pub(super) async fn read(conn: &mut SqliteConnection) -> sqlx::Result<Tables> {
        let mut tables = Tables::default();
        let others = OTHERS.iter().map(std::slice::from_ref);
        for names in NAMES.into_iter().chain(others) {
            for name in names {
                let columns = columns(conn, name).await?;
                if columns.is_empty() {
                    continue;
                }
                let rows = rows(conn, name, &columns).await?;
                // A newer table may exist beside an older one that was not emptied.
                let known = tables.rows.entry(names[0]).or_default();
                if known.is_empty() {
                    *known = rows;
                    tables.columns.insert(names[0], columns);
                }
            }
        }
        Ok(tables)
    }

    /// The rows of a table by its newest name; none when there is no such table.
    pub(super) fn rows(&self, name: &str) -> &[Record] {
        self.rows.get(name).map_or(&[], Vec::as_slice)
    }

    pub(super) fn has_column(&self, table: &str, column: &str) -> bool {
        self.columns.get(table).is_some_and(|columns| columns.iter().any(|known| known == column))
    }

    /// Rows by the id that they have in one of these columns, in their order.
    pub(super) fn by(&self, table: &str, columns: &[&str]) -> HashMap<String, Vec<&Record>> {
        let mut groups: HashMap<String, Vec<&Record>> = HashMap::new();
        for record in self.rows(table) {
            if let Some(key) = record.key(columns) {
                groups.entry(key).or_default().push(record);
            }
        }
        groups
    }
}

async fn columns(conn: &mut SqliteConnection, table: &str) -> sqlx::Result<Vec<String>> {
    let rows = sqlx::query("SELECT name FROM pragma_table_info($1)").bind(table).fetch_all(conn).await?;
    rows.iter().map(|row| row.try_get(0)).collect()
}

async fn rows(conn: &mut SqliteConnection, table: &str, columns: &[String]) -> sqlx::Result<Vec<Record>> {
    let has_size = columns.iter().any(|column| column == "byte_size");
    let shown = columns.iter().filter_map(|column| match LOG_COLUMNS.contains(&column.as_str()) {
        false => Some(quoted(column)),
        true if has_size => None,
        true => Some(format!("COALESCE(LENGTH(CAST({0} AS BLOB)), 0) AS {0}_bytes", column)),
    });
    let shown = shown.collect::<Vec<_>>().join(", ");
    let sql = format!("SELECT {shown} FROM {}", quoted(table));
    let rows = sqlx::query(sqlx::AssertSqlSafe(sql)).fetch_all(conn).await?;
    Ok(rows.iter().map(Record::of).collect())
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
