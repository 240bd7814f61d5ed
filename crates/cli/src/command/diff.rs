//! `forge diff`: what an attempt changed since it left its target branch.
//!
//! Invariant: unless it is a terminal, standard output gets the patch as git writes it, suitable for `git apply`;
//! omissions are reported on standard error.

mod pager;

use std::process::ExitCode;

use anyhow::Result;
use forge_types::wire::{AttemptDiff, ChangedFile};
use forge_types::{Attempt, AttemptId};

use crate::client::Client;
use crate::command::serve;
use crate::figures;
use crate::json;
use crate::reference::{self, Deed, Scope, short};
use crate::terminal;
use crate::transcript::{Ink, Line, Page, clean};
use pager::Pager;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  forge diff                        # the patch of the newest attempt of this repository
  forge diff a1b2 --stat            # changed files and line counts
  forge diff a1b2 | git apply       # the same changes here")]
pub struct Flags {
    /// The attempt: id or a prefix of it, branch, task, agent or @last
    #[arg(default_value = "@last")]
    attempt: String,
    /// Show files and line counts instead of the patch
    #[arg(long)]
    stat: bool,
    /// Show only the names of changed files
    #[arg(long, conflicts_with = "stat")]
    name_only: bool,
    /// Print everything as JSON
    #[arg(long, conflicts_with_all = ["stat", "name_only"])]
    json: bool,
}

/// What is shown of a change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Patch,
    Stat,
    Names,
    Json,
}

pub fn run(flags: Flags) -> Result<ExitCode> {
    terminal::until_closed(serve::block_on(async {
        let client = Client::find()?;
        let attempt =
            reference::attempt(&client, &flags.attempt, &Scope::default(), Deed::Look).await?.attempt;
        let form = match (flags.stat, flags.name_only, flags.json) {
            (true, ..) => Form::Stat,
            (_, true, _) => Form::Names,
            (.., true) => Form::Json,
            _ => Form::Patch,
        };
        show(&client, &attempt, form).await.map(|()| ExitCode::SUCCESS)
    }))
}

/// A file and its lines; `None` for a binary one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figures {
    pub path: String,
    pub additions: Option<u64>,
    pub deletions: Option<u64>,
}

impl From<ChangedFile> for Figures {
    fn from(ChangedFile { path, additions, deletions, .. }: ChangedFile) -> Self {
        Self { path, additions, deletions }
    }
}

/// What an attempt changed, in a few words.
pub fn words(change: &AttemptDiff) -> String {
    figures::changes(change.files_changed, change.additions, change.deletions)
}

pub async fn figures(client: &Client, attempt: AttemptId) -> Result<AttemptDiff> {
    client.get(&format!("/api/task-attempts/{attempt}/diff?max_bytes=0")).await
}

pub async fn show(client: &Client, attempt: &Attempt, form: Form) -> Result<()> {
    let only_figures = if matches!(form, Form::Stat | Form::Names) { "?max_bytes=0" } else { "" };
    let change: AttemptDiff =
        client.get(&format!("/api/task-attempts/{}/diff{only_figures}", attempt.id)).await?;
    if form == Form::Json {
        return terminal::write(&format!("{:#}\n", json::complete(&change)));
    }
    let text = change.diff.as_str();
    match form {
        Form::Names => {
            let names = change.files.iter().map(|file| terminal::file_name(&file.path) + "\n");
            terminal::write(&names.collect::<String>())?;
        }
        Form::Stat => {
            let words = words(&change);
            change.files.iter().cloned().map(Figures::from).try_for_each(|file| print_figures(&file))?;
            terminal::write(&format!("{words}\n"))?;
        }
        _ if text.is_empty() => eprintln!("forge: {} has no changes", short(attempt.id)),
        _ => show_patch(text)?,
    }
    if change.files.len() < change.files_changed {
        eprintln!("forge: {} more files are not listed", change.files_changed - change.files.len());
    }
    if form == Form::Patch && change.truncated {
        eprintln!(
            "forge: the patch is too long and was cut here; use git diff in the worktree to see all of it"
        );
    }
    Ok(())
}

fn show_patch(text: &str) -> Result<()> {
    let page = terminal::page();
    if page.width == usize::MAX {
        return terminal::write(text);
    }
    let mut painted = String::with_capacity(text.len() + text.len() / 8);
    text.lines().for_each(|line| paint(line, page, &mut painted));
    Pager::open().show(&painted)
}

/// A line of a patch for a terminal: in colour, and harmless.
fn paint(line: &str, page: Page, out: &mut String) {
    let ink = match line.as_bytes() {
        [b'+', b'+', b'+', b' ', ..] | [b'-', b'-', b'-', b' ', ..] => Ink::Bold,
        [b'+', ..] => Ink::Green,
        [b'-', ..] => Ink::Red,
        [b'@', b'@', ..] => Ink::Cyan,
        [b' ', ..] => Ink::Plain,
        _ => Ink::Bold,
    };
    out.push_str(&page.paint(ink, &clean(line)));
    out.push('\n');
}

pub fn print_figures(file: &Figures) -> Result<()> {
    let line = match (file.additions, file.deletions) {
        (None, None) => Line::new(Ink::Dim, "      binary"),
        (added, removed) => Line::new(Ink::Green, &format!("{:>6}", format!("+{}", added.unwrap_or(0))))
            .and(Ink::Red, &format!("{:>6}", format!("-{}", removed.unwrap_or(0)))),
    };
    print_line(&line.and(Ink::Plain, "  ").and(Ink::Plain, &terminal::file_name(&file.path)))
}

pub fn print_unchanged(path: &str) -> Result<()> {
    print_line(&Line::new(Ink::Dim, "   unchanged  ").and(Ink::Plain, &terminal::file_name(path)))
}

fn print_line(line: &Line) -> Result<()> {
    let mut out = String::new();
    line.put(terminal::page(), &mut out);
    terminal::write(&out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::Colours;

    #[test]
    fn a_patch_is_coloured_and_can_do_a_terminal_no_harm() {
        let page = |colours| Page { width: 80, colours };
        let painted = |line: &str, colours| {
            let mut out = String::new();
            paint(line, page(colours), &mut out);
            out
        };
        for (line, want) in [
            ("+new", "\u{1b}[32m+new\u{1b}[0m\n"),
            ("-old", "\u{1b}[31m-old\u{1b}[0m\n"),
            ("@@ -1 +1 @@", "\u{1b}[36m@@ -1 +1 @@\u{1b}[0m\n"),
            (" same", " same\n"),
            ("+++ b/a.txt", "\u{1b}[1m+++ b/a.txt\u{1b}[0m\n"),
            ("+a\u{1b}[2Jb", "\u{1b}[32m+ab\u{1b}[0m\n"),
        ] {
            assert_eq!(painted(line, Colours::On), want);
        }
        assert_eq!(painted("+new", Colours::Off), "+new\n");
    }
}
