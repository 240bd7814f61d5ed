//! Processes that still use a directory although no run owns them.
//!
//! Owns: the rule that distinguishes such a process from a running agent and from programs of people. Invariant:
//! the rule depends only on [`ProcessFacts`], which `proc_scan` reads. Nothing is found on systems other than
//! Linux.

#[cfg(target_os = "linux")]
mod proc_scan;

use std::path::Path;

use forge_os::process::command_of;
use forge_types::RunId;
use serde::{Deserialize, Serialize};

#[cfg(target_os = "linux")]
use self::proc_scan::processes_in;
use crate::tree::MARK;

/// Set by the engine in the environment of every run.
pub(crate) const RUN_ID_VAR: &str = "FORGE_RUN_ID";

/// Who owns a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DirectoryOwner {
    /// A worktree of Forge: a process there without a terminal and without a parent was left by an agent.
    Forge,
    /// A checkout of the user, who may run anything there.
    User,
}

/// How a process relates to a run that is about to start in its directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LeftoverState {
    /// It belongs to a living run, or to people.
    Allowed,
    /// Somebody is ending it, or is about to take it over.
    Leaving,
    /// No run owns it.
    Left,
}

/// A process that prevents a start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leftover {
    pub pid: u32,
    pub command: String,
    pub run: Option<RunId>,
    pub standing: LeftoverState,
}

/// What is known about a process of this user.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProcessFacts {
    pub(crate) mark: Option<RunMark>,
    /// Its parent is gone: the machine's first process or the user's session manager is its parent now.
    pub(crate) is_orphan: bool,
    /// It has a terminal, or hosts the terminals of others, as `tmux` does.
    pub(crate) has_terminal: bool,
    /// A server or a keeper, which does not belong to an agent.
    pub(crate) is_forge: bool,
    /// For an orphaned `git`: what it is doing.
    pub(crate) git: Option<GitWork>,
}

/// What a `git` without a parent is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GitWork {
    /// It worked for a server that died. It ends on its own.
    Worktree,
    /// It compacts the repository in the background after a commit. It touches no worktree.
    Upkeep,
}

/// What the environment of a process contains if a run has started it.
#[derive(Clone, Debug)]
pub(crate) struct RunMark {
    pub(crate) keeper_lives: bool,
    pub(crate) run: Option<RunId>,
}

/// The rule. `attended` are the runs that this server manages.
fn classify(facts: &ProcessFacts, whose: DirectoryOwner, attended: &[RunId]) -> LeftoverState {
    match &facts.mark {
        Some(RunMark { keeper_lives, run }) => {
            match (keeper_lives, run.is_some_and(|run| attended.contains(&run))) {
                (true, true) => LeftoverState::Allowed,
                // Its keeper ends it after the run's end, or it has just started; or the server is ending it.
                (true, false) | (false, true) => LeftoverState::Leaving,
                (false, false) => LeftoverState::Left,
            }
        }
        None if whose == DirectoryOwner::Forge
            && facts.is_orphan
            && !facts.has_terminal
            && !facts.is_forge =>
        {
            match facts.git {
                Some(GitWork::Upkeep) => LeftoverState::Allowed,
                Some(GitWork::Worktree) => LeftoverState::Leaving,
                None => LeftoverState::Left,
            }
        }
        None => LeftoverState::Allowed,
    }
}

/// The processes that use `dir`, as working directory or with a file open for writing, and prevent a start there.
pub async fn leftovers_in(dir: &Path, whose: DirectoryOwner, attended: Vec<RunId>) -> Vec<Leftover> {
    let dir = dir.to_owned();
    let search = move || {
        let is_in_the_way =
            |facts: &ProcessFacts| classify(facts, whose, &attended) != LeftoverState::Allowed;
        let found = processes_in(&dir, std::env::var(MARK).ok().as_deref(), is_in_the_way);
        let described = found.into_iter().map(|(pid, facts)| Leftover {
            pid,
            command: command_of(pid),
            run: facts.mark.as_ref().and_then(|mark| mark.run),
            standing: classify(&facts, whose, &attended),
        });
        described.collect()
    };
    tokio::task::spawn_blocking(search).await.unwrap_or_default()
}

/// Reading where processes work needs privileges here.
#[cfg(not(target_os = "linux"))]
fn processes_in(_: &Path, _: Option<&str>, _: impl Fn(&ProcessFacts) -> bool) -> Vec<(u32, ProcessFacts)> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(keeper_lives: bool, run: RunId) -> ProcessFacts {
        ProcessFacts { mark: Some(RunMark { keeper_lives, run: Some(run) }), ..ProcessFacts::default() }
    }

    #[test]
    fn a_process_with_a_mark_is_judged_by_its_keeper_and_its_run() {
        let (known, unknown) = (RunId::random(), RunId::random());
        for whose in [DirectoryOwner::Forge, DirectoryOwner::User] {
            let judge = |facts: &ProcessFacts| classify(facts, whose, &[known]);
            assert_eq!(judge(&marked(true, known)), LeftoverState::Allowed, "a dev server, say");
            assert_eq!(judge(&marked(true, unknown)), LeftoverState::Leaving, "its keeper is ending it");
            assert_eq!(judge(&marked(false, known)), LeftoverState::Leaving, "the server is ending it");
            assert_eq!(judge(&marked(false, unknown)), LeftoverState::Left);
            let nameless = ProcessFacts {
                mark: Some(RunMark { keeper_lives: false, run: None }),
                ..ProcessFacts::default()
            };
            assert_eq!(judge(&nameless), LeftoverState::Left);
        }
    }

    #[test]
    fn a_process_without_a_mark_is_in_the_way_only_as_an_orphan_without_a_terminal_in_a_worktree_of_forge() {
        let orphan = ProcessFacts { is_orphan: true, ..ProcessFacts::default() };
        let judge = |facts: &ProcessFacts| classify(facts, DirectoryOwner::Forge, &[]);
        assert_eq!(judge(&orphan), LeftoverState::Left);
        let git = |work| ProcessFacts { git: Some(work), ..orphan.clone() };
        assert_eq!(judge(&git(GitWork::Worktree)), LeftoverState::Leaving, "a rebase, say");
        assert_eq!(judge(&git(GitWork::Upkeep)), LeftoverState::Allowed, "git tidies up after a commit");
        assert_eq!(
            judge(&ProcessFacts::default()),
            LeftoverState::Allowed,
            "a language server has its editor"
        );
        assert_eq!(
            judge(&ProcessFacts { has_terminal: true, ..orphan.clone() }),
            LeftoverState::Allowed,
            "a shell, or tmux"
        );
        assert_eq!(
            judge(&ProcessFacts { is_forge: true, ..orphan.clone() }),
            LeftoverState::Allowed,
            "a server, a keeper"
        );
        assert_eq!(
            classify(&orphan, DirectoryOwner::User, &[]),
            LeftoverState::Allowed,
            "people's own checkout"
        );
    }
}
