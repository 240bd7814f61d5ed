//! Projects: which repositories Forge works in.
//!
//! Owns the rows of projects, the repositories that are open, and looking for repositories in folders. Invariant: one
//! project per repository, and a repository is only read.

pub(crate) mod folder;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use forge_git::{GitError, Repo, SearchScope};
use forge_types::wire::SearchResult;
use forge_types::{
    BranchInfo, CreateProject, ErrorCode, ListedProject, Millis, Project, ProjectId, RegisteredProject,
    UpdateProject,
};

use crate::{Error, Forge, Kind, Result};

const SAME_PATH: &str = "A project with this git repository path already exists";
const SEARCH_LIMIT: usize = 10;

#[derive(Default)]
pub(crate) struct Projects {
    repos: Arc<Repositories>,
}

impl Projects {
    pub(crate) fn repositories(&self) -> Arc<Repositories> {
        Arc::clone(&self.repos)
    }
}

/// The repositories that were opened, by their path.
#[derive(Default)]
pub(crate) struct Repositories(Mutex<HashMap<PathBuf, Repo>>);

impl Repositories {
    pub(crate) async fn at(&self, path: &Path) -> std::result::Result<Repo, GitError> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned();
        if let Some(repo) = known {
            // It may have been moved since.
            return match repo.common_dir().is_dir() {
                true => Ok(repo),
                false => Err(GitError::NoRepository(path.to_owned())),
            };
        }
        let repo = Repo::open(path).await?;
        let mut repos = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(repos.entry(path.to_owned()).or_insert(repo).clone())
    }
}

impl Forge {
    pub(crate) async fn repo(&self, project: &Project) -> Result<Repo> {
        self.repo_at(Path::new(&project.git_repo_path)).await
    }

    pub(crate) async fn repo_at(&self, path: &Path) -> Result<Repo> {
        Ok(self.0.projects.repos.at(path).await?)
    }

    pub async fn projects(&self) -> Result<Vec<Project>> {
        Ok(self.0.store.projects().await?)
    }

    /// The same, each with how many tasks it has in each status.
    pub async fn counted_projects(&self) -> Result<Vec<ListedProject>> {
        let mut counts = self.0.store.task_counts().await?;
        let listed = |project: Project| {
            let task_counts = Some(counts.remove(&project.id).unwrap_or_default());
            ListedProject { project, task_counts }
        };
        Ok(self.projects().await?.into_iter().map(listed).collect())
    }

    pub async fn project(&self, id: ProjectId) -> Result<Project> {
        let found = self.0.store.project(id).await?;
        found.ok_or_else(|| Error::no_project(id))
    }

    pub(crate) async fn register_project(&self, request: CreateProject) -> Result<RegisteredProject> {
        let path = absolute(&request.git_repo_path)?;
        let (repo, first_commit) = match request.use_existing_repo {
            true => open_existing(&path).await?,
            false => open_or_init(&path).await?,
        };
        let git_repo_path = repo.path().to_string_lossy().into_owned();
        if self.0.store.project_by_path(&git_repo_path).await?.is_some() {
            return Err(Error::refused(SAME_PATH));
        }
        let default_base_branch = match request.default_base_branch {
            Some(branch) => Some(branch),
            None => repo.current_branch().await?,
        };
        let now = Millis::now();
        let project = Project {
            id: ProjectId::random(),
            name: request.name,
            git_repo_path,
            setup_script: request.setup_script,
            dev_script: request.dev_script,
            cleanup_script: request.cleanup_script,
            copy_files: request.copy_files,
            commit_prompt: request.commit_prompt,
            default_base_branch,
            max_cost_usd: request.max_cost_usd,
            created_at: now,
            updated_at: now,
        };
        let mut tx = self.0.store.begin().await?;
        tx.insert_project(&project).await.map_err(same_path)?;
        tx.commit().await.map_err(same_path)?;
        Ok(RegisteredProject { project, first_commit })
    }

    pub async fn update_project(&self, id: ProjectId, request: UpdateProject) -> Result<RegisteredProject> {
        let (path, first_commit) = match &request.git_repo_path {
            Some(text) => {
                let (repo, made) = open_existing(&absolute(text)?).await?;
                (Some(repo.path().to_string_lossy().into_owned()), made)
            }
            None => (None, None),
        };
        let mut tx = self.0.store.begin().await?;
        let found = tx.project(id).await?;
        let mut project = found.ok_or_else(|| Error::no_project(id))?;
        let keep = |new: Option<Option<String>>, old: &mut Option<String>| {
            if let Some(value) = new {
                *old = value;
            }
        };
        keep(request.setup_script, &mut project.setup_script);
        keep(request.dev_script, &mut project.dev_script);
        keep(request.cleanup_script, &mut project.cleanup_script);
        keep(request.copy_files, &mut project.copy_files);
        keep(request.commit_prompt, &mut project.commit_prompt);
        keep(request.default_base_branch, &mut project.default_base_branch);
        project.max_cost_usd = request.max_cost_usd.unwrap_or(project.max_cost_usd);
        project.name = request.name.unwrap_or(project.name);
        project.git_repo_path = path.unwrap_or(project.git_repo_path);
        project.updated_at = Millis::now();
        tx.update_project(&project).await.map_err(same_path)?;
        tx.commit().await.map_err(same_path)?;
        Ok(RegisteredProject { project, first_commit })
    }

    pub async fn branches(&self, id: ProjectId) -> Result<Vec<BranchInfo>> {
        Ok(self.repo(&self.project(id).await?).await?.branches().await?)
    }

    pub async fn search_files(
        &self,
        id: ProjectId,
        query: &str,
        scope: SearchScope,
    ) -> Result<Vec<SearchResult>> {
        if query.trim().is_empty() {
            return Err(Error::refused("Query parameter 'q' is required and cannot be empty"));
        }
        let repo = self.repo(&self.project(id).await?).await?;
        Ok(repo.search_files(query.trim(), scope, SEARCH_LIMIT).await?)
    }
}

fn same_path(error: forge_store::StoreError) -> Error {
    match error {
        forge_store::StoreError::Duplicate => Error::refused(SAME_PATH),
        other => other.into(),
    }
}

/// Expands `~` and makes the path absolute, without asking that it exists.
fn absolute(text: &str) -> Result<PathBuf> {
    if text.trim().is_empty() {
        return Err(Error::invalid("must not be empty")
            .hint("give the path of a git repository")
            .of_field("git_repo_path"));
    }
    let home = || std::env::var_os("HOME").map(PathBuf::from);
    let path = match text.strip_prefix('~') {
        Some("") => home().unwrap_or_else(|| text.into()),
        Some(rest) if rest.starts_with('/') => match home() {
            Some(home) => home.join(&rest[1..]),
            None => text.into(),
        },
        _ => PathBuf::from(text),
    };
    std::path::absolute(&path)
        .map_err(|cause| Error::internal(format!("git_repo_path: cannot resolve '{text}'"), cause))
}

/// A repository, and the branch on which it got its first commit just now.
type Opened = (Repo, Option<String>);

async fn open_existing(path: &Path) -> Result<Opened> {
    match tokio::fs::metadata(path).await {
        Err(_) => return Err(Error::refused("The specified path does not exist")),
        Ok(meta) if !meta.is_dir() => return Err(Error::refused("The specified path is not a directory")),
        Ok(_) => {}
    }
    let repo = match Repo::open(path).await {
        Ok(repo) => repo,
        Err(forge_git::GitError::NoRepository(_)) => {
            return Err(Error::refused("The specified directory is not a git repository")
                .code(ErrorCode::RepositoryNotFound));
        }
        Err(other) => return Err(other.into()),
    };
    let failed = |error| not_made(error, "Failed to ensure main branch exists");
    let first_commit = repo.ensure_first_commit().await.map_err(failed)?;
    if let Some(branch) = &first_commit {
        tracing::info!(path = %path.display(), %branch, "an empty first commit was made in a repository without any");
    }
    Ok((repo, first_commit))
}

fn not_made(error: GitError, what: &str) -> Error {
    Error::from(error).of_kind(Kind::Refused).reworded(|why| format!("{what}: {why}"))
}

async fn open_or_init(path: &Path) -> Result<Opened> {
    let failed = |error| Error::refused(format!("Failed to create directory: {error}"));
    tokio::fs::create_dir_all(path).await.map_err(failed)?;
    // A repository above the new directory is somebody else's: only one at exactly this place is used as it is.
    if path.join(".git").exists() {
        return open_existing(path).await;
    }
    let failed = |error| not_made(error, "Failed to initialize git repository");
    // Who asks for a new repository knows that it begins with a commit.
    Ok((Repo::init(path).await.map_err(failed)?, None))
}
