//! What was imported from where: every statement about it.
//!
//! Invariant: one row for each thing of a source that was ever imported, with when that was and what the source
//! contained then. It changes nothing that people see, so it makes no events.

use std::collections::HashMap;

use forge_types::{MergeId, Millis, ProjectId};

use crate::error::Result;
use crate::sql::{Row, bind};
use crate::store::Store;
use crate::tx::Tx;

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
        let sql = "SELECT kind, key, id, seen, at_ms FROM imports WHERE source = $1";
        let read = |row: &Row<'_>| {
            let noted = Noted { id: row.get("id")?, seen: row.get("seen")?, at: row.get("at_ms")? };
            Ok(((row.get("kind")?, row.get("key")?), noted))
        };
        let rows = bind!(sql, source).all(&mut *self.reader().await?, read).await?;
        Ok(Imported(rows.into_iter().collect()))
    }

    pub async fn has_merge(&self, id: MergeId) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM merges WHERE id = $1)";
        bind!(sql, id).value(&mut *self.reader().await?).await
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
        let sql = "INSERT INTO imports (source, kind, key, id, project_id, seen, at_ms) \
             VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (source, kind, key) DO UPDATE SET id = excluded.id, \
             project_id = excluded.project_id, seen = excluded.seen, at_ms = excluded.at_ms";
        bind!(sql, source, kind.as_str(), key, noted.id, project, noted.seen, noted.at)
            .run(self.conn()?)
            .await
            .map(drop)
    }
}
