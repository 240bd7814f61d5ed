//! The codes of failures: what a program branches on, where people read a message.
//!
//! Owns: every word that can stand in `error_code`, and what it means.
//! Invariant: the list only grows. A code stays true to its meaning while messages are free to change, so nothing
//! outside of this file has to compare sentences. A code is specific where another action helps; everything else has
//! the general code of its kind.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! codes {
    ($($name:ident = $text:literal, $meaning:literal;)*) => {
        /// What went wrong, for programs.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum ErrorCode {
            $(#[doc = $meaning] $name,)*
        }

        impl ErrorCode {
            /// Every code, the general ones first.
            pub const ALL: &'static [ErrorCode] = &[$(ErrorCode::$name),*];

            /// The word on the wire.
            pub fn as_str(self) -> &'static str {
                match self { $(ErrorCode::$name => $text),* }
            }

            /// What it means, in a sentence.
            pub fn meaning(self) -> &'static str {
                match self { $(ErrorCode::$name => $meaning),* }
            }
        }
    };
}

codes! {
    NotFound = "not_found", "What was named does not exist.";
    Invalid = "invalid", "The request itself is wrong; `field` names the part of it that is, where that is known.";
    TooLarge = "too_large", "More was sent or asked for than is accepted at once.";
    Refused = "refused", "A rule of Forge does not allow it.";
    Conflict = "conflict", "The present state does not allow it.";
    Denied = "denied", "The caller is not allowed to do it.";
    Unavailable = "unavailable", "Something outside of Forge is missing or busy; trying again later may help.";
    Upstream = "upstream", "Another machine failed or did not answer.";
    Internal = "internal", "Forge itself failed; its log has the cause.";

    ProjectNotFound = "project_not_found", "There is no such project.";
    TaskNotFound = "task_not_found", "There is no such task.";
    AttemptNotFound = "attempt_not_found", "There is no such attempt.";
    RunNotFound = "run_not_found", "There is no such run (an execution process in the API).";
    ErrandNotFound = "errand_not_found", "There is no such errand (an execution run in the API).";
    ApprovalNotFound = "approval_not_found", "There is no such approval.";
    WorkerNotFound = "worker_not_found", "There is no such worker.";
    BranchNotFound = "branch_not_found", "The repository has no such branch.";
    RepositoryNotFound = "repository_not_found", "There is no git repository at the path.";
    ProjectRequired = "project_required", "Several projects are possible, and none was named.";

    NotServed = "not_served", "The server does not have this path: it is older, or that part is switched off.";
    MethodNotAllowed = "method_not_allowed", "The path exists, but not with this HTTP method.";
    TokenRequired = "token_required", "The token is missing or wrong.";
    TooManyTries = "too_many_tries", "Too many wrong tokens or codes; `Retry-After` says when to try again.";
    BodyNotJson = "body_not_json", "The body is not JSON, or is not declared to be.";
    Stopping = "stopping", "The server is stopping.";

    BranchDiverged = "branch_diverged", "The target branch has commits that the attempt lacks; a rebase helps.";
    MergeConflicts = "merge_conflicts", "Both sides changed the same lines.";
    OperationInProgress = "operation_in_progress", "A rebase, merge, cherry-pick or revert is not finished.";
    UncommittedChanges = "uncommitted_changes", "A directory has changes that are not committed.";
    NothingToMerge = "nothing_to_merge", "The branch has no change that its target lacks.";
    BranchInUse = "branch_in_use", "A branch is checked out elsewhere, or a directory is not on its branch.";
    NotAWorktree = "not_a_worktree", "The directory is not, or no longer, a worktree of this installation.";
    NoRemote = "no_remote", "The repository has no remote to push to.";
    PushRejected = "push_rejected", "The remote refused the branch.";
    RepositoryUntrusted = "repository_untrusted", "A folder belongs to another user, so Forge does not work in it.";
    GitUnusable = "git_unusable", "The program git is missing or too old.";

    HostTokenInvalid = "host_token_invalid", "The code host needs a token, or does not accept the one that it got.";
    HostPermissionMissing = "host_permission_missing", "The token of the code host may not do this.";
    HostRepositoryNotFound = "host_repository_not_found", "The code host has no such repository, or hides it.";

    StillRunning = "still_running", "A run is at work there; stop it, or wait for its end.";
    NotRunning = "not_running", "The run has ended.";
    AgentNotFound = "agent_not_found", "The program of the agent is not installed.";
    NoDevScript = "no_dev_script", "The project has no script for a dev server.";
    NoDraft = "no_draft", "There is no draft to send.";
    BudgetReached = "budget_reached", "A budget is used up.";
    DiskFull = "disk_full", "The disk is full, or too little of it is free.";
}

/// The text that is no code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown error code '{0}'")]
pub struct UnknownErrorCode(pub String);

impl FromStr for ErrorCode {
    type Err = UnknownErrorCode;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = ErrorCode::ALL.iter().copied().find(|code| code.as_str() == text);
        found.ok_or_else(|| UnknownErrorCode(text.to_owned()))
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_the_same_word_in_json_in_text_and_back() {
        for code in ErrorCode::ALL {
            assert_eq!(serde_json::to_value(code).expect("a word"), code.to_string());
            assert_eq!(code.as_str().parse(), Ok(*code));
        }
        assert!("no such code".parse::<ErrorCode>().is_err());
    }

    #[test]
    fn every_code_stands_once_and_has_one_sentence() {
        let words: std::collections::BTreeSet<_> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(words.len(), ErrorCode::ALL.len());
        for code in ErrorCode::ALL {
            assert!(code.meaning().ends_with('.') && code.meaning().len() <= 100, "{code}");
        }
    }

    const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/errors.md");
    const TABLE: &str = "| code | meaning |\n| --- | --- |\n";

    #[test]
    fn the_page_lists_every_code_with_its_meaning() {
        let written = std::fs::read_to_string(PAGE).expect("the page");
        let (words, _) = written.split_once(TABLE).expect("the table");
        let rows = ErrorCode::ALL.iter().map(|code| format!("| `{code}` | {} |\n", code.meaning()));
        let page = format!("{words}{TABLE}{}", rows.collect::<String>());
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(PAGE, &page).expect("the page can be written");
        }
        let written = std::fs::read_to_string(PAGE).expect("the page");
        assert!(written == page, "{PAGE} is outdated; UPDATE=1 rewrites it");
    }
}
