//! How a task moves without a person moving it.
//!
//! Invariant: what a person decided about a task outlasts what its attempts do. An archived task was put away, with its
//! worktrees: a run that starts or ends, a merge and a pull request leave it there, or it would be back on the board
//! unasked. Only work that somebody asks for brings it back. A task that was moved elsewhere while an agent worked on it
//! does not come back to be reviewed, and agent chats and dev servers move nothing.

use forge_types::{Millis, RunReason, Task, TaskId, TaskStatus};

use crate::error::Result;
use crate::tx::Tx;

/// Why a task moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Somebody asked for a run of this kind: a new attempt, a follow-up.
    Asked(RunReason),
    /// A run of this kind began, asks something, or ended.
    Run(RunReason),
    /// The question of a run was answered.
    Answered,
    /// The work on it failed and will be tried again.
    TriedAgain,
    /// Its work is in its target branch.
    Landed,
}

fn may_move(from: TaskStatus, why: Why) -> bool {
    use TaskStatus::{Agent, Archived, InProgress, InReview};
    match why {
        Why::Asked(RunReason::DevServer) | Why::Run(RunReason::DevServer) => false,
        _ if from == Agent => false,
        Why::Asked(_) => true,
        _ if from == Archived => false,
        Why::Run(_) | Why::Landed => true,
        Why::Answered => from == InReview,
        Why::TriedAgain => matches!(from, InProgress | InReview),
    }
}

impl Tx {
    /// The only way in which the engine moves a task. Returns whether it moved.
    pub async fn move_task(&mut self, id: TaskId, to: TaskStatus, why: Why) -> Result<bool> {
        let Some(task) = self.task(id).await? else { return Ok(false) };
        // What is to be reviewed was in progress.
        let is_due = to != TaskStatus::InReview || task.status == TaskStatus::InProgress;
        if task.status == to || !is_due || !may_move(task.status, why) {
            return Ok(false);
        }
        self.update_task(&Task { status: to, updated_at: Millis::now(), ..task }).await?;
        Ok(true)
    }
}
