//! `forge usage workers` and `forge usage models`: the cost and performance of workers and models.

use anyhow::Result;
use forge_types::Millis;
use serde::Deserialize;
use serde_json::Value;

use super::About;
use crate::client::Client;
use crate::figures;
use crate::table::Table;
use crate::terminal;
use crate::transcript::Ink;

pub async fn workers(client: &Client, about: &About) -> Result<()> {
    let heads = ["WORKER", "TIER", "CALLS", "TOKENS", "COST", "COST/CALL", "TOKENS/$", "LAST ACTIVE"];
    let now = Millis::now();
    print(client, about, "/api/usage/workers?", &heads, |worker| {
        let tokens = |key: &str| worker[key].as_f64().map(|count| figures::tokens(count as u64));
        [
            text(&worker["worker_id"]),
            text(&worker["tier"]),
            Some(worker["call_count"].to_string()),
            tokens("total_tokens"),
            money(&worker["total_cost_usd"]),
            money(&worker["avg_cost_per_call"]),
            tokens("efficiency_score"),
            Millis::deserialize(&worker["last_active"]).ok().map(|at| figures::age(at, now)),
        ]
    })
    .await
}

pub async fn models(client: &Client, about: &About) -> Result<()> {
    let heads = ["MODEL", "CALLS", "TOKENS", "COST", "COST/1K", "LATENCY", "FROM CACHE"];
    print(client, about, "/api/usage/models?", &heads, |model| {
        [
            text(&model["model"]),
            Some(model["call_count"].to_string()),
            model["total_tokens"].as_u64().map(figures::tokens),
            money(&model["total_cost_usd"]),
            money(&model["avg_cost_per_1k_tokens"]),
            model["avg_latency_ms"].as_f64().map(|ms| format!("{ms:.0} ms")),
            model["cache_hit_rate"].as_f64().map(|rate| format!("{:.0} %", rate * 100.0)),
        ]
    })
    .await
}

/// Prints a list as JSON, or as a table with dashes for unknown values.
async fn print<const N: usize>(
    client: &Client,
    about: &About,
    path: &str,
    heads: &[&'static str; N],
    cells: impl Fn(&Value) -> [Option<String>; N],
) -> Result<()> {
    let listed = about.ask(client, path).await?;
    if about.json {
        terminal::print_json(&listed);
        return Ok(());
    }
    let mut table = Table::new(heads).flexible(&heads[..1]);
    table = table.right(&[
        "CALLS",
        "TOKENS",
        "COST",
        "COST/CALL",
        "TOKENS/$",
        "COST/1K",
        "LATENCY",
        "FROM CACHE",
    ]);
    for row in listed.as_array().into_iter().flatten() {
        let cells = cells(row).map(|cell| (Ink::Plain, cell.unwrap_or_else(|| "-".to_owned())));
        table.row(cells.into());
    }
    table.print();
    Ok(())
}

fn text(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

fn money(value: &Value) -> Option<String> {
    value.as_f64().map(figures::money)
}
