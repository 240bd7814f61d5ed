//! `forge usage`: what agents and workers used and what it cost.

mod efficiency;

use std::collections::HashMap;

use anyhow::Result;
use forge_types::{Budget, MonthSpending, TaskId, UsageGroup, UsageReport, UsageSum};
use serde::de::DeserializeOwned;

use crate::client::Client;
use crate::command::list;
use crate::command::serve::block_on;
use crate::figures;
use crate::json;
use crate::reference::{self, short};
use crate::table::Table;
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
    async fn ask<T: DeserializeOwned>(&self, client: &Client, path: &str) -> Result<T> {
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
    /// The server's name for it, and the column heading.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Key::Project => ("project", "PROJECT"),
            Key::Executor => ("executor", "EXECUTOR"),
            Key::Model => ("model", "MODEL"),
            Key::Day => ("day", "DAY"),
            Key::Task => ("task", "TASK"),
            Key::Worker => ("worker", "WORKER"),
            Key::Bead => ("bead", "BEAD"),
        }
    }

    /// What a group is about.
    fn of(self, group: &UsageGroup) -> Option<String> {
        match self {
            Key::Project => group.project_id.map(|id| id.to_string()),
            Key::Executor => group.executor.clone(),
            Key::Model => group.model.clone(),
            Key::Day => group.day.map(|day| day.to_string()),
            Key::Task => group.task_id.map(|id| id.to_string()),
            Key::Worker => group.worker_id.as_ref().map(|id| id.to_string()),
            Key::Bead => group.bead.clone(),
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
        let (key, head) = flags.by.names();
        let path = format!("/api/usage?group_by={key}");
        let report: UsageReport = flags.about.ask(&client, &path).await?;
        if flags.about.json {
            json::print(&report);
            return Ok(());
        }
        let names = match flags.by {
            Key::Project => by_text(list::names(&client).await?),
            Key::Task => by_text(titles(&client).await?),
            _ => HashMap::new(),
        };
        let mut table = Table::new(&[head, "RUNS", "INPUT", "CACHED", "OUTPUT", "COST"]).flexible(&[head]);
        table = table.right(&["RUNS", "INPUT", "CACHED", "OUTPUT", "COST"]);
        for group in &report.groups {
            let name = flags.by.of(group).filter(|name| !name.is_empty()).unwrap_or_else(|| "-".to_owned());
            let name = names.get(&name).cloned().unwrap_or_else(|| match names.is_empty() {
                true => name,
                false => short(&name),
            });
            table.row(cells(Ink::Plain, name, &group.sum));
        }
        table.row(cells(Ink::Bold, "total".to_owned(), &report.total));
        table.print();
        eprintln!("{}", month(&report.month));
        let unpriced = whole(report.total.unpriced_tokens);
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
fn month(month: &MonthSpending) -> String {
    let (spent, projected) =
        (figures::money(month.spent_usd.usd()), figures::money(month.projected_usd.usd()));
    let limit = month.limit_usd.map(|Budget(limit)| format!(" of {}", figures::money(limit.usd())));
    format!("this month: {spent}{}, about {projected} by its end", limit.unwrap_or_default())
}

fn cells(ink: Ink, name: String, sum: &UsageSum) -> Vec<(Ink, String)> {
    let tokens = |count: i64| figures::tokens(whole(count));
    let numbers = [
        sum.runs.to_string(),
        tokens(sum.input_tokens),
        tokens(sum.cache_read_tokens + sum.cache_write_tokens),
        tokens(sum.output_tokens),
        sum.cost_usd.map_or_else(|| "-".to_owned(), |cost| figures::money(cost.usd())),
    ];
    std::iter::once(name).chain(numbers).map(|text| (ink, text)).collect()
}

/// A count, which is never negative.
fn whole(count: i64) -> u64 {
    count.try_into().unwrap_or(0)
}

/// Titles of tasks by id.
async fn titles(client: &Client) -> Result<HashMap<TaskId, String>> {
    let rows = reference::attempts(client).await?.into_iter();
    Ok(rows.map(|row| (row.attempt.task_id, row.task_title)).collect())
}

/// Names by the text of their id.
fn by_text<Id: ToString>(names: HashMap<Id, String>) -> HashMap<String, String> {
    names.into_iter().map(|(id, name)| (id.to_string(), name)).collect()
}
