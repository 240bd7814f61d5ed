//! `forge beads`: a project's issues, who has claimed them, and their dependencies.

mod whose;

use anyhow::Result;
use clap::Subcommand;
use forge_types::BeadStatus;
use forge_types::wire::{Bead, BeadLink, BeadUnlink};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::client::Client;
use crate::command::serve::block_on;
use crate::exit::Misused;
use crate::json;
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
    /// Set up beads in the current repository: make it a project with a .beads folder
    #[command(after_help = "Examples:\n  forge beads init\n  forge beads init --json")]
    Init {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List the beads that are ready for work, in the tracker's order
    #[command(after_help = "Examples:\n  forge beads ready\n  forge beads ready --json")]
    Ready(Common),
    /// List all beads that are not closed
    #[command(after_help = "Examples:\n  forge beads list\n  forge beads list --status closed --json")]
    List {
        /// Only those with this status, e.g. open, in_progress or closed
        #[arg(long)]
        status: Option<String>,
        /// Include closed beads
        #[arg(short, long, conflicts_with = "status")]
        all: bool,
        #[command(flatten)]
        common: Common,
    },
    /// Show one bead with its dependencies and comments
    #[command(after_help = "Examples:\n  forge beads show shop-a1b\n  forge beads show shop-a1b --json")]
    Show {
        /// The bead's id
        bead: String,
        #[command(flatten)]
        common: Common,
    },
    /// Claim a bead, so that nobody else works on it
    #[command(
        after_help = "Examples:\n  forge beads claim shop-a1b\n  forge beads claim shop-a1b --worker alpha"
    )]
    Claim {
        /// The bead's id
        bead: String,
        /// Who claims it, a name without spaces [default: person]
        #[arg(short, long, value_name = "NAME")]
        worker: Option<String>,
        #[command(flatten)]
        common: Common,
    },
    /// Release a claimed bead, or allow another try of one that was set aside
    #[command(
        after_help = "Examples:\n  forge beads release shop-a1b\n  forge beads release shop-a1b -m \"needs a key\""
    )]
    Release {
        /// The bead's id
        bead: String,
        /// The reason, added as a comment
        #[arg(short = 'm', long, value_name = "TEXT")]
        comment: Option<String>,
        #[command(flatten)]
        common: Common,
    },
    /// Close a bead
    #[command(after_help = "Examples:\n  forge beads close shop-a1b -r \"Done in 1a2b3c4\"")]
    Close {
        /// The bead's id
        bead: String,
        /// What was done
        #[arg(short, long, value_name = "TEXT")]
        reason: String,
        #[command(flatten)]
        common: Common,
    },
    /// Create a bead
    #[command(after_help = "Examples:\n  forge beads create \"Fix the login\" -t bug -p 0\n  \
                            forge beads create \"Test it\" --depends-on shop-a1b")]
    Create(NewBead),
    /// Remove a dependency between two beads
    #[command(after_help = "Examples:\n  forge beads undep shop-a1b shop-c2d")]
    Undep {
        /// The dependent bead
        bead: String,
        /// The bead it depends on
        depends_on: String,
        /// Only a dependency of this type [default: any]
        #[arg(short = 't', long = "type", value_name = "TYPE")]
        kind: Option<String>,
        #[command(flatten)]
        common: Common,
    },
    /// Add a dependency between two beads
    #[command(
        after_help = "Examples:\n  forge beads dep shop-a1b shop-c2d\n  forge beads dep shop-a1b shop-c2d --type related"
    )]
    Dep {
        /// The dependent bead
        bead: String,
        /// The bead that must be closed first
        depends_on: String,
        /// Dependency type
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
    /// What to do, in one line
    title: String,
    /// What an agent needs to know to do it
    #[arg(short, long, value_name = "TEXT")]
    description: Option<String>,
    /// Priority, from 0 (most urgent) to 4
    #[arg(short, long, default_value_t = 2)]
    priority: i64,
    /// Type, e.g. task, bug or feature
    #[arg(short = 't', long = "type", value_name = "TYPE", default_value = "task")]
    kind: String,
    /// A label; may be repeated
    #[arg(short, long = "label", value_name = "LABEL")]
    labels: Vec<String>,
    /// The bead that this one is a part of
    #[arg(long, value_name = "BEAD")]
    parent: Option<String>,
    /// A bead that must be closed first; may be repeated
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
                beads.retain(|bead| all || status.is_some() || *bead.status() != BeadStatus::Closed);
                show_list(beads, common.json, "no beads");
            }
            Command::Show { bead, common } => {
                let whose = common.whose(&client, Deed::Look).await?;
                let path = format!("/api/beads/{}?{}", checked(&bead)?, whose.query());
                let bead: Bead = client.get(&path).await?;
                if common.json {
                    json::print(&bead);
                } else {
                    show(&bead);
                }
            }
            Command::Claim { bead, worker, common } => {
                let (changed, whose): (Bead, _) =
                    common.act(&client, &bead, "claim", json!({ "worker": worker })).await?;
                let assignee = changed.assignee.as_deref().unwrap_or_default();
                common.report(&changed, &format!("{bead} is claimed by {assignee}"), &whose);
            }
            Command::Release { bead, comment, common } => {
                let (changed, whose): (Bead, _) =
                    common.act(&client, &bead, "release", json!({ "comment": comment })).await?;
                let state = match changed.status() {
                    BeadStatus::Closed => "is closed",
                    _ => "can be claimed again",
                };
                common.report(&changed, &format!("{bead} {state}"), &whose);
            }
            Command::Close { bead, reason, common } => {
                let (changed, whose): (Bead, _) =
                    common.act(&client, &bead, "close", json!({ "reason": reason })).await?;
                common.report(&changed, &format!("{bead} is closed"), &whose);
            }
            Command::Create(new) => create(&client, new).await?,
            Command::Undep { bead, depends_on, kind, common } => {
                let body = json!({"depends_on": checked(&depends_on)?, "type": kind});
                let (changed, whose): (BeadUnlink, _) = common.act(&client, &bead, "undep", body).await?;
                let words = match changed.removed {
                    true => format!("{bead} no longer depends on {depends_on}"),
                    false => format!("{bead} did not depend on {depends_on}"),
                };
                common.report(&changed, &words, &whose);
            }
            Command::Dep { bead, depends_on, kind, common } => {
                let body = json!({"depends_on": checked(&depends_on)?, "type": kind});
                let (changed, whose): (BeadLink, _) = common.act(&client, &bead, "dep", body).await?;
                let words = match changed.added {
                    true => format!("{bead} depends on {depends_on}"),
                    false => format!("{bead} already depends on {depends_on}"),
                };
                common.report(&changed, &words, &whose);
            }
        }
        Ok(())
    })
}

impl Common {
    async fn whose(&self, client: &Client, deed: Deed) -> Result<Whose> {
        Whose::find(client, &self.scope, deed).await
    }

    /// Changes a bead; returns the result and whose bead it is.
    async fn act<T: DeserializeOwned>(
        &self,
        client: &Client,
        bead: &str,
        what: &str,
        mut body: Value,
    ) -> Result<(T, Whose)> {
        let whose = self.whose(client, Deed::Change).await?;
        whose.put(&mut body);
        let changed = client.post(&format!("/api/beads/{}/{what}", checked(bead)?), &body).await?;
        Ok((changed, whose))
    }

    fn report<T: Serialize + JsonSchema>(&self, changed: &T, words: &str, whose: &Whose) {
        match self.json {
            true => json::print(changed),
            false => say(&Line::new(Ink::Plain, words).and(Ink::Dim, &format!(" in {}", whose.name()))),
        }
    }
}

async fn list(client: &Client, common: &Common, filter: &str) -> Result<Vec<Bead>> {
    let whose = common.whose(client, Deed::Look).await?;
    let beads: Vec<Bead> = client.get(&format!("/api/beads?{}{filter}", whose.query())).await?;
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
    let bead: Bead = client.post("/api/beads", &body).await?;
    if new.common.json {
        json::print(&bead);
        return Ok(());
    }
    // Standard output is the id alone, for scripts.
    eprintln!("created in {}:", whose.name());
    terminal::print(&format!("{}\n", bead.id));
    Ok(())
}

fn show_list(beads: Vec<Bead>, json: bool, none: &str) {
    if json {
        json::print(&beads);
        return;
    }
    if beads.is_empty() {
        eprintln!("{none}");
        return;
    }
    let mut table = Table::new(&["BEAD", "P", "TYPE", "STATUS", "TITLE", "WHO"]).flexible(&["TITLE", "WHO"]);
    for bead in &beads {
        let (ink, status) = standing(bead);
        table.row(vec![
            (Ink::Bold, bead.id.clone()),
            (Ink::Plain, bead.priority.unwrap_or(0).to_string()),
            (Ink::Plain, bead.issue_type.clone().unwrap_or_else(|| "task".to_owned())),
            (ink, status),
            (Ink::Plain, bead.title.clone().unwrap_or_default()),
            (Ink::Dim, holder(bead.assignee.as_deref().unwrap_or_default())),
        ]);
    }
    table.print();
}

/// The state of a bead in one word.
fn standing(bead: &Bead) -> (Ink, String) {
    if bead.standing.parked.is_some() {
        return (Ink::Red, "parked".to_owned());
    }
    match (bead.status(), bead.standing.ready) {
        (BeadStatus::Open, true) => (Ink::Green, "ready".to_owned()),
        (BeadStatus::Open, false) => (Ink::Yellow, "blocked".to_owned()),
        (status, _) => (Ink::Plain, status.to_string()),
    }
}

fn show(bead: &Bead) {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    say(&Line::new(Ink::Bold, &bead.id).and(Ink::Plain, " ").and(Ink::Plain, &text(&bead.title)));
    say_fact("status", &standing(bead).1);
    say_fact("priority", &bead.priority.unwrap_or(0).to_string());
    let task = bead.standing.task_id.map(short);
    let facts = [
        ("assignee", text(&bead.assignee)),
        ("labels", bead.labels.join(", ")),
        ("waits for", bead.standing.blocked_by.join(", ")),
        ("parked", text(&bead.standing.parked)),
        ("task", task.unwrap_or_default()),
        ("reason", text(&bead.close_reason)),
    ];
    for (name, value) in facts.iter().filter(|(_, value)| !value.is_empty()) {
        say_fact(name, value);
    }
    for words in [&bead.description, &bead.acceptance_criteria].into_iter().flatten() {
        say(&Line::new(Ink::Plain, "").whole());
        words.lines().for_each(|line| say(&Line::new(Ink::Plain, line).whole()));
    }
    for comment in &bead.comments {
        let words = Line::new(Ink::Dim, &comment.author).and(Ink::Plain, ": ");
        say(&words.and(Ink::Plain, &comment.text).whole());
    }
}

/// Who claimed it; of Forge's `forge/<machine>/<who>/<claim>` only the part that people know.
fn holder(actor: &str) -> String {
    match actor.split('/').collect::<Vec<_>>()[..] {
        ["forge", _, "attempt", claim] => format!("attempt {}", short(claim)),
        ["forge", _, who, _] => who.to_owned(),
        _ => actor.to_owned(),
    }
}

/// A word escaped for a query.
fn escaped(word: &str) -> String {
    forge_client::query([("", word)]).trim_start_matches('=').to_owned()
}

/// An id that is safe in a URL.
pub fn checked(bead: &str) -> Result<&str> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !bead.is_empty() && !bead.starts_with(['.', '-']) && bead.chars().all(allowed) {
        return Ok(bead);
    }
    Err(Misused(format!("'{bead}' is not a bead id; `forge beads list` shows them")).into())
}
