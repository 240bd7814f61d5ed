//! Requests to the server under test.

use reqwest::Method;
use serde_json::Value;

use crate::{Socket, TestForge};

/// An HTTP client. The library comes without cryptography of its own, and wants one before it makes a client.
pub fn client() -> reqwest::ClientBuilder {
    // A second call finds the provider in place, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy()
}

/// A status and a body, as they came.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub body: Value,
    pub text: String,
}

impl Answer {
    /// The envelope's data of a success; anything else fails the test.
    #[track_caller]
    pub fn data(self) -> Value {
        assert_eq!(self.body["success"], true, "status {}: {}", self.status, self.text);
        self.body["data"].clone()
    }

    /// The envelope's message.
    pub fn message(&self) -> &str {
        self.body["message"].as_str().unwrap_or_default()
    }
}

/// Asks one server, and is told when it is gone.
#[derive(Clone)]
pub struct Caller {
    http: reqwest::Client,
    base: String,
}

impl Caller {
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        headers: &[(&str, &str)],
    ) -> reqwest::Result<Answer> {
        let mut request = self.http.request(method, format!("{}{path}", self.base));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        let response = request.send().await?;
        let status = response.status().as_u16();
        let text = response.text().await?;
        Ok(Answer { status, body: serde_json::from_str(&text).unwrap_or(Value::Null), text })
    }

    pub async fn socket(&self, path: &str) -> Result<Socket, String> {
        Socket::open(&format!("{}{path}", self.base.replacen("http", "ws", 1))).await
    }
}

impl TestForge {
    pub async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, None).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(Method::POST, path, Some(body)).await
    }

    pub async fn put(&self, path: &str, body: &Value) -> Answer {
        self.send(Method::PUT, path, Some(body)).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.send(Method::DELETE, path, None).await
    }

    pub async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Answer {
        self.send_with(method, path, body, &[]).await
    }

    pub async fn send_with(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        headers: &[(&str, &str)],
    ) -> Answer {
        let answer = self.caller().send(method, path, body, headers).await;
        answer.unwrap_or_else(|error| panic!("{path}: {error}\n{}", self.log()))
    }

    /// Who can ask the server that runs now, for as long as it runs.
    pub fn caller(&self) -> Caller {
        Caller { http: self.http.clone(), base: self.base.clone() }
    }

    pub async fn socket(&self, path: &str) -> Socket {
        Socket::connect(&format!("{}{path}", self.base.replacen("http", "ws", 1))).await
    }
}
