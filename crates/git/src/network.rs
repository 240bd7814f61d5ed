//! Calls of git that use the network.
//!
//! Owns: how a token gets to git, that nothing ever prompts, and what the failures mean. Invariant: a token is where
//! only this user reads it and goes with the call, and where the system allows it, it is on no disk: never in the
//! environment or among the arguments of a process, in a lasting configuration, a reflog or an error. Without a token
//! git uses whatever the user has configured.

use std::fmt;
use std::time::Duration;

use base64::Engine;

use crate::command::{Answer, Git};
use crate::remote::Remote;
use crate::secret::Secret;
use crate::{GitError, Repo};

const TIME_LIMIT: Duration = Duration::from_secs(300);

/// A name and a secret for an HTTP remote.
#[derive(Clone)]
pub struct Credential {
    pub user: String,
    pub secret: String,
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credential").field("user", &self.user).finish_non_exhaustive()
    }
}

/// Prepares `git` for a call to `remote`.
pub(crate) fn connect(
    git: Git,
    repo: &Repo,
    remote: &Remote,
    credential: Option<&Credential>,
) -> Result<Git, GitError> {
    // This program replaces the prompt at the terminal and answers nothing.
    let git = git.env("SSH_ASKPASS", "false").env("SSH_ASKPASS_REQUIRE", "force").time_limit(TIME_LIMIT);
    let (Some(credential), Some(site)) = (credential, site_of(&remote.url)) else { return Ok(git) };
    let plain = format!("{}:{}", credential.user, credential.secret);
    let header = format!("Authorization: Basic {}", base64::engine::general_purpose::STANDARD.encode(plain));
    // A refused token is reported, not hidden by another identity.
    let settings = format!("[http {}]\n\textraHeader = {header}\n[credential]\n\thelper =\n", quote(&site));
    let secret = Secret::new(repo, settings.as_bytes())?;
    Ok(git.option(format!("include.path={}", secret.path().display())).holding(secret))
}

/// Quoted as the name of a subsection.
fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', r"\\").replace('"', "\\\""))
}

/// `https://host[:port]/` of an HTTP address, without credentials.
fn site_of(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    if !["http", "https"].contains(&scheme) {
        return None;
    }
    let authority = rest.split('/').next()?;
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    Some(format!("{scheme}://{host}/"))
}

/// The meaning of a failed call.
pub(crate) fn explain(answer: Answer, remote: &Remote, branch: &str) -> GitError {
    let reason = without_credentials(&words(&answer));
    let remote = format!("remote '{}'", remote.name);
    let has = |texts: &[&str]| texts.iter().any(|text| reason.contains(text));
    let locked = [
        "Authentication failed",
        "could not read Username",
        "could not read Password",
        "terminal prompts disabled",
        "Permission denied",
        "Host key verification failed",
        "error: 401",
        "error: 403",
        "Access denied",
        "error: 404",
    ];
    if has(&["[rejected]", "[remote rejected]", "stale info", "non-fast-forward", "fetch first"]) {
        return GitError::Rejected { remote, branch: branch.to_owned(), reason };
    }
    // Hosts also report this for a repository that the caller may not see.
    let hidden = has(&["epository"]) && has(&["not found", "does not exist"]);
    match hidden || has(&locked) {
        true => GitError::Locked { remote, reason },
        false => match answer.into_error() {
            GitError::Failed { command, .. } => GitError::Failed { command, stderr: reason },
            other => other,
        },
    }
}

/// The lines with content, from both streams.
fn words(answer: &Answer) -> String {
    let stdout = String::from_utf8_lossy(&answer.stdout).into_owned();
    let refs = stdout.lines().filter(|line| line.starts_with('!'));
    let errors = answer.stderr.lines().filter(|line| !line.starts_with("hint:") && !line.trim().is_empty());
    let text = refs.chain(errors).map(str::trim).collect::<Vec<_>>().join("\n");
    if text.is_empty() { format!("exit code {}", answer.code) } else { text }
}

/// Removes `user:secret@` from every URL of a text.
pub(crate) fn without_credentials(text: &str) -> String {
    let mut rest = text;
    let mut clean = String::with_capacity(text.len());
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        clean.push_str(before);
        let end = after.find(|c: char| c == '/' || c.is_whitespace() || "'\"".contains(c));
        let authority = &after[..end.unwrap_or(after.len())];
        rest = match authority.rfind('@') {
            Some(at) => &after[at + 1..],
            None => after,
        };
    }
    clean.push_str(rest);
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_cut_out_of_every_url() {
        let text =
            "fatal: unable to access 'https://me:s3cret@git.example/a/b': see http://x@y/ and ssh://git@h/p";
        assert_eq!(
            without_credentials(text),
            "fatal: unable to access 'https://git.example/a/b': see http://y/ and ssh://h/p"
        );
        assert_eq!(without_credentials("no url, user@host"), "no url, user@host");
    }

    #[test]
    fn a_credential_is_for_http_only_and_never_printed() {
        assert_eq!(site_of("https://u:p@h:8443/a/b").as_deref(), Some("https://h:8443/"));
        assert_eq!(site_of("ssh://git@h/a"), None);
        assert_eq!(site_of("/srv/a.git"), None);
        let credential = Credential { user: "u".into(), secret: "s3cret".into() };
        assert!(!format!("{credential:?}").contains("s3cret"));
    }

    #[tokio::test]
    async fn a_credential_is_neither_an_argument_nor_a_variable() {
        let dir = tempfile::tempdir().expect("a folder");
        let repo = Repo::init(dir.path()).await.expect("a repository");
        let remote = Remote { name: "origin".into(), url: "https://h:8443/a/b".into() };
        let credential = Credential { user: "u".into(), secret: "s3cret".into() };
        let git = Git::read(repo.main()).args([
            "config",
            "--get-urlmatch",
            "http.extraHeader",
            "https://h:8443/a/b",
        ]);
        let git = connect(git, &repo, &remote, Some(&credential)).expect("a call");
        let command = git.command();
        let words = format!("{:?}", command.as_std());
        let environment = format!("{:?}", command.as_std().get_envs().collect::<Vec<_>>());
        let header = base64::engine::general_purpose::STANDARD.encode("u:s3cret");
        for text in [&words, &environment] {
            assert!(!text.contains("s3cret") && !text.contains(&header), "{text}");
        }
        assert_eq!(git.text().await.expect("a header"), format!("Authorization: Basic {header}"));
    }
}
