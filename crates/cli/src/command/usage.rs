//! `forge usage`: what agents used and what it cost.

use std::collections::HashMap;

use anyhow::Result;
use serde_json::Value;

use crate::client::Client;
use crate::command::list;
use crate::command::serve::block_on;
use crate::figures;
use crate::reference::{self, Attempt, short};
use crate::table::Table;
use crate::terminal;
use crate::transcript::Ink;

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  forge usage\n  forge usage --by day --since 2026-11-01\n  forge usage --by task --json"
)]
pub struct Flags {
    /// What is summed up together
    #[arg(long, value_enum, value_name = "KEY", default_value_t = Key::Model)]
    by: Key,
    /// The first day that counts, e.g. 2026-11-01
    #[arg(long, value_name = "DATE")]
    since: Option<forge_types::Day>,
    /// Only of this project: its name, id or path
    #[arg(short, long)]
    project: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Key {
    Project,
    Executor,
    Model,
    Day,
    Task,
}

impl Key {
    /// As the server calls it, the field of a group that tells it, and the head of its column.
    fn names(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Key::Project => ("project", "project_id", "PROJECT"),
            Key::Executor => ("executor", "executor", "EXECUTOR"),
            Key::Model => ("model", "model", "MODEL"),
            Key::Day => ("day", "day", "DAY"),
            Key::Task => ("task", "task_id", "TASK"),
        }
    }
}

pub fn run(flags: Flags) -> Result<()> {
    block_on(async {
        let client = Client::find()?;
        let (key, field, head) = flags.by.names();
        let mut path = format!("/api/usage?group_by={key}");
        if let Some(day) = flags.since {
            path += &format!("&from={day}");
        }
        if let Some(named) = &flags.project {
            path += &format!("&project_id={}", reference::project(&client, named).await?.id);
        }
        let report: Value = client.get(&path).await?;
        if flags.json {
            terminal::print_json(&report);
            return Ok(());
        }
        let names = match flags.by {
            Key::Project => list::names(&client).await?,
            Key::Task => titles(&client).await?,
            _ => HashMap::new(),
        };
        let mut table = Table::new(&[head, "RUNS", "INPUT", "CACHED", "OUTPUT", "COST"]).bending(&[head]);
        table = table.right(&["RUNS", "INPUT", "CACHED", "OUTPUT", "COST"]);
        for group in report["groups"].as_array().into_iter().flatten() {
            let name = group[field].as_str().filter(|name| !name.is_empty()).unwrap_or("-");
            let name = names.get(name).cloned().unwrap_or_else(|| match names.is_empty() {
                true => name.to_owned(),
                false => short(name).to_owned(),
            });
            table.row(cells(Ink::Plain, name, group));
        }
        table.row(cells(Ink::Bold, "total".to_owned(), &report["total"]));
        table.print();
        let unpriced = report["total"]["unpriced_tokens"].as_u64().unwrap_or(0);
        if unpriced > 0 {
            let tokens = figures::tokens(unpriced);
            eprintln!(
                "the cost of {tokens} tokens is not known and not in the sums; ~/.forge/prices.json can name prices"
            );
        }
        Ok(())
    })
}

fn cells(ink: Ink, name: String, sum: &Value) -> Vec<(Ink, String)> {
    let count = |key: &str| sum[key].as_u64().unwrap_or(0);
    let cost = sum["cost_usd"].as_f64().map_or_else(|| "-".to_owned(), figures::money);
    let cached = count("cache_read_tokens") + count("cache_write_tokens");
    let numbers = [
        count("runs").to_string(),
        figures::tokens(count("input_tokens")),
        figures::tokens(cached),
        figures::tokens(count("output_tokens")),
        cost,
    ];
    std::iter::once(name).chain(numbers).map(|text| (ink, text)).collect()
}

/// Titles of tasks by id.
async fn titles(client: &Client) -> Result<HashMap<String, String>> {
    let attempts: Vec<Attempt> = client.get("/api/task-attempts").await?;
    Ok(attempts.into_iter().map(|attempt| (attempt.task_id, attempt.task_title)).collect())
}
