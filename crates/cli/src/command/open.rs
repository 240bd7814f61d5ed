//! `forge open`: opens an attempt on the board or in the editor, or prints its path.

use std::path::Path;

use anyhow::{Context, Result};
use forge_types::wire::EditorUrl;
use serde_json::{Value, json};

use crate::command::serve::block_on;
use crate::json;
use crate::reference::{self, Deed, Meant, Subject, short};
use crate::terminal::{self, say};
use crate::transcript::{Ink, Line};

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  forge open @last\n  forge open a1b2 --editor\n  cd $(forge open --path @last)"
)]
pub struct Flags {
    #[command(flatten)]
    subject: Subject,
    /// Open it in the configured editor, on the server's machine
    #[arg(short, long, conflicts_with_all = ["path", "board"])]
    editor: bool,
    /// Print the path of its worktree
    #[arg(short, long, visible_alias = "worktree", conflicts_with = "board")]
    path: bool,
    /// Open it on the board, in the browser (the default)
    #[arg(short, long)]
    board: bool,
}

pub fn run(flags: Flags) -> Result<()> {
    block_on(async {
        let (client, Meant { attempt, .. }) = flags.subject.find(Deed::Look).await?;
        let print = |text: &str, data: Value| match flags.subject.json {
            true => terminal::print_json(&data),
            false => terminal::print(&format!("{text}\n")),
        };
        if flags.path {
            let path = attempt.worktree_path.as_deref().context("the attempt has no worktree yet")?;
            if !Path::new(path).exists() {
                let id = short(attempt.id);
                eprintln!("{path} does not exist; `forge restore {id}` restores a retired worktree");
            }
            print(path, json!({"attempt_id": attempt.id, "path": path}));
            return Ok(());
        }
        if flags.editor {
            let path = format!("/api/task-attempts/{}/open-editor", attempt.id);
            let opened: EditorUrl = client.post(&path, &json!({})).await?;
            // A remote editor is opened with a link.
            match &opened.url {
                Some(url) => print(url, json!(opened)),
                None if flags.subject.json => json::print(&opened),
                None => say(&Line::new(Ink::Green, "opened ").and(Ink::Plain, &attempt.branch)),
            }
            return Ok(());
        }
        let page = reference::page(&client, &attempt);
        forge_run::open_page(&page);
        print(&page, json!({"attempt_id": attempt.id, "url": page}));
        Ok(())
    })
}
