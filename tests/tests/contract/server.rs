//! The server under test as the recordings need it: any request, any body, and a refusal is an answer.

use std::time::Duration;

use forge_client::{Client, RequestBuilder};
use forge_tests::TestForge;
use serde_json::Value;

const LIMIT: Duration = Duration::from_secs(30);

pub struct Server {
    pub forge: TestForge,
    client: Client,
}

pub struct Answer {
    pub status: u16,
    /// Parsed when it is JSON, else the text.
    pub body: Value,
}

impl Server {
    pub async fn start() -> Server {
        let forge = TestForge::start().await;
        let client = Client::over(forge_tests::client().timeout(LIMIT), forge.base(), None);
        Server { forge, client }
    }

    pub fn socket_url(&self, path: &str) -> String {
        format!("{}{path}", self.forge.base().replacen("http", "ws", 1))
    }

    pub fn request(&self, method: &str, path: &str) -> RequestBuilder {
        self.client.request(method.parse().expect("a method"), path)
    }

    pub async fn ask(&self, request: RequestBuilder) -> Answer {
        let response = request.send().await.expect("an answer");
        let status = response.status().as_u16();
        let bytes = response.bytes().await.expect("the body");
        let text = || Value::from(String::from_utf8_lossy(&bytes));
        Answer { status, body: serde_json::from_slice(&bytes).unwrap_or_else(|_| text()) }
    }

    /// A request that prepares the state; its refusal is not a failure here, the recording after it will show it.
    pub async fn prepare(&self, method: &str, path: &str, body: Value) -> Value {
        self.ask(self.request(method, path).json(&body)).await.body["data"].take()
    }

    pub async fn get(&self, path: &str) -> Value {
        self.ask(self.request("GET", path)).await.body["data"].take()
    }
}
