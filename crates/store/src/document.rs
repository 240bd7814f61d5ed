//! Tasks as lists show them, kept ready beside their columns.
//!
//! Invariant: after every commit the document of a task is the JSON of its summary. When the format of that JSON
//! differs from the one that wrote the database, every document is written again at opening.

use forge_types::{Millis, ProjectId, Task, TaskId, TaskSummary};

use crate::cell::json;
use crate::error::Result;
use crate::query;
use crate::sql::{Conn, bind};
use crate::table::TaskRow;

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
    pub fn rows(&self) -> impl Iterator<Item = (TaskId, &str)> {
        let rows = self.ids.split(SEPARATOR).zip(self.documents.split(SEPARATOR));
        rows.filter_map(|(id, document)| Some((id.parse().ok()?, document)))
    }

    /// The same, without descriptions.
    pub fn brief_rows(&self) -> impl Iterator<Item = (TaskId, String)> {
        self.rows().map(|(id, document)| (id, without_description(document)))
    }

    pub(crate) fn last_id(&self) -> &str {
        self.ids.rsplit(SEPARATOR).next().unwrap_or_default()
    }
}

/// A quote inside of a JSON string is escaped, so the key with its quotes is found only where it is the key.
fn without_description(document: &str) -> String {
    const KEY: &str = r#","description":"#;
    let text = || {
        let (head, value) = document.split_once(KEY)?;
        let mut escaped = false;
        let end = value.strip_prefix('"')?.bytes().position(|byte| {
            let ends = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        })?;
        Some([head, KEY, "null", &value[end + 2..]].concat())
    };
    text().unwrap_or_else(|| document.to_owned())
}

pub(crate) async fn write(conn: &mut Conn, task: &TaskSummary) -> Result<()> {
    bind!("UPDATE tasks SET document = $2 WHERE id = $1", task.task.id, json(task)?).run(conn).await.map(drop)
}

/// Writes every document again when this version would write them differently.
pub(crate) async fn renew(conn: &mut Conn) -> Result<()> {
    const KEY: &str = "task_document";
    let form = form()?;
    if query::meta(conn, KEY).await?.as_ref() == Some(&form) {
        return Ok(());
    }
    bind!("BEGIN IMMEDIATE").run(conn).await?;
    for id in bind!("SELECT id FROM tasks").values::<TaskId>(conn).await? {
        if let Some(task) = query::task_summary(conn, id).await? {
            write(conn, &task).await?;
        }
    }
    let put = "INSERT INTO meta (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = $2";
    bind!(put, KEY, form).run(conn).await?;
    bind!("COMMIT").run(conn).await.map(drop)
}

/// The document of a task that never changes: it differs exactly when the format does.
fn form() -> Result<String> {
    let id = TaskId(Default::default());
    let task = Task { id, ..Task::new(ProjectId(Default::default()), "", Millis(0)) };
    Ok(json(&TaskRow::new(&task, false).task)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_without_its_description_is_otherwise_the_same() {
        let (null, plain) = (r#"{"title":"t","description":null,"labels":[]}"#, r#"{"title":"t"}"#);
        for same in [null, plain] {
            assert_eq!(without_description(same), same);
        }
        for text in ["", "words", r#"a "quote" and \ "#, r#","description":"x""#, "\n\u{1f980}", "\\"] {
            let title = format!("{text},\"description\":\"");
            let written = serde_json::json!({"title": title, "description": text, "labels": [text]});
            let order = format!(
                r#"{{"title":{},"description":{},"labels":{}}}"#,
                written["title"], written["description"], written["labels"]
            );
            let shown: serde_json::Value = serde_json::from_str(&without_description(&order)).unwrap();
            assert_eq!(shown, serde_json::json!({"title": title, "description": null, "labels": [text]}));
        }
    }
}
