//! `forge usage workers` and `forge usage models`: the cost and performance of workers and models.

use anyhow::Result;
use forge_types::{Millis, ModelPerformance, WorkerEfficiency};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{About, whole};
use crate::client::Client;
use crate::figures;
use crate::json;
use crate::table::Table;
use crate::transcript::Ink;

pub async fn workers(client: &Client, about: &About) -> Result<()> {
    let heads = ["WORKER", "TIER", "CALLS", "TOKENS", "COST", "COST/CALL", "TOKENS/$", "LAST ACTIVE"];
    let now = Millis::now();
    print(client, about, "/api/usage/workers?", &heads, |worker: &WorkerEfficiency| {
        [
            Some(worker.worker_id.to_string()),
            worker.tier.map(|tier| tier.to_string()),
            Some(worker.call_count.to_string()),
            Some(figures::tokens(whole(worker.total_tokens))),
            Some(figures::money(worker.total_cost_usd.usd())),
            Some(figures::money(worker.avg_cost_per_call)),
            worker.efficiency_score.map(|score| figures::tokens(score as u64)),
            Some(figures::age(worker.last_active, now)),
        ]
    })
    .await
}

pub async fn models(client: &Client, about: &About) -> Result<()> {
    let heads = ["MODEL", "CALLS", "TOKENS", "COST", "COST/1K", "LATENCY", "FROM CACHE"];
    print(client, about, "/api/usage/models?", &heads, |model: &ModelPerformance| {
        [
            Some(model.model.clone()).filter(|name| !name.is_empty()),
            Some(model.call_count.to_string()),
            Some(figures::tokens(whole(model.total_tokens))),
            Some(figures::money(model.total_cost_usd.usd())),
            Some(figures::money(model.avg_cost_per_1k_tokens)),
            model.avg_latency_ms.map(|ms| format!("{ms:.0} ms")),
            model.cache_hit_rate.map(|rate| format!("{:.0} %", rate * 100.0)),
        ]
    })
    .await
}

/// Prints a list as JSON, or as a table with dashes for unknown values.
async fn print<T: DeserializeOwned + Serialize + JsonSchema, const N: usize>(
    client: &Client,
    about: &About,
    path: &str,
    heads: &[&'static str; N],
    cells: impl Fn(&T) -> [Option<String>; N],
) -> Result<()> {
    let listed: Vec<T> = about.ask(client, path).await?;
    if about.json {
        json::print(&listed);
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
    for row in &listed {
        let cells = cells(row).map(|cell| (Ink::Plain, cell.unwrap_or_else(|| "-".to_owned())));
        table.row(cells.into());
    }
    table.print();
    Ok(())
}
