//! The demo: a small repository, and agents that work in it without anything being installed.
//!
//! Owns the story, which is data in `demo/`: the files of the repository and the scripts of the agents. Invariant: a
//! demo is there whole or not at all. One that fails halfway takes its project back and moves its folder, which holds nothing of
//! the user's, to the trash beside it; no folder that was there before is touched.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use forge_git::{Owner, Repo};
use forge_types::wire::Demo;
use forge_types::{
    CreateAttemptOptions, CreateProject, CreateTask, Executor, Millis, ProfileId, ProjectId, StartTask,
};

use crate::worktree::host::Directory;
use crate::{Error, Forge, Kind, Result};

/// The name of the repository.
pub const NAME: &str = "hello";
/// More demos than this are not wanted by anybody.
const MAX_DEMOS: usize = 100;
const TRASH: &str = ".forge-trash";

const FILES: [(&str, &str); 2] = [
    ("README.md", include_str!("demo/hello/README.md")),
    ("src/greet.py", include_str!("demo/hello/src/greet.py")),
];

/// A task and the script of its agent.
#[derive(Clone, Copy, Debug)]
pub struct Chapter {
    pub title: &'static str,
    pub script: &'static str,
}

/// Work that is done side by side and lands in any order.
pub const SIDE_BY_SIDE: [Chapter; 3] = [
    Chapter { title: "Greet the reader", script: include_str!("demo/tasks/greet.txt") },
    Chapter { title: "Add a license", script: include_str!("demo/tasks/license.txt") },
    Chapter { title: "Count the words", script: include_str!("demo/tasks/count.txt") },
];
/// Changes a line that the first of the others changes, too.
const RIVAL: Chapter =
    Chapter { title: "Describe the program", script: include_str!("demo/tasks/describe.txt") };
/// Left for the person to start.
const TO_DO: Chapter =
    Chapter { title: "Greet in other languages", script: include_str!("demo/tasks/languages.txt") };

/// The repository a user would have before Forge comes.
pub async fn make_repository(path: &Path) -> Result<()> {
    let repo = Repo::init(path).await?;
    for (name, text) in FILES {
        let file = path.join(name);
        let made = file.parent().map_or(Ok(()), std::fs::create_dir_all);
        made.and_then(|()| std::fs::write(&file, text))
            .map_err(|cause| Error::internal(format!("cannot write {}: {cause}", file.display()), cause))?;
    }
    forge_git::commit_all(&repo, path, "Begin").await?;
    Ok(())
}

impl Forge {
    /// Makes a repository and a project of it, starts agents in it, and leaves one task to the person.
    pub async fn start_demo(&self) -> Result<Demo> {
        let place = self.make_demo_folder()?;
        let begun = self.begin_demo(&place).await;
        if let Err(error) = &begun {
            tracing::warn!(place = %place.display(), %error, "the demo is taken back");
            self.take_demo_back(&place).await;
        }
        begun
    }

    fn demos(&self) -> PathBuf {
        self.0.config.home.join("demo")
    }

    /// The first folder that is free: `hello`, `hello-2`, …
    fn make_demo_folder(&self) -> Result<PathBuf> {
        let demos = self.demos();
        crate::make_dir(&demos)?;
        let names = (1..=MAX_DEMOS).map(|n| if n == 1 { NAME.to_owned() } else { format!("{NAME}-{n}") });
        for place in names.map(|name| demos.join(name)) {
            match std::fs::create_dir(&place) {
                Ok(()) => return Ok(place),
                Err(cause) if cause.kind() == ErrorKind::AlreadyExists => {}
                Err(cause) => {
                    let message = format!("cannot create {}: {cause}", place.display());
                    return Err(Error::internal(message, cause));
                }
            }
        }
        Err(Error::conflict(format!("there are {MAX_DEMOS} demos in {} already", demos.display()))
            .hint("delete their projects and remove some of the folders"))
    }

    async fn begin_demo(&self, place: &Path) -> Result<Demo> {
        make_repository(place).await?;
        let name = place.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let project = self.create_project(CreateProject::existing(name, place)).await?.project;
        let mut tasks = vec![self.create_task(task_in(project.id, &TO_DO), None).await?];
        for chapter in SIDE_BY_SIDE.iter().chain([&RIVAL]) {
            let task = task_in(project.id, chapter);
            let started = self.start_task(StartTask { task, start: scripted() }, None).await?;
            if let Some(warning) = started.warning {
                let title = chapter.title;
                return Err(Error::new(Kind::Unavailable, format!("'{title}' did not start: {warning}")));
            }
            tasks.push(started.task.task);
        }
        Ok(Demo { project, tasks })
    }

    /// Undoes as much as there is. What cannot be undone stays visible and is logged.
    async fn take_demo_back(&self, place: &Path) {
        let undone = async {
            let path = std::fs::canonicalize(place).unwrap_or_else(|_| place.to_owned());
            if let Some(project) = self.0.store.project_by_path(&path.to_string_lossy()).await? {
                // Worktrees are put away while their repository is still where they know it.
                for attempt in self.0.store.project_attempts(project.id).await? {
                    self.stop_attempt(attempt.id).await?;
                    if let Some(at) = Directory::recorded_of_attempt(&project, &attempt) {
                        let hold = self.hold(attempt.id, &at).await?;
                        self.retire_ownerless(Owner::Attempt(attempt.id), &hold).await;
                    }
                }
                self.delete_project(project.id).await?;
            }
            let trash = self.demos().join(TRASH);
            crate::make_dir(&trash)?;
            let name = place.file_name().unwrap_or_default().to_string_lossy();
            let aside = trash.join(format!("{}-{name}", Millis::now().0));
            std::fs::rename(place, &aside)
                .map_err(|cause| Error::internal(format!("cannot move {}", place.display()), cause))
        };
        if let Err(error) = undone.await {
            tracing::warn!(place = %place.display(), %error, "a part of a demo that failed stays");
        }
    }
}

fn task_in(project: ProjectId, chapter: &Chapter) -> CreateTask {
    CreateTask { description: Some(chapter.script.to_owned()), ..CreateTask::new(project, chapter.title) }
}

fn scripted() -> CreateAttemptOptions {
    CreateAttemptOptions {
        executor_profile_id: ProfileId::new(Executor::Scripted),
        base_branch: None,
        use_worktree: None,
        auto_pr: None,
        max_cost_usd: None,
    }
}
