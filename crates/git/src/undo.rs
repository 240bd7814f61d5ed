//! A copy of uncommitted work, made before something discards it on purpose.
//!
//! Owns: `refs/forge/undo/<owner>/<ms>`. Each is a plain commit on top of HEAD whose tree is the worktree without
//! ignored files, so `git show` and `git checkout <ref> -- <file>` bring anything back; what was staged and differed is
//! its second parent.
//! Invariant: the worktree and its index are only read.

use forge_types::Millis;

use crate::command::Git;
use crate::commit::add_all;
use crate::scratch::Scratch;
use crate::tree::Tree;
use crate::{GitError, Owner, Repo};

/// Saves what is uncommitted, and `file` even if it is ignored, and returns the reference that holds it.
pub(crate) async fn save(
    repo: &Repo,
    tree: &Tree,
    owner: Owner,
    reason: &str,
    file: Option<&str>,
) -> Result<String, GitError> {
    let scratch = Scratch::new(repo)?;
    let index = scratch.copy_index(tree.git_dir()).await?;
    let git = |args: &[&str]| Git::write(tree).env("GIT_INDEX_FILE", &index).args(args);
    // With conflicts in the index there is no such tree; the conflicted files themselves are in the other one.
    let staged = git(&["write-tree"]).answer().await?;
    let staged = (staged.code == 0).then(|| String::from_utf8_lossy(&staged.stdout).trim().to_owned());
    add_all(tree, Some(&index)).await?;
    if let Some(file) = file {
        git(&["add", "-f", "--", file]).env("GIT_LITERAL_PATHSPECS", "1").run_patiently().await?;
    }
    let work = git(&["write-tree"]).text().await?;
    let identity = repo.identity().await?;
    let head = repo.head_of(tree.path()).await?;
    let commit = async |tree: &str, parents: &[&str], message: &str| {
        let parents = parents.iter().flat_map(|parent| ["-p", *parent]);
        let git = Git::write(repo.main()).options(&identity).args(["commit-tree", tree]).args(parents);
        git.args(["-F", "-"]).input(message).text().await
    };
    let staged = match staged.filter(|staged| *staged != work) {
        Some(staged) => Some(commit(&staged, &[&head], "forge: what was staged").await?),
        None => None,
    };
    let parents: Vec<&str> = std::iter::once(head.as_str()).chain(staged.as_deref()).collect();
    let saved = commit(&work, &parents, &format!("forge: {reason}")).await?;
    let reference = format!("refs/forge/undo/{owner}/{}", Millis::now().0);
    Git::write(repo.main()).args(["update-ref", &reference, &saved, ""]).run_patiently().await?;
    Ok(reference)
}
