//! Where a project's work is published: its remote, the code host behind it, and how Forge is let in there.
//!
//! Owns: what is remembered about other machines between two requests, all of it bounded by the number of repositories.
//! Invariant: a stored token goes to git only for an encrypted address or this machine.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use forge_git::{Credential, Remote, Repo};
use forge_remote::{Address, CodeHost, DeviceCode, Host, HostKind, Hosts, RemoteError, Token};
use forge_types::{ErrorCode, Project};
use tokio::sync::Semaphore;

use crate::publish::pull_watch::Seen;
use crate::{Error, Forge, Kind, Result};

/// A remote that was just asked is not asked again.
const FETCH_PAUSE: Duration = Duration::from_secs(10);
/// How many pull requests open by themselves at once.
const PUBLISHERS: usize = 4;

/// What the command line decides about the world outside.
#[derive(Clone, Debug)]
pub struct Online {
    /// The OAuth application for the device login at GitHub.
    pub github_client_id: Option<String>,
    /// How often open pull requests are looked at.
    pub pull_poll_s: u64,
    pub pages: Pages,
}

impl Default for Online {
    fn default() -> Self {
        Self { github_client_id: None, pull_poll_s: 60, pages: Pages::Leave }
    }
}

/// Whether a new pull request is shown in a browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    Open,
    Leave,
}

/// What is remembered about other machines.
pub(crate) struct Contacts {
    pub(crate) seen: Mutex<HashMap<Host, Seen>>,
    fetched: Mutex<HashMap<PathBuf, Instant>>,
    pub(crate) login: Mutex<Option<Arc<DeviceCode>>>,
    pub(crate) publishers: Semaphore,
}

impl Default for Contacts {
    fn default() -> Self {
        Self {
            seen: Mutex::default(),
            fetched: Mutex::default(),
            login: Mutex::default(),
            publishers: Semaphore::new(PUBLISHERS),
        }
    }
}

/// The remote that a branch is published to.
pub(crate) struct Upstream {
    pub(crate) repo: Repo,
    pub(crate) remote: Remote,
    host: Option<Host>,
    pub(crate) credential: Option<Credential>,
}

impl Upstream {
    /// The code host, or what to do so that it is known.
    pub(crate) fn host(&self) -> Result<&Host> {
        self.host.as_ref().ok_or_else(|| {
            let remote = &self.remote.name;
            match Address::parse(&self.remote.url) {
                Some(Address { host, .. }) => {
                    let what = format!("the remote '{remote}' leads to '{host}', which Forge does not know");
                    Error::conflict(what).hint(format!(
                        "add it to config.json: \"hosts\": {{\"{host}\": {{\"kind\": \"github|gitlab|gitea\", \
                         \"api\": \"https://…\"}}}}"
                    ))
                }
                None => Error::conflict(format!("the remote '{remote}' is not on a code host")).hint(
                    "pull requests and issues need one, such as https://github.com/owner/repository",
                ),
            }
        })
    }

    /// What people call the host, in messages.
    pub(crate) fn product(&self) -> &'static str {
        self.host.as_ref().map_or("GitHub", Host::product)
    }
}

impl Forge {
    pub(crate) fn hosts(&self) -> Hosts {
        Hosts::of(&self.settings())
    }

    /// Where work for `target` is published.
    pub(crate) async fn upstream(&self, project: &Project, target: &str) -> Result<Upstream> {
        let repo = self.repo(project).await?;
        let remote = forge_git::remote_for(&repo, target).await?;
        let host = self.hosts().recognise(&remote.url);
        let token = host.as_ref().and_then(|host| forge_remote::stored_token(host, &self.settings()));
        let credential =
            host.as_ref().zip(token).and_then(|(host, token)| credential_for(&remote, host, &token));
        Ok(Upstream { repo, remote, host, credential })
    }

    pub(crate) fn call_on<'a>(&'a self, host: &'a Host, token: Option<&'a Token>) -> CodeHost<'a> {
        CodeHost { http: &self.0.http, host, token }
    }

    pub(crate) async fn token_for(&self, host: &Host) -> Option<Token> {
        forge_remote::find_token(host, &self.settings()).await
    }

    /// A credential that other programs of the user have for this host.
    pub(crate) async fn borrowed_credential(&self, upstream: &Upstream) -> Option<Credential> {
        let host = upstream.host.as_ref()?;
        credential_for(&upstream.remote, host, &self.token_for(host).await?)
    }

    /// Brings the remote-tracking branches of a project up to date, unless that was done a moment ago.
    pub async fn refresh_remote(&self, project: &Project, target: &str) -> Result<()> {
        let upstream = self.upstream(project, target).await?;
        {
            let mut fetched = self.0.contacts.fetched.lock().unwrap_or_else(PoisonError::into_inner);
            let last = fetched.insert(upstream.repo.path().to_owned(), Instant::now());
            if let Some(last) = last.filter(|last| last.elapsed() < FETCH_PAUSE) {
                fetched.insert(upstream.repo.path().to_owned(), last);
                return Ok(());
            }
        }
        Ok(forge_git::fetch(&upstream.repo, &upstream.remote, upstream.credential.as_ref()).await?)
    }
}

/// Only for a remote that git reaches over HTTP, and privately.
fn credential_for(remote: &Remote, host: &Host, token: &Token) -> Option<Credential> {
    Address::parse(&remote.url).filter(Address::takes_token)?;
    Some(Credential { user: host.git_user().to_owned(), secret: token.reveal().to_owned() })
}

/// A failed call to a code host, in the words that clients know.
pub(crate) fn host_error(host: &Host, error: RemoteError) -> Error {
    match &error {
        RemoteError::Refused { status: 401, .. } => invalid_token(host),
        _ if host.kind == HostKind::Github => Error::internal(error.to_string(), error),
        RemoteError::Unreachable { .. } => Error::new(Kind::Upstream, error.to_string()),
        _ => Error::internal(format!("{}: {error}", host.product()), error),
    }
}

pub(crate) fn invalid_token(host: &Host) -> Error {
    let product = host.product();
    let message = format!("{product} token is invalid or expired");
    Error::new(Kind::Internal, message)
        .code(ErrorCode::HostTokenInvalid)
        .hint("set a new one in the settings")
}
