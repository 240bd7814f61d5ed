//! Where the server is, and what a person at a terminal is shown besides its answers.
//!
//! Invariant: the token goes only to an address that the user named, or that the server that holds this home left.

use std::ops::Deref;
use std::path::Path;

use anyhow::{Context, Result};
use forge_client::Method;
pub use forge_client::{Error, Kind};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::home;
use crate::settings::{self, Env};
use crate::transcript::clean;

/// Streams and everything else are those of the client inside.
#[derive(Clone)]
pub struct Client {
    http: forge_client::Client,
    curl: String,
    trust: Trust,
}

/// Where a server answers, and the token it may want.
pub struct Whereabouts {
    pub base: String,
    pub token: Option<String>,
    /// How `curl` is given the token, without showing it.
    curl: String,
    trust: Trust,
}

/// Whose word there is for an address.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// The user named it, or the server that holds this home did.
    Named,
    /// Nobody's: anybody can listen there, so no token is sent.
    Guessed,
}

impl Whereabouts {
    /// The server of `FORGE_BACKEND_URL`, else of a port in the environment, else of this home, else a guess.
    pub fn find() -> Result<Self> {
        let env = Env::load();
        let home = settings::home(env)?;
        if let Some(url) = env.get("FORGE_BACKEND_URL") {
            return Ok(Self::at(url.trim_end_matches('/').to_owned(), env, &home));
        }
        let variable = |key: &str| env.get(key).and_then(|text| text.parse().ok());
        let port: Option<u16> = variable("BACKEND_PORT").or_else(|| variable("PORT"));
        let of_home = Self::of_home(env, &home);
        if let Some(port) = port.filter(|port| *port != 0) {
            let is_its = |own: &Self| own.base.ends_with(&format!(":{port}"));
            return Ok(of_home.filter(is_its).unwrap_or_else(|| Self::at(local(port), env, &home)));
        }
        // A server that takes any free port is found by its own word or not at all.
        let guess = || {
            let base = local(port.unwrap_or(settings::DEFAULT_PORT));
            Self { base, token: None, curl: String::new(), trust: Trust::Guessed }
        };
        Ok(of_home.unwrap_or_else(guess))
    }

    /// The server that holds the home and has left word there where it listens. The word of one that is gone is worth
    /// nothing: its port may be anybody's by now.
    pub fn of_home(env: &Env, home: &Path) -> Option<Self> {
        let base = home::address(home)?;
        home::is_held(home).then(|| Self::at(base, env, home))
    }

    fn at(base: String, env: &Env, home: &Path) -> Self {
        let file = home.join("token");
        let (token, words) = match env.get("FORGE_TOKEN") {
            Some(token) => (Some(token), "$FORGE_TOKEN".to_owned()),
            None => (std::fs::read_to_string(&file).ok(), format!("$(cat {})", file.display())),
        };
        let token = token.map(|token| token.trim().to_owned());
        let curl = token.as_ref().map(|_| format!(" -H \"authorization: Bearer {words}\""));
        Self { base, token, curl: curl.unwrap_or_default(), trust: Trust::Named }
    }
}

impl From<Whereabouts> for Client {
    fn from(Whereabouts { base, token, curl, trust }: Whereabouts) -> Self {
        Self { curl, trust, ..Self::new(base, token) }
    }
}

impl Deref for Client {
    type Target = forge_client::Client;

    fn deref(&self) -> &Self::Target {
        &self.http
    }
}

impl Client {
    pub fn find() -> Result<Self> {
        Whereabouts::find().map(Self::from)
    }

    pub fn new(base: String, token: Option<String>) -> Self {
        let http = forge_client::Client::new(&base, token).with_remarks(remark);
        Self { http, curl: String::new(), trust: Trust::Named }
    }

    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T> {
        self.explain(self.http.get(path).await)
    }

    pub async fn post<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T> {
        self.explain(self.http.post(path, body).await)
    }

    pub async fn put<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T> {
        self.explain(self.http.call(Method::PUT, path, Some(body)).await)
    }

    pub async fn delete<T: DeserializeOwned>(&self, path: &str) -> Result<T> {
        self.explain(self.http.call(Method::DELETE, path, None).await)
    }

    /// What a person types after `curl` to come in, without the token itself; empty when none is needed.
    pub fn curl_header(&self) -> &str {
        &self.curl
    }

    fn explain<T>(&self, result: Result<T, Error>) -> Result<T> {
        let error = match result {
            Err(error) => error,
            Ok(data) => return Ok(data),
        };
        if error.kind != Kind::Unauthorized || self.trust == Trust::Named {
            return Err(error.into());
        }
        let base = self.base();
        Err(error).with_context(|| {
            format!("no token was sent to {base}, because nothing says that it is yours; if it is, set FORGE_BACKEND_URL={base}")
        })
    }
}

/// The kind of an error that came from the client.
pub fn kind_of(error: &anyhow::Error) -> Option<Kind> {
    error.downcast_ref::<Error>().map(|error| error.kind)
}

fn remark(text: &str) {
    eprintln!("forge: {}", clean(text));
}

fn local(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}
