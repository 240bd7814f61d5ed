//! `forge beads`: the work that a project has written down, who has it, and what waits for what.

mod whose;

use anyhow::Result;
use clap::Subcommand;
use serde_json::{Value, json};

use crate::client::Client;
use crate::command::serve::block_on;
use crate::exit::Misused;
use crate::reference::{Deed, Scope, short};
use crate::table::Table;
use crate::terminal::{self, say, say_fact};
use crate::transcript::{Ink, Line};
use whose::{Whose, refuse_none};

#[derive(Subcommand)]
#[command(
    after_help = "Examples:\n  forge beads init\n  forge beads ready\n  forge beads create \"Fix the login\" -p 1\n  forge beads claim shop-a1b"
)]
pub enum Command {
    /// Let the repository of the present directory keep beads: make it a project with a folder .beads
    #[command(after_help = "Examples:\n  forge beads init\n  forge beads init --json")]
    Init {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Beads that can be worked on now, in the order of their tracker
    #[command(after_help = "Examples:\n  forge beads ready\n  forge beads ready --json")]
    Ready(Common),
    /// Every bead that is not closed
    #[command(after_help = "Examples:\n  forge beads list\n  forge beads list --status closed --json")]
    List {
        /// Only those with this status, e.g. open, in_progress or closed
        #[arg(long)]
        status: Option<String>,
        /// Closed ones too
        #[arg(short, long, conflicts_with = "status")]
        all: bool,
        #[command(flatten)]
        common: Common,
    },
    /// One bead with what it waits for and what was said about it
    #[command(after_help = "Examples:\n  forge beads show shop-a1b\n  forge beads show shop-a1b --json")]
    Show {
        /// Its id
        bead: String,
        #[command(flatten)]
        common: Common,
    },
    /// Take a bead, so that nobody else works on it
    #[command(
        after_help = "Examples:\n  forge beads claim shop-a1b\n  forge beads claim shop-a1b --worker alpha"
    )]
    Claim {
        /// Its id
        bead: String,
        /// Who takes it, a name without blanks [default: person]
        #[arg(short, long, value_name = "NAME")]
        worker: Option<String>,
        #[command(flatten)]
        common: Common,
    },
    /// Give a bead back, or let one be tried again that was given up
    #[command(
        after_help = "Examples:\n  forge beads release shop-a1b\n  forge beads release shop-a1b -m \"needs a key\""
    )]
    Release {
        /// Its id
        bead: String,
        /// Why, as a comment
        #[arg(short = 'm', long, value_name = "TEXT")]
        comment: Option<String>,
        #[command(flatten)]
        common: Common,
    },
    /// Close a bead
    #[command(after_help = "Examples:\n  forge beads close shop-a1b -r \"Done in 1a2b3c4\"")]
    Close {
        /// Its id
        bead: String,
        /// What was done
        #[arg(short, long, value_name = "TEXT")]
        reason: String,
        #[command(flatten)]
        common: Common,
    },
    /// Write a new bead down
    #[command(after_help = "Examples:\n  forge beads create \"Fix the login\" -t bug -p 0\n  \
                            forge beads create \"Test it\" --depends-on shop-a1b")]
    Create(NewBead),
    /// Remove a dependency: a bead no longer waits for another one
    #[command(after_help = "Examples:\n  forge beads undep shop-a1b shop-c2d")]
    Undep {
        /// The bead that waits
        bead: String,
        /// The bead that it waits for
        depends_on: String,
        /// Only a dependency of this type [default: any]
        #[arg(short = 't', long = "type", value_name = "TYPE")]
        kind: Option<String>,
        #[command(flatten)]
        common: Common,
    },
    /// Make a bead wait for another one
    #[command(
        after_help = "Examples:\n  forge beads dep shop-a1b shop-c2d\n  forge beads dep shop-a1b shop-c2d --type related"
    )]
    Dep {
        /// The bead that waits
        bead: String,
        /// The bead that must be closed before
        depends_on: String,
        /// How they hang together
        #[arg(short = 't', long = "type", value_name = "TYPE", default_value = "blocks")]
        kind: String,
        #[command(flatten)]
        common: Common,
    },
}

#[derive(clap::Args)]
pub struct Common {
    #[command(flatten)]
    scope: Scope,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
pub struct NewBead {
    /// What is to be done, in a line
    title: String,
    /// What an agent needs to know to do it
    #[arg(short, long, value_name = "TEXT")]
    description: Option<String>,
    /// From 0, the most urgent, to 4
    #[arg(short, long, default_value_t = 2)]
    priority: i64,
    /// Such as task, bug or feature
    #[arg(short = 't', long = "type", value_name = "TYPE", default_value = "task")]
    kind: String,
    /// May be repeated
    #[arg(short, long = "label", value_name = "LABEL")]
    labels: Vec<String>,
    /// The bead that this one is a part of
    #[arg(long, value_name = "BEAD")]
    parent: Option<String>,
    /// A bead that must be closed before; may be repeated
    #[arg(long, value_name = "BEAD")]
    depends_on: Vec<String>,
    #[command(flatten)]
    common: Common,
}

pub fn run(command: Command) -> Result<()> {
    block_on(async {
        let client = Client::find()?;
        match command {
            Command::Init { json } => whose::init(&client, json).await?,
            Command::Ready(common) => {
                let beads = list(&client, &common, "&ready=true").await?;
                show_list(beads, common.json, "nothing is ready");
            }
            Command::List { status, all, common } => {
                let filter = match &status {
                    Some(status) => format!("&status={}", escaped(status)),
                    None => String::new(),
                };
                let mut beads = list(&client, &common, &filter).await?;
                beads.retain(|bead| all || status.is_some() || status_of(bead) != "closed");
                show_list(beads, common.json, "no beads");
            }
            Command::Show { bead, common } => {
                let whose = common.whose(&client, Deed::Look).await?;
                let path = format!("/api/beads/{}?{}", checked(&bead)?, whose.query());
                let bead: Value = client.get(&path).await?;
                if common.json {
                    terminal::print_json(&bead);
                } else {
                    show(&bead);
                }
            }
            Command::Claim { bead, worker, common } => {
                let (told, whose) = common.act(&client, &bead, "claim", json!({ "worker": worker })).await?;
                common.say(&told, &format!("{bead} is taken by {}", text(&told["assignee"])), &whose);
            }
            Command::Release { bead, comment, common } => {
                let (told, whose) =
                    common.act(&client, &bead, "release", json!({ "comment": comment })).await?;
                let stands = if status_of(&told) == "closed" { "is closed" } else { "can be taken again" };
                common.say(&told, &format!("{bead} {stands}"), &whose);
            }
            Command::Close { bead, reason, common } => {
                let (told, whose) = common.act(&client, &bead, "close", json!({ "reason": reason })).await?;
                common.say(&told, &format!("{bead} is closed"), &whose);
            }
            Command::Create(new) => create(&client, new).await?,
            Command::Undep { bead, depends_on, kind, common } => {
                let body = json!({"depends_on": checked(&depends_on)?, "type": kind});
                let (told, whose) = common.act(&client, &bead, "undep", body).await?;
                let words = match told["removed"] == true {
                    true => format!("{bead} no longer waits for {depends_on}"),
                    false => format!("{bead} did not wait for {depends_on}"),
                };
                common.say(&told, &words, &whose);
            }
            Command::Dep { bead, depends_on, kind, common } => {
                let body = json!({"depends_on": checked(&depends_on)?, "type": kind});
                let (told, whose) = common.act(&client, &bead, "dep", body).await?;
                let words = match told["added"] == true {
                    true => format!("{bead} waits for {depends_on}"),
                    false => format!("{bead} waits for {depends_on} already"),
                };
                common.say(&told, &words, &whose);
            }
        }
        Ok(())
    })
}

impl Common {
    async fn whose(&self, client: &Client, deed: Deed) -> Result<Whose> {
        Whose::find(client, &self.scope, deed).await
    }

    /// Does something to a bead, and tells whose it is.
    async fn act(&self, client: &Client, bead: &str, what: &str, mut body: Value) -> Result<(Value, Whose)> {
        let whose = self.whose(client, Deed::Change).await?;
        whose.put(&mut body);
        let told = client.post(&format!("/api/beads/{}/{what}", checked(bead)?), &body).await?;
        Ok((told, whose))
    }

    fn say(&self, told: &Value, words: &str, whose: &Whose) {
        match self.json {
            true => terminal::print_json(told),
            false => say(&Line::new(Ink::Plain, words).and(Ink::Dim, &format!(" in {}", whose.name()))),
        }
    }
}

async fn list(client: &Client, common: &Common, filter: &str) -> Result<Vec<Value>> {
    let whose = common.whose(client, Deed::Look).await?;
    let beads: Vec<Value> = client.get(&format!("/api/beads?{}{filter}", whose.query())).await?;
    if beads.is_empty() {
        refuse_none(client, &whose).await?;
    }
    Ok(beads)
}

async fn create(client: &Client, new: NewBead) -> Result<()> {
    let mut body = json!({
        "title": new.title,
        "description": new.description,
        "priority": new.priority,
        "issue_type": new.kind,
        "labels": new.labels,
        "parent": new.parent,
        "depends_on": new.depends_on,
    });
    let whose = whose::begin(client, &new.common.scope).await?;
    whose.put(&mut body);
    let bead: Value = client.post("/api/beads", &body).await?;
    if new.common.json {
        terminal::print_json(&bead);
        return Ok(());
    }
    // Standard output is the id alone, for scripts.
    eprintln!("created in {}:", whose.name());
    terminal::print(&format!("{}\n", text(&bead["id"])));
    Ok(())
}

fn show_list(beads: Vec<Value>, json: bool, none: &str) {
    if json {
        terminal::print_json(&Value::Array(beads));
        return;
    }
    if beads.is_empty() {
        eprintln!("{none}");
        return;
    }
    let mut table = Table::new(&["BEAD", "P", "TYPE", "STATUS", "TITLE", "WHO"]).bending(&["TITLE", "WHO"]);
    for bead in &beads {
        let (ink, status) = standing(bead);
        table.row(vec![
            (Ink::Bold, text(&bead["id"]).to_owned()),
            (Ink::Plain, bead["priority"].as_i64().unwrap_or(0).to_string()),
            (Ink::Plain, bead["issue_type"].as_str().unwrap_or("task").to_owned()),
            (ink, status),
            (Ink::Plain, text(&bead["title"]).to_owned()),
            (Ink::Dim, holder(text(&bead["assignee"]))),
        ]);
    }
    table.print();
}

/// How a bead stands, in a word.
fn standing(bead: &Value) -> (Ink, String) {
    let standing = &bead["standing"];
    if standing["parked"].is_string() {
        return (Ink::Red, "parked".to_owned());
    }
    match (status_of(bead), standing["ready"] == true) {
        ("open", true) => (Ink::Green, "ready".to_owned()),
        ("open", false) => (Ink::Yellow, "waits".to_owned()),
        (status, _) => (Ink::Plain, status.to_owned()),
    }
}

fn show(bead: &Value) {
    let standing = &bead["standing"];
    say(&Line::new(Ink::Bold, text(&bead["id"])).and(Ink::Plain, " ").and(Ink::Plain, text(&bead["title"])));
    say_fact("status", &self::standing(bead).1);
    say_fact("priority", &bead["priority"].as_i64().unwrap_or(0).to_string());
    let listed = |list: &Value| {
        let names: Vec<&str> = list.as_array().into_iter().flatten().map(text).collect();
        names.join(", ")
    };
    let facts = [
        ("taken by", text(&bead["assignee"]).to_owned()),
        ("labels", listed(&bead["labels"])),
        ("waits for", listed(&standing["blocked_by"])),
        ("parked", text(&standing["parked"]).to_owned()),
        ("task", short(text(&standing["task_id"])).to_owned()),
        ("reason", text(&bead["close_reason"]).to_owned()),
    ];
    for (name, value) in facts.iter().filter(|(_, value)| !value.is_empty()) {
        say_fact(name, value);
    }
    for part in ["description", "acceptance_criteria"] {
        if let Some(words) = bead[part].as_str() {
            say(&Line::new(Ink::Plain, "").whole());
            words.lines().for_each(|line| say(&Line::new(Ink::Plain, line).whole()));
        }
    }
    for comment in bead["comments"].as_array().into_iter().flatten() {
        let words = Line::new(Ink::Dim, text(&comment["author"])).and(Ink::Plain, ": ");
        say(&words.and(Ink::Plain, text(&comment["text"])).whole());
    }
}

fn status_of(bead: &Value) -> &str {
    bead["status"].as_str().unwrap_or("open")
}

/// Who has it, of Forge's `forge/<machine>/<who>/<claim>` only what people know them by.
fn holder(actor: &str) -> String {
    match actor.split('/').collect::<Vec<_>>()[..] {
        ["forge", _, "attempt", claim] => format!("attempt {}", short(claim)),
        ["forge", _, who, _] => who.to_owned(),
        _ => actor.to_owned(),
    }
}

/// A word as it can stand in a query.
fn escaped(word: &str) -> String {
    let url = reqwest::Url::parse_with_params("http://localhost", [("", word)]).ok();
    url.and_then(|url| Some(url.query()?.trim_start_matches('=').to_owned())).unwrap_or_default()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// An id that can stand in an address.
pub fn checked(bead: &str) -> Result<&str> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !bead.is_empty() && !bead.starts_with(['.', '-']) && bead.chars().all(allowed) {
        return Ok(bead);
    }
    Err(Misused(format!("'{bead}' is no id of a bead; `forge beads list` shows them")).into())
}
