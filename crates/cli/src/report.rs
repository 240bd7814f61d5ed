//! How a failed command is reported: to people on standard error, or with `--json` to programs on standard output.
//!
//! Invariant: what is wrong and what to do stand on lines of their own. Nobody reads the name of a field of the API here:
//! it is the flag that sets it. An error for programs has every key, null where nothing is known.

use forge_types::ErrorCode;
use serde_json::{Value, json};

use crate::client;
use crate::exit::{self, Exit, Misused};
use crate::reference::NotFound;
use crate::terminal;

/// Fields of the API that are flags here.
const FLAGS: [(&str, &str); 8] = [
    ("executor_profile_id", "--executor"),
    ("executor_profile_id.variant", "--executor"),
    ("base_branch", "--base"),
    ("target_branch", "--base"),
    ("project_id", "--project"),
    ("max_cost_usd", "--max-cost"),
    ("tier", "--tier"),
    ("style", "--style"),
];

/// What is known about a failure.
#[derive(Debug, Default)]
pub struct Report {
    pub code: Option<ErrorCode>,
    /// What the connection to a server came to, if it is that which failed.
    pub kind: Option<client::Kind>,
    message: String,
    hint: Option<String>,
    field: Option<String>,
    status: Option<u16>,
}

impl Report {
    pub fn of(error: &anyhow::Error) -> Self {
        let mut report = Report::default();
        let mut words: Vec<String> = Vec::new();
        for cause in error.chain() {
            let text = match report.take(cause) {
                Some(text) => text,
                // The cause of an error often stands in its message already.
                None if words.iter().any(|said| said.contains(&cause.to_string())) => continue,
                None => cause.to_string(),
            };
            words.push(text);
        }
        report.message = words.join(": ");
        report.speak_of_flags();
        report
    }

    /// Wrong usage as clap words it: what is wrong, then how it is used.
    pub fn of_usage(error: &clap::Error) -> Self {
        let text = error.to_string();
        let (message, rest) = text.split_once("\n\n").unwrap_or((&text, ""));
        let message = message.strip_prefix("error: ").unwrap_or(message).trim().to_owned();
        let hint = Some(rest.trim().to_owned()).filter(|rest| !rest.is_empty());
        Self { code: Some(ErrorCode::Invalid), message, hint, ..Self::default() }
    }

    /// What an error that Forge knows says; `None` for any other.
    fn take(&mut self, cause: &(dyn std::error::Error + 'static)) -> Option<String> {
        if let Some(error) = cause.downcast_ref::<client::Error>() {
            (self.code, self.kind, self.status) = (error.code, Some(error.kind), error.status);
            (self.hint, self.field) = (error.hint.clone(), error.field.clone());
            return Some(error.message.clone());
        }
        if let Some(error) = cause.downcast_ref::<forge_core::Error>() {
            self.code = Some(error.error_code());
            self.hint = error.advice().map(str::to_owned);
            self.field = error.wrong_field().map(str::to_owned);
            return Some(error.message().to_owned());
        }
        match cause.downcast_ref::<forge_git::GitError>() {
            // The engine's error that it caused has said it.
            Some(_) if self.code.is_some() => None,
            Some(error) => {
                (self.code, self.hint) = (Some(error.code()), error.hint().map(str::to_owned));
                Some(error.to_string())
            }
            None if cause.is::<Misused>() => self.own(ErrorCode::Invalid, cause),
            None if cause.is::<NotFound>() => self.own(ErrorCode::NotFound, cause),
            None => None,
        }
    }

    fn own(&mut self, code: ErrorCode, cause: &dyn std::error::Error) -> Option<String> {
        self.code = Some(code);
        Some(cause.to_string())
    }

    fn speak_of_flags(&mut self) {
        if self.code == Some(ErrorCode::ProjectRequired) {
            self.hint = Some("name one with --project".to_owned());
        }
        let Some(field) = &self.field else { return };
        let Some((_, flag)) = FLAGS.iter().find(|(name, _)| name == field) else { return };
        if let Some(rest) = self.message.strip_prefix(&format!("{field}: ")) {
            self.message = format!("{flag}: {rest}");
        }
        self.field = Some((*flag).to_owned());
    }

    fn json(&self) -> Value {
        let Report { code, message, hint, field, status, .. } = self;
        json!({"error": {"code": code, "message": message, "hint": hint, "field": field, "status": status}})
    }

    pub fn print(&self, as_json: bool) -> Exit {
        if as_json {
            terminal::print_json(&self.json());
            return exit::of(self);
        }
        eprintln!("error: {}", self.message);
        if let Some(hint) = &self.hint {
            eprintln!("hint: {hint}");
        }
        exit::of(self)
    }
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    fn refused(envelope: Value) -> anyhow::Error {
        client::Error::refused(409, serde_json::from_value(envelope).unwrap()).into()
    }

    #[test]
    fn an_error_for_programs_has_every_key() {
        let known = Report::of(&refused(json!({
            "message": "busy; wait", "hint": "wait", "error_code": "still_running", "field": "id",
        })));
        let expected =
            json!({"code": "still_running", "message": "busy", "hint": "wait", "field": "id", "status": 409});
        assert_eq!(known.json(), json!({"error": expected}));
        let odd = Report::of(&anyhow::anyhow!("odd"));
        let expected = json!({"code": null, "message": "odd", "hint": null, "field": null, "status": null});
        assert_eq!(odd.json(), json!({"error": expected}));
    }

    #[test]
    fn a_field_of_the_api_is_the_flag_that_sets_it() {
        let field = "executor_profile_id.variant";
        let report = Report::of(&refused(json!({
            "message": format!("{field}: unknown variant X; known: Y"), "error_code": "invalid", "field": field,
        })));
        assert_eq!(report.message, "--executor: unknown variant X; known: Y");
        let report = Report::of(&refused(json!({
            "message": "several; name one with project_id", "hint": "name one with project_id",
            "error_code": "project_required",
        })));
        assert_eq!(
            (report.message.as_str(), report.hint.as_deref()),
            ("several", Some("name one with --project"))
        );
    }

    #[test]
    fn what_was_tried_comes_first_and_nothing_is_said_twice() {
        let git = forge_git::GitError::Dirty { path: "/w".into(), files: vec!["a".to_owned()] };
        let error = anyhow::Error::from(forge_core::Error::from(git)).context("cannot start");
        let report = Report::of(&error);
        assert_eq!(report.message, "cannot start: /w has uncommitted changes: a");
        assert!(report.hint.is_some_and(|hint| hint.starts_with("commit, stash")));
        let io = std::io::Error::other("broken");
        let error = Err::<(), _>(io).with_context(|| "cannot read x").unwrap_err();
        assert_eq!(Report::of(&error).message, "cannot read x: broken");
    }
}
