//! `forge usage`: what agents and workers used and what it cost.

mod efficiency;

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
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  forge usage\n  forge usage --by day --since 2026-11-01\n  forge usage --by bead --json\n  \
                  forge usage workers"
)]
pub struct Flags {
    #[command(subcommand)]
    report: Option<Report>,
    /// How to group the totals
    #[arg(long, value_enum, value_name = "KEY", default_value_t = Key::Model)]
    by: Key,
    #[command(flatten)]
    about: About,
}

#[derive(clap::Subcommand)]
enum Report {
    /// Show what each worker used, cost and completed
    #[command(
        after_help = "Examples:\n  forge usage workers\n  forge usage workers --since 2026-11-01 --json"
    )]
    Workers(About),
    /// Show the cost and performance of each model
    #[command(after_help = "Examples:\n  forge usage models\n  forge usage models --project api --json")]
    Models(About),
}

/// Whose usage to show, and how.
#[derive(clap::Args)]
struct About {
    /// Count from this day, e.g. 2026-11-01
    #[arg(long, value_name = "DATE")]
    since: Option<forge_types::Day>,
    /// Count only this project: name, id or path
    #[arg(short, long)]
    project: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl About {
    /// Requests the usage.
    async fn ask(&self, client: &Client, path: &str) -> Result<Value> {
        let mut path = path.to_owned();
        if let Some(day) = self.since {
            path += &format!("&from={day}");
        }
        if let Some(named) = &self.project {
            path += &format!("&project_id={}", reference::project(client, named).await?.id);
        }
        client.get(&path).await
    }
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Key {
    Project,
    Executor,
    Model,
    Day,
    Task,
    Worker,
    Bead,
}

impl Key {
    /// The server's name for it, the field of a group that contains it, and the column heading.
    fn names(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Key::Project => ("project", "project_id", "PROJECT"),
            Key::Executor => ("executor", "executor", "EXECUTOR"),
            Key::Model => ("model", "model", "MODEL"),
            Key::Day => ("day", "day", "DAY"),
            Key::Task => ("task", "task_id", "TASK"),
            Key::Worker => ("worker", "worker_id", "WORKER"),
            Key::Bead => ("bead", "bead", "BEAD"),
        }
    }
}

pub fn run(flags: Flags) -> Result<()> {
    block_on(async {
        let client = Client::find()?;
        match &flags.report {
            Some(Report::Workers(about)) => return efficiency::workers(&client, about).await,
            Some(Report::Models(about)) => return efficiency::models(&client, about).await,
            None => {}
        }
        let (key, field, head) = flags.by.names();
        let report = flags.about.ask(&client, &format!("/api/usage?group_by={key}")).await?;
        if flags.about.json {
            terminal::print_json(&report);
            return Ok(());
        }
        let names = match flags.by {
            Key::Project => list::names(&client).await?,
            Key::Task => titles(&client).await?,
            _ => HashMap::new(),
        };
        let mut table = Table::new(&[head, "RUNS", "INPUT", "CACHED", "OUTPUT", "COST"]).flexible(&[head]);
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
        eprintln!("{}", month(&report["month"]));
        let unpriced = report["total"]["unpriced_tokens"].as_u64().unwrap_or(0);
        if unpriced > 0 {
            let tokens = figures::tokens(unpriced);
            eprintln!(
                "the cost of {tokens} tokens is unknown and not included; add prices to prices.json in Forge's home"
            );
        }
        Ok(())
    })
}

/// The cost of the month so far, and the projected total.
fn month(usage: &Value) -> String {
    let money = |key: &str| usage[key].as_f64().map(figures::money);
    let (spent, projected) = (money("spent_usd"), money("projected_usd"));
    let limit = money("limit_usd").map(|limit| format!(" of {limit}")).unwrap_or_default();
    format!(
        "this month: {}{limit}, about {} by its end",
        spent.unwrap_or_default(),
        projected.unwrap_or_default()
    )
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
