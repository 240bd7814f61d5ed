//! `forge alerts`: what a person should know about the workers.

use anyhow::Result;
use clap::Subcommand;
use forge_types::{Alert, Millis, Severity};
use serde_json::{Value, json};

use crate::client::Client;
use crate::command::serve::block_on;
use crate::figures;
use crate::reference::{NotFound, is_beginning, short};
use crate::table::Table;
use crate::terminal::{self, say};
use crate::transcript::{Ink, Line};

#[derive(clap::Args)]
#[command(after_help = "Examples:\n  forge alerts\n  forge alerts --all\n  forge alerts ack a1b2")]
pub struct Flags {
    #[command(subcommand)]
    command: Option<Command>,
    /// Also those that are seen or over
    #[arg(long)]
    all: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Say that you have seen an alert, or all of them
    #[command(after_help = "Examples:\n  forge alerts ack a1b2\n  forge alerts ack --all")]
    Ack {
        /// The alert: its id or the beginning of it
        #[arg(required_unless_present = "all")]
        alert: Option<String>,
        /// All that are open
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
                    terminal::print_json(&serde_json::to_value(&seen)?);
                    return Ok(());
                }
                for alert in &seen {
                    say(&Line::new(Ink::Yellow, "seen ").and(Ink::Plain, &alert.message));
                }
                if seen.is_empty() {
                    say(&Line::new(Ink::Plain, "there was nothing new"));
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
        terminal::print_json(&serde_json::to_value(&alerts)?);
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
        let severity = serde_json::to_value(alert.severity)?.as_str().unwrap_or_default().to_owned();
        let state = match (alert.resolved_at, alert.acknowledged_at) {
            (Some(_), _) => "resolved",
            (None, Some(_)) => "seen",
            (None, None) => "open",
        };
        table.row(vec![
            (Ink::Bold, short(&alert.id.to_string()).to_owned()),
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
    let all: Vec<Value> = client.get("/api/alerts").await?;
    let ids: Vec<&str> = all.iter().filter_map(|alert| alert["id"].as_str()).collect();
    let meant: Vec<&&str> = ids.iter().filter(|id| is_beginning(named, id)).collect();
    match meant[..] {
        [id] => client.post(&format!("/api/alerts/{id}/ack"), &json!({})).await,
        [] => Err(NotFound(format!("no alert begins with '{named}'; `forge alerts` shows which do")).into()),
        _ => Err(NotFound(format!("'{named}' fits {} alerts; say more of it", meant.len())).into()),
    }
}
