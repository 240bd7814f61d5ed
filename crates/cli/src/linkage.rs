//! What a directory belongs to: attempt, branch, task, wish and issue, determined from git and files alone.

use std::path::{Path, PathBuf};

use anyhow::Result;
use forge_git::{MarkedTask, Owner};
use serde_json::{Value, json};

use crate::wish::{self, Wish};

#[derive(Debug)]
pub struct Linkage {
    /// `attempt` or `execution run`.
    pub kind: &'static str,
    pub id: String,
    pub branch: String,
    pub task: Option<MarkedTask>,
    pub wish: Option<Wish>,
    pub issue: Option<u64>,
    pub worktree: PathBuf,
    pub repository: PathBuf,
    /// Known only for a worktree that Forge created.
    pub installation: Option<String>,
}

impl Linkage {
    /// By the mark of the worktree or, in a checkout that Forge did not create, by what git stores about the branch;
    /// `None` if no agent of Forge works there.
    pub async fn of(dir: &Path) -> Result<Option<Linkage>> {
        let mut linkage = match forge_git::whoami(dir)? {
            Some(found) => {
                let mark = found.mark;
                let (kind, id) = match mark.owner {
                    Owner::Attempt(id) => ("attempt", id.to_string()),
                    Owner::Errand(id) => ("execution run", id.to_string()),
                    Owner::Spare => return Ok(None),
                };
                Linkage {
                    kind,
                    id,
                    branch: mark.branch.unwrap_or_default(),
                    task: mark.task,
                    wish: None,
                    issue: None,
                    worktree: found.worktree,
                    repository: mark.repo.into(),
                    installation: Some(mark.installation),
                }
            }
            None => match by_branch(dir).await? {
                Some(linkage) => linkage,
                None => return Ok(None),
            },
        };
        let names = linkage.names();
        // Wishes that are not committed are only in the main checkout.
        linkage.wish =
            Wish::find(&linkage.worktree, &names).or_else(|| Wish::find(&linkage.repository, &names));
        let titled = linkage.task.as_ref().filter(|task| task.title.starts_with("[ISSUE] #"));
        let in_title = titled.and_then(|task| wish::number(&task.title));
        linkage.issue = linkage.wish.as_ref().and_then(|wish| wish.issue).or(in_title);
        Ok(Some(linkage))
    }

    /// The hex digits in the names of branch and directory.
    pub fn prefix(&self) -> &str {
        let name = self.branch.rsplit('/').next().unwrap_or_default();
        let digits = name.split('-').next().unwrap_or_default();
        let is_ours = digits.len() >= 4 && self.id.replace('-', "").starts_with(digits);
        if is_ours { digits } else { self.id.get(..4).unwrap_or_default() }
    }

    /// The name of the work in the branch's name.
    pub fn abbreviation(&self) -> &str {
        let name = self.branch.rsplit('/').next().unwrap_or_default();
        name.strip_prefix(self.prefix()).map_or(name, |rest| rest.trim_start_matches('-'))
    }

    /// Possible names of a wish for this work: the whole title, or the part in the branch's name.
    fn names(&self) -> Vec<String> {
        let title = self.task.as_ref().map(|task| dashed(&task.title));
        title.into_iter().chain([self.abbreviation().to_owned()]).filter(|name| !name.is_empty()).collect()
    }

    pub fn json(&self) -> Value {
        let wish = self.wish.as_ref().map(|wish| json!({"slug": wish.slug, "path": wish.path}));
        json!({
            "kind": self.kind, "id": self.id, "branch": self.branch, "task": self.task, "wish": wish,
            "issue": self.issue, "worktree": self.worktree, "repository": self.repository,
            "installation": self.installation,
        })
    }
}

/// The attempt whose branch is checked out in a directory without a mark.
async fn by_branch(dir: &Path) -> Result<Option<Linkage>> {
    let Ok(repo) = forge_git::Repo::open(dir).await else { return Ok(None) };
    let Some((branch, id)) = forge_git::recorded(dir).await? else { return Ok(None) };
    let worktree = forge_git::linked_worktree(dir).unwrap_or_else(|| repo.path().to_owned());
    let kind = if branch.starts_with("run/") { "execution run" } else { "attempt" };
    let (repository, task, wish, issue) = (repo.path().to_owned(), None, None, None);
    Ok(Some(Linkage { kind, id, branch, task, wish, issue, worktree, repository, installation: None }))
}

/// A title as a folder name of any length.
fn dashed(title: &str) -> String {
    let words = title.to_lowercase();
    let words = words.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linkage(branch: &str) -> Linkage {
        Linkage {
            kind: "attempt",
            id: "35a403e3-fe62-4545-bffe-0285dbfa472d".to_owned(),
            branch: branch.to_owned(),
            task: None,
            wish: None,
            issue: None,
            worktree: PathBuf::new(),
            repository: PathBuf::new(),
            installation: None,
        }
    }

    #[test]
    fn prefix_and_abbreviation_come_from_the_branch() {
        for (branch, prefix, abbreviation) in [
            ("forge/35a4-test-forge-metad", "35a4", "test-forge-metad"),
            ("35a403e3f-x", "35a403e3f", "x"),
            ("forge/35a4-", "35a4", ""),
            ("feature/mine", "35a4", "mine"),
        ] {
            let linkage = linkage(branch);
            assert_eq!((linkage.prefix(), linkage.abbreviation()), (prefix, abbreviation), "{branch}");
        }
    }
}
