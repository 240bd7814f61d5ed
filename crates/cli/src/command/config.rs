//! `forge config`: the settings of the server, by dotted names.
//!
//! Invariant: an unknown name is an error and changes nothing. Secrets come masked from the server
//! and are never shown, and a new value is printed as the server shows it.

use std::collections::BTreeMap;

use anyhow::Result;
use clap::Subcommand;
use serde_json::{Value, json};

use crate::client::Client;
use crate::command::run::agent;
use crate::command::serve::block_on;
use crate::exit::Misused;
use crate::reference::NotFound;
use crate::settings::{self, Env};
use crate::table::Table;
use crate::terminal;
use crate::transcript::Ink;

/// These have fields but are one value.
const WHOLE: [&str; 1] = ["executor_profile"];
/// The server does not list these names while they are not set.
const UNSET: [&str; 2] = ["max_cost_usd_per_day", "max_cost_usd_per_month"];

#[derive(Subcommand)]
#[command(after_help = "Examples:\n  forge config get\n  forge config set editor.editor_type ZED\n  \
                        forge config unset github.pat")]
pub enum Command {
    /// Show every setting, or one
    #[command(after_help = "Examples:\n  forge config get\n  forge config get editor.editor_type")]
    Get {
        /// Name, e.g. github.default_pr_base, or a prefix up to a dot [default: all]
        key: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Change a setting
    #[command(after_help = "Examples:\n  forge config set git_branch_prefix work\n  \
                            forge config set max_cost_usd_per_day 20\n  forge config set executor_profile CODEX")]
    Set {
        key: String,
        /// The value: JSON or plain text
        #[arg(allow_hyphen_values = true)]
        value: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Clear a setting
    #[command(
        after_help = "Examples:\n  forge config unset max_cost_usd_per_day\n  forge config unset github.pat"
    )]
    Unset {
        key: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the path of the file; needs no server
    #[command(after_help = "Examples:\n  forge config path\n  forge config path --json")]
    Path {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

pub fn run(command: Command) -> Result<()> {
    if let Command::Path { json } = command {
        let path = settings::home(Env::load())?.join("config.json");
        match json {
            true => terminal::print_json(&json!({ "path": path })),
            false => terminal::print(&format!("{}\n", path.display())),
        }
        return Ok(());
    }
    block_on(async {
        let client = Client::find()?;
        let config: Value = client.get("/api/config").await?;
        match command {
            Command::Get { key, json } => get(&config, key.as_deref(), json),
            Command::Set { key, value, json } => {
                let value = read_value(known(&config, &key)?, &value);
                change(&client, &key, value, json).await
            }
            Command::Unset { key, json } => {
                known(&config, &key)?;
                change(&client, &key, Value::Null, json).await
            }
            Command::Path { .. } => Ok(()),
        }
    })
}

fn get(config: &Value, key: Option<&str>, json: bool) -> Result<()> {
    let value = match key {
        Some(key) => known(config, key)?,
        None => config,
    };
    if json {
        terminal::print_json(value);
        return Ok(());
    }
    let mut all = BTreeMap::new();
    flatten(key.unwrap_or_default(), value, &mut all);
    match (key, all.len(), value) {
        // A single value is for `$(…)`.
        (Some(_), 1, leaf) if !leaf.is_object() || WHOLE.contains(&key.unwrap_or_default()) => {
            terminal::print(&format!("{}\n", plain(leaf)));
        }
        _ => {
            let mut table = Table::new(&["SETTING", "VALUE"]);
            for (name, value) in all {
                let ink = if value.is_null() { Ink::Dim } else { Ink::Plain };
                table.row(vec![(Ink::Bold, name), (ink, plain(value))]);
            }
            table.print();
        }
    }
    Ok(())
}

async fn change(client: &Client, key: &str, value: Value, json: bool) -> Result<()> {
    let wanted = value.clone();
    let body = key.rsplit('.').fold(value, |inner, part| json!({ part: inner }));
    let config: Value = client.put("/api/config", &body).await?;
    let now = known(&config, key)?;
    if wanted.is_null() && !now.is_null() {
        return Err(Misused(format!("{key}: cannot be cleared; it is still {}", plain(now))).into());
    }
    match json {
        true => terminal::print_json(now),
        false => terminal::print(&format!("{key} = {}\n", plain(now))),
    }
    Ok(())
}

/// The value with this name; the error for an unknown name suggests the nearest ones.
fn known<'a>(config: &'a Value, key: &str) -> Result<&'a Value> {
    let found = key.split('.').try_fold(config, |value, part| value.get(part));
    if let Some(value) = found.filter(|_| !key.is_empty()) {
        return Ok(value);
    }
    if UNSET.contains(&key) {
        return Ok(&Value::Null);
    }
    let mut all = BTreeMap::new();
    flatten("", config, &mut all);
    all.extend(UNSET.map(|name| (name.to_owned(), &Value::Null)));
    let mut names: Vec<&String> = all.keys().collect();
    names.sort_by_key(|name| distance(key, name));
    let near: Vec<&str> = names.into_iter().take(3).map(String::as_str).collect();
    Err(NotFound(format!("there is no setting '{key}'; did you mean {}?", near.join(", "))).into())
}

fn flatten<'a>(prefix: &str, value: &'a Value, into: &mut BTreeMap<String, &'a Value>) {
    match value {
        Value::Object(fields) if !WHOLE.contains(&prefix) => {
            for (name, below) in fields {
                let name = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
                flatten(&name, below, into);
            }
        }
        leaf => drop(into.insert(prefix.to_owned(), leaf)),
    }
}

/// Text stays text where text is expected, so that a numeric token or a branch called `true` needs no quotes.
fn read_value(current: &Value, given: &str) -> Value {
    let parsed: Option<Value> = serde_json::from_str(given).ok();
    match parsed {
        Some(Value::String(text)) => Value::String(text),
        Some(value) if !current.is_string() => value,
        _ => Value::String(given.to_owned()),
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// How many letters differ; a name that contains the other is nearest.
fn distance(given: &str, name: &str) -> usize {
    let last = name.rsplit('.').next().unwrap_or(name);
    if last == given || (!given.is_empty() && name.contains(given)) {
        return 0;
    }
    agent::distance(given, name).min(agent::distance(given, last) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> Value {
        json!({"theme": "DARK", "auto_resume": false, "github": {"pat": null, "default_pr_base": "main"},
               "executor_profile": {"executor": "CODEX"}})
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest() {
        let config = config();
        for (given, near) in
            [("them", "theme"), ("pat", "github.pat"), ("github.default_base", "github.default_pr_base")]
        {
            let error = known(&config, given).unwrap_err().to_string();
            assert!(error.contains(&format!("did you mean {near}")), "{given}: {error}");
        }
        assert_eq!(known(&config, "github.default_pr_base").unwrap(), "main");
        assert_eq!(known(&config, "max_cost_usd_per_day").unwrap(), &Value::Null);
    }

    #[test]
    fn values_are_json_unless_text_is_expected() {
        assert_eq!(read_value(&json!(false), "true"), json!(true));
        assert_eq!(read_value(&Value::Null, "20"), json!(20));
        assert_eq!(read_value(&json!("main"), "12"), json!("12"));
        assert_eq!(read_value(&json!("main"), "\"12\""), json!("12"));
        assert_eq!(read_value(&json!(false), "plain words"), json!("plain words"));
    }
}
