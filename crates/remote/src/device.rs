//! The login of GitHub's device flow: a code that the user types on GitHub's own page.
//!
//! Invariant: the device code and the token appear in no `Debug` text and no error.

use reqwest::Method;
use serde_json::{Value, json};

use crate::http::{Reply, host_of};
use crate::{Hosts, Http, RemoteError, Token};

const SCOPES: &str = "user:email repo";

/// Where the login happens: the site for people and its API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginSite {
    pub web: String,
    pub api: String,
}

/// What to show the user, and the secret half that stays here.
pub struct DeviceCode {
    pub user_code: String,
    pub verification_uri: String,
    pub expires_in_s: u64,
    pub interval_s: u64,
    device_code: String,
}

/// The site's answer to "is it done?".
pub enum DeviceAnswer {
    Pending,
    SlowDown,
    Done(Token),
    /// The code expired or the user refused.
    Over(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GithubUser {
    pub login: String,
    pub primary_email: Option<String>,
}

impl LoginSite {
    pub fn of(hosts: &Hosts) -> Self {
        let named = hosts.get("github.com").cloned().unwrap_or_default();
        let base = |text: Option<String>, usual: &str| {
            text.unwrap_or_else(|| usual.to_owned()).trim_end_matches('/').to_owned()
        };
        Self { web: base(named.web, "https://github.com"), api: base(named.api, "https://api.github.com") }
    }

    pub async fn start(&self, http: &Http, client_id: &str) -> Result<DeviceCode, RemoteError> {
        let url = format!("{}/login/device/code", self.web);
        let body = json!({"client_id": client_id, "scope": SCOPES});
        let answer = self.post(http, &url, &body).await?.success(&url)?;
        let text = |key: &str| answer[key].as_str().map(str::to_owned);
        let read = || {
            Some(DeviceCode {
                user_code: text("user_code")?,
                verification_uri: text("verification_uri")?,
                device_code: text("device_code")?,
                expires_in_s: answer["expires_in"].as_u64().unwrap_or(900),
                interval_s: answer["interval"].as_u64().unwrap_or(5),
            })
        };
        read().ok_or_else(|| {
            let said = answer["error_description"].as_str().or(answer["error"].as_str());
            let said = said.unwrap_or("there is no device code in it");
            RemoteError::Unusable { host: host_of(&url), reason: said.to_owned() }
        })
    }

    pub async fn poll(
        &self,
        http: &Http,
        client_id: &str,
        code: &DeviceCode,
    ) -> Result<DeviceAnswer, RemoteError> {
        let url = format!("{}/login/oauth/access_token", self.web);
        let body = json!({
            "client_id": client_id,
            "device_code": code.device_code,
            "grant_type": "urn:ietf:params:oauth:grant-type:device_code",
        });
        // The answer "not yet" may come with any status.
        let reply = self.post(http, &url, &body).await?;
        if let Some(token) = reply.body["access_token"].as_str().and_then(Token::new) {
            return Ok(DeviceAnswer::Done(token));
        }
        match reply.body["error"].as_str() {
            Some("authorization_pending") => Ok(DeviceAnswer::Pending),
            Some("slow_down") => Ok(DeviceAnswer::SlowDown),
            Some("expired_token") => Ok(DeviceAnswer::Over("the code has expired".to_owned())),
            Some("access_denied") => Ok(DeviceAnswer::Over("the login was denied".to_owned())),
            _ => {
                reply.success(&url)?;
                Err(RemoteError::Unusable {
                    host: host_of(&url),
                    reason: "there is no token in it".to_owned(),
                })
            }
        }
    }

    /// Who the token belongs to. An email address that may not be read counts as none.
    pub async fn user(&self, http: &Http, token: &Token) -> Result<GithubUser, RemoteError> {
        let url = format!("{}/user", self.api);
        let user = self.get(http, &url, token).await?.success(&url)?;
        let login = user["login"].as_str().unwrap_or_default().to_owned();
        let url = format!("{}/user/emails", self.api);
        let emails = self.get(http, &url, token).await?.success(&url).unwrap_or(Value::Null);
        let primary = emails.as_array().into_iter().flatten().find(|email| email["primary"] == true);
        let primary_email = primary.and_then(|email| email["email"].as_str()).map(str::to_owned);
        Ok(GithubUser { login, primary_email })
    }

    async fn post(&self, http: &Http, url: &str, body: &Value) -> Result<Reply, RemoteError> {
        http.call(Method::POST, url, &[("accept", "application/json")], Some(body)).await
    }

    async fn get(&self, http: &Http, url: &str, token: &Token) -> Result<Reply, RemoteError> {
        let bearer = format!("Bearer {}", token.reveal());
        let headers = [("accept", "application/vnd.github+json"), ("authorization", bearer.as_str())];
        http.call(Method::GET, url, &headers, None).await
    }
}
