//! `forge approve`: lists and answers agents' questions.

use anyhow::Result;
use forge_types::wire::{PendingApproval, TaskAttemptDetail};
use forge_types::{AttemptId, Millis, Project};
use serde_json::{Value, json};

use crate::client::Client;
use crate::command::serve::block_on;
use crate::figures;
use crate::reference::{self, Deed, Meant, NotFound, Scope, is_prefix, short};
use crate::terminal::{self, say};
use crate::transcript::{Ink, Line};

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  forge approve\n  forge approve a1b2\n  forge approve @last --deny \"not in main\""
)]
pub struct Flags {
    /// A question by its id, or the attempt whose questions to answer [default: list all open questions]
    #[arg(value_name = "QUESTION|ATTEMPT")]
    which: Option<String>,
    #[command(flatten)]
    scope: Scope,
    /// Deny, with an optional reason
    #[arg(long, value_name = "REASON", num_args = 0..=1, default_missing_value = "", requires = "which")]
    deny: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A question as programs see it.
pub fn object(question: &PendingApproval) -> Value {
    let PendingApproval { id, task_attempt_id, tool_name, tool_input, timeout_at, .. } = question;
    json!({
        "id": id, "attempt_id": task_attempt_id, "tool_name": tool_name, "tool_input": tool_input,
        "timeout_at": timeout_at,
    })
}

pub fn run(flags: Flags) -> Result<()> {
    block_on(async {
        let client = Client::find()?;
        let all = questions(&client).await?;
        let Some(named) = &flags.which else {
            if flags.json {
                terminal::print_json(&all.iter().map(object).collect());
            } else if all.is_empty() {
                say(&Line::new(Ink::Plain, "no agent is waiting for an answer"));
            } else {
                print_questions(&all);
            }
            return Ok(());
        };
        let chosen = select(&client, named, &flags.scope, all).await?;
        for question in &chosen {
            let body = json!({"approved": flags.deny.is_none(), "comment": reason(flags.deny.as_deref())});
            client.post::<Value>(&format!("/api/approvals/{}/respond", question.id), &body).await?;
            if !flags.json {
                let (ink, word) = match flags.deny {
                    None => (Ink::Green, "allowed "),
                    Some(_) => (Ink::Yellow, "denied "),
                };
                let of = project_of(&client, question).await;
                let of = of.map(|name| format!(" in {name}")).unwrap_or_default();
                say(&Line::new(ink, word).and(Ink::Plain, &title(question)).and(Ink::Dim, &of));
            }
        }
        if flags.json {
            terminal::print_json(&chosen.iter().map(object).collect());
        }
        Ok(())
    })
}

fn reason(deny: Option<&str>) -> Option<&str> {
    deny.map(str::trim).filter(|reason| !reason.is_empty())
}

/// The question with this id, or else those of one attempt.
async fn select(
    client: &Client,
    named: &str,
    scope: &Scope,
    all: Vec<PendingApproval>,
) -> Result<Vec<PendingApproval>> {
    let by_id: Vec<bool> = all.iter().map(|question| is_prefix(named, question.id)).collect();
    match by_id.iter().filter(|fits| **fits).count() {
        0 => {}
        1 => return Ok(all.into_iter().zip(by_id).filter_map(|(one, fits)| fits.then_some(one)).collect()),
        count => {
            return Err(NotFound(format!("'{named}' matches {count} questions; use a longer id")).into());
        }
    }
    let Meant { attempt, .. } = reference::attempt(client, named, scope, Deed::Change).await?;
    let of_attempt: Vec<PendingApproval> =
        all.into_iter().filter(|question| question.task_attempt_id == Some(attempt.id)).collect();
    if of_attempt.is_empty() {
        let text = format!(
            "the agent of {} is not waiting for an answer; `forge approve` lists those that are",
            short(attempt.id)
        );
        return Err(NotFound(text).into());
    }
    Ok(of_attempt)
}

/// The name of the project whose agent asked.
async fn project_of(client: &Client, question: &PendingApproval) -> Option<String> {
    let attempt: TaskAttemptDetail =
        client.get(&format!("/api/task-attempts/{}", question.task_attempt_id?)).await.ok()?;
    let path = format!("/api/projects/{}", attempt.attempt.project_id);
    client.get::<Project>(&path).await.ok().map(|project| project.name)
}

/// Every open question.
pub async fn questions(client: &Client) -> Result<Vec<PendingApproval>> {
    client.get("/api/approvals/pending").await
}

/// The questions of one attempt.
pub async fn questions_of(client: &Client, attempt: AttemptId) -> Result<Vec<PendingApproval>> {
    let all = questions(client).await?;
    Ok(all.into_iter().filter(|question| question.task_attempt_id == Some(attempt)).collect())
}

/// Prints each question and how to answer it.
pub fn print_questions(questions: &[PendingApproval]) {
    for question in questions {
        let left = figures::duration(figures::between(Millis::now(), question.timeout_at));
        let how = format!("     {left} left: forge approve {} [--deny REASON]", short(question.id));
        say(&Line::new(Ink::Yellow, "asks ").and(Ink::Plain, &title(question)));
        say(&Line::new(Ink::Dim, &how));
    }
}

fn title(question: &PendingApproval) -> String {
    let of = question.task_attempt_id.map(|id| format!("{} ", short(id))).unwrap_or_default();
    let what = ["command", "file_path", "path", "description", "plan"]
        .iter()
        .find_map(|key| question.tool_input.get(key)?.as_str())
        .map_or_else(|| question.tool_input.to_string(), str::to_owned);
    format!("{of}{}: {what}", question.tool_name)
}
