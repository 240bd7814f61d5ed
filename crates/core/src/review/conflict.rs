//! Getting out of conflicts: giving the operation up, or having the agent resolve it.
//!
//! An agent that resolved and staged everything but did not continue has its rebase continued at the run's end; one that
//! left conflicts open leaves the worktree exactly as it is, so that it can be asked again or the rebase aborted.

use std::fmt::Write;

use forge_git::{Owner, WorktreeStatus};
use forge_run::agents::STOPPED;
use forge_types::{AttemptId, ConflictOp, FollowUp, Run};

use crate::worktree::attempt_repo::{AttemptRepo, forget_open_conflicts};
use crate::worktree::host::{Abort, Operation, Status};
use crate::{Error, Forge, Result};

impl Forge {
    /// Aborts the operation that is stopped in the worktree; nothing happens when there is none.
    pub async fn abort_conflicts(&self, id: AttemptId) -> Result<()> {
        let AttemptRepo { workplace, host, .. } = self.open_for_write(id).await?;
        if host.ask(Operation { at: workplace.directory }).await?.is_none() {
            return Ok(());
        }
        let (_hold, AttemptRepo { workplace, attempt, .. }) = self.hold_for_write(id).await?;
        let (at, owner) = (workplace.directory.clone(), Owner::Attempt(id));
        host.ask(Abort { at, owner, branch: attempt.branch }).await?;
        self.settle_rebase(&workplace).await?;
        let mut tx = self.0.store.begin().await?;
        forget_open_conflicts(&mut tx, id).await?;
        tx.commit().await?;
        self.note_move(id).await;
        Ok(())
    }

    /// Sends the conflict to the agent as a follow-up.
    pub async fn resolve_conflicts(&self, id: AttemptId) -> Result<Run> {
        let AttemptRepo { workplace, attempt, host, .. } = self.open_for_write(id).await?;
        let status = host.ask(Status { at: workplace.directory }).await?;
        let Some(operation) = status.operation else {
            return Err(Error::conflict(format!(
                "attempt {id} has no conflict to resolve: no rebase, merge, cherry-pick or revert is in progress"
            )));
        };
        let pending = self.0.store.pending_rebase(id).await?;
        let target = pending.map_or(attempt.target_branch, |pending| pending.target_branch);
        let prompt = describe(operation, &attempt.branch, &target, &status);
        self.follow_up(id, FollowUp::saying(prompt), None).await
    }
}

/// What the agent has to know and to do.
fn describe(operation: ConflictOp, branch: &str, target: &str, status: &WorktreeStatus) -> String {
    let command = operation.command();
    let what = match operation {
        ConflictOp::Rebase => format!("The rebase of '{branch}' onto '{target}'"),
        ConflictOp::Merge => format!("A merge into '{branch}'"),
        ConflictOp::CherryPick => format!("A cherry-pick onto '{branch}'"),
        ConflictOp::Revert => format!("A revert on '{branch}'"),
    };
    let mut text = format!("{what} {STOPPED}\n\n");
    if status.conflicted.is_empty() {
        text.push_str("No file is conflicted any more; it only has to be continued.\n");
    } else {
        text.push_str("These files have conflicts:\n");
        for file in status.conflicted.iter().take(FILES_MAX) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "- {file}");
        }
        if let Some(more @ 1..) = status.conflicted.len().checked_sub(FILES_MAX) {
            let _ = writeln!(text, "- and {more} more; `git diff --name-only --diff-filter=U` lists all");
        }
    }
    let _ = write!(
        text,
        "\nResolve every conflict so that both sides keep their purpose: your own work and what came from '{target}'. \
         `git diff` shows both sides. Leave no conflict markers (<<<<<<<, =======, >>>>>>>) behind.\n\
         Then stage each resolved file with `git add <file>` and continue with `GIT_EDITOR=true git {command} --continue`. \
         If it stops again, resolve again, until `git status` says that no {command} is in progress.\n\
         Do not abort, skip or restart the {command}, do not reset the branch, and do not push. \
         When it is finished, check that the result builds and its tests pass.\n"
    );
    text
}

/// How many files are named one by one.
const FILES_MAX: usize = 50;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_is_told_what_stopped_where_and_how_to_go_on() {
        let conflicted = (0..60).map(|n| format!("src/{n}.rs")).collect();
        let status = WorktreeStatus { conflicted, ..WorktreeStatus::default() };
        let text = describe(ConflictOp::Rebase, "forge/1-x", "main", &status);
        for part in
            ["'forge/1-x' onto 'main'", "- src/0.rs", "and 10 more", "git rebase --continue", "Do not abort"]
        {
            assert!(text.contains(part), "{part} is missing:\n{text}");
        }
        let text = describe(ConflictOp::CherryPick, "b", "main", &WorktreeStatus::default());
        assert!(
            text.contains("only has to be continued") && text.contains("git cherry-pick --continue"),
            "{text}"
        );
    }
}
