//! What workers can be started with: launchers, and the definitions that people wrote.
//!
//! Invariant: a definition that cannot be read hides no other one, and is reported.

use std::path::Path;

use forge_fleet::definition::{read_kinds, read_workers};
use forge_types::wire::{LauncherFile, WorkerDefinition, WorkerDefinitions};

use super::order::with_surroundings;
use super::shipped;
use crate::{Error, Forge, Result};

impl Forge {
    pub async fn launchers(&self) -> Result<Vec<LauncherFile>> {
        let home = self.0.config.home.clone();
        let read = tokio::task::spawn_blocking(move || shipped::list_launchers(&home)).await;
        read.map_err(|cause| Error::internal("the launchers cannot be read", cause))?
    }

    pub async fn worker_definitions(&self) -> Result<WorkerDefinitions> {
        let home = self.0.config.home.clone();
        let read = tokio::task::spawn_blocking(move || read_definitions(&home)).await;
        read.map_err(|cause| Error::internal("the definitions of workers cannot be read", cause))
    }
}

fn read_definitions(home: &Path) -> WorkerDefinitions {
    let mut found = WorkerDefinitions::default();
    match with_surroundings(|around| read_workers(&home.join("workers.yaml"), around)) {
        Err(error) => found.problems.push(error.to_string()),
        Ok(read) => {
            found.problems.extend(read.notes);
            found.definitions.extend(read.workers.into_iter().map(|worker| WorkerDefinition {
                name: worker.id.to_string(),
                launcher: worker.launcher.display().to_string(),
                model: worker.model,
                tier: worker.tier,
                workspace: worker.workspace,
            }));
        }
    }
    let kinds = with_surroundings(|around| read_kinds(&home.join("workers"), around));
    found.problems.extend(kinds.errors.iter().map(ToString::to_string));
    found.problems.extend(kinds.notes);
    found.definitions.extend(kinds.kinds.into_iter().map(|kind| WorkerDefinition {
        name: kind.name,
        launcher: kind.launcher,
        model: kind.model,
        tier: kind.tier,
        workspace: None,
    }));
    found
}

#[cfg(test)]
mod tests {
    use forge_types::WorkerTier;

    use super::*;

    #[test]
    fn definitions_of_both_kinds_are_listed_and_a_broken_one_is_reported() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(read_definitions(home.path()), WorkerDefinitions::default(), "nobody needs one");
        let yaml = "workers:\n  alpha: {model: opus, tier: premium, workspace: /work, launcher: claude-code, colour: 1}\n";
        std::fs::write(home.path().join("workers.yaml"), yaml).unwrap();
        std::fs::create_dir(home.path().join("workers")).unwrap();
        let kind = "name: door\nlauncher: scripted\nmodel: none\ntier: budget\nsize: 2\n";
        std::fs::write(home.path().join("workers/door.yaml"), kind).unwrap();
        std::fs::write(home.path().join("workers/broken.yaml"), "name: [").unwrap();
        let found = read_definitions(home.path());
        let names: Vec<_> = found.definitions.iter().map(|one| (one.name.as_str(), one.tier)).collect();
        assert_eq!(names, [("alpha", WorkerTier::Premium), ("door", WorkerTier::Budget)]);
        let problems = found.problems.join("\n");
        for words in ["broken.yaml", "`workers.alpha.colour` is unknown", "`size` is unknown"] {
            assert!(problems.contains(words), "{problems}");
        }
        assert_eq!(found.problems.len(), 3, "{problems}");
    }
}
