//! `forge approve`: lists and answers agents' questions.

use anyhow::Result;
use forge_types::wire::{PendingApproval, TaskAttemptDetail};
use forge_types::{Millis, Project};
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

/// An open question, and the attempt whose agent asked it.
pub struct Question {
    id: String,
    attempt: Option<String>,
    tool: String,
    input: Value,
    timeout_at: String,
}

impl Question {
    /// How long it still waits for an answer, if known.
    fn time_left(&self) -> String {
        let until = serde_json::from_value::<Millis>(json!(self.timeout_at));
        until.map_or_else(
            |_| String::new(),
            |until| format!("{} left: ", figures::duration(figures::between(Millis::now(), until))),
        )
    }

    pub fn object(&self) -> Value {
        json!({
            "id": self.id, "attempt_id": self.attempt, "tool_name": self.tool, "tool_input": self.input,
            "timeout_at": self.timeout_at,
        })
    }
}

pub fn run(flags: Flags) -> Result<()> {
    block_on(async {
        let client = Client::find()?;
        let all = questions(&client).await?;
        let Some(named) = &flags.which else {
            if flags.json {
                terminal::print_json(&all.iter().map(Question::object).collect());
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
            terminal::print_json(&chosen.iter().map(Question::object).collect());
        }
        Ok(())
    })
}

fn reason(deny: Option<&str>) -> Option<&str> {
    deny.map(str::trim).filter(|reason| !reason.is_empty())
}

/// The question with this id, or else those of one attempt.
async fn select(client: &Client, named: &str, scope: &Scope, all: Vec<Question>) -> Result<Vec<Question>> {
    let by_id: Vec<bool> = all.iter().map(|question| is_prefix(named, &question.id)).collect();
    match by_id.iter().filter(|fits| **fits).count() {
        0 => {}
        1 => return Ok(all.into_iter().zip(by_id).filter_map(|(one, fits)| fits.then_some(one)).collect()),
        count => {
            return Err(NotFound(format!("'{named}' matches {count} questions; use a longer id")).into());
        }
    }
    let Meant { attempt, .. } = reference::attempt(client, named, scope, Deed::Change).await?;
    let of_attempt: Vec<Question> =
        all.into_iter().filter(|question| question.attempt.as_ref() == Some(&attempt.id)).collect();
    if of_attempt.is_empty() {
        let text = format!(
            "the agent of {} is not waiting for an answer; `forge approve` lists those that are",
            attempt.short()
        );
        return Err(NotFound(text).into());
    }
    Ok(of_attempt)
}

/// The name of the project whose agent asked.
async fn project_of(client: &Client, question: &Question) -> Option<String> {
    let attempt: TaskAttemptDetail =
        client.get(&format!("/api/task-attempts/{}", question.attempt.as_ref()?)).await.ok()?;
    let path = format!("/api/projects/{}", attempt.attempt.project_id);
    client.get::<Project>(&path).await.ok().map(|project| project.name)
}

/// Every open question.
pub async fn questions(client: &Client) -> Result<Vec<Question>> {
    let pending: Vec<PendingApproval> = client.get("/api/approvals/pending").await?;
    let question = |one: PendingApproval| Question {
        id: one.id.to_string(),
        attempt: one.task_attempt_id.map(|id| id.to_string()),
        tool: one.tool_name,
        input: one.tool_input,
        timeout_at: one.timeout_at.to_string(),
    };
    Ok(pending.into_iter().map(question).collect())
}

/// The questions of one attempt.
pub async fn questions_of(client: &Client, attempt: &str) -> Result<Vec<Question>> {
    let all = questions(client).await?;
    Ok(all.into_iter().filter(|question| question.attempt.as_deref() == Some(attempt)).collect())
}

/// Prints each question and how to answer it.
pub fn print_questions(questions: &[Question]) {
    for question in questions {
        let id = short(&question.id);
        say(&Line::new(Ink::Yellow, "asks ").and(Ink::Plain, &title(question)));
        say(&Line::new(
            Ink::Dim,
            &format!("     {}forge approve {id} [--deny REASON]", question.time_left()),
        ));
    }
}

fn title(question: &Question) -> String {
    let of = question.attempt.as_deref().map(|id| format!("{} ", short(id))).unwrap_or_default();
    let what = ["command", "file_path", "path", "description", "plan"]
        .iter()
        .find_map(|key| question.input[*key].as_str())
        .map_or_else(|| question.input.to_string(), str::to_owned);
    format!("{of}{}: {what}", question.tool)
}
