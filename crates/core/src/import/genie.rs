//! Taking Genie's sessions over.

use std::collections::HashMap;

use forge_legacy::genie::{Found, Repository};
use forge_types::{AttemptId, ImportMode, ImportReport, ImportRequest, ProjectId, TaskId};

use crate::{Error, Forge, Result};

impl Forge {
    /// Takes over the sessions of a checkout, or of one store file.
    pub(super) async fn import_genie(&self, request: &ImportRequest) -> Result<ImportReport> {
        let path = request.path.as_deref().ok_or_else(|| {
            Error::invalid("say which repository has the sessions, or name the store's file").of_field("path")
        })?;
        let path = std::fs::canonicalize(path).map_err(|error| {
            Error::not_found(format!("'{path}' cannot be read on the server's machine: {error}"))
                .of_field("path")
        })?;
        let folder = if path.is_file() { path.parent().unwrap_or(&path) } else { &path };
        let repo = self.repo_at(folder).await?;
        let mut found = Found::read(&path, repo.path())?;
        let here =
            self.0.store.project_by_path(&repo.path().to_string_lossy()).await?.map(|project| project.id);
        let known = self.known_attempts(here, &mut found).await?;
        // The path decides; an old id only names a project that is new here.
        let id = if here.is_some() { None } else { found.project() };
        let repository = Repository {
            path: repo.path().to_owned(),
            current_branch: repo.current_branch().await?.unwrap_or_else(|| "main".to_owned()),
            branches: repo.branches().await?.into_iter().map(|branch| branch.name).collect(),
            branch_prefix: self.branch_prefix(),
        };
        let mode = if request.dry_run { ImportMode::DryRun } else { ImportMode::Apply };
        let mut report = self.import(found.bundle(&repository, &known, id), mode, request.worktrees).await?;
        report.path = Some(path.to_string_lossy().into_owned());
        if mode == ImportMode::Apply {
            let now = tokio::task::spawn_blocking(move || {
                let notes = found.settle(&report);
                report.notes.extend(notes);
                report
            });
            report = now.await.map_err(|cause| Error::internal("the import broke off", cause))?;
        }
        Ok(report)
    }

    /// The attempts among the sessions that this project has, with their tasks.
    async fn known_attempts(
        &self,
        here: Option<ProjectId>,
        found: &mut Found,
    ) -> Result<HashMap<AttemptId, TaskId>> {
        let (mut known, mut elsewhere) = (HashMap::new(), Vec::new());
        for id in found.attempts() {
            match self.0.store.attempt(id).await? {
                Some(attempt) if here == Some(attempt.project_id) => {
                    known.insert(id, attempt.task_id);
                }
                Some(_) => elsewhere.push(id),
                None => {}
            }
        }
        found.leave_out(&elsewhere);
        Ok(known)
    }
}
