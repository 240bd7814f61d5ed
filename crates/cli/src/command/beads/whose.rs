//! Whose beads a command is about.
//!
//! Invariant: a command that changes beads uses those of the current directory's project or of a named one, and fails
//! if there are none. A read-only command may show the only beads that exist, and reports whose they are.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use forge_types::{Project, ProjectDispatch, RegisteredProject};
use futures_util::future::try_join_all;
use serde_json::{Value, json};

use crate::client::Client;
use crate::command::run::begin::find_project;
use crate::reference::{Deed, NotFound, Place, Scope};
use crate::terminal::{self, say};
use crate::transcript::{Ink, Line};

/// Selects whose beads the server uses: a project's, a folder's, or the only ones that exist.
pub enum Whose {
    Project(Project),
    Folder(String),
    Anybody,
}

impl Whose {
    pub async fn find(client: &Client, scope: &Scope, deed: Deed) -> Result<Whose> {
        let Place { projects, here, .. } = scope.place(client).await?;
        if let Some(project) = here {
            return Ok(Whose::Project(project));
        }
        if let Some(folder) = folder_with_beads()? {
            return Ok(Whose::Folder(folder));
        }
        if deed == Deed::Change {
            let text = "this directory does not belong to a Forge project and has no beads; run `forge beads init`, or \
                        name a project with --project";
            return Err(NotFound(text.to_owned()).into());
        }
        let asked = projects
            .iter()
            .map(|project| async move { anyhow::Ok((project, has_beads(client, project).await?)) });
        let kept: Vec<&Project> = try_join_all(asked)
            .await?
            .into_iter()
            .filter_map(|(project, has)| has.then_some(project))
            .collect();
        match kept[..] {
            [only] => {
                eprintln!(
                    "this directory does not belong to a Forge project; showing the beads of {}",
                    only.name
                );
                Ok(Whose::Project(only.clone()))
            }
            _ => Ok(Whose::Anybody),
        }
    }

    fn pair(&self) -> Option<(&'static str, String)> {
        match self {
            Whose::Project(project) => Some(("project_id", project.id.to_string())),
            Whose::Folder(folder) => Some(("workspace", folder.clone())),
            Whose::Anybody => None,
        }
    }

    pub fn put(&self, body: &mut Value) {
        if let Some((name, value)) = self.pair() {
            body[name] = value.into();
        }
    }

    pub fn query(&self) -> String {
        forge_client::query(self.pair().iter().map(|(name, value)| (*name, value.as_str())))
    }

    /// The name for people.
    pub fn name(&self) -> &str {
        match self {
            Whose::Project(project) => &project.name,
            Whose::Folder(folder) => folder,
            Whose::Anybody => "the only beads",
        }
    }
}

/// The current directory or its nearest parent in the same repository that has a `.beads` folder.
fn folder_with_beads() -> Result<Option<String>> {
    let here = std::env::current_dir().context("cannot find the current directory")?;
    for folder in here.ancestors() {
        if folder.join(".beads").is_dir() {
            return Ok(Some(folder.display().to_string()));
        }
        if folder.join(".git").exists() {
            break;
        }
    }
    Ok(None)
}

/// Where a new bead goes. If there are no beads yet, asks the person whether to set them up.
pub async fn begin(client: &Client, scope: &Scope) -> Result<Whose> {
    let found = Whose::find(client, scope, Deed::Change).await;
    let has_none = match &found {
        Ok(Whose::Project(project)) => !has_beads(client, project).await?,
        Ok(_) => false,
        Err(error) => error.is::<NotFound>() && is_in_repository()?,
    };
    if !has_none || scope.project.is_some() || !terminal::is_attended() {
        // The server's error names the command to run.
        return found;
    }
    if !terminal::agree("This repository has no beads yet. Create a .beads folder now?")? {
        return Err(NotFound("nothing was created; `forge beads init` sets up beads".to_owned()).into());
    }
    let (project, folder, _) = make(client).await?;
    eprintln!("created {}", folder.display());
    Ok(Whose::Project(project))
}

async fn has_beads(client: &Client, project: &Project) -> Result<bool> {
    let rule: ProjectDispatch = client.get(&format!("/api/projects/{}/dispatch", project.id)).await?;
    Ok(rule.has_beads)
}

fn is_in_repository() -> Result<bool> {
    let here = std::env::current_dir().context("cannot find the current directory")?;
    Ok(here.ancestors().any(|folder| folder.join(".git").exists()))
}

/// The project of the current directory with its beads folder, and whether that is new.
async fn make(client: &Client) -> Result<(Project, PathBuf, bool)> {
    let mut notes = Vec::new();
    let RegisteredProject { project, .. } = find_project(client, None, &mut notes).await?;
    notes.iter().for_each(|note| eprintln!("{note}"));
    let folder = Path::new(&project.git_repo_path).join(".beads");
    let is_new = !folder.is_dir();
    if is_new {
        std::fs::create_dir(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    Ok((project, folder, is_new))
}

/// Makes the repository of the current directory a project with beads.
pub async fn init(client: &Client, json: bool) -> Result<()> {
    let (project, folder, is_new) = make(client).await?;
    if json {
        terminal::print_json(&json!({"project": project.name, "folder": folder, "made": is_new}));
        return Ok(());
    }
    let (word, rest) = match is_new {
        true => (
            "created ",
            format!("{}; `forge beads create` adds beads of {} to it", folder.display(), project.name),
        ),
        false => ("", format!("{} already has beads, in {}", project.name, folder.display())),
    };
    say(&Line::new(Ink::Green, word).and(Ink::Plain, &rest).whole());
    Ok(())
}

/// Fails for a project without beads, where an empty list would be misleading.
pub async fn refuse_none(client: &Client, whose: &Whose) -> Result<()> {
    let Whose::Project(project) = whose else { return Ok(()) };
    if has_beads(client, project).await? {
        return Ok(());
    }
    let text = format!(
        "{} has no beads: there is no .beads folder in its repository; create one with `forge beads init`, `br init` or \
         `bd init`",
        project.name
    );
    Err(NotFound(text).into())
}
