//! What was imported from where: every statement about it.
//!
//! Invariant: one row for each thing of a source that was ever imported, with when that was and what the source
//! contained then. It changes nothing that people see, so it makes no events.

use std::collections::HashMap;

use forge_types::{MergeId, Millis, ProjectId};

use crate::error::Result;
use crate::store::Store;
use crate::tx::Tx;
use crate::write::bind;

/// The kinds of things that are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImportKind {
    Project,
    Task,
    Attempt,
    Run,
    Merge,
    Image,
}

impl ImportKind {
    pub fn as_str(self) -> &'static str {
        match self {
            ImportKind::Project => "project",
            ImportKind::Task => "task",
            ImportKind::Attempt => "attempt",
            ImportKind::Run => "run",
            ImportKind::Merge => "merge",
            ImportKind::Image => "image",
        }
    }
}

/// The record of a thing of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Noted {
    /// Its id here.
    pub id: String,
    /// What the source contained. Empty when it was here before the import; `None` when an earlier version recorded it.
    pub seen: Option<String>,
    /// When it was imported.
    pub at: Millis,
}

/// Everything that was imported from one source, by kind and key.
#[derive(Debug, Default)]
pub struct Imported(HashMap<(String, String), Noted>);

impl Imported {
    pub fn noted(&self, kind: ImportKind, key: &str) -> Option<&Noted> {
        self.0.get(&(kind.as_str().to_owned(), key.to_owned()))
    }
}

impl Store {
    pub async fn imported(&self, source: &str) -> Result<Imported> {
        let rows: Vec<(String, String, String, Option<String>, i64)> =
            sqlx::query_as("SELECT kind, key, id, seen, at_ms FROM imports WHERE source = $1")
                .bind(source)
                .fetch_all(&mut *self.reader().await?)
                .await?;
        let read = |(kind, key, id, seen, at)| ((kind, key), Noted { id, seen, at: Millis(at) });
        Ok(Imported(rows.into_iter().map(read).collect()))
    }

    pub async fn has_merge(&self, id: MergeId) -> Result<bool> {
        let found: Option<i64> = sqlx::query_scalar("SELECT 1 FROM merges WHERE id = $1")
            .bind(id.to_string())
            .fetch_optional(&mut *self.reader().await?)
            .await?;
        Ok(found.is_some())
    }
}

impl Tx {
    /// Records the id here of something of a source, and what the source contained.
    pub async fn note_import(
        &mut self,
        source: &str,
        (kind, key): (ImportKind, &str),
        noted: &Noted,
        project: ProjectId,
    ) -> Result<()> {
        bind!(
            "INSERT INTO imports (source, kind, key, id, project_id, seen, at_ms) \
             VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (source, kind, key) DO UPDATE SET id = excluded.id, \
             project_id = excluded.project_id, seen = excluded.seen, at_ms = excluded.at_ms",
            source,
            kind.as_str(),
            key,
            &noted.id,
            project.to_string(),
            &noted.seen,
            noted.at.0,
        )
        .execute(self.conn()?)
        .await?;
        Ok(())
    }
}
