//! Tasks as lists show them, kept ready beside their columns.
//!
//! Invariant: after every commit the document of a task is the JSON of its summary. When the format of that JSON
//! differs from the one that wrote the database, every document is written again at opening.

use forge_types::{Change, Event, Millis, ProjectId, Task, TaskId, TaskStatus, TaskSummary};
use sqlx::SqliteConnection;

use crate::error::Result;
use crate::row::{self, task_columns};
use crate::write::fresh_summary;

/// Separates two documents of a block. Our JSON objects contain no bare newline, so a block can be split again, and
/// unsplit it is the inside of a JSON array.
pub(crate) const SEPARATOR: &str = ",\n";

/// A part of a task list, never empty.
#[derive(Clone, Debug)]
pub struct TaskBlock {
    ids: String,
    documents: String,
    pub(crate) last_created_ms: i64,
    pub(crate) count: i64,
}

impl TaskBlock {
    pub(crate) fn new(ids: String, documents: String, last_created_ms: i64, count: i64) -> Self {
        Self { ids, documents, last_created_ms, count }
    }

    /// The JSON objects of the tasks' summaries, separated by commas.
    pub fn json(&self) -> &str {
        &self.documents
    }

    /// Each task's id and JSON object.
    pub fn rows(&self) -> impl Iterator<Item = (Option<TaskId>, &str)> {
        let ids = self.ids.split(SEPARATOR).map(|id| id.parse().ok());
        ids.zip(self.documents.split(SEPARATOR))
    }

    pub(crate) fn last_id(&self) -> &str {
        self.ids.rsplit(SEPARATOR).next().unwrap_or_default()
    }
}

pub(crate) fn of(task: &TaskSummary) -> Result<String> {
    Ok(serde_json::to_string(task).map_err(|error| sqlx::Error::Encode(error.into()))?)
}

/// The event of a new task, and its document.
pub(crate) fn created(task: &Task) -> Result<(Event, String)> {
    let task = fresh_summary(task);
    let json = of(&task)?;
    Ok((Event::Task { change: Change::Created, task, hidden: false }, json))
}

pub(crate) async fn write(conn: &mut SqliteConnection, task: &TaskSummary) -> Result<()> {
    let update = sqlx::query("UPDATE tasks SET document = $2 WHERE id = $1");
    update.bind(task.task.id.to_string()).bind(of(task)?).execute(conn).await?;
    Ok(())
}

/// Writes every document again when this version would write them differently.
pub(crate) async fn renew(conn: &mut SqliteConnection) -> Result<()> {
    const KEY: &str = "task_document";
    let form = form()?;
    let known: Option<String> = sqlx::query_scalar("SELECT value FROM meta WHERE key = $1")
        .bind(KEY)
        .fetch_optional(&mut *conn)
        .await?;
    if known.as_deref() == Some(&form) {
        return Ok(());
    }
    sqlx::query("BEGIN IMMEDIATE").execute(&mut *conn).await?;
    let ids: Vec<String> = sqlx::query_scalar("SELECT id FROM tasks").fetch_all(&mut *conn).await?;
    for id in ids {
        let select = concat!("SELECT ", task_columns!(), " FROM tasks WHERE id = $1");
        let row = sqlx::query(select).bind(id).fetch_one(&mut *conn).await?;
        write(conn, &row::summary(&row)?).await?;
    }
    let put = "INSERT INTO meta (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = $2";
    sqlx::query(put).bind(KEY).bind(form).execute(&mut *conn).await?;
    sqlx::query("COMMIT").execute(conn).await?;
    Ok(())
}

/// The document of a task that never changes: it differs exactly when the format does.
fn form() -> Result<String> {
    let task = Task {
        id: TaskId(Default::default()),
        project_id: ProjectId(Default::default()),
        title: String::new(),
        description: None,
        status: TaskStatus::Todo,
        parent_task_attempt: None,
        dev_server_id: None,
        created_at: Millis(0),
        updated_at: Millis(0),
        labels: Vec::new(),
    };
    of(&fresh_summary(&task))
}
