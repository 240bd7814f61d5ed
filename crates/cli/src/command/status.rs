//! `forge status`: the status of the server or of one attempt.

mod detail;

use std::collections::HashMap;

use anyhow::Result;
use forge_types::wire::PendingApproval;
use forge_types::{
    AttemptId, AttemptStatus, Budget, Day, ListedAttempt, MicroUsd, Millis, ProjectId, Settings, UsageReport,
};
use serde_json::json;

use crate::client::Client;
use crate::command::approve;
use crate::command::list;
use crate::command::serve::block_on;
use crate::figures;
use crate::reference::{self, Deed, Scope};
use crate::terminal::{self, say_fact};

#[derive(clap::Args)]
#[command(after_help = "Examples:\n  forge status\n  forge status @last\n  forge status a1b2 --json")]
pub struct Flags {
    /// An attempt: id or a prefix of it, branch, task, agent or @last [default: the whole server]
    #[arg(value_name = "ATTEMPT")]
    attempt: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(flags: Flags) -> Result<()> {
    block_on(async {
        let client = Client::find()?;
        match &flags.attempt {
            None => Server::look(&client).await?.print(&client, flags.json),
            Some(named) => {
                let meant = reference::attempt(&client, named, &Scope::default(), Deed::Look).await?;
                detail::print(&client, &meant, flags.json).await?;
            }
        }
        Ok(())
    })
}

struct Server {
    version: String,
    names: HashMap<ProjectId, String>,
    running: Vec<ListedAttempt>,
    questions: Vec<PendingApproval>,
    spent_today: Option<f64>,
    budget: Option<f64>,
}

impl Server {
    async fn look(client: &Client) -> Result<Self> {
        let today = Day::of(Millis::now());
        let usage = format!("/api/usage?from={today}&to={today}");
        let (attempts, names, usage, config, questions) = tokio::try_join!(
            reference::attempts(client),
            list::names(client),
            client.get::<UsageReport>(&usage),
            client.get::<Settings>("/api/config"),
            approve::questions(client),
        )?;
        Ok(Self {
            version: client.ready().await.map_or_else(|| "?".to_owned(), |ready| ready.version),
            names,
            running: attempts
                .into_iter()
                .filter(|listed| listed.attempt.status == AttemptStatus::Running)
                .collect(),
            questions,
            spent_today: usage.total.cost_usd.map(MicroUsd::usd),
            budget: config.max_cost_usd_per_day.map(|Budget(limit)| limit.usd()),
        })
    }

    fn print(&self, client: &Client, json: bool) {
        if json {
            let running: Vec<AttemptId> = self.running.iter().map(|listed| listed.attempt.id).collect();
            terminal::print_json(&json!({
                "server": client.base(), "version": self.version, "projects": self.names.len(),
                "running": running, "approvals": self.questions.iter().map(approve::object).collect::<Vec<_>>(),
                "cost_usd_today": self.spent_today, "max_cost_usd_per_day": self.budget,
            }));
            return;
        }
        say_fact("server", &format!("{} (forge {})", client.base(), self.version));
        say_fact("projects", &self.names.len().to_string());
        let spent = self.spent_today.map_or_else(|| "nothing".to_owned(), figures::money);
        let limit = self.budget.map(|budget| format!(" of {} a day", figures::money(budget)));
        say_fact("today", &format!("{spent}{}", limit.unwrap_or_default()));
        say_fact("running", &self.running.len().to_string());
        if !self.running.is_empty() {
            terminal::print("\n");
            list::print_attempts(&self.running, &self.names);
        }
        if !self.questions.is_empty() {
            terminal::print("\n");
            approve::print_questions(&self.questions);
        }
    }
}
