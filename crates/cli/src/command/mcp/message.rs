//! What the relay needs to know about a message.
//!
//! Invariant: a message is forwarded unchanged; it is only read for its headers.

use serde_json::{Value, json};

pub const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

pub struct Message(Value);

impl Message {
    /// The message, or the error response to an invalid line.
    pub fn parse(line: &str) -> Result<Self, String> {
        match serde_json::from_str(line) {
            Ok(value @ Value::Object(_)) => Ok(Self(value)),
            Ok(_) => Err(failure(None, INVALID_REQUEST, "a message is one JSON object per line")),
            Err(error) => Err(failure(None, PARSE_ERROR, &format!("the line is not JSON: {error}"))),
        }
    }

    pub fn value(&self) -> &Value {
        &self.0
    }

    pub fn body(&self) -> String {
        self.0.to_string()
    }

    fn method(&self) -> &str {
        self.0.get("method").and_then(Value::as_str).unwrap_or_default()
    }

    /// The id of a request; a notification has none.
    pub fn id(&self) -> Option<&Value> {
        self.0.get("id").filter(|_| self.0.get("method").is_some())
    }

    /// The id as a key.
    pub fn key(&self) -> Option<String> {
        self.id().map(Value::to_string)
    }

    /// The key of the request that this message cancels.
    pub fn cancelled(&self) -> Option<String> {
        let request = self.0.get("params")?.get("requestId")?;
        (self.method() == "notifications/cancelled").then(|| request.to_string())
    }

    pub fn is_initialize(&self) -> bool {
        self.method() == "initialize"
    }

    /// The version that the message itself names, as in messages without a handshake.
    pub fn version(&self) -> Option<&str> {
        self.0.get("params")?.get("_meta")?.get(VERSION_KEY)?.as_str()
    }

    /// The headers that the transport requires for such a message.
    pub fn headers(&self) -> Vec<(&'static str, &str)> {
        let mut headers = vec![("mcp-method", self.method())];
        let key = match self.method() {
            "tools/call" | "prompts/get" => "name",
            "resources/read" | "resources/subscribe" | "resources/unsubscribe" => "uri",
            _ => return headers,
        };
        let name = self.0.get("params").and_then(|params| params.get(key)?.as_str());
        headers.extend(name.map(|name| ("mcp-name", name)));
        headers
    }
}

/// A JSON-RPC error on one line.
pub fn failure(id: Option<&Value>, code: i64, words: &str) -> String {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": words}}).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_notifications_and_cancellations_are_distinguished() {
        let read = |value: Value| Message::parse(&value.to_string()).ok().unwrap();
        let call =
            read(json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "get_task"}}));
        assert_eq!((call.key().as_deref(), call.cancelled()), (Some("7"), None));
        assert_eq!(call.headers(), [("mcp-method", "tools/call"), ("mcp-name", "get_task")]);
        let take_back =
            read(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}));
        assert_eq!((take_back.key(), take_back.cancelled().as_deref()), (None, Some("7")));
        let response = read(json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
        assert_eq!(response.key(), None);
        let stateless = read(
            json!({"id": "a", "method": "tools/list", "params": {"_meta": {VERSION_KEY: "2026-07-28"}}}),
        );
        assert_eq!((stateless.version(), stateless.key().as_deref()), (Some("2026-07-28"), Some("\"a\"")));
    }

    #[test]
    fn an_invalid_line_gets_an_error() {
        for (line, code) in [("{", PARSE_ERROR), ("[]", INVALID_REQUEST), ("3", INVALID_REQUEST)] {
            let answer: Value = serde_json::from_str(&Message::parse(line).err().unwrap()).unwrap();
            assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &Value::Null), "{line}");
        }
    }
}
