//! What a run came to, and what follows from it.
//!
//! Invariant: decided from the exit, the agent's own word and what was committed alone, so that deciding again after a
//! crash gives the same.

use forge_git::Committed;
use forge_run::fold::{RunOutcome, Verdict};
use forge_run::{Exit, ExitReason};
use forge_types::{Action, Millis, Run, RunPhase, RunReason, RunStatus};

/// What the exit and the agent's own word make of a run. The protocol's word counts more than the exit code.
pub(crate) fn judge(run: &mut Run, exit: &Exit, outcome: &RunOutcome) {
    let code = exit.code.or(exit.signal.map(|_| -1));
    (run.status, run.exit_code) = match (&exit.reason, &outcome.verdict) {
        (ExitReason::Stopped, _) => (RunStatus::Killed, None),
        (ExitReason::Vanished, _) => (RunStatus::Failed, None),
        (ExitReason::NeverStarted { .. }, _) => (RunStatus::Failed, None),
        (ExitReason::TimeLimit | ExitReason::Silence, _) => (RunStatus::Failed, code),
        (ExitReason::Exited, Some(Verdict::Success | Verdict::Unverified)) => (RunStatus::Completed, Some(0)),
        (ExitReason::Exited, Some(Verdict::Failed { .. })) => (RunStatus::Failed, code),
        (ExitReason::Exited, None) if code == Some(0) => (RunStatus::Completed, code),
        (ExitReason::Exited, None) => (RunStatus::Failed, code),
    };
    run.phase = RunPhase::Ended;
    let said_nothing = outcome.silent && outcome.verdict.is_none() && run.status == RunStatus::Completed;
    run.unverified = said_nothing || outcome.verdict == Some(Verdict::Unverified);
    let never_found = matches!(exit.reason, ExitReason::NeverStarted { not_found: true, .. });
    run.setup_required = run.status == RunStatus::Failed
        && run.reason == RunReason::CodingAgent
        && (outcome.setup_required || never_found);
    run.session_id = outcome.session_id.clone();
    run.summary = outcome.summary.clone();
    run.completed_at = Some(run.end_time(Millis(exit.at_ms)));
    run.updated_at = Millis::now();
}

/// What people said to the agent and it did not take is said again, as its next turn; what was to follow follows that.
pub(crate) fn unsaid_action(run: &Run, outcome: &RunOutcome) -> Option<Action> {
    let profile = run.action.profile().filter(|_| !outcome.unsaid.is_empty())?;
    let action = Action::agent(outcome.unsaid.join("\n\n"), profile.clone(), outcome.session_id.clone());
    Some(action.then(run.action.next_action.as_deref().cloned()))
}

/// Setup leads to the agent; the agent leads to the cleanup script when it changed something, whoever committed that.
pub(crate) fn next_action(run: &Run, committed: &Option<Committed>) -> Option<Action> {
    let wanted = run.status == RunStatus::Completed
        && match run.reason {
            RunReason::SetupScript => true,
            RunReason::CodingAgent => match committed {
                Some(Committed::Commit(_)) => true,
                Some(Committed::Nothing) => run.before_head.is_some() && run.before_head != run.after_head,
                _ => false,
            },
            RunReason::CleanupScript | RunReason::DevServer => false,
        };
    run.action.next_action.as_deref().filter(|_| wanted).cloned()
}

#[cfg(test)]
mod tests {
    use forge_types::{ProfileId, RunId, RunOwner};

    use super::*;
    use crate::run::new_run;
    use crate::worktree::queue::Entry;

    fn new() -> Run {
        let owner = RunOwner::Attempt(forge_types::AttemptId::random());
        let profile: ProfileId = "SHELL".parse().expect("a profile");
        let action = Action::agent("true".to_owned(), profile, None);
        new_run(RunId::random(), owner, action, None, Entry::Now)
    }

    fn exited(code: i32, at: Millis) -> Exit {
        Exit { code: Some(code), signal: None, reason: ExitReason::Exited, at_ms: at.0 }
    }

    #[test]
    fn a_run_never_ends_before_it_started_though_the_clock_was_set_back() {
        let mut run = new();
        let exit = exited(0, Millis(run.started_at.0 - 1));
        judge(&mut run, &exit, &RunOutcome::default());
        assert_eq!(run.completed_at, Some(run.started_at));
    }

    #[test]
    fn an_agent_that_ends_well_without_a_word_is_unverified() {
        let silent = || RunOutcome { silent: true, ..RunOutcome::default() };
        let reported = || RunOutcome { verdict: Some(Verdict::Success), ..silent() };
        for (code, outcome, expected) in [
            (0, silent(), (RunStatus::Completed, true)),
            (0, RunOutcome::default(), (RunStatus::Completed, false)),
            (0, reported(), (RunStatus::Completed, false)),
            (1, silent(), (RunStatus::Failed, false)),
        ] {
            let mut run = new();
            let exit = exited(code, run.started_at);
            judge(&mut run, &exit, &outcome);
            assert_eq!((run.status, run.unverified), expected, "{code} {outcome:?}");
        }
    }
}
