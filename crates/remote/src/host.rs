//! Code hosts: which one a remote belongs to, and the few calls that Forge makes there.
//!
//! Owns: recognising GitHub, GitLab and Gitea (Forgejo) and where their APIs are. What differs between them is in one
//! file each below this one: addresses and formats. Invariant: a host that is neither well known nor named in the
//! settings never gets a token because of its name alone.

mod gitea;
mod github;
mod gitlab;

use std::collections::BTreeMap;

use forge_types::Settings;
use reqwest::{Method, Url};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::http::host_of;
use crate::{Address, Http, Issue, Listing, NewPullRequest, PullRequest, RemoteError, Token};

/// How many pull requests one listing brings.
const LISTED: usize = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HostKind {
    #[serde(alias = "ghe")]
    Github,
    Gitlab,
    #[serde(alias = "forgejo")]
    Gitea,
}

/// The settings of one host, under its name in `hosts`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct HostSettings {
    pub kind: Option<HostKind>,
    /// Such as `https://git.example/api/v3`.
    pub api: Option<String>,
    /// Where people log in; only used for github.com.
    pub web: Option<String>,
    /// The environment variable that holds the token. Tokens themselves do not belong here.
    pub token_env: Option<String>,
}

/// The hosts that the user named.
#[derive(Clone, Debug, Default)]
pub struct Hosts(BTreeMap<String, HostSettings>);

/// One repository on a code host.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Host {
    pub kind: HostKind,
    pub name: String,
    /// `owner/repo`, with GitLab's groups before it.
    pub path: String,
    api: String,
    pub(crate) token_env: Option<String>,
    /// Well known, or named by the user.
    pub(crate) trusted: bool,
}

impl Hosts {
    /// From the key `hosts` of the settings; unreadable entries are left out with a warning.
    pub fn of(settings: &Settings) -> Self {
        let Some(Value::Object(entries)) = settings.other.get("hosts") else { return Self::default() };
        let read = |(name, value): (&String, &Value)| match serde_json::from_value(value.clone()) {
            Ok(host) => Some((name.to_ascii_lowercase(), host)),
            Err(error) => {
                tracing::warn!(host = %name, %error, "config.json: this entry of `hosts` cannot be used");
                None
            }
        };
        Self(entries.iter().filter_map(read).collect())
    }

    pub(crate) fn get(&self, name: &str) -> Option<&HostSettings> {
        self.0.get(name)
    }

    /// The repository of a remote's URL, when its host is known.
    pub fn recognise(&self, remote: &str) -> Option<Host> {
        let address = Address::parse(remote)?;
        let bare = address.host.rsplit_once(':').map_or(address.host.as_str(), |(name, _)| name);
        let named = self.get(&address.host).or_else(|| self.get(bare));
        let known = well_known(&address.host);
        let kind = named.and_then(|host| host.kind).or(known.map(|(kind, _)| kind))?;
        let api = named.and_then(|host| host.api.clone());
        let api = api.unwrap_or_else(|| usual_api(kind, &address.host)).trim_end_matches('/').to_owned();
        let mut path = address.path;
        if kind != HostKind::Gitlab {
            let parts: Vec<&str> = path.rsplitn(3, '/').take(2).collect();
            path = format!("{}/{}", parts[1], parts[0]);
        }
        Some(Host {
            kind,
            path,
            api,
            token_env: named.and_then(|host| host.token_env.clone()),
            trusted: named.is_some() || known.is_some_and(|(_, trust)| trust == Trust::Full),
            name: address.host,
        })
    }
}

/// Whether a host is certainly what its name says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trust {
    Full,
    NameOnly,
}

fn well_known(host: &str) -> Option<(HostKind, Trust)> {
    match host {
        "github.com" => return Some((HostKind::Github, Trust::Full)),
        "gitlab.com" => return Some((HostKind::Gitlab, Trust::Full)),
        "codeberg.org" | "gitea.com" => return Some((HostKind::Gitea, Trust::Full)),
        _ => {}
    }
    let words = [
        ("github", HostKind::Github),
        ("ghe.com", HostKind::Github),
        ("gitlab", HostKind::Gitlab),
        ("gitea", HostKind::Gitea),
        ("forgejo", HostKind::Gitea),
    ];
    words.iter().find(|(word, _)| host.contains(word)).map(|(_, kind)| (*kind, Trust::NameOnly))
}

fn usual_api(kind: HostKind, host: &str) -> String {
    match kind {
        HostKind::Github if host == "github.com" => "https://api.github.com".to_owned(),
        HostKind::Github if host.ends_with(".ghe.com") => format!("https://api.{host}"),
        HostKind::Github => format!("https://{host}/api/v3"),
        HostKind::Gitlab => format!("https://{host}/api/v4"),
        HostKind::Gitea => format!("https://{host}/api/v1"),
    }
}

impl Host {
    /// What people call a pull request there.
    pub fn product(&self) -> &'static str {
        match self.kind {
            HostKind::Github => "GitHub",
            HostKind::Gitlab => "GitLab",
            HostKind::Gitea => "Gitea",
        }
    }

    /// The user name that git sends together with a token as the password.
    pub fn git_user(&self) -> &'static str {
        match self.kind {
            HostKind::Github => "x-access-token",
            HostKind::Gitlab => "oauth2",
            HostKind::Gitea => "forge",
        }
    }

    /// The number in the URL of an issue of this repository; `None` for any other URL.
    pub fn issue_number(&self, url: &str) -> Option<i64> {
        let (page, number) = url.split(['?', '#']).next()?.trim_end_matches('/').rsplit_once("/issues/")?;
        let address = Address::parse(page.strip_suffix("/-").unwrap_or(page))?;
        let same = address.host == self.name && address.path.eq_ignore_ascii_case(&self.path);
        number.parse().ok().filter(|number| same && *number > 0)
    }

    /// An address below the API, its parts encoded and its query appended.
    fn url(&self, parts: &[&str], query: &[(&str, &str)]) -> Result<Url, RemoteError> {
        let unusable = |reason: String| RemoteError::Unusable { host: self.name.clone(), reason };
        let mut url = Url::parse(&self.api)
            .map_err(|error| unusable(format!("its API address '{}' is not a URL: {error}", self.api)))?;
        {
            let mut path = url
                .path_segments_mut()
                .map_err(|()| unusable(format!("its API address '{}' has no path", self.api)))?;
            path.pop_if_empty().extend(parts);
        }
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        Ok(url)
    }
}

/// A code host and an HTTP client for it.
pub struct CodeHost<'a> {
    pub http: &'a Http,
    pub host: &'a Host,
    pub token: Option<&'a Token>,
}

impl CodeHost<'_> {
    pub async fn create_pull_request(&self, new: &NewPullRequest<'_>) -> Result<PullRequest, RemoteError> {
        let (url, body) = match self.host.kind {
            HostKind::Github | HostKind::Gitea => github::creation(self.host, new)?,
            HostKind::Gitlab => gitlab::creation(self.host, new)?,
        };
        let answer = self.ask(Method::POST, &url, Some(&body)).await?;
        self.read_pull(&answer).ok_or_else(|| self.unreadable("a pull request"))
    }

    /// Pull requests in any state that come from this branch of the repository, newest first.
    pub async fn pull_requests_from(&self, branch: &str) -> Result<Vec<PullRequest>, RemoteError> {
        let mut found = Vec::new();
        let urls = match self.host.kind {
            HostKind::Github => vec![github::from_branch(self.host, branch)?],
            HostKind::Gitlab => vec![gitlab::from_branch(self.host, branch)?],
            HostKind::Gitea => gitea::pages(self.host)?,
        };
        for url in urls {
            let answer = self.ask(Method::GET, &url, None).await?;
            let page = self.read_pulls(&answer)?;
            let last = page.is_empty();
            found.extend(page.into_iter().filter(|pull| pull.head == branch));
            if last || !found.is_empty() {
                break;
            }
        }
        found.sort_by_key(|pull| std::cmp::Reverse(pull.number));
        Ok(found)
    }

    /// The pull requests of the repository that changed last, unless none changed since `etag`.
    pub async fn pull_requests(&self, etag: Option<&str>) -> Result<Listing, RemoteError> {
        let url = match self.host.kind {
            HostKind::Github => github::latest(self.host)?,
            HostKind::Gitlab => gitlab::latest(self.host)?,
            HostKind::Gitea => gitea::latest(self.host)?,
        };
        let reply = self.send(Method::GET, &url, None, etag).await?;
        if reply.status == 304 {
            return Ok(Listing::Unchanged);
        }
        let etag = reply.etag.clone();
        let answer = reply.success(url.as_str())?;
        let pulls = self.read_pulls(&answer)?;
        let page = if self.host.kind == HostKind::Gitea { gitea::PAGE } else { LISTED };
        Ok(Listing::Changed { cut: pulls.len() >= page, pulls, etag })
    }

    pub async fn pull_request(&self, number: i64) -> Result<PullRequest, RemoteError> {
        let url = match self.host.kind {
            HostKind::Github | HostKind::Gitea => github::one(self.host, "pulls", number)?,
            HostKind::Gitlab => gitlab::one(self.host, "merge_requests", number)?,
        };
        let answer = self.ask(Method::GET, &url, None).await?;
        self.read_pull(&answer).ok_or_else(|| self.unreadable("a pull request"))
    }

    /// `None` when the number is a pull request's.
    pub async fn issue(&self, number: i64) -> Result<Option<Issue>, RemoteError> {
        let url = match self.host.kind {
            HostKind::Github | HostKind::Gitea => github::one(self.host, "issues", number)?,
            HostKind::Gitlab => gitlab::one(self.host, "issues", number)?,
        };
        let answer = self.ask(Method::GET, &url, None).await?;
        if !answer["pull_request"].is_null() {
            return Ok(None);
        }
        let issue = match self.host.kind {
            HostKind::Github | HostKind::Gitea => github::issue(&answer),
            HostKind::Gitlab => gitlab::issue(&answer),
        };
        issue.map(Some).ok_or_else(|| self.unreadable("an issue"))
    }

    pub async fn comment_on_issue(&self, number: i64, text: &str) -> Result<(), RemoteError> {
        let mut url = match self.host.kind {
            HostKind::Github | HostKind::Gitea => github::one(self.host, "issues", number)?,
            HostKind::Gitlab => gitlab::one(self.host, "issues", number)?,
        };
        let leaf = if self.host.kind == HostKind::Gitlab { "notes" } else { "comments" };
        if let Ok(mut path) = url.path_segments_mut() {
            path.push(leaf);
        }
        self.ask(Method::POST, &url, Some(&json!({ "body": text }))).await.map(drop)
    }

    /// Whether the host accepts the token; without one it does not.
    pub async fn check_token(&self) -> Result<bool, RemoteError> {
        if self.token.is_none() {
            return Ok(false);
        }
        let url = self.host.url(&["user"], &[])?;
        let reply = self.send(Method::GET, &url, None, None).await?;
        match reply.status {
            401 => Ok(false),
            // A token of an installation may not ask who it is, and yet be valid.
            403 => Ok(true),
            _ => reply.success(url.as_str()).map(|_| true),
        }
    }

    fn read_pull(&self, value: &Value) -> Option<PullRequest> {
        match self.host.kind {
            HostKind::Github | HostKind::Gitea => github::pull(value),
            HostKind::Gitlab => gitlab::pull(value),
        }
    }

    fn read_pulls(&self, value: &Value) -> Result<Vec<PullRequest>, RemoteError> {
        let list = value.as_array().ok_or_else(|| self.unreadable("a list of pull requests"))?;
        Ok(list.iter().filter_map(|pull| self.read_pull(pull)).collect())
    }

    fn unreadable(&self, what: &str) -> RemoteError {
        RemoteError::Unusable { host: self.host.name.clone(), reason: format!("it is not {what}") }
    }

    async fn ask(&self, method: Method, url: &Url, body: Option<&Value>) -> Result<Value, RemoteError> {
        self.send(method, url, body, None).await?.success(url.as_str())
    }

    async fn send(
        &self,
        method: Method,
        url: &Url,
        body: Option<&Value>,
        etag: Option<&str>,
    ) -> Result<crate::http::Reply, RemoteError> {
        let mut headers = vec![("accept", github::ACCEPT)];
        if self.host.kind != HostKind::Github {
            headers = vec![("accept", "application/json")];
        }
        let authorization = self.token.map(|token| match self.host.kind {
            HostKind::Github | HostKind::Gitlab => format!("Bearer {}", token.reveal()),
            HostKind::Gitea => format!("token {}", token.reveal()),
        });
        if let Some(value) = &authorization {
            if url.scheme() != "https" && !crate::address::is_loopback(&host_of(url.as_str())) {
                return Err(RemoteError::Unusable {
                    host: host_of(url.as_str()),
                    reason: "its API address is not https, and a token is not sent in clear".to_owned(),
                });
            }
            headers.push(("authorization", value));
        }
        if let Some(etag) = etag {
            headers.push(("if-none-match", etag));
        }
        self.http.call(method, url.as_str(), &headers, body).await
    }
}

#[cfg(test)]
mod tests;
