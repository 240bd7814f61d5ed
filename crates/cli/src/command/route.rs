//! `forge route`: explains which agent got a bead, why, and how it ended.

use anyhow::Result;
use clap::Subcommand;
use serde_json::Value;

use crate::client::Client;
use crate::command::beads::checked;
use crate::command::serve::block_on;
use crate::figures;
use crate::reference;
use crate::terminal::{self, say, say_fact};
use crate::transcript::{Ink, Line};

#[derive(Subcommand)]
#[command(after_help = "Examples:\n  forge route explain shop-a1b")]
pub enum Command {
    /// List every decision about a bead, newest first
    #[command(
        after_help = "Examples:\n  forge route explain shop-a1b\n  forge route explain shop-a1b --json"
    )]
    Explain {
        /// The bead's id
        bead: String,
        /// The project: name, id or path [default: that of the current directory]
        #[arg(long)]
        project: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

pub fn run(command: Command) -> Result<()> {
    let Command::Explain { bead, project, json } = command;
    block_on(async {
        let client = Client::find()?;
        let project = match &project {
            Some(named) => reference::project(&client, named).await?,
            None => reference::here_or_refuse(&client).await?,
        };
        let path = format!("/api/routing/explain?bead={}&project_id={}", checked(&bead)?, project.id);
        let decisions: Vec<Value> = client.get(&path).await?;
        if json {
            terminal::print_json(&Value::Array(decisions));
            return Ok(());
        }
        if decisions.is_empty() {
            say(&Line::new(Ink::Plain, &format!("{bead} has not been assigned yet")));
        }
        decisions.iter().for_each(print);
        Ok(())
    })
}

fn print(routing: &Value) {
    let (decision, score) = (&routing["decision"], &routing["score"]);
    let points = |part: &str| score[part].as_u64().unwrap_or(0);
    let parts = ["priority", "type", "complexity", "availability"];
    let total: u64 = parts.iter().map(|part| points(part)).sum();
    let sum: Vec<String> = parts.iter().map(|part| format!("{part} {}", points(part))).collect();
    let money = |value: &Value| value.as_f64().map_or_else(|| "unknown".to_owned(), figures::money);
    let head = format!(" {} ({})", text(&decision["model"]), text(&decision["tier"]));
    say(&Line::new(Ink::Bold, text(&routing["work"])).and(Ink::Plain, &head));
    say_fact("when", text(&routing["decided_at"]));
    say_fact("why", &text(&decision["reason"]).replace('_', " "));
    if let Some(wanted) = routing["wanted"].as_str().filter(|wanted| *wanted != text(&decision["tier"])) {
        say_fact("wanted", &format!("a model of tier {wanted}"));
    }
    for out in routing["passed_over"].as_array().into_iter().flatten() {
        let words = format!("{} ({}): {}", text(&out["model"]), text(&out["tier"]), text(&out["why"]));
        say_fact("out", &words);
    }
    say_fact("score", &format!("{total} of 100: {}", sum.join(", ")));
    say_fact("difficulty", &format!("{} of 100", routing["complexity"].as_u64().unwrap_or(0)));
    say_fact("worker", text(&routing["worker"]));
    say_fact("outcome", routing["outcome"].as_str().unwrap_or("running"));
    say_fact(
        "cost",
        &format!("{}, expected {}", money(&routing["actual_cost"]), money(&decision["estimated_cost"])),
    );
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
