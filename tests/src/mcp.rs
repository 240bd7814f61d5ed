//! Tools and resources of the server under test, asked for as any MCP client would over HTTP.

use forge_client::{Method, Response};
use serde_json::{Value, json};

use crate::{PATIENCE, TestForge};

/// What both answers of the transport look like: JSON, or events.
const ACCEPT: &str = "application/json, text/event-stream";
const VERSION: &str = "2025-06-18";

impl TestForge {
    /// Sends one message, with the name of a client when it has one. The answer may still be on its way.
    pub async fn mcp(&self, message: &Value, client: Option<&str>) -> Response {
        let mut request = self.client.request(Method::POST, "/mcp?advanced=true").header("accept", ACCEPT);
        request = request.header("mcp-protocol-version", VERSION).json(message);
        if let Some(client) = client {
            request = request.header("mcp-session-id", client);
        }
        let response = tokio::time::timeout(PATIENCE, request.send()).await.expect("an answer in time");
        response.unwrap_or_else(|error| panic!("/mcp: {error}\n{}", self.log()))
    }

    /// Asks and answers the whole message that comes back.
    pub async fn ask_mcp(&self, method: &str, params: Value) -> Value {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        last_message(self.mcp(&message, None).await).await
    }

    pub async fn tools(&self) -> Vec<Value> {
        let answer = self.ask_mcp("tools/list", json!({})).await;
        answer["result"]["tools"].as_array().expect("a list of tools").clone()
    }

    /// What a tool answers, be it a failure.
    pub async fn ask_tool(&self, name: &str, arguments: &Value) -> Value {
        let answer = self.ask_mcp("tools/call", json!({"name": name, "arguments": arguments})).await;
        assert!(answer["result"].is_object(), "{name} {arguments}: {answer:#}");
        answer["result"].clone()
    }

    /// The data of a tool that has to succeed.
    pub async fn tool(&self, name: &str, arguments: Value) -> Value {
        let result = self.ask_tool(name, &arguments).await;
        assert_ne!(result["isError"], true, "{name} {arguments}: {result:#}");
        result["structuredContent"].clone()
    }

    /// The words of a tool that has to fail.
    pub async fn refused_tool(&self, name: &str, arguments: Value) -> String {
        let result = self.ask_tool(name, &arguments).await;
        assert_eq!(result["isError"], true, "{name} {arguments}: {result:#}");
        crate::text(&result["structuredContent"]["error"])
    }
}

/// The last message of an answer, which is what the request came to.
pub async fn last_message(response: Response) -> Value {
    let read = tokio::time::timeout(PATIENCE, response.text()).await.expect("the end of the answer in time");
    let text = read.expect("a body");
    let lines = text.lines().map(|line| line.strip_prefix("data:").unwrap_or(line));
    lines.filter_map(|line| serde_json::from_str(line).ok()).next_back().unwrap_or_default()
}
