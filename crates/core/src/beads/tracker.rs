//! Which workspaces have beads, and the one store for each.
//!
//! Invariant: only folders that are known beforehand are looked at (projects, and what the server was given at its
//! start or in its settings), and a workspace has one store, so that its changes take turns. What was found is kept while it holds.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use forge_fleet::beads::{Bead, BeadsError, FoundBy, Store, Surroundings, Workspace};
use forge_types::{BeadsOf, ErrorCode, Project, ProjectId};

use crate::{Error, Forge, Kind, Result};

pub(crate) struct Tracker {
    pub workspace: Workspace,
    pub store: Store,
}

impl Tracker {
    /// The folder that the beads are about, without links.
    pub fn root(&self) -> &Path {
        self.workspace.place.root()
    }

    pub async fn one(&self, id: &str) -> Result<Bead> {
        let found = self.store.show(&[id]).await?.into_iter().next();
        found.ok_or_else(|| BeadsError::NoSuchBead { id: id.to_owned() }.into())
    }
}

/// By the folder that was asked for.
#[derive(Default)]
pub(crate) struct Trackers(Mutex<HashMap<PathBuf, Arc<Tracker>>>);

impl Trackers {
    fn known(&self) -> MutexGuard<'_, HashMap<PathBuf, Arc<Tracker>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Forge {
    pub(crate) async fn tracker(&self, of: &BeadsOf) -> Result<Arc<Tracker>> {
        let folder = match (of.project_id, &of.workspace) {
            (Some(id), _) => self.project(id).await?.git_repo_path.into(),
            (None, Some(asked)) => self.known_workspace(asked).await?,
            (None, None) => return self.only_tracker().await,
        };
        self.tracker_at(&folder).await?.ok_or_else(|| {
            Error::not_found(format!("{} has no beads: there is no .beads folder", folder.display()))
                .hint("make one with `forge beads init`, `br init` or `bd init`")
        })
    }

    /// The beads of a project, if it keeps any.
    pub(crate) async fn tracker_of(&self, id: ProjectId) -> Result<Option<Arc<Tracker>>> {
        self.tracker_at(Path::new(&self.project(id).await?.git_repo_path)).await
    }

    /// Whether a project keeps beads. A folder that is gone has none; one whose beads cannot be read has some.
    pub(crate) async fn has_beads(&self, project: &Project) -> bool {
        match self.tracker_at(Path::new(&project.git_repo_path)).await {
            Ok(found) => found.is_some(),
            Err(error) => error.kind() == Kind::Conflict,
        }
    }

    /// The beads of a folder itself; those of a folder above it are not its own.
    pub(crate) async fn tracker_at(&self, folder: &Path) -> Result<Option<Arc<Tracker>>> {
        let known = self.0.beads.trackers.known().get(folder).cloned();
        if let Some(known) = known.filter(|known| known.workspace.is_current()) {
            return Ok(Some(known));
        }
        // BEADS_DIR would send every project to one store.
        let around = Surroundings { beads_dir: None, path: std::env::var_os("PATH") };
        let found = Workspace::find_in(folder, &around).await?;
        let is_own = |workspace: &Workspace| {
            let place = &workspace.place;
            place.found_by != FoundBy::Walk || same_folder(place.root(), folder)
        };
        let Some(workspace) = found.filter(is_own) else {
            self.0.beads.trackers.known().remove(folder);
            return Ok(None);
        };
        let tracker = Arc::new(Tracker { store: workspace.open()?, workspace });
        let mut known = self.0.beads.trackers.known();
        // Somebody else may have found it meanwhile.
        if let Some(other) = known.get(folder).filter(|other| other.workspace == tracker.workspace) {
            return Ok(Some(Arc::clone(other)));
        }
        known.insert(folder.to_owned(), Arc::clone(&tracker));
        Ok(Some(tracker))
    }

    async fn workspaces(&self) -> Result<BTreeSet<PathBuf>> {
        let projects = self.projects().await?.into_iter().map(|project| PathBuf::from(project.git_repo_path));
        let (named, settings) = (self.0.config.workspaces.iter().cloned(), self.settings());
        Ok(projects.chain(named).chain(settings.fleet.workspaces.iter().cloned()).collect())
    }

    async fn known_workspace(&self, asked: &Path) -> Result<PathBuf> {
        let found = self.workspaces().await?.into_iter().find(|known| same_folder(known, asked));
        found.ok_or_else(|| {
            Error::not_found(format!(
                "'{}' is neither a project nor in FORGE_WORKSPACES or fleet.workspaces",
                asked.display()
            ))
            .of_field("workspace")
            .hint("add it with `forge project add`")
        })
    }

    /// One for each workspace that has beads.
    pub(super) async fn trackers(&self) -> Result<Vec<Arc<Tracker>>> {
        let mut found: Vec<Arc<Tracker>> = Vec::new();
        for folder in self.workspaces().await? {
            // A folder that is gone or cannot be read is no candidate.
            let tracker = self.tracker_at(&folder).await.ok().flatten();
            found.extend(tracker.filter(|new| found.iter().all(|known| known.root() != new.root())));
        }
        Ok(found)
    }

    async fn only_tracker(&self) -> Result<Arc<Tracker>> {
        match self.trackers().await?.as_slice() {
            [one] => Ok(Arc::clone(one)),
            [] => {
                for folder in self.workspaces().await? {
                    // It has beads, and this is what is wrong with them.
                    if let Err(error) = self.tracker_at(&folder).await
                        && error.kind() == Kind::Conflict
                    {
                        return Err(error);
                    }
                }
                Err(Error::not_found("no project has beads: none has a .beads folder"))
            }
            many => {
                let names: Vec<String> = many.iter().map(|one| one.root().display().to_string()).collect();
                let unclear = Error::invalid(format!("several projects have beads: {}", names.join(", ")));
                Err(unclear.code(ErrorCode::ProjectRequired).hint("name one with project_id or workspace"))
            }
        }
    }
}

fn same_folder(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    one == other || real(one) == real(other)
}
