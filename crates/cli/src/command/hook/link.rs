//! The work of the hook: adds one block per attempt to SESSION-STATE.md, as part of the attempt's first commit.
//!
//! Invariant: it never blocks a commit and hardly delays it, and commits nothing of the user's that the user did not
//! add.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use forge_git::{FileStanding, PendingCommit, Repo};
use forge_legacy::genie;
use forge_os::file::{if_any, read_text};
use forge_types::Millis;

use crate::command::serve;
use crate::linkage::Linkage;

/// A commit waits no longer than this.
const TIME_LIMIT: Duration = Duration::from_secs(4);
/// The maximum size of SESSION-STATE.md, a text for people.
const MAX_BYTES: u64 = 16 << 20;

#[derive(clap::Args)]
pub struct Flags {
    /// Exit with 1 when no wish matches and with 2 on an error
    #[arg(long)]
    strict: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum Linked {
    /// Not an agent's worktree, no `.genie`, already linked, or a partial commit.
    NothingToDo,
    WithWish,
    WithoutWish,
}

pub fn run(flags: &Flags) -> Result<ExitCode> {
    let linked = serve::block_on(async {
        let here = std::env::current_dir().context("the current directory does not exist")?;
        match tokio::time::timeout(TIME_LIMIT, link(&here)).await {
            Ok(linked) => linked,
            Err(_) => bail!("no answer within {} s", TIME_LIMIT.as_secs()),
        }
    });
    let code = match linked {
        Ok(Linked::NothingToDo | Linked::WithWish) => 0,
        Ok(Linked::WithoutWish) => 1,
        Err(error) => {
            eprintln!("forge: this commit is not linked in {}: {error:#}", genie::STATE_FILE);
            2
        }
    };
    Ok(if flags.strict { code.into() } else { ExitCode::SUCCESS })
}

async fn link(here: &Path) -> Result<Linked> {
    // Agents work in linked worktrees; the user's own checkout is ignored.
    let Some(top) = forge_git::linked_worktree(here) else { return Ok(Linked::NothingToDo) };
    let Some(linkage) = Linkage::of(here).await? else { return Ok(Linked::NothingToDo) };
    if linkage.kind != "attempt" || !top.join(".genie").is_dir() {
        return Ok(Linked::NothingToDo);
    }
    let file = top.join(genie::STATE_FILE);
    let text = if_any(read_text(&top, &file, MAX_BYTES))?.unwrap_or_default();
    if genie::mentions(&text, &linkage.id, linkage.prefix()) {
        return Ok(Linked::NothingToDo);
    }
    let commit = PendingCommit::here(&Repo::open(&top).await?, &top)?;
    let standing = commit.standing(genie::STATE_FILE).await?;
    // The next full commit can include it.
    if commit.is_partial() || standing == FileStanding::Unmerged {
        return Ok(Linked::NothingToDo);
    }
    // A file that the user deleted stays deleted.
    if standing == FileStanding::Unstaged && !file.exists() {
        return Ok(Linked::NothingToDo);
    }
    genie::replace(&file, genie::add_session(&text, &block(&linkage)))?;
    match standing {
        FileStanding::Staged => commit.add(genie::STATE_FILE).await?,
        FileStanding::Unstaged => eprintln!(
            "forge: attempt {} is linked in {}, but not in this commit: the file has unstaged changes",
            linkage.prefix(),
            genie::STATE_FILE
        ),
        FileStanding::Ignored | FileStanding::Unmerged => {}
    }
    Ok(if linkage.wish.is_some() { Linked::WithWish } else { Linked::WithoutWish })
}

/// The lines of the block. Genie reads the heading and the first bold lines; the others are Forge's.
fn block(linkage: &Linkage) -> Vec<String> {
    let wish = linkage.wish.as_ref().map(|wish| wish.slug.as_str());
    let slug = wish.unwrap_or_else(|| match linkage.abbreviation() {
        "" => linkage.prefix(),
        name => name,
    });
    let now = Millis::now().to_string();
    let minute = now.split('.').next().unwrap_or_default().replace('T', " ");
    let mut lines = vec![
        format!("### Forge Task - {slug}"),
        format!("**Attempt ID Prefix:** `{}`", linkage.prefix()),
        format!("**Wish:** {}", wish.unwrap_or("none")),
        format!("**Branch:** {}", linkage.branch),
        format!("**Linked:** {minute} UTC"),
        "**Status:** active".to_owned(),
        "**Next:** First commit detected - auto-linked".to_owned(),
        format!("**Attempt ID:** `{}`", linkage.id),
    ];
    if let Some(task) = &linkage.task {
        let title = task.title.split_whitespace().collect::<Vec<_>>().join(" ");
        lines.push(format!("**Task ID:** `{}`", task.id));
        lines.push(format!("**Task:** {title}"));
    }
    if let Some(issue) = linkage.issue {
        lines.push(format!("**Issue:** #{issue}"));
    }
    lines
}
