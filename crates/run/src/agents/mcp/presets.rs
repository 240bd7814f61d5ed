//! The MCP servers that are offered, in the form that each agent program expects.

use serde_json::{Map, Value, json};

/// The presets in the form that a program expects; `meta` describes them to people.
pub(in crate::agents) fn written(adapt: fn(Value) -> Option<Value>) -> Value {
    let adapted = presets().into_iter().filter_map(|(name, server)| Some((name, adapt(server)?)));
    let mut all: Map<String, Value> = adapted.collect();
    all.insert("meta".to_owned(), meta());
    Value::Object(all)
}

/// Whether a server is reached by an address instead of started by a command.
pub(in crate::agents) fn is_http(server: &Value) -> bool {
    server["type"] == "http"
}

/// With the address under another key.
pub(in crate::agents) fn http_url(server: Value) -> Option<Value> {
    Some(match is_http(&server) {
        true => json!({"httpUrl": server["url"], "headers": server["headers"]}),
        false => server,
    })
}

fn presets() -> Map<String, Value> {
    let servers = json!({
        "forge": {"command": "npx", "args": ["-y", "automagik-forge@latest", "--mcp"]},
        "genie": {"command": "npx", "args": ["-y", "automagik-genie@latest", "mcp"]},
        "context7": {
            "type": "http",
            "url": "https://mcp.context7.com/mcp",
            "headers": {"CONTEXT7_API_KEY": "YOUR_API_KEY"},
        },
        "playwright": {"command": "npx", "args": ["@playwright/mcp@latest"]},
    });
    servers.as_object().cloned().unwrap_or_default()
}

fn meta() -> Value {
    let entry = |name: &str, description: &str, url: &str, icon: &str| json!({"name": name, "description": description, "url": url, "icon": icon});
    let (site, icon) = ("https://forge.automag.ik", "android-chrome-512x512.png");
    json!({
        "forge": entry("Forge", "Projects, tasks and attempts of Forge", site, icon),
        "forge-advanced": entry("Forge Advanced", "Everything the Forge API offers", site, icon),
        "genie": entry("Automagik Genie", "Agent orchestration and wishes", "https://genie.automag.ik", icon),
        "context7": entry(
            "Context7",
            "Up-to-date documentation and code examples",
            "https://github.com/upstash/context7",
            "mcp/context7logo.png",
        ),
        "playwright": entry(
            "Playwright",
            "Browser automation",
            "https://github.com/microsoft/playwright-mcp",
            "mcp/playwright_logo_icon.svg",
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::agent;
    use forge_types::Executor;

    #[test]
    fn every_program_gets_the_presets_in_its_own_form() {
        let of = |executor: Executor| written(agent(executor).mcp.as_ref().unwrap().adapt);
        assert_eq!(of(Executor::ClaudeCode)["context7"]["type"], "http");
        assert_eq!(of(Executor::Gemini)["context7"]["httpUrl"], "https://mcp.context7.com/mcp");
        assert!(of(Executor::CursorAgent)["context7"].get("type").is_none());
        assert!(
            of(Executor::Codex).get("context7").is_none() && of(Executor::Codex)["playwright"].is_object()
        );
        assert_eq!(of(Executor::Opencode)["context7"]["type"], "remote");
        assert_eq!(of(Executor::Opencode)["playwright"]["command"], json!(["npx", "@playwright/mcp@latest"]));
        assert_eq!(of(Executor::Copilot)["forge"]["tools"], json!(["*"]));
        assert!(of(Executor::Codex)["meta"]["forge-advanced"]["icon"].is_string());
    }
}
