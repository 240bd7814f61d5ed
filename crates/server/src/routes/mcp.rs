//! The MCP servers that agent programs are configured with.

use axum::extract::{Request, State};
use forge_core::Forge;
use forge_types::Executor;
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::envelope::{Answer, Fault, ok};
use crate::extract::{Params, decode, read_json};
use crate::routes::config::CONFIG_LIMIT;

pub(crate) async fn show(State(forge): State<Forge>, params: Params) -> Answer {
    Ok(ok(forge.mcp_config(executor(&params)?).await?))
}

pub(crate) async fn save(State(forge): State<Forge>, params: Params, request: Request) -> Answer {
    let executor = executor(&params)?;
    let body = decode::<Servers>(&read_json(request, CONFIG_LIMIT).await?)?;
    Ok(ok(forge.save_mcp_config(executor, body.0).await?))
}

/// `{"servers": {name: server}}`, or the map itself.
struct Servers(Map<String, Value>);

impl<'de> Deserialize<'de> for Servers {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut body = Map::deserialize(from)?;
        let servers = match body.remove("servers") {
            // A server that is called "servers" has a command or an address; the wrapper has neither.
            Some(Value::Object(inner)) if !inner.contains_key("command") && !inner.contains_key("url") => {
                inner
            }
            Some(Value::Object(inner)) => {
                body.insert("servers".to_owned(), Value::Object(inner));
                body
            }
            Some(other) => return Err(D::Error::custom(format!("servers: is {other}; allowed: an object"))),
            None => body,
        };
        match servers.iter().find(|(_, server)| !server.is_object()) {
            Some((name, server)) => Err(D::Error::custom(format!(
                "servers.{name}: is {server}; allowed: an object such as {{\"command\": \"npx\"}}"
            ))),
            None => Ok(Self(servers)),
        }
    }
}

fn executor(params: &Params) -> Result<Executor, Fault> {
    params.require("executor")?.parse().map_err(|error| Fault::bad_request(format!("executor: {error}")))
}
