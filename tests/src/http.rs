//! Requests to the server under test.

use forge_client::{Client, ClientBuilder, Error, Kind, Method};
use serde_json::Value;

use crate::{Socket, TestForge};

/// What carries requests of tests.
pub fn client() -> ClientBuilder {
    forge_client::transport().no_proxy()
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

/// The answer as it came, whatever its status; an error when the server is gone.
pub async fn ask(
    client: &Client,
    method: Method,
    path: &str,
    body: Option<&Value>,
    headers: &[(&str, &str)],
) -> Result<Answer, Error> {
    let mut request = client.request(method, path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    if let Some(body) = body {
        request = request.json(body);
    }
    let response = client.fetch(request).await?;
    let status = response.status().as_u16();
    let text = response.text().await.map_err(|error| Error::new(Kind::Cut, error.to_string()))?;
    Ok(Answer { status, body: serde_json::from_str(&text).unwrap_or(Value::Null), text })
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
        let answer = ask(&self.client, method, path, body, headers).await;
        answer.unwrap_or_else(|error| panic!("{path}: {error}\n{}", self.log()))
    }

    /// Asks the server that runs now, for as long as it runs.
    pub fn client(&self) -> &Client {
        &self.client
    }

    pub async fn socket(&self, path: &str) -> Socket {
        let opened = Socket::open(&self.client, path).await;
        opened.unwrap_or_else(|error| panic!("{path}: {error}"))
    }
}
