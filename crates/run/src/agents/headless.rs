//! Agents that read a prompt, print what they do, and end: nothing is said to them in between.
//!
//! Owns the command lines of Amp and of the Cursor agent. Invariant: the prompt goes to stdin, never to the command line.

use super::Request;
use super::profiles::Options;

/// Amp's arguments; a conversation is continued by a verb of its own.
pub(super) fn amp_args(options: &Options, request: Request<'_>) -> Vec<String> {
    let mut args = match request.session() {
        Some(session) => vec!["threads", "continue", session],
        None => Vec::new(),
    };
    args.extend(["--execute", "--stream-json"]);
    if options.is_on("dangerously_allow_all") {
        args.push("--dangerously-allow-all");
    }
    args.into_iter().map(str::to_owned).collect()
}

pub(super) fn cursor_args(options: &Options) -> Vec<String> {
    let mut args = vec!["-p", "--output-format=stream-json"];
    if options.is_on("force") {
        args.push("--force");
    }
    if let Some(model) = options.text("model") {
        args.extend(["--model", model]);
    }
    args.into_iter().map(str::to_owned).collect()
}

/// Goes last on the Cursor agent's command line.
pub(super) fn cursor_resume_args(request: Request<'_>) -> Vec<String> {
    request.session().into_iter().flat_map(|session| ["--resume".to_owned(), session.to_owned()]).collect()
}
