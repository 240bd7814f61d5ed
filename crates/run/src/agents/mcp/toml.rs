//! MCP servers in a TOML file.
//!
//! Invariant: tables of unchanged servers, and everything else, keep their bytes.

use serde_json::{Map, Value as Json};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use super::Servers;

pub(super) fn servers(text: &str, key: &str) -> Result<Servers, String> {
    let document: DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| error.message().to_owned())?;
    match document.get(key) {
        None => Ok(Servers::new()),
        Some(item) => Ok(to_map(item.as_table_like().ok_or_else(|| format!("{key} is not a table"))?)),
    }
}

pub(super) fn with_servers(text: &str, key: &str, servers: &Servers) -> Result<String, String> {
    let mut document: DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| error.message().to_owned())?;
    let mut fresh = Table::new();
    // Only the servers in it have a heading.
    fresh.set_implicit(true);
    let item = document.entry(key).or_insert(Item::Table(fresh));
    let is_inline = item.is_inline_table();
    let table = item.as_table_like_mut().ok_or_else(|| format!("{key} is not a table"))?;
    let present = to_map(table);
    for gone in present.keys().filter(|name| !servers.contains_key(*name)) {
        table.remove(gone);
    }
    for (name, server) in servers {
        if present.get(name) == Some(server) {
            continue;
        }
        let value = from_json(server).ok_or_else(|| format!("{name} is null, which TOML cannot hold"))?;
        let item = match value {
            Value::InlineTable(fields) if !is_inline => Item::Table(fields.into_table()),
            value => Item::Value(value),
        };
        table.insert(name, item);
    }
    Ok(document.to_string())
}

fn to_map(table: &dyn TableLike) -> Map<String, Json> {
    table.iter().filter_map(|(key, item)| Some((key.to_owned(), to_json(item)?))).collect()
}

fn to_json(item: &Item) -> Option<Json> {
    match item {
        Item::None => None,
        Item::Value(value) => Some(value_to_json(value)),
        Item::Table(table) => Some(Json::Object(to_map(table))),
        Item::ArrayOfTables(tables) => Some(tables.iter().map(|table| Json::Object(to_map(table))).collect()),
    }
}

fn value_to_json(value: &Value) -> Json {
    match value {
        Value::String(text) => Json::String(text.value().clone()),
        Value::Integer(number) => Json::from(*number.value()),
        Value::Float(number) => Json::from(*number.value()),
        Value::Boolean(flag) => Json::Bool(*flag.value()),
        Value::Datetime(time) => Json::String(time.value().to_string()),
        Value::Array(list) => list.iter().map(value_to_json).collect(),
        Value::InlineTable(table) => Json::Object(to_map(table)),
    }
}

/// `None` for null, which TOML does not have.
fn from_json(json: &Json) -> Option<Value> {
    Some(match json {
        Json::Null => return None,
        Json::Bool(flag) => (*flag).into(),
        Json::Number(number) => match number.as_i64() {
            Some(number) => number.into(),
            None => number.as_f64()?.into(),
        },
        Json::String(text) => text.into(),
        Json::Array(list) => Value::Array(list.iter().filter_map(from_json).collect::<Array>()),
        Json::Object(fields) => {
            let pairs = fields.iter().filter_map(|(key, value)| Some((key.as_str(), from_json(value)?)));
            Value::InlineTable(pairs.collect::<InlineTable>())
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;
    use serde_json::json;

    const FILE: &str = "# mine\nmodel = \"o3\" # fast\n\n[mcp_servers.old]\ncommand = 'a' # why\nargs = [\n  'x', # here\n]\n\n\
                        # about gone\n[mcp_servers.gone]\ncommand = \"b\"\n\n[tui]\ntheme = \"x\"\n";

    fn object(value: Json) -> Servers {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn only_the_servers_that_differ_are_touched() {
        let new = object(
            json!({"old": {"command": "a", "args": ["x"]}, "new": {"command": "c", "env": {"K": "v"}}}),
        );
        let text = with_servers(FILE, "mcp_servers", &new).unwrap();
        assert_eq!(servers(&text, "mcp_servers").unwrap(), new);
        let kept = FILE.find("# about gone").unwrap();
        assert_eq!(text[..kept], FILE[..kept], "everything before the removed table keeps its bytes");
        assert!(text.contains("[tui]\ntheme = \"x\"\n") && !text.contains("gone"), "{text}");
        assert!(text.contains("[mcp_servers.new]\ncommand = \"c\"\nenv = { K = \"v\" }\n"), "{text}");
    }

    #[test]
    fn a_new_an_inline_and_a_broken_file() {
        let one = object(json!({"x": {"command": "e", "off": null}}));
        assert_eq!(with_servers("", "mcp_servers", &one).unwrap(), "[mcp_servers.x]\ncommand = \"e\"\n");
        let inline =
            with_servers("mcp_servers = { y = { command = 'f' } } # all\n", "mcp_servers", &one).unwrap();
        assert_eq!(inline, "mcp_servers = { x = { command = \"e\" } } # all\n");
        assert!(servers("a = [", "mcp_servers").is_err());
        assert!(with_servers("mcp_servers = 3", "mcp_servers", &one).is_err());
    }
}
