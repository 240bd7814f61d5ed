//! Changes to a task.

use anyhow::Result;
use forge_types::Task;
use forge_types::TaskStatus;
use serde_json::{Map, Value, json};

use super::{One, Words};
use crate::client::Client;
use crate::command::list::ink;
use crate::exit::Misused;
use crate::json;
use crate::reference::{self, Deed, short};
use crate::terminal::say;
use crate::transcript::{Ink, Line};

#[derive(clap::Args)]
pub struct Change {
    #[command(flatten)]
    one: One,
    /// New title
    #[arg(short, long)]
    title: Option<String>,
    #[command(flatten)]
    words: Words,
    /// New status: todo, inprogress, inreview, done, cancelled or archived
    #[arg(short, long)]
    status: Option<TaskStatus>,
    /// New label, replacing all others; may be repeated; an empty one removes all
    #[arg(short, long = "label", value_name = "LABEL")]
    labels: Vec<String>,
}

pub async fn edit(client: &Client, change: Change) -> Result<()> {
    let mut body = Map::new();
    body.extend(change.title.map(|title| ("title".to_owned(), json!(title))));
    body.extend(change.words.read()?.map(|text| ("description".to_owned(), json!(text))));
    body.extend(change.status.map(|status| ("status".to_owned(), json!(status))));
    if !change.labels.is_empty() {
        let labels: Vec<String> = change.labels.into_iter().filter(|label| !label.is_empty()).collect();
        body.insert("labels".to_owned(), json!(labels));
    }
    if body.is_empty() {
        let text = "nothing to change; give --title, --description, --file, --status or --label";
        return Err(Misused(text.to_owned()).into());
    }
    put(client, &change.one, &Value::Object(body)).await
}

pub async fn mark(client: &Client, one: &One, status: &str) -> Result<()> {
    put(client, one, &json!({"status": status})).await
}

async fn put(client: &Client, one: &One, body: &Value) -> Result<()> {
    let (task, project) = reference::task(client, &one.task, &one.scope, Deed::Change).await?;
    let changed: Task = client.put(&format!("/api/tasks/{}", task.id), body).await?;
    if one.json {
        json::print(&changed);
        return Ok(());
    }
    let status = changed.status.as_str();
    let line = Line::new(Ink::Bold, &short(task.id)).and(Ink::Plain, " ").and(ink(status), status);
    let line = line.and(Ink::Plain, " ").and(Ink::Plain, &changed.title);
    say(&line.and(Ink::Dim, &format!(" of {}", project.name)));
    Ok(())
}
