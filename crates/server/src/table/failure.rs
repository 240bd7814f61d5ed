//! How a route can fail: each status, with the codes that come with it.
//!
//! Invariant: what a row shows already (parameters, body, method) is derived from it. What the engine can refuse beyond
//! that is one of the lists here, which the row names. Every failure that the tests of this crate provoke is looked up.

use std::collections::{BTreeMap, BTreeSet};

use forge_types::ErrorCode::{self, *};

use super::Route;

pub(super) type List = &'static [(u16, ErrorCode)];

const ALWAYS: List = &[
    (401, TokenRequired),
    (403, Denied),
    (429, TooManyTries),
    (500, Internal),
    (503, DiskFull),
    (503, Stopping),
    (503, Unavailable),
];
const OF_A_BODY: List = &[
    (400, BodyNotJson),
    (400, Invalid),
    (404, NotFound),
    (408, Unavailable),
    (413, TooLarge),
    (415, BodyNotJson),
    (422, Invalid),
];
const OF_A_KEY: List = &[(400, Invalid), (408, Unavailable), (413, TooLarge), (422, Invalid)];
/// What an id of a path or a query does not lead to.
const UNKNOWN: [(&str, ErrorCode); 8] = [
    ("approval_id", ApprovalNotFound),
    ("attempt_id", AttemptNotFound),
    ("process_id", RunNotFound),
    ("project_id", ProjectNotFound),
    ("run_id", ErrandNotFound),
    ("task_attempt_id", AttemptNotFound),
    ("task_id", TaskNotFound),
    ("worker_id", WorkerNotFound),
];

/// A rule says no, and shipped clients expect a 200 for it.
pub(super) const REFUSED: List = &[(200, Refused)];
/// Something is named that may not be there.
pub(super) const MISSING: List = &[(404, NotFound)];
pub(super) const PROJECT: List = &[(404, ProjectNotFound)];
/// Values that are allowed alone, but not together.
pub(super) const TOGETHER: List = &[(422, Invalid)];
/// Reads a repository.
pub(super) const GIT: List = &[
    (404, BranchNotFound),
    (404, NotFound),
    (409, BranchInUse),
    (409, Conflict),
    (409, NotAWorktree),
    (409, OperationInProgress),
    (409, RepositoryNotFound),
    (409, RepositoryUntrusted),
    (503, GitUnusable),
];
/// Reads a file that the request names.
pub(super) const FILE: List = &[(413, TooLarge), (422, Invalid)];
/// Changes a worktree or a branch, beside [`GIT`].
pub(super) const CHANGE: List = &[
    (409, BranchDiverged),
    (409, MergeConflicts),
    (409, NothingToMerge),
    (409, StillRunning),
    (409, UncommittedChanges),
];
/// Adds a repository.
pub(super) const ADD: List = &[
    (200, GitUnusable),
    (200, Internal),
    (200, Refused),
    (200, RepositoryNotFound),
    (200, RepositoryUntrusted),
];
/// Pushes a branch, beside [`GIT`].
pub(super) const PUSH: List = &[
    (409, BranchDiverged),
    (409, NoRemote),
    (409, PushRejected),
    (409, StillRunning),
    (500, HostTokenInvalid),
    (502, Upstream),
];
/// Asks a code host.
pub(super) const HOST: List = &[(409, NoRemote), (500, HostTokenInvalid), (502, Upstream)];
/// Opens a pull request: most of what goes wrong on the way is a 200.
pub(super) const PULL: List = &[
    (200, BranchDiverged),
    (200, BranchInUse),
    (200, BranchNotFound),
    (200, Conflict),
    (200, HostPermissionMissing),
    (200, HostRepositoryNotFound),
    (200, HostTokenInvalid),
    (200, Internal),
    (200, NoRemote),
    (200, NotAWorktree),
    (200, NothingToMerge),
    (200, PushRejected),
    (200, Refused),
    (200, StillRunning),
    (200, Upstream),
];
pub(super) const REBASE: List = &[(200, MergeConflicts), (200, OperationInProgress)];
pub(super) const TARGET: List = &[(200, BranchNotFound)];
pub(super) const DEV: List = &[(200, NoDevScript)];
/// Starts an agent, beside [`GIT`].
pub(super) const START: List = &[
    (404, AttemptNotFound),
    (404, ProjectNotFound),
    (404, RunNotFound),
    (404, TaskNotFound),
    (409, BudgetReached),
    (409, MergeConflicts),
    (409, StillRunning),
    (409, UncommittedChanges),
    (422, AgentNotFound),
    (422, BranchNotFound),
    (500, NotRunning),
];
pub(super) const STOP: List = &[(409, NotRunning)];
pub(super) const RUNNING: List = &[(409, StillRunning)];
pub(super) const DRAFT: List = &[(409, NoDraft), (422, RunNotFound)];
pub(super) const BEADS: List =
    &[(404, NotFound), (404, ProjectNotFound), (409, Conflict), (422, Invalid), (422, ProjectRequired)];
pub(super) const SPAWN: List = &[(409, BudgetReached), (422, NotFound)];
/// What the request leads to cannot be read.
pub(super) const SOURCE: List = &[(422, Refused)];

impl Route {
    /// Every status of a failure, with its codes.
    pub(crate) fn failures(&self) -> BTreeMap<u16, BTreeSet<ErrorCode>> {
        let names: Vec<&str> = self.path.split(['/', '{', '}']).chain(self.query.split([' ', '?'])).collect();
        let unknown = UNKNOWN.iter().filter(|(name, _)| names.contains(name)).map(|(_, code)| (404, *code));
        let mut found: BTreeMap<u16, BTreeSet<ErrorCode>> = BTreeMap::new();
        let mut add = |(status, code)| {
            found.entry(status).or_default().insert(code);
        };
        let in_path = self.path.contains('{');
        let rules: [(bool, List); 6] = [
            (true, ALWAYS),
            (in_path || !self.query.is_empty(), &[(400, Invalid)]),
            (in_path, MISSING),
            (self.body.is_some(), OF_A_BODY),
            (self.method != "GET", &[(409, Conflict)]),
            (self.once, OF_A_KEY),
        ];
        rules
            .into_iter()
            .filter(|(applies, _)| *applies)
            .for_each(|(_, list)| list.iter().copied().for_each(&mut add));
        self.fails.iter().flat_map(|list| list.iter().copied()).for_each(&mut add);
        unknown.for_each(&mut add);
        found
    }
}
