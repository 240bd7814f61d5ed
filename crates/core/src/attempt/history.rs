//! What was said in an attempt so far, for an agent that cannot remember it.
//!
//! Invariant: bounded, the newest turns first to be kept; only prompts and final answers, in the order they were said.

use forge_types::Run;

const MAX_BYTES: usize = 32 << 10;

/// `prompt` after what earlier runs were asked and answered; `prompt` alone when there were none.
pub(crate) fn recall(runs: &[Run], prompt: &str) -> String {
    let mut turns = Vec::new();
    let mut bytes = 0;
    for run in runs.iter().rev() {
        let Some(asked) = run.action.prompt() else { continue };
        let answered = run.summary.as_deref().unwrap_or("(no answer)");
        let turn = format!("User: {}\n\nAgent: {}\n\n", asked.trim(), answered.trim());
        bytes += turn.len();
        if bytes > MAX_BYTES {
            break;
        }
        turns.push(turn);
    }
    if turns.is_empty() {
        return prompt.to_owned();
    }
    turns.reverse();
    let turns = turns.concat();
    format!(
        "You worked on this before, in a conversation that is lost. The files are as you left them. This is what was \
         said:\n\n{turns}---\n\nGo on with this request:\n\n{prompt}"
    )
}

#[cfg(test)]
mod tests {
    use forge_types::{Action, AttemptId, Executor, ProfileId, RunId, RunOwner};

    use super::*;
    use crate::run::new_run;
    use crate::worktree::queue::Entry;

    fn run(prompt: &str, summary: &str) -> Run {
        let action = Action::agent(prompt.to_owned(), ProfileId::new(Executor::Shell), None);
        let owner = RunOwner::Attempt(AttemptId::random());
        let run = new_run(RunId::random(), owner, action, None, Entry::Now);
        Run { summary: Some(summary.to_owned()), ..run }
    }

    #[test]
    fn the_newest_turns_are_kept_in_order() {
        let runs = [run("one", &"x".repeat(MAX_BYTES)), run("two", "2"), run("three", "3")];
        let text = recall(&runs, "four");
        assert!(!text.contains("one"));
        let places = ["two", "2", "three", "3", "four"].map(|word| text.find(word).expect(word));
        assert!(places.is_sorted(), "{text}");
        assert_eq!(recall(&[], "four"), "four");
    }
}
