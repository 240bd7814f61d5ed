//! The readable log: journal records in, entry patches out.
//!
//! Owns how each dialect's output becomes entries. Invariants: the same unmasked records always give the same
//! patches, so a live reader and a replay agree; no entry and no text of an outcome shows a secret of the run; no
//! input panics; state does not grow with the log (one bounded line per stream, bounded open tool calls and
//! streamed blocks, a bounded tail for the transcript); the total size of the patches stays linear in the size of
//! the log. The raw log keeps whatever is shortened here.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod acp;
mod calls;
mod claude;
mod codex;
mod cursor;
mod dialogue;
mod diff;
mod entries;
mod group;
mod setup;
mod spend;
mod stream;
mod tail;
mod tool;

use std::path::PathBuf;

use forge_types::{
    EntryPatch, EntryType, ErrorType, Executor, Millis, ModelUsage, RunId, RunReason, Tokens, Usage,
};

use crate::journal::{Kind, Record};
use crate::secrets::Masker;
use crate::{Exit, ExitReason, Secrets};
use acp::Acp;
use claude::{Claude, Program};
use codex::Codex;
use cursor::Cursor;
use dialogue::Dialogue;
use entries::{Entries, LogWriter, plain};
use group::{Group, TextSource};
use tail::Ending;

/// How an agent's output is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Claude's stream-json lines.
    Claude,
    /// The same from Amp, which also prints the messages it receives.
    Amp,
    /// The messages of Codex's app server.
    Codex,
    /// The Agent Client Protocol.
    Acp,
    /// The Cursor agent's own lines.
    Cursor,
    /// Plain text.
    Text,
    /// A project script: it has a raw log and no entries.
    Script,
}

impl Dialect {
    /// `executor` is `None` for scripts, which have no profile.
    pub fn of(executor: Option<Executor>, reason: RunReason) -> Dialect {
        match (executor, reason) {
            (Some(executor), RunReason::CodingAgent) => crate::agents::agent(executor).dialect(),
            _ => Dialect::Script,
        }
    }
}

/// The run whose log is read.
#[derive(Clone, Debug)]
pub struct FoldContext {
    pub run: RunId,
    pub worktree: PathBuf,
    /// How long a person has to answer a question from the agent.
    pub answer_ms: i64,
    /// Values that no entry shows.
    pub secrets: Secrets,
}

/// What the agent itself reported about its run, beyond its exit code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Success,
    /// It reported that it is done, but nothing shows that it did anything.
    Unverified,
    Failed {
        message: String,
    },
}

/// The provider temporarily refuses to serve the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// When it serves again, if it said so.
    pub reset_at: Option<Millis>,
    pub message: String,
}

/// A period for which a provider grants a quota, as last reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// The agent's name for it.
    pub name: String,
    pub resets_at: Millis,
    pub is_used_up: bool,
    /// Longer than a day, so it does not reset all the time.
    pub is_long: bool,
}

/// The result of a run, as far as its log shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunOutcome {
    /// The agent's own conversation id.
    pub session_id: Option<String>,
    /// The last text of the agent, at most 4096 bytes and then `...`.
    pub summary: Option<String>,
    /// `None` when the agent's protocol has no verdict or the agent died before giving one.
    pub verdict: Option<Verdict>,
    /// What the run used so far, in total.
    pub usage: ModelUsage,
    /// Why the run could not continue, if the cause is temporary.
    pub limit: Option<Limit>,
    /// What the agent reported about its quota, each window once.
    pub windows: Vec<Window>,
    /// The agent does not know the conversation that it should continue.
    pub session_lost: bool,
    /// The run failed because somebody first has to install the agent, log in or provide a key. Final after
    /// [`Fold::finish`].
    pub setup_required: bool,
    /// The agent printed nothing in its protocol. Final after [`Fold::finish`].
    pub silent: bool,
    /// Messages that the agent did not accept while it worked.
    pub unsaid: Vec<String>,
    /// The plain text of the run, cut to the last 64 KiB; set by [`Fold::finish`].
    pub transcript_tail: Option<String>,
}

impl RunOutcome {
    /// Adds the usage of one model call.
    fn spend(&mut self, model: &str, usage: Usage) {
        self.usage.entry(model.to_owned()).or_default().add(usage);
    }

    fn note_window(&mut self, window: Window) {
        self.windows.retain(|known| known.name != window.name);
        self.windows.push(window);
    }

    /// Sets the total usage of a model since the agent's start, as the agent reported it.
    fn set_spent(&mut self, model: &str, usage: Usage) {
        self.usage.insert(model.to_owned(), usage);
    }

    /// The usage of all models together; empty when the agent reported none.
    pub fn tokens(&self) -> Tokens {
        let sum =
            |count: fn(&Usage) -> i64| (!self.usage.is_empty()).then(|| self.usage.values().map(count).sum());
        Tokens {
            input_tokens: sum(|usage| usage.input_tokens),
            output_tokens: sum(|usage| usage.output_tokens),
            cache_creation_tokens: sum(|usage| usage.cache_write_tokens),
            cache_read_tokens: sum(|usage| usage.cache_read_tokens),
        }
    }

    fn summarise(&mut self, text: &str) {
        let text = text.trim();
        if !text.is_empty() {
            self.summary = Some(cut(text, SUMMARY_BYTES, "..."));
        }
    }
}

const SUMMARY_BYTES: usize = 4096;
const SESSION_LOST: &str = "The agent no longer knows the conversation that it should continue. Send the message again \
                            as a fresh one (`forge resume --fresh`, or `fresh: true` in the API): a new conversation \
                            begins that includes what was said so far.";

/// The state of one run's log between two records.
pub struct Fold {
    dialect: Dialect,
    stdout: Stdout,
    stderr: Group,
    entries: Entries,
    outcome: RunOutcome,
    secrets: Secrets,
    /// Used for every dialect, so that the secrets that the raw log shows are known.
    masker: Option<Masker>,
    /// The newest remark of Forge, which is the reason if the run never started.
    start_note: Option<(usize, String)>,
}

enum Stdout {
    Json(Dialogue),
    Text(Group),
    Script,
}

impl Fold {
    pub fn new(dialect: Dialect, context: &FoldContext) -> Fold {
        let stdout = match dialect {
            Dialect::Claude => Stdout::Json(Dialogue::new(Claude::new(context, Program::Claude))),
            Dialect::Amp => Stdout::Json(Dialogue::new(Claude::new(context, Program::Amp))),
            Dialect::Codex => Stdout::Json(Dialogue::new(Codex::new(context))),
            Dialect::Acp => Stdout::Json(Dialogue::new(Acp::new(context))),
            Dialect::Cursor => Stdout::Json(Dialogue::new(Cursor::new(context))),
            Dialect::Text => Stdout::Text(Group::new(TextSource::Answer)),
            Dialect::Script => Stdout::Script,
        };
        Fold {
            dialect,
            stdout,
            stderr: Group::new(TextSource::Stderr),
            entries: Entries::default(),
            outcome: RunOutcome::default(),
            secrets: context.secrets.clone(),
            masker: Masker::new(&context.secrets),
            start_note: None,
        }
    }

    /// Appends the changes that `record` causes to `patches`.
    pub fn push(&mut self, record: &Record, patches: &mut Vec<EntryPatch>) {
        let Fold { dialect, stdout, stderr, entries, outcome, secrets, masker, start_note } = self;
        let masked = masker.as_mut().map(|masker| masker.mask(record.kind, record.bytes.clone()));
        let mut log = LogWriter { entries, outcome, secrets, patches };
        match (record.kind, stdout) {
            (Kind::End, _) => {
                if let Some((index, text)) = start_note.take().filter(|_| is_missing_program(&record.bytes)) {
                    let error_type = ErrorType::SetupRequired;
                    log.replace(index, plain(EntryType::ErrorMessage { error_type }, text));
                }
                self.finish(patches);
            }
            (Kind::Stdin, Stdout::Json(dialogue)) => dialogue.push_input(record, &mut log),
            (Kind::Stdin, _) => {}
            (_, Stdout::Script) => {
                log.entries.append_to_transcript(masked.as_deref().unwrap_or(&record.bytes))
            }
            (Kind::Stdout, Stdout::Json(dialogue)) => dialogue.push(record, &mut log),
            (Kind::Stdout, Stdout::Text(group)) => {
                group.push(record, &mut log);
                log.summarise(group.text());
            }
            (Kind::Stderr, _) if *dialect == Dialect::Cursor && cursor::asks_for_login(&record.bytes) => {
                log.add(cursor::login_entry(&record.bytes));
            }
            (Kind::Stderr, _) => stderr.push(record, &mut log),
            (Kind::Note, _) => {
                let text = String::from_utf8_lossy(&record.bytes).trim_end().to_owned();
                let error_type = ErrorType::Other;
                let index = log.add(plain(EntryType::ErrorMessage { error_type }, text.clone()));
                *start_note = Some((index, text));
            }
        }
    }

    /// Flushes what waited for more input. No record may follow; the `End` record calls this itself.
    pub fn finish(&mut self, patches: &mut Vec<EntryPatch>) {
        let Fold { stdout, stderr, entries, outcome, secrets, .. } = self;
        let mut log = LogWriter { entries, outcome, secrets, patches };
        match stdout {
            Stdout::Json(dialogue) => dialogue.finish(&mut log),
            Stdout::Text(group) => {
                group.finish(&mut log);
                log.summarise(group.text());
            }
            Stdout::Script => {}
        }
        stderr.finish(&mut log);
        if log.outcome.session_lost {
            log.add(plain(EntryType::ErrorMessage { error_type: ErrorType::Other }, SESSION_LOST.to_owned()));
        }
        // An agent that succeeded needed no setup, whatever it printed before.
        outcome.setup_required &= !matches!(outcome.verdict, Some(Verdict::Success));
        let ending = match outcome.verdict {
            Some(Verdict::Failed { .. }) => Ending::Newest,
            _ => Ending::Answer,
        };
        outcome.transcript_tail = Some(entries.transcript(ending)).filter(|text| !text.is_empty());
    }

    /// Final after [`Fold::finish`], preliminary before it.
    pub fn outcome(&self) -> &RunOutcome {
        &self.outcome
    }
}

/// Whether the end of a run is that its program does not exist.
fn is_missing_program(end: &[u8]) -> bool {
    let exit = serde_json::from_slice::<Exit>(end);
    exit.is_ok_and(|exit| matches!(exit.reason, ExitReason::NeverStarted { not_found: true, .. }))
}

/// `text` itself, or its first `max_bytes` (fewer at a character boundary) and `mark`.
fn cut(text: &str, max_bytes: usize, mark: &str) -> String {
    if text.len() <= max_bytes {
        return text.to_owned();
    }
    format!("{}{mark}", &text[..text.floor_char_boundary(max_bytes)])
}

#[cfg(test)]
mod tests {
    use forge_types::NormalizedEntry;

    use super::*;

    fn context() -> FoldContext {
        FoldContext {
            run: RunId::random(),
            worktree: "/repo".into(),
            answer_ms: 3_600_000,
            secrets: Secrets::default(),
        }
    }

    fn fold(dialect: Dialect, records: &[(Kind, i64, &str)]) -> (Vec<NormalizedEntry>, RunOutcome) {
        let mut fold = Fold::new(dialect, &context());
        let mut out = Vec::new();
        for (kind, at_ms, text) in records {
            fold.push(&Record { kind: *kind, at_ms: *at_ms, bytes: text.as_bytes().to_vec() }, &mut out);
        }
        fold.finish(&mut out);
        (entries::apply(&out), fold.outcome().clone())
    }

    #[test]
    fn text_is_grouped_until_a_pause() {
        let (entries, outcome) = fold(
            Dialect::Text,
            &[
                (Kind::Stdout, 0, "one\ntw"),
                (Kind::Stdout, 1999, "o\n"),
                (Kind::Stderr, 2000, "\u{1b}[31moops\u{1b}[0m\n"),
                (Kind::Stdout, 3999, "three"),
            ],
        );
        let texts: Vec<_> = entries.iter().map(|e| e.content.as_str()).collect();
        assert_eq!(texts, ["one\ntwo\n", "oops\n", "three"]);
        assert_eq!(outcome.summary.as_deref(), Some("three"));
        assert_eq!(outcome.transcript_tail.as_deref(), Some("one\ntwo\noops\nthree"));
    }

    #[test]
    fn colours_stand_beside_the_text() {
        let red = "plain\n\u{1b}[31mred\u{1b}[0m\n";
        let (entries, _) = fold(Dialect::Text, &[(Kind::Stdout, 0, red)]);
        assert_eq!(entries[0].content, "plain\nred\n");
        assert_eq!(entries[0].metadata, Some(serde_json::json!({"ansi": red})));
        let (entries, _) = fold(Dialect::Text, &[(Kind::Stdout, 0, "no colours\n\u{1b}[2K\n")]);
        assert_eq!(entries[0].metadata, None);
    }

    #[test]
    fn a_flood_of_text_becomes_entries_of_bounded_size() {
        let text = "a line of text\n".repeat(10_000);
        let (entries, _) = fold(Dialect::Text, &[(Kind::Stdout, 0, &text)]);
        assert!(entries.iter().all(|e| e.content.len() <= 4096));
        assert_eq!(entries.iter().map(|e| e.content.as_str()).collect::<String>(), text);
    }

    #[test]
    fn a_missing_program_asks_for_set_up_whatever_its_words() {
        for (not_found, error_type) in [(true, ErrorType::SetupRequired), (false, ErrorType::Other)] {
            let reason = ExitReason::NeverStarted { message: "no `claude` here".to_owned(), not_found };
            let exit = Exit { code: None, signal: None, reason, at_ms: 0 };
            let end = serde_json::to_string(&exit).unwrap();
            let (entries, _) =
                fold(Dialect::Claude, &[(Kind::Note, 0, "no `claude` here\n"), (Kind::End, 0, &end)]);
            assert_eq!(
                entries,
                [plain(EntryType::ErrorMessage { error_type }, "no `claude` here".to_owned())]
            );
        }
        let (entries, _) = fold(Dialect::Claude, &[(Kind::Note, 0, "stopped: the file was not found")]);
        assert_eq!(entries[0].entry_type, EntryType::ErrorMessage { error_type: ErrorType::Other });
    }

    #[test]
    fn a_script_has_a_transcript_and_no_entries() {
        let (entries, outcome) =
            fold(Dialect::Script, &[(Kind::Stdout, 0, "built\n"), (Kind::Stderr, 0, "ok\n")]);
        assert_eq!(entries, []);
        assert_eq!(outcome.transcript_tail.as_deref(), Some("built\nok"));
        assert_eq!(outcome.summary, None);
    }

    #[test]
    fn a_long_summary_is_cut_at_a_character_boundary() {
        let (_, outcome) = fold(Dialect::Text, &[(Kind::Stdout, 0, &format!("x{}", "é".repeat(4000)))]);
        let summary = outcome.summary.unwrap();
        assert_eq!(summary.len(), 4095 + 3);
        assert!(summary.ends_with("é..."));
    }

    #[test]
    fn the_dialect_follows_the_executor_and_the_reason() {
        let of = |executor, reason| Dialect::of(executor, reason);
        assert_eq!(of(Some(Executor::ClaudeCode), RunReason::CodingAgent), Dialect::Claude);
        assert_eq!(of(Some(Executor::Scripted), RunReason::CodingAgent), Dialect::Claude);
        assert_eq!(of(Some(Executor::Codex), RunReason::CodingAgent), Dialect::Codex);
        assert_eq!(of(Some(Executor::Copilot), RunReason::CodingAgent), Dialect::Acp);
        assert_eq!(of(Some(Executor::QwenCode), RunReason::CodingAgent), Dialect::Acp);
        assert_eq!(of(Some(Executor::CursorAgent), RunReason::CodingAgent), Dialect::Cursor);
        assert_eq!(of(Some(Executor::Shell), RunReason::CodingAgent), Dialect::Text);
        assert_eq!(of(None, RunReason::SetupScript), Dialect::Script);
    }
}
