//! Speaking to a server: where it is, and its envelope turned into a result.

use anyhow::{Context, Result, anyhow, bail};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::port::shared_port_file;
use crate::settings::{self, Env};

pub struct Client {
    base: String,
    token: Option<String>,
    http: reqwest::Client,
}

/// Where a server answers, and the token it may want.
pub struct Whereabouts {
    pub base: String,
    pub token: Option<String>,
}

impl Whereabouts {
    /// A server of this machine or, by `FORGE_BACKEND_URL`, of another one.
    pub fn find() -> Result<Self> {
        let env = Env::load();
        let base = match env.get("FORGE_BACKEND_URL") {
            Some(url) => url.trim_end_matches('/').to_owned(),
            None => format!("http://127.0.0.1:{}", find_port(&env)),
        };
        let token = match env.get("FORGE_TOKEN") {
            Some(token) => Some(token),
            None => std::fs::read_to_string(settings::home(&env)?.join("token")).ok(),
        };
        Ok(Self { base, token: token.map(|token| token.trim().to_owned()) })
    }
}

impl Client {
    pub fn find() -> Result<Self> {
        let Whereabouts { base, token } = Whereabouts::find()?;
        Ok(Self::new(base, token))
    }

    pub fn new(base: String, token: Option<String>) -> Self {
        Self { base: base.trim_end_matches('/').to_owned(), token, http: reqwest::Client::new() }
    }

    pub fn base(&self) -> &str {
        &self.base
    }

    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T> {
        self.send(self.http.get(format!("{}{path}", self.base))).await
    }

    pub async fn post<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T> {
        self.send(self.http.post(format!("{}{path}", self.base)).json(body)).await
    }

    async fn send<T: DeserializeOwned>(&self, request: reqwest::RequestBuilder) -> Result<T> {
        let request = match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        };
        let answer = request.send().await.with_context(|| {
            format!("no Forge answers at {}; start one with `forge`, or set FORGE_BACKEND_URL", self.base)
        })?;
        let status = answer.status();
        let mut envelope: Value =
            answer.json().await.with_context(|| format!("status {status}, not JSON"))?;
        if envelope["success"] != true {
            let message = envelope["message"].as_str().map(str::to_owned);
            bail!("{}", message.unwrap_or_else(|| format!("the server answered {status}")));
        }
        serde_json::from_value(envelope["data"].take()).map_err(|error| anyhow!("unexpected answer: {error}"))
    }
}

fn find_port(env: &Env) -> u16 {
    let read = |path: std::path::PathBuf| std::fs::read_to_string(path).ok()?.trim().parse().ok();
    let own = || settings::home(env).ok().and_then(|home| read(home.join("port")));
    let variable = |key: &str| env.get(key).and_then(|text| text.parse().ok());
    let named = variable("BACKEND_PORT").or_else(|| variable("PORT"));
    named.or_else(own).or_else(|| read(shared_port_file())).unwrap_or(settings::DEFAULT_PORT)
}
