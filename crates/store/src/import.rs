//! What was imported from where: every statement about it.
//!
//! Invariant: one row for each thing of a source that was ever taken. It changes nothing that people see, so it makes no
//! events.

use std::collections::HashMap;

use forge_types::{MergeId, Millis, ProjectId};

use crate::error::Result;
use crate::store::Store;
use crate::tx::Tx;
use crate::write::bind;

/// What kinds of things are noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImportKind {
    Project,
    Task,
    Attempt,
    Run,
    Merge,
}

impl ImportKind {
    pub fn as_str(self) -> &'static str {
        match self {
            ImportKind::Project => "project",
            ImportKind::Task => "task",
            ImportKind::Attempt => "attempt",
            ImportKind::Run => "run",
            ImportKind::Merge => "merge",
        }
    }
}

/// Everything that was taken from one source: the id of each kind and key.
#[derive(Debug, Default)]
pub struct Imported(HashMap<(String, String), String>);

impl Imported {
    pub fn id(&self, kind: ImportKind, key: &str) -> Option<&str> {
        self.0.get(&(kind.as_str().to_owned(), key.to_owned())).map(String::as_str)
    }
}

impl Store {
    pub async fn imported(&self, source: &str) -> Result<Imported> {
        let rows: Vec<(String, String, String)> =
            sqlx::query_as("SELECT kind, key, id FROM imports WHERE source = $1")
                .bind(source)
                .fetch_all(&mut *self.reader().await?)
                .await?;
        Ok(Imported(rows.into_iter().map(|(kind, key, id)| ((kind, key), id)).collect()))
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
    /// Notes where something of a source is now.
    pub async fn note_import(
        &mut self,
        source: &str,
        (kind, key): (ImportKind, &str),
        id: &str,
        project: ProjectId,
    ) -> Result<()> {
        bind!(
            "INSERT INTO imports (source, kind, key, id, project_id, at_ms) VALUES ($1, $2, $3, $4, $5, $6) \
             ON CONFLICT (source, kind, key) DO UPDATE SET id = excluded.id, project_id = excluded.project_id",
            source,
            kind.as_str(),
            key,
            id,
            project.to_string(),
            Millis::now().0,
        )
        .execute(self.conn()?)
        .await?;
        Ok(())
    }
}
