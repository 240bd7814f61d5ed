//! A first look around: projects for a user who has none.
//!
//! Invariant: it happens once, in the background, when the user accepts the terms; it adds at most [`MAX_PROJECTS`] and
//! changes nothing in the repositories it finds.

use std::path::Path;

use forge_git::Repo;
use forge_types::CreateProject;

use crate::{Forge, Result};

const MAX_PROJECTS: usize = 3;

impl Forge {
    pub(crate) fn add_first_projects(&self) {
        let forge = self.clone();
        self.0.background.spawn(async move {
            match forge.find_first_projects().await {
                Ok(0) => {}
                Ok(count) => tracing::info!("{count} repositories were found and added as projects"),
                Err(error) => tracing::warn!(%error, "no projects were added"),
            }
        });
    }

    async fn find_first_projects(&self) -> Result<usize> {
        if !self.projects().await?.is_empty() {
            return Ok(0);
        }
        let mut added = 0;
        for found in self.discover_repositories(None).await? {
            if added == MAX_PROJECTS || self.0.background.is_closing() {
                break;
            }
            added += usize::from(self.add_found(&found.path).await);
        }
        Ok(added)
    }

    async fn add_found(&self, path: &Path) -> bool {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
        // A repository without a commit would be given one, which nobody asked for.
        let Ok(repo) = Repo::open(path).await else { return false };
        if repo.head_of(path).await.is_err() {
            return false;
        }
        let request = CreateProject::existing(name.to_owned(), path);
        let added = self.create_project(request).await;
        if let Err(error) = &added {
            tracing::warn!(path = %path.display(), %error, "found repository was not added");
        }
        added.is_ok()
    }
}
