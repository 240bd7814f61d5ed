//! What can be answered without a running server, so that a client that starts first keeps its connection.
//!
//! Owns nothing: which tools there are does not depend on any data. Invariant: the same words as the server's, and a
//! tool call never looks as if it had worked.

use rmcp::model::{
    CallToolResult, ContentBlock, DiscoverResult, InitializeRequestParams, ListResourceTemplatesResult,
    ListToolsResult, ProtocolVersion, ServerConfig,
};
use rmcp::{ErrorData, ServerHandler};
use serde::Serialize;
use serde_json::{Value, json};

use super::{check_version, describe, resource, tool};

/// Knows what the server would report about itself.
pub struct Alone {
    pub version: &'static str,
    /// Every tool is listed.
    pub is_advanced: bool,
}

impl ServerHandler for Alone {
    fn get_info(&self) -> ServerConfig {
        describe(self.version)
    }
}

impl Alone {
    /// The response to a request while no server can be reached, with the reason `why`; `None` for what only a server
    /// can answer.
    pub fn answer(&self, request: &Value, why: &str) -> Option<Value> {
        let id = request.get("id").filter(|id| !id.is_null())?;
        let answer = match request["method"].as_str()? {
            "initialize" => self.initialize(&request["params"]),
            "server/discover" => {
                let known = ProtocolVersion::KNOWN_VERSIONS.to_vec();
                to_value(DiscoverResult::from_server_info(known, describe(self.version)))
            }
            "ping" => Ok(json!({})),
            "tools/list" => list(ListToolsResult::with_all_items(
                tool::listed(self.is_advanced).map(tool::Tool::describe).collect(),
            )),
            "resources/list" => list(json!({"resources": []})),
            "resources/templates/list" => {
                list(ListResourceTemplatesResult::with_all_items(resource::templates()))
            }
            "tools/call" => {
                let failure =
                    json!({"success": false, "error": "Failed to connect to AF API", "details": why});
                let mut result = CallToolResult::error(vec![ContentBlock::text(format!("{failure:#}"))]);
                result.structured_content = Some(failure);
                to_value(result)
            }
            _ => return None,
        };
        Some(match answer {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
        })
    }

    fn initialize(&self, params: &Value) -> Result<Value, ErrorData> {
        let request: InitializeRequestParams = serde_json::from_value(params.clone())
            .map_err(|error| ErrorData::invalid_params(format!("params: {error}"), None))?;
        check_version(&request.protocol_version)?;
        to_value(self.negotiate_initialize(&request)?)
    }
}

/// Newer clients ask how long they may keep a list: not at all, because the server may have another one.
fn list(result: impl Serialize) -> Result<Value, ErrorData> {
    let mut list = to_value(result)?;
    (list["ttlMs"], list["cacheScope"]) = (json!(0), json!("private"));
    Ok(list)
}

fn to_value(result: impl Serialize) -> Result<Value, ErrorData> {
    serde_json::to_value(result).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(method: &str, params: Value) -> Option<Value> {
        let request = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
        Alone { version: "1.2.3", is_advanced: false }.answer(&request, "start one with `forge serve`")
    }

    #[test]
    fn a_client_gets_its_handshake_and_the_tools_and_reads_why_none_works() {
        let client = json!({"name": "c", "version": "1"});
        let hello = |version: &str| {
            ask("initialize", json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client}))
                .unwrap()
        };
        let begun = hello("2025-03-26");
        assert_eq!(begun["result"]["protocolVersion"], "2025-03-26", "{begun}");
        assert_eq!(begun["result"]["serverInfo"], json!({"name": "automagik-forge", "version": "1.2.3"}));
        assert_eq!(hello("2023-01-01")["error"]["code"], -32602);
        let tools = ask("tools/list", json!({})).unwrap();
        assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), tool::listed(false).count());
        let called = ask("tools/call", json!({"name": "list_projects", "arguments": {}})).unwrap();
        assert_eq!((&called["result"]["isError"], &called["id"]), (&json!(true), &json!(7)));
        assert!(called["result"]["content"][0]["text"].as_str().unwrap().contains("forge serve"), "{called}");
        assert_eq!(ask("resources/read", json!({"uri": "forge://x"})), None);
        assert_eq!(ask("server/discover", json!({})).unwrap()["result"]["capabilities"]["tools"], json!({}));
    }
}
