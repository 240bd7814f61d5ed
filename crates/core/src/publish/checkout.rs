//! The project's own checkout against its remote, and the product's releases.
//!
//! Invariant: looking changes nothing but remote-tracking branches, and a pull happens whole or not at all.

use forge_git::GitError;
use forge_remote::LoginSite;
use forge_types::wire::Release;
use forge_types::{BranchStatus, ProjectId};

use crate::{Error, Forge, Kind, Result};

pub use forge_git::Pulled;

impl Forge {
    /// The current branch against `base` on the remote, and against the branch it follows.
    pub async fn checkout_status(&self, id: ProjectId, base: &str) -> Result<BranchStatus> {
        let project = self.project(id).await?;
        let repo = self.repo(&project).await?;
        // Without a remote, or without a network, what is known is returned.
        if let Err(error) = self.refresh_remote(&project, base).await {
            tracing::debug!(project = %project.name, %error, "the remote was not asked");
        }
        let remote = forge_git::remote_for(&repo, base).await;
        let no_remote = matches!(remote, Err(GitError::NoRemote(_)));
        let state = forge_git::checkout_state(&repo).await?;
        let head = state.head.clone();
        let against = async |branch: Option<String>| -> Result<Option<(u32, u32)>> {
            let (Some(head), Some(branch)) = (&head, branch) else { return Ok(None) };
            let Some(tip) = repo.resolve_branch(&branch).await? else { return Ok(None) };
            Ok(Some(forge_git::ahead_behind(&repo, head, &tip.commit).await?))
        };
        let target =
            against(remote.ok().map(|remote| format!("{}/{}", remote.name, remote.strip(base)))).await?;
        let followed = against(state.upstream.clone()).await?;
        Ok(BranchStatus {
            commits_behind: target.map(|(_, behind)| behind),
            commits_ahead: target.map(|(ahead, _)| ahead),
            has_uncommitted_changes: Some(state.changed_count > 0),
            head_oid: state.head,
            uncommitted_count: Some(state.changed_count),
            untracked_count: Some(state.untracked_count),
            target_branch_name: base.to_owned(),
            remote_commits_behind: followed.map(|(_, behind)| behind),
            remote_commits_ahead: followed.map(|(ahead, _)| ahead),
            merges: Vec::new(),
            is_rebase_in_progress: false,
            conflict_op: None,
            conflicted_files: Vec::new(),
            left_open: Vec::new(),
            no_remote,
        })
    }

    /// Brings the main checkout up to date with its remote: `git pull --rebase`, undone when it meets a conflict.
    pub async fn pull_project(&self, id: ProjectId) -> Result<Pulled> {
        let project = self.project(id).await?;
        let branch = self.repo(&project).await?.current_branch().await?.unwrap_or_else(|| "HEAD".to_owned());
        let upstream = self.upstream(&project, &branch).await?;
        Ok(forge_git::pull_rebase(&upstream.repo, &upstream.remote, upstream.credential.as_ref()).await?)
    }

    /// What the product's repository has released, newest first.
    pub async fn releases(&self) -> Result<Vec<Release>> {
        let settings = self.settings();
        let named = settings.other.get("releases_repository").and_then(|value| value.as_str());
        let repository = named.unwrap_or(forge_remote::RELEASES_REPOSITORY);
        let site = LoginSite::of(&self.hosts());
        let releases = forge_remote::releases(&self.0.http, &site, repository).await;
        releases.map_err(|error| Error::new(Kind::Upstream, format!("the releases cannot be read: {error}")))
    }
}
