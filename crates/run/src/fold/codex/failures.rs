//! Errors, and when the provider serves again.
//!
//! Owns the last shown error. Invariant: a retried call is one entry however often it is tried, and a failure that
//! is reported twice is shown once.

use forge_types::{EntryType, Millis};
use serde_json::Value;

use super::super::entries::{LogWriter, failure_type, plain};
use super::super::{Limit, RunOutcome, SUMMARY_BYTES, Verdict, Window, cut};
use super::error;

/// Codex's errors when the thread to continue does not exist.
const LOST_THREAD: [&str; 2] = ["no rollout found for thread id", "invalid session id"];

#[derive(Default)]
pub(super) struct Failures {
    /// The entry of a call that is being retried.
    retried: Option<usize>,
    /// The last shown failure.
    shown: Option<String>,
    /// When the exhausted limits are lifted.
    reset_at: Option<Millis>,
}

impl Failures {
    /// Reads an `error` notification.
    pub fn read_error(&mut self, params: &Value, log: &mut LogWriter<'_>) {
        let message = params["error"]["message"].as_str().unwrap_or("error without a message");
        if params["willRetry"] != true {
            self.show(message, log);
            return;
        }
        let text = match params["error"]["additionalDetails"].as_str().filter(|details| !details.is_empty()) {
            Some(details) => format!("{message}: {details}"),
            None => message.to_owned(),
        };
        self.retried = Some(log.put(self.retried, plain(error(), text)));
    }

    /// The retried call succeeded; the next retry is about another call.
    pub fn clear_retry(&mut self) {
        self.retried = None;
    }

    /// The agent refused one of our requests.
    pub fn read_refusal(&mut self, method: &str, refusal: &Value, log: &mut LogWriter<'_>) {
        let message = refusal["message"].as_str().unwrap_or("no reason given");
        match method {
            "turn/steer" => {
                let text = format!(
                    "The agent did not accept the message: {message}; it is sent again after the turn"
                );
                log.add(plain(EntryType::SystemMessage, text));
            }
            "turn/interrupt" => {}
            _ => {
                let resumes = matches!(method, "thread/resume" | "thread/fork");
                log.outcome.session_lost |= resumes && LOST_THREAD.iter().any(|lost| message.contains(lost));
                self.fail(message, refusal, log);
            }
        }
    }

    /// The run has failed with `text`; `cause` is the error as the agent reported it.
    pub fn fail(&mut self, text: &str, cause: &Value, log: &mut LogWriter<'_>) {
        self.show(text, log);
        let message = cut(text, SUMMARY_BYTES, "...");
        if is_limit(&cause["codexErrorInfo"]) {
            log.outcome.limit = Some(Limit { reset_at: self.reset_at, message: message.clone() });
        }
        log.outcome.verdict = Some(Verdict::Failed { message });
    }

    /// Shows an error, only once if it is repeated.
    pub fn show(&mut self, text: &str, log: &mut LogWriter<'_>) {
        self.retried = None;
        if self.shown.as_deref() != Some(text) {
            self.shown = Some(text.to_owned());
            log.add(plain(failure_type(text), text.to_owned()));
        }
    }

    pub fn note_limits(&mut self, limits: &Value, outcome: &mut RunOutcome) {
        for name in ["primary", "secondary"] {
            let window = &limits[name];
            if let Some(seconds) = window["resetsAt"].as_i64() {
                outcome.note_window(Window {
                    name: name.to_owned(),
                    resets_at: Millis(seconds.saturating_mul(1000)),
                    is_used_up: window["usedPercent"].as_f64().is_some_and(|used| used >= 100.0),
                    is_long: window["windowDurationMins"].as_i64().is_some_and(|minutes| minutes > 24 * 60),
                });
            }
        }
        let used_up = ["primary", "secondary"].iter().map(|window| &limits[*window]);
        let used_up =
            used_up.filter(|window| window["usedPercent"].as_f64().is_some_and(|used| used >= 100.0));
        let resets = used_up.filter_map(|window| window["resetsAt"].as_i64());
        let spent = Some(&limits["individualLimit"]).filter(|limit| limit["remainingPercent"] == 0);
        let resets = resets.chain(spent.and_then(|limit| limit["resetsAt"].as_i64()));
        self.reset_at = resets.max().map(|seconds| Millis(seconds.saturating_mul(1000)));
    }
}

/// The kind is a word, or an object with the kind as its key.
fn is_limit(info: &Value) -> bool {
    let limited = |status: &Value| status["httpStatusCode"] == 429;
    matches!(info.as_str(), Some("usageLimitExceeded" | "rateLimitExceeded"))
        || info.as_object().is_some_and(|kinds| kinds.values().any(limited))
}
