//! Exit codes that scripts can rely on.
//!
//! Invariant: a code means the same for every command and whoever notices the failure, this program or a server. It
//! follows from the code of the error, by [`of_code`] alone. 0 is done; 130 (the shell's code for Ctrl-C) is a run that
//! was stopped or left.

use std::path::Path;
use std::process::ExitCode;

use forge_types::ErrorCode;

use crate::client::Kind;
use crate::reference::NotFound;
use crate::report::Report;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The agent failed, or any other error.
    Failed = 1,
    /// Wrong usage; clap uses the same code.
    Misused = 2,
    /// No server answers.
    Unreachable = 3,
    /// Not found, or ambiguous.
    NotFound = 4,
    /// The server refused; nothing changed.
    Refused = 5,
    /// A run was stopped, or left while it continues.
    Stopped = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

/// An argument that clap accepts and Forge does not.
#[derive(Debug)]
pub struct Misused(pub String);

impl std::fmt::Display for Misused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Misused {}

/// A file that was named and cannot be read.
pub fn unreadable(what: &str, file: &Path, cause: &std::io::Error) -> anyhow::Error {
    let text = format!("{what}cannot read {}: {cause}", file.display());
    match cause.kind() {
        std::io::ErrorKind::NotFound => NotFound(text).into(),
        _ => Misused(text).into(),
    }
}

/// The exit code for an error.
pub fn of(report: &Report) -> Exit {
    match (report.code, report.kind) {
        (Some(code), _) => of_code(code),
        (None, Some(kind)) if kind.is_away() => Exit::Unreachable,
        (None, Some(Kind::NoStream)) => Exit::Misused,
        // An older server has no codes.
        (None, Some(Kind::NotFound | Kind::NotServed)) => Exit::NotFound,
        (None, Some(Kind::Unauthorized | Kind::Conflict | Kind::Refused)) => Exit::Refused,
        _ => Exit::Failed,
    }
}

/// A value that is not allowed is wrong usage. A name that leads to nothing is not found. What the present state, a rule
/// or a permission does not allow is refused. The rest failed.
fn of_code(code: ErrorCode) -> Exit {
    use ErrorCode::*;
    match code {
        Invalid | TooLarge | BodyNotJson | MethodNotAllowed | ProjectRequired => Exit::Misused,
        NotFound
        | ProjectNotFound
        | TaskNotFound
        | AttemptNotFound
        | RunNotFound
        | ErrandNotFound
        | ApprovalNotFound
        | WorkerNotFound
        | BranchNotFound
        | RepositoryNotFound
        | HostRepositoryNotFound
        | NotServed => Exit::NotFound,
        Refused
        | Conflict
        | Denied
        | TokenRequired
        | TooManyTries
        | BranchDiverged
        | MergeConflicts
        | OperationInProgress
        | UncommittedChanges
        | NothingToMerge
        | BranchInUse
        | NotAWorktree
        | NoRemote
        | PushRejected
        | RepositoryUntrusted
        | HostTokenInvalid
        | HostPermissionMissing
        | StillRunning
        | NotRunning
        | AgentNotFound
        | NoDevScript
        | NoDraft
        | BudgetReached => Exit::Refused,
        Unavailable | Upstream | Internal | Stopping | GitUnusable | DiskFull => Exit::Failed,
    }
}

#[cfg(test)]
mod tests {
    use forge_types::wire::Failure;

    use super::*;
    use crate::client;

    fn exit(error: impl Into<anyhow::Error>) -> Exit {
        of(&Report::of(&error.into()))
    }

    #[test]
    fn the_same_failure_has_the_same_exit_code_whoever_notices_it() {
        let refused = |status: u16, code: &str| {
            client::Error::refused(status, Failure { error_code: code.parse().ok(), ..Failure::default() })
        };
        let outside = || forge_git::GitError::NoRepository("/".into());
        let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
        let cases: Vec<(&str, anyhow::Error, Exit)> = vec![
            ("a value, by this program", Misused("--status: no".to_owned()).into(), Exit::Misused),
            ("a value, by the server", refused(422, "invalid").into(), Exit::Misused),
            ("a value, by the engine", forge_core::Error::invalid("no").into(), Exit::Misused),
            ("a name, by this program", NotFound("no task".to_owned()).into(), Exit::NotFound),
            ("a name, by the server", refused(404, "task_not_found").into(), Exit::NotFound),
            ("a name in a body", refused(422, "branch_not_found").into(), Exit::NotFound),
            ("outside of a repository", outside().into(), Exit::NotFound),
            ("the same, by the engine", forge_core::Error::from(outside()).into(), Exit::NotFound),
            ("a file", unreadable("--file: ", Path::new("a.md"), &missing), Exit::NotFound),
            ("a state", refused(409, "conflict").into(), Exit::Refused),
            ("a rule with a 200", refused(200, "no_dev_script").into(), Exit::Refused),
            ("the token", refused(401, "token_required").into(), Exit::Refused),
            ("a full disk", refused(503, "disk_full").into(), Exit::Failed),
            ("no server", client::Error::new(Kind::Unreachable, "nobody").into(), Exit::Unreachable),
            ("an older server", client::Error::refused(409, Failure::default()).into(), Exit::Refused),
            ("anything else", anyhow::anyhow!("odd"), Exit::Failed),
        ];
        for (what, error, expected) in cases {
            assert_eq!(exit(error), expected, "{what}");
        }
    }
}
