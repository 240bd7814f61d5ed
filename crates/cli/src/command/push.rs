//! `forge push`: pushes an attempt's branch.

use anyhow::Result;
use serde_json::{Value, json};

use crate::command::serve::block_on;
use crate::reference::{Deed, Meant, Subject};
use crate::terminal::{self, say};
use crate::transcript::{Ink, Line};

#[derive(clap::Args)]
#[command(after_help = "Examples:\n  forge push @last\n  forge push a1b2 --json")]
pub struct Flags {
    #[command(flatten)]
    subject: Subject,
}

pub fn run(flags: Flags) -> Result<()> {
    block_on(async {
        let (client, Meant { attempt, project }) = flags.subject.find(Deed::Change).await?;
        client.post::<Value>(&format!("/api/task-attempts/{}/push", attempt.id), &json!({})).await?;
        if flags.subject.json {
            terminal::print_json(
                &json!({"attempt_id": attempt.id, "branch": attempt.branch, "project": project.name}),
            );
            return Ok(());
        }
        say(&Line::new(Ink::Green, "pushed ")
            .and(Ink::Plain, &format!("{} of {}", attempt.branch, project.name)));
        Ok(())
    })
}
