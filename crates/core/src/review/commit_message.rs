//! Words of the commit that lands an attempt.

use forge_types::{Run, Task};

use crate::run::commit::{AGENT_CHANGES, CLEANUP_CHANGES};

/// How people begin when they talk to an agent rather than describe a change.
const CHATTY: [&str; 8] =
    ["please ", "can you ", "could you ", "i want you to ", "i need you to ", "help me ", "let's ", "hey "];
/// How agents begin when they report rather than describe a change.
const REPORTING: [&str; 14] = [
    "i ", "i've ", "i'll ", "i'm ", "done", "sure", "okay", "ok,", "here ", "here's ", "let me ", "perfect",
    "great", "all done",
];
/// How Forge begins the messages of its own commits, those with a run's summary aside.
const OURS: [&str; 3] = [AGENT_CHANGES, CLEANUP_CHANGES, forge_git::DELETION];
const OWN_MIN_BYTES: usize = 6;
const OWN_MAX_BYTES: usize = 199;
const TITLE_MAX_CHARS: usize = 72;
const DESCRIPTION_MAX_BYTES: usize = 499;
const DESCRIPTION_MAX_LINES: usize = 10;

/// The task's cleaned title and, when it is short enough to be one, its description as body.
pub(crate) fn squash_message(task: &Task) -> String {
    let title = clean_title(&task.title);
    match task.description.as_deref().and_then(clean_description) {
        Some(body) => format!("{title}\n\n{body}"),
        None => title,
    }
}

/// The message with which the agent itself committed, when it did so once and said it well. `messages` are those of all
/// commits; what Forge committed for the agent bears the summary of a run.
pub(crate) fn own_message(messages: &[String], runs: &[Run]) -> Option<String> {
    let first_line = |text: &str| text.trim().lines().next().unwrap_or_default().trim_end().to_owned();
    let summaries: Vec<String> =
        runs.iter().filter_map(|run| run.summary.as_deref()).map(first_line).collect();
    let own = |message: &&String| {
        let line = first_line(message);
        !summaries.contains(&line) && !OURS.iter().any(|ours| line.starts_with(ours))
    };
    let mut own = messages.iter().filter(own);
    let (Some(message), None) = (own.next(), own.next()) else { return None };
    let line = first_line(message);
    let chatty = CHATTY.iter().chain(&REPORTING).any(|prefix| starts_with_ignoring_case(&line, prefix));
    let sane = (OWN_MIN_BYTES..=OWN_MAX_BYTES).contains(&line.len()) && !chatty;
    sane.then(|| message.trim().to_owned())
}

fn clean_title(title: &str) -> String {
    let mut line = title.trim().lines().next().unwrap_or_default().trim();
    while let Some(prefix) = CHATTY.iter().find(|prefix| starts_with_ignoring_case(line, prefix)) {
        line = line[prefix.len()..].trim_start();
    }
    let mut chars = line.chars();
    let line: String = match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).take(TITLE_MAX_CHARS).collect(),
        None => "Land the work of an attempt".to_owned(),
    };
    line.trim_end().to_owned()
}

fn starts_with_ignoring_case(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix))
}

fn clean_description(text: &str) -> Option<String> {
    let text = text.trim();
    if text.is_empty() || text.len() > DESCRIPTION_MAX_BYTES {
        return None;
    }
    let noise = |line: &&str| {
        let line = line.trim_start();
        !(line.starts_with('|') || line.starts_with("##") || line.starts_with("---"))
    };
    let lines: Vec<&str> = text.lines().filter(noise).take(DESCRIPTION_MAX_LINES).collect();
    let text = lines.join("\n").trim().to_owned();
    Some(text).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use forge_types::{Millis, ProjectId};

    fn message(title: &str, description: Option<&str>) -> String {
        let description = description.map(str::to_owned);
        squash_message(&Task { description, ..Task::new(ProjectId::random(), title, Millis(0)) })
    }

    #[test]
    fn chatty_prefixes_go_and_one_line_stays() {
        assert_eq!(message("Please can you fix the login\nmore", None), "Fix the login");
        assert_eq!(message(&"x".repeat(100), None).len(), 72);
    }

    fn run(summary: &str) -> Run {
        let profile = forge_types::ProfileId::new(forge_types::Executor::Shell);
        let action = forge_types::Action::agent("p".into(), profile, None);
        let owner = forge_types::RunOwner::Attempt(forge_types::AttemptId::random());
        let run = crate::run::new_run(
            forge_types::RunId::random(),
            owner,
            action,
            None,
            crate::worktree::queue::Entry::Now,
        );
        Run { summary: Some(summary.to_owned()), ..run }
    }

    #[test]
    fn an_agent_that_committed_once_is_quoted() {
        let runs = [run("All good.\nMore.")];
        let own = |messages: &[&str]| {
            own_message(&messages.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>(), &runs)
        };
        assert_eq!(
            own(&["Fix the login\n\nIt was broken."]).as_deref(),
            Some("Fix the login\n\nIt was broken.")
        );
        assert_eq!(
            own(&["All good.", "Fix the login"]).as_deref(),
            Some("Fix the login"),
            "ours is left out"
        );
        assert_eq!(own(&["Fix the login", "Fix the rest"]), None, "two are no one message");
        assert_eq!(own(&["wip"]), None);
        assert_eq!(own(&["I've fixed the login"]), None);
        assert_eq!(own(&["All good."]), None);
        assert_eq!(own(&["Commit changes from coding agent for task attempt 1"]), None);
    }

    #[test]
    fn a_long_description_is_left_out_and_tables_too() {
        assert_eq!(message("Add a", Some(&"d".repeat(500))), "Add a");
        assert_eq!(message("Add a", Some("why\n## Head\n| t |\nhow")), "Add a\n\nwhy\nhow");
    }
}
