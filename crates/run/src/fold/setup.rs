//! Whether an agent's failure asks somebody to set up the agent: to log in, to provide a key, to renew a token.
//!
//! Owns the phrases that agents and their providers use for that. Invariant: only the text of a failure is checked,
//! never an answer, which may mention keys and logins without needing one.

use crate::agents;

/// In lower case. Each phrase is sufficient by itself.
const SIGNS: &[&str] = &[
    "not logged in",
    "not signed in",
    "not authenticated",
    "unauthenticated",
    "no authentication information",
    "authentication required",
    "authentication failed",
    "authentication_failed",
    "authentication_error",
    "providerautherror",
    "failed to authenticate",
    "no auth type is selected",
    "set an auth method",
    "login required",
    "login has expired",
    "log in again",
    "sign in again",
    "please log in",
    "please login",
    "please sign in",
    "run /login",
    "using /login",
    "auth login",
    "agent login",
    "invalid api key",
    "invalid_api_key",
    "invalid x-api-key",
    "invalid bearer token",
    "invalid authentication",
    "incorrect api key",
    "api key not valid",
    "api key is not valid",
    "api key is invalid",
    "api_key_invalid",
    "api key not found",
    "api key is missing",
    "api key is required",
    "api key required",
    "missing api key",
    "missing bearer",
    "no api key",
    "check your api key",
    "token has expired",
    "token is expired",
    "token expired",
    "expired token",
    "token revoked",
    "token has been revoked",
    "token could not be refreshed",
    "session has expired",
    "session expired",
    "credentials have expired",
    "401 unauthorized",
    "status 401",
    "error: 401",
    "http 401",
];
/// Variables with a key that a failure may ask for by name.
const KEYS: &[&str] = &["_api_key", "_auth_token", "_github_token"];
const WANTED: &[&str] =
    &["missing environment variable", "must specify", "must set", "please set", "is not set"];

pub(super) fn wants_setup(failure: &str) -> bool {
    let low = failure.to_lowercase();
    let has = |signs: &[&str]| signs.iter().any(|sign| low.contains(sign));
    has(SIGNS) || has(KEYS) && has(WANTED) || names_login(&low)
}

/// Whether it names the command that logs in: `<program> login`.
fn names_login(low: &str) -> bool {
    low.match_indices(" login").any(|(at, _)| {
        let word = low[..at].rsplit(|c: char| c != '-' && !c.is_alphanumeric()).next().unwrap_or_default();
        agents::ALL
            .iter()
            .any(|agent| agent.software.as_ref().is_some_and(|software| software.program == word))
    })
}

/// Whether a text that an agent returned as its answer, without having done anything, is such a failure. An answer
/// that explains keys and logins is longer.
pub(super) fn answer_wants_setup(words: &str) -> bool {
    let words = words.trim();
    words.len() <= 200 && !words.contains('\n') && wants_setup(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agents_way_to_ask_for_a_login_or_a_key_is_known() {
        for failure in [
            // Claude Code
            "Not logged in · Please run /login",
            "Invalid API key · Please run /login",
            "Invalid API key · Fix external API key",
            "OAuth token revoked · Please run /login",
            "API Error: 401 {\"type\":\"error\",\"error\":{\"type\":\"authentication_error\",\"message\":\"OAuth token has expired.\"}}",
            // Codex
            "unexpected status 401 Unauthorized: Missing bearer or basic authentication in header",
            "unexpected status 401 Unauthorized: Incorrect API key provided: test., url: http://127.0.0.1/v1/responses",
            "Missing environment variable: `OPENAI_API_KEY`.",
            "Your access token could not be refreshed because your refresh token was already used. Please log out and sign in again.",
            // Gemini
            "Please set an Auth method in your /home/user/.gemini/settings.json or specify one of the following environment variables",
            "When using Gemini API, you must specify the GEMINI_API_KEY environment variable.",
            "API key not valid. Please pass a valid API key.",
            // Qwen Code
            "Missing API key for OpenAI-compatible auth.",
            "No auth type is selected. Please configure an auth type.",
            // opencode
            "ProviderAuthError: anthropic",
            "Run `opencode auth login` first",
            // Copilot
            "Error: No authentication information found.",
            "Error: Authentication failed with provider at http://host/v1 (HTTP 401).",
            // Cursor
            "Error: Authentication required. Please run 'cursor-agent login' first, or set CURSOR_API_KEY environment variable.",
            // Amp
            "Unauthorized. Check your API key or run `amp login`",
            // Droid
            "Authentication failed. Please log in using /login or set a valid FACTORY_API_KEY environment variable.",
            // Any that speaks ACP
            "Authentication required",
            "Your session has expired",
        ] {
            assert!(wants_setup(failure), "{failure}");
        }
    }

    #[test]
    fn other_failures_ask_for_nothing() {
        for failure in [
            "API Error: 500 Internal server error",
            "Credit balance is too low",
            "unexpected status 429 Too Many Requests",
            "No conversation found with session ID: 7",
            "port 4011 is in use",
            "The model refused to continue.",
            "OPENAI_API_KEY is set: this run is billed to that key",
        ] {
            assert!(!wants_setup(failure), "{failure}");
        }
    }

    #[test]
    fn an_answer_that_explains_a_login_is_an_answer() {
        assert!(answer_wants_setup("Invalid API key. Check your settings."));
        assert!(!answer_wants_setup("The handler answers 401 Unauthorized:\nsee src/auth.rs"));
        assert!(!answer_wants_setup(&format!("Not logged in {}", "is what users see here. ".repeat(20))));
    }
}
