//! `forge alerts`: alerts about workers.

use anyhow::Result;
use clap::Subcommand;
use forge_types::{Alert, Millis, Severity};
use serde_json::json;

use crate::client::Client;
use crate::command::serve::block_on;
use crate::figures;
use crate::json;
use crate::reference::{NotFound, is_prefix, short};
use crate::table::Table;
use crate::terminal::say;
use crate::transcript::{Ink, Line};

#[derive(clap::Args)]
#[command(after_help = "Examples:\n  forge alerts\n  forge alerts --all\n  forge alerts ack a1b2")]
pub struct Flags {
    #[command(subcommand)]
    command: Option<Command>,
    /// Also show acknowledged and resolved alerts
    #[arg(long)]
    all: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Acknowledge an alert, or all of them
    #[command(after_help = "Examples:\n  forge alerts ack a1b2\n  forge alerts ack --all")]
    Ack {
        /// The alert: its id or a prefix of it
        #[arg(required_unless_present = "all")]
        alert: Option<String>,
        /// Acknowledge all open alerts
        #[arg(long, conflicts_with = "alert")]
        all: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

pub fn run(flags: Flags) -> Result<()> {
    block_on(async {
        let client = Client::find()?;
        match flags.command {
            None => list(&client, flags.all, flags.json).await,
            Some(Command::Ack { alert, json, .. }) => {
                let seen = match alert {
                    Some(named) => vec![acknowledge(&client, &named).await?],
                    None => client.post("/api/alerts/ack-all", &json!({})).await?,
                };
                if json {
                    json::print(&seen);
                    return Ok(());
                }
                for alert in &seen {
                    say(&Line::new(Ink::Yellow, "acknowledged: ").and(Ink::Plain, &alert.message));
                }
                if seen.is_empty() {
                    say(&Line::new(Ink::Plain, "no open alerts"));
                }
                Ok(())
            }
        }
    })
}

async fn list(client: &Client, all: bool, json: bool) -> Result<()> {
    let mut alerts: Vec<Alert> = client.get("/api/alerts").await?;
    if !all {
        alerts.retain(|alert| alert.resolved_at.is_none() && alert.acknowledged_at.is_none());
    }
    if json {
        json::print(&alerts);
        return Ok(());
    }
    if alerts.is_empty() {
        say(&Line::new(Ink::Plain, "no alerts"));
        return Ok(());
    }
    let mut table =
        Table::new(&["ID", "SEVERITY", "STATE", "AGE", "COUNT", "MESSAGE"]).right(&["AGE", "COUNT"]);
    let now = Millis::now();
    for alert in alerts {
        let ink = match alert.severity {
            Severity::Critical => Ink::Red,
            Severity::Warning => Ink::Yellow,
            Severity::Info => Ink::Dim,
        };
        let severity = json::word(&alert.severity);
        let state = match (alert.resolved_at, alert.acknowledged_at) {
            (Some(_), _) => "resolved",
            (None, Some(_)) => "acknowledged",
            (None, None) => "open",
        };
        table.row(vec![
            (Ink::Bold, short(alert.id)),
            (ink, severity),
            (Ink::Plain, state.to_owned()),
            (Ink::Dim, figures::age(alert.last_at, now)),
            (Ink::Dim, alert.count.to_string()),
            (Ink::Plain, alert.message),
        ]);
    }
    table.print();
    Ok(())
}

async fn acknowledge(client: &Client, named: &str) -> Result<Alert> {
    let all: Vec<Alert> = client.get("/api/alerts").await?;
    let matching: Vec<_> = all.iter().map(|alert| alert.id).filter(|id| is_prefix(named, id)).collect();
    match &matching[..] {
        [id] => client.post(&format!("/api/alerts/{id}/ack"), &json!({})).await,
        [] => Err(NotFound(format!("no alert matches '{named}'; `forge alerts` lists them")).into()),
        _ => Err(NotFound(format!("'{named}' matches {} alerts; use a longer id", matching.len())).into()),
    }
}
