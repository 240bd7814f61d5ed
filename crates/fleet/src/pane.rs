//! Recognises what an agent's pane shows: a permission request, a limit, or a full context.
//!
//! Pure functions over text. Invariant: only the end of the pane counts, and only as a line of its own, so that a
//! conversation about limits is not mistaken for one.

mod reset;

use forge_types::Millis;
use jiff::Zoned;

/// A dialog is at the very end; a banner may have an input box and a status line below it.
const DIALOG_LINES: usize = 25;
const CHOICE_LINES: usize = 10;
const BANNER_LINES: usize = 14;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sign {
    WaitingForPermission { question: String },
    RateLimited { message: String, reset_at: Option<Millis> },
    ContextFull { message: String },
}

/// How dialogs of Claude Code, Codex and opencode start, in lower case.
const QUESTIONS: &[&str] = &[
    "do you want to ",
    "do you trust the ",
    "would you like to ",
    "allow command?",
    "permission required",
    "approve this ",
];

/// One of these is below the question.
const CHOICES: &[&str] =
    &["1. yes", "yes, proceed", "yes (y)", "yes, allow", "allow once", "y yes", "[y] yes"];

const LIMITS: &[&str] = &[
    "you've hit your ",
    "you've reached your ",
    "claude usage limit reached",
    "claude ai usage limit reached",
    "usage limit reached",
    "session limit reached",
    "5-hour limit reached",
    "weekly limit reached",
    "opus weekly limit reached",
    "opus limit reached",
    "sonnet weekly limit reached",
    "rate limit reached",
    "rate limit exceeded",
    "rate limited",
    "too many requests",
    "api error: 429",
    "api error (429",
    "api error: request rejected (429",
    "error: 429",
    "exceeded retry limit, last status: 429",
    "stream error: exceeded retry limit, last status: 429",
    "unexpected status 429",
];

const FULL: &[&str] = &[
    "context limit reached",
    "context low (0%",
    "context left until auto-compact: 0%",
    "prompt is too long",
    "conversation is too long",
    "conversation too long",
    "codex ran out of room in the model's context window",
    "your input exceeds the context window",
    "context window exceeded",
    "error: context window exceeded",
    "input length and `max_tokens` exceed context limit",
    "api error: 400 input length and `max_tokens` exceed context limit",
];

/// What the end of a pane shows. `now` also provides the zone of times without one.
pub fn read(text: &str, now: &Zoned) -> Option<Sign> {
    let lines: Vec<&str> = text.lines().map(strip).filter(|line| !line.is_empty()).collect();
    if let Some(question) = find_question(&lines) {
        return Some(Sign::WaitingForPermission { question });
    }
    let first = lines.len().saturating_sub(BANNER_LINES);
    // The newest counts: after a limit, an agent may continue until its context is full.
    lines[first..].iter().enumerate().rev().find_map(|(index, line)| {
        let low = lower(line);
        if FULL.iter().any(|begin| low.starts_with(begin)) {
            return Some(Sign::ContextFull { message: (*line).to_owned() });
        }
        let about_limit = LIMITS.iter().any(|begin| low.starts_with(begin)) || is_retry(&low);
        if !about_limit || low.starts_with("you've") && !low.contains("limit") {
            return None;
        }
        // A narrow pane wraps the sentence, and the time is on the next line.
        let following = lines[first + index..].iter().take(3).copied().collect::<Vec<_>>().join(" ");
        Some(Sign::RateLimited { message: (*line).to_owned(), reset_at: reset::find(&following, now) })
    })
}

fn find_question(lines: &[&str]) -> Option<String> {
    let tail = &lines[lines.len().saturating_sub(DIALOG_LINES)..];
    let question = tail.iter().rposition(|line| begins(line, QUESTIONS))?;
    let choice = tail.iter().rposition(|line| begins(line, CHOICES))?;
    (choice > question && tail.len() - choice <= CHOICE_LINES).then(|| tail[question].to_owned())
}

/// opencode prints the error and when it tries again in one line.
fn is_retry(low: &str) -> bool {
    let causes = ["rate limit", "too many requests", "429", "usage limit", "quota"];
    low.contains("[retrying in ") && causes.iter().any(|cause| low.contains(cause))
}

fn begins(line: &str, words: &[&str]) -> bool {
    let low = lower(line);
    words.iter().any(|word| low.starts_with(word))
}

fn lower(line: &str) -> String {
    line.replace('’', "'").to_lowercase()
}

/// Without frames, bullets and markers around it.
fn strip(line: &str) -> &str {
    let around =
        |c: char| c.is_whitespace() || ('\u{2500}'..='\u{25ff}').contains(&c) || "|⎿●•⚠✗✘×❯›⏺✻*".contains(c);
    line.trim_matches(around).trim_start_matches("> ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-03-04 10:00 in Tokyo.
    fn now() -> Zoned {
        "2026-03-04T10:00:00+09:00[Asia/Tokyo]".parse().expect("time")
    }

    fn at(text: &str) -> Option<Millis> {
        Some(Millis(text.parse::<jiff::Timestamp>().expect("time").as_millisecond()))
    }

    #[test]
    fn permission_dialogs_of_every_agent_are_recognised() {
        for (agent, pane, question) in [
            (
                "claude",
                "● Bash(rm -rf build)\n\
                 ╭──────────────────────────────────╮\n\
                 │ Bash command                     │\n\
                 │   rm -rf build                   │\n\
                 │ Do you want to proceed?          │\n\
                 │ ❯ 1. Yes                         │\n\
                 │   2. Yes, and don't ask again    │\n\
                 │   3. No, and tell Claude (esc)   │\n\
                 ╰──────────────────────────────────╯\n",
                "Do you want to proceed?",
            ),
            (
                "claude edit",
                " Do you want to make this edit to main.rs?\n ❯ 1. Yes\n   2. No\n",
                "Do you want to make this edit to main.rs?",
            ),
            (
                "claude trust",
                " Do you trust the files in this folder?\n ❯ 1. Yes, proceed\n   2. No, exit\n Enter to confirm\n",
                "Do you trust the files in this folder?",
            ),
            (
                "codex",
                "  Would you like to run the following command?\n  $ cargo test\n\
                 › 1. Yes, proceed (y)\n  2. No, and tell Codex what to do differently (esc)\n\
                 \n  Press enter to confirm or esc to cancel\n",
                "Would you like to run the following command?",
            ),
            (
                "opencode",
                "┃  △ Permission required\n┃  → Read .env\n┃  Path: .env\n\
                 ┃   Allow once   Allow always   Reject      enter confirm\n",
                "Permission required",
            ),
        ] {
            let expected = Some(Sign::WaitingForPermission { question: question.to_owned() });
            assert_eq!(read(pane, &now()), expected, "{agent}");
        }
    }

    #[test]
    fn limits_are_recognised_with_their_end() {
        for (line, reset_at) in [
            ("● You've hit your session limit · resets 12pm (Asia/Tokyo)", at("2026-03-04T03:00:00Z")),
            ("  ⎿ 5-hour limit reached ∙ resets 9am", at("2026-03-05T00:00:00Z")),
            ("Claude usage limit reached. Your limit will reset at 3pm (UTC).", at("2026-03-04T15:00:00Z")),
            ("Claude AI usage limit reached|1772600000", at("2026-03-04T04:53:20Z")),
            ("Weekly limit reached ∙ resets Mar 7, 5:30pm (UTC)", at("2026-03-07T17:30:00Z")),
            (
                "■ You've hit your usage limit. Upgrade to Pro or try again in 2 days 17 hours 14 minutes.",
                at("2026-03-06T18:14:00Z"),
            ),
            (
                "■ You’ve hit your usage limit. Upgrade to Pro, visit\nhttps://x.example to purchase more or try again at 6:44 PM.",
                at("2026-03-04T09:44:00Z"),
            ),
            (
                "■ You've hit your usage limit. Try again at Mar 10th, 2026 6:44 PM.",
                at("2026-03-10T09:44:00Z"),
            ),
            ("Too Many Requests [retrying in 2m 5s attempt #3]", at("2026-03-04T01:02:05Z")),
            ("Provider: rate limit exceeded [retrying in 30s attempt #1]", at("2026-03-04T01:00:30Z")),
            ("⎿ API Error: 429 {\"type\":\"error\"}", None),
        ] {
            match read(&format!("some work\n\n{line}\n\n╭───╮\n│ >  │\n╰───╯\n  ? for shortcuts\n"), &now())
            {
                Some(Sign::RateLimited { reset_at: found, .. }) => assert_eq!(found, reset_at, "{line}"),
                other => panic!("{line}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_full_context_is_recognised() {
        for line in [
            "Context limit reached · /compact or /clear to continue",
            "                    Context left until auto-compact: 0%",
            "  Context low (0% remaining) · Run /compact to compact & continue",
            "● Prompt is too long",
            "■ Codex ran out of room in the model's context window. Start a new thread.",
        ] {
            let found = read(&format!("work\n{line}\n│ > │\n"), &now());
            assert!(matches!(found, Some(Sign::ContextFull { .. })), "{line}: {found:?}");
        }
    }

    #[test]
    fn talk_about_limits_and_old_banners_are_not_signs() {
        let old = format!("You've hit your session limit · resets 12pm\n{}", "and on it goes\n".repeat(30));
        for pane in [
            "",
            "The test checks what happens when the usage limit reached by a user is shown",
            "I asked: do you want to proceed? 1. Yes",
            "Approaching usage limit · resets at 7pm",
            "Context left until auto-compact: 12%",
            "You've hit your stride with this refactoring",
            "Do you want to proceed?\nno choices here",
            &format!("Do you want to proceed?\n1. Yes\n{}", "done\n".repeat(30)),
            &old,
        ] {
            assert_eq!(read(pane, &now()), None, "{pane}");
        }
    }

    #[test]
    fn the_newest_banner_counts() {
        let pane =
            "Context limit reached · /compact or /clear\nYou've hit your session limit · resets 12pm\n";
        assert!(matches!(read(pane, &now()), Some(Sign::RateLimited { .. })));
    }
}
