//! Which source a request names, and who reads it.

use std::path::PathBuf;

use forge_legacy::database::{Database, KINDS};
use forge_types::{Bundle, ImportMode, ImportReport, ImportRequest};

use crate::{Error, Forge, Result};

/// Its sessions are in files of each repository.
const GENIE: &str = "genie";

impl Forge {
    /// Reads what the request names and takes it over.
    pub async fn import_from(&self, request: ImportRequest) -> Result<ImportReport> {
        let mode = if request.dry_run { ImportMode::DryRun } else { ImportMode::Apply };
        let (bundle, path) = match request.kind.as_str() {
            GENIE => return self.import_genie(&request).await,
            kind if KINDS.contains(&kind) => self.read_database(&request).await?,
            other => {
                return Err(Error::invalid(format!(
                    "'{other}' cannot be imported; allowed: {}, {GENIE}",
                    KINDS.join(", ")
                ))
                .of_field("kind"));
            }
        };
        let mut report = self.import(bundle, mode, request.worktrees).await?;
        report.path = Some(path.to_string_lossy().into_owned());
        Ok(report)
    }

    async fn read_database(&self, request: &ImportRequest) -> Result<(Bundle, PathBuf)> {
        let scratch = self.0.config.home.join(format!("import-{}", uuid::Uuid::new_v4()));
        let database = Database::find(&request.kind, request.path.as_deref(), scratch)?;
        let mut bundle = database.read().await?;
        if let Some(name) = &request.project {
            keep_project(&mut bundle, name)?;
        }
        Ok((bundle, database.path().to_owned()))
    }
}

fn keep_project(bundle: &mut Bundle, name: &str) -> Result<()> {
    let names: Vec<_> = bundle.projects.iter().map(|project| project.name.clone()).collect();
    bundle.projects.retain(|project| {
        project.name.eq_ignore_ascii_case(name) || project.key == name || project.git_repo_path == name
    });
    match bundle.projects.is_empty() {
        true => Err(Error::not_found(format!("no '{name}' in the source; it has: {}", names.join(", ")))
            .of_field("project")),
        false => Ok(()),
    }
}
