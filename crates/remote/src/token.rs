//! Tokens for code hosts and where they are found.
//!
//! Invariant: a token is never printed, and goes only to its own host: the user's GitHub settings to github.com and to
//! GitHub hosts that the user named in the settings, and nowhere else.

use std::fmt;
use std::process::Stdio;
use std::time::Duration;

use forge_types::Settings;

use crate::{Host, HostKind};

const GH_LIMIT: Duration = Duration::from_secs(5);

/// A secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// `None` for blank text, and for text that is not allowed in a header.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let fits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        fits.then(|| Self(text.to_owned()))
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// The token that the user gave Forge for this host.
pub fn stored_token(host: &Host, settings: &Settings) -> Option<Token> {
    let env = |name: &str| std::env::var(name).ok().as_deref().and_then(Token::new);
    if let Some(name) = &host.token_env {
        return env(name);
    }
    if !host.trusted {
        return None;
    }
    match host.kind {
        HostKind::Github if host.name == "github.com" => settings.github.token().and_then(Token::new),
        // The token of a login belongs to the site of the login.
        HostKind::Github => settings.github.pat.as_deref().and_then(Token::new),
        HostKind::Gitlab => env("GITLAB_TOKEN"),
        HostKind::Gitea => env("GITEA_TOKEN").or_else(|| env("FORGEJO_TOKEN")),
    }
}

/// Like [`stored_token`], else the one with which `gh` is logged in there.
pub async fn find_token(host: &Host, settings: &Settings) -> Option<Token> {
    match stored_token(host, settings) {
        None if host.kind == HostKind::Github => ask_gh(&host.name).await,
        found => found,
    }
}

async fn ask_gh(host: &str) -> Option<Token> {
    let mut command = tokio::process::Command::new("gh");
    command.args(["auth", "token"]).arg(format!("--hostname={host}"));
    command.env("GH_PROMPT_DISABLED", "1").env("GH_NO_UPDATE_NOTIFIER", "1");
    command.stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(GH_LIMIT, command.output()).await.ok()?.ok()?;
    output.status.success().then(|| Token::new(&String::from_utf8_lossy(&output.stdout)))?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Hosts;

    fn settings(text: &str) -> Settings {
        serde_json::from_str(text).unwrap_or_default()
    }

    #[test]
    fn a_token_is_never_printed_and_never_malformed() {
        let token = Token::new(" s3cret\n").map(|token| (format!("{token:?}"), token.reveal().to_owned()));
        assert_eq!(token, Some(("Token(…)".to_owned(), "s3cret".to_owned())));
        assert_eq!(Token::new("a b"), None);
        assert_eq!(Token::new("a\r\nX-Evil: 1"), None);
    }

    #[test]
    fn the_github_token_goes_only_to_github_and_to_named_hosts() {
        let settings = settings(
            r#"{"github": {"pat": "p", "oauth_token": "o"}, "hosts": {"ghe.example": {"kind": "github"}}}"#,
        );
        let hosts = Hosts::of(&settings);
        let reveal = |remote: &str| {
            let host = hosts.recognise(remote)?;
            stored_token(&host, &settings).map(|token| token.reveal().to_owned())
        };
        assert_eq!(reveal("git@github.com:a/b").as_deref(), Some("p"));
        assert_eq!(reveal("https://ghe.example/a/b").as_deref(), Some("p"));
        assert_eq!(reveal("https://github.evil.example/a/b"), None);
        assert_eq!(reveal("http://ghe.example/a/b").as_deref(), Some("p"), "its API is reached over https");
    }
}
