//! Where to look for a name: in the project of the current directory, or in a named one.
//!
//! Invariant: a command that changes something does so in the project of the current directory, unless the project is
//! named or an id is given. A read-only command may look elsewhere, and reports where.

use anyhow::{Context, Result};
use forge_types::{Attempt, Project, ProjectId};

use super::{NotFound, named_in, nothing, real, short};
use crate::client::Client;

/// The project that a command is about, if it is not that of the current directory.
#[derive(clap::Args, Default)]
pub struct Scope {
    /// Look in this project: name, id or path [default: that of the current directory]
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<String>,
}

/// What a command does with what it finds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    Look,
    Change,
}

/// An attempt and its project.
#[derive(Clone, Debug)]
pub struct Meant {
    pub attempt: Attempt,
    pub project: Project,
}

/// All projects, and the one to look in first.
pub struct Place {
    pub projects: Vec<Project>,
    pub here: Option<Project>,
    /// Look only in that one.
    pub is_named: bool,
}

impl Scope {
    /// One request, however many projects there are.
    pub async fn place(&self, client: &Client) -> Result<Place> {
        let projects: Vec<Project> = client.get("/api/projects").await?;
        if let Some(named) = &self.project {
            let found = match named_in(&projects, named)? {
                Some(project) => Some(project),
                None => at(&projects, named.as_ref()).await,
            };
            let none = || nothing(named, "project", "`forge project list` shows them");
            let here = Some(found.ok_or_else(none)?);
            return Ok(Place { projects, here, is_named: true });
        }
        let here =
            at(&projects, &std::env::current_dir().context("the current directory does not exist")?).await;
        Ok(Place { projects, here, is_named: false })
    }
}

impl Place {
    /// Whether things of this project can match at all.
    pub fn holds(&self, project: ProjectId) -> bool {
        !self.is_named || self.here.as_ref().is_some_and(|here| here.id == project)
    }

    /// Whether a name for the newest, such as `@last`, can match something of this project.
    pub fn is_near(&self, project: ProjectId, deed: Deed) -> bool {
        match &self.here {
            Some(here) => here.id == project,
            None => deed == Deed::Look,
        }
    }

    pub fn meant(&self, attempt: Attempt) -> Result<Meant> {
        let project = self.project_of(attempt.project_id)?;
        Ok(Meant { attempt, project })
    }

    pub fn project_of(&self, id: ProjectId) -> Result<Project> {
        let found = self.projects.iter().find(|project| project.id == id);
        found.cloned().context("the project no longer exists")
    }

    /// The error when there is no newest one.
    pub fn no_newest(&self, named: &str, deed: Deed) -> anyhow::Error {
        let text = match (&self.here, deed) {
            (Some(project), _) => format!("{} has no attempt yet", project.name),
            (None, Deed::Look) => "there is no attempt yet".to_owned(),
            (None, Deed::Change) => format!(
                "'{named}' means the newest attempt of a project, and this directory does not belong to one; use the \
                 attempt's id, or name the project with --project"
            ),
        };
        NotFound(text).into()
    }

    /// A title or a branch of another project is not enough to change something: it may match by chance.
    pub fn refuse_elsewhere(&self, named: &str, id: &str, project: &Project, deed: Deed) -> Result<()> {
        if self.is_near(project.id, deed) || deed == Deed::Look {
            return Ok(());
        }
        let from = match &self.here {
            Some(here) => format!("this directory is in {}", here.name),
            None => "this directory does not belong to a Forge project".to_owned(),
        };
        let name = &project.name;
        Err(NotFound(format!(
            "'{named}' is in {name}, and {from}. To change it from here, give its id ({id}) or --project {name}"
        ))
        .into())
    }

    /// Notes which project's attempt is shown, if it is not the current one.
    pub fn note_elsewhere(&self, Meant { attempt, project }: &Meant) {
        if self.here.as_ref().is_none_or(|here| here.id != project.id) {
            let from = match &self.here {
                Some(here) => format!("not in {}", here.name),
                None => "this directory does not belong to a Forge project".to_owned(),
            };
            eprintln!("{from}; this is attempt {} of {}", short(attempt.id), project.name);
        }
    }
}

/// The project whose repository contains a path.
pub async fn at(projects: &[Project], path: &std::path::Path) -> Option<Project> {
    let repo = forge_git::Repo::open(path).await.ok()?;
    let root = real(repo.path());
    projects.iter().find(|project| real(project.git_repo_path.as_ref()) == root).cloned()
}
