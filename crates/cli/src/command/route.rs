//! `forge route`: explains which agent got a bead, why, and how it ended.

use anyhow::Result;
use clap::Subcommand;
use forge_types::{MicroUsd, Routing, WorkerId};

use crate::client::Client;
use crate::command::beads::checked;
use crate::command::serve::block_on;
use crate::figures;
use crate::json;
use crate::reference;
use crate::terminal::{say, say_fact};
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
        let decisions: Vec<Routing> = client.get(&path).await?;
        if json {
            json::print(&decisions);
            return Ok(());
        }
        if decisions.is_empty() {
            say(&Line::new(Ink::Plain, &format!("{bead} has not been assigned yet")));
        }
        decisions.iter().for_each(print);
        Ok(())
    })
}

fn print(routing: &Routing) {
    let Routing { decision, score, .. } = routing;
    let money =
        |cost: Option<MicroUsd>| cost.map_or_else(|| "unknown".to_owned(), |cost| figures::money(cost.usd()));
    say(&Line::new(Ink::Bold, &routing.work)
        .and(Ink::Plain, &format!(" {} ({})", decision.model, decision.tier)));
    say_fact("when", &routing.decided_at.to_string());
    say_fact("why", &json::word(&decision.reason).replace('_', " "));
    if let Some(wanted) = routing.wanted.filter(|wanted| *wanted != decision.tier) {
        say_fact("wanted", &format!("a model of tier {wanted}"));
    }
    for out in &routing.passed_over {
        say_fact("out", &format!("{} ({}): {}", out.model, out.tier, out.why));
    }
    say_fact(
        "score",
        &format!(
            "{} of 100: priority {}, type {}, complexity {}, availability {}",
            score.total(),
            score.priority,
            score.kind,
            score.complexity,
            score.availability
        ),
    );
    say_fact("difficulty", &format!("{} of 100", routing.complexity));
    say_fact("worker", routing.worker.as_ref().map_or("", WorkerId::as_str));
    say_fact("outcome", &routing.outcome.as_ref().map_or_else(|| "running".to_owned(), json::word));
    let (actual, expected) = (money(routing.actual_cost), money(decision.estimated_cost));
    say_fact("cost", &format!("{actual}, expected {expected}"));
}
