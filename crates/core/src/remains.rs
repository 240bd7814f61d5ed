//! A home whose database is missing.
//!
//! Invariant: an empty database never takes the place of a lost one without a word. Runs in the home, or worktrees that
//! bear the mark of this installation, tell that there was one. The installation's id is in the database, and for this
//! look also in a file of the home.

use std::path::Path;

use forge_git::{Owner, WorktreeBase};
use forge_types::RunId;

use crate::{Config, Error, Kind, Result, file};

/// Where a home remembers which installation it is.
const FILE: &str = "installation";

/// Refuses a home that has work of a database which is not there any more.
pub(crate) async fn refuse_lost(config: &Config) -> Result<()> {
    let (home, database) = (&config.home, &config.database);
    if std::fs::metadata(database).is_ok_and(|file| file.len() > 0) {
        return Ok(());
    }
    let runs = count_runs(&home.join("runs"));
    let worktrees = count_worktrees(home, &config.worktree_base).await?;
    if runs == 0 && worktrees == 0 {
        return Ok(());
    }
    let newest = forge_store::copies(database).into_iter().next();
    let copy = newest.map_or_else(String::new, |copy| {
        format!(" (the newest copy here is {}, which it takes too)", copy.display())
    });
    Err(Error::new(
        Kind::Unavailable,
        format!(
            "the database {} is missing or empty, but {runs} runs in {} and {worktrees} worktrees in {} belong to it. \
             Nothing was changed. Put it back, or restore a backup: `forge backup restore FILE --replace`{copy}. To begin \
             anew, move {} and {} away",
            database.display(),
            home.join("runs").display(),
            config.worktree_base.display(),
            home.join("runs").display(),
            home.join(FILE).display(),
        ),
    ))
}

/// Lets the home know which installation it is.
pub(crate) fn remember(home: &Path, installation: &str) -> Result<()> {
    let path = home.join(FILE);
    if recall(home).as_deref() == Some(installation) {
        return Ok(());
    }
    file::replace(&path, format!("{installation}\n").as_bytes(), file::PRIVATE)
        .map_err(|cause| Error::internal(format!("cannot write {}: {cause}", path.display()), cause))
}

fn recall(home: &Path) -> Option<String> {
    let text = std::fs::read_to_string(home.join(FILE)).ok()?;
    Some(text.trim().to_owned()).filter(|id| !id.is_empty())
}

fn count_runs(runs: &Path) -> usize {
    let entries = std::fs::read_dir(runs).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name());
    names.filter(|name| name.to_str().is_some_and(|name| name.parse::<RunId>().is_ok())).count()
}

async fn count_worktrees(home: &Path, base: &Path) -> Result<usize> {
    let Some(installation) = recall(home) else { return Ok(0) };
    let listed = forge_git::list(&WorktreeBase::new(base.to_owned(), installation.clone())).await?;
    let marks = listed.into_iter().filter_map(|one| one.mark);
    Ok(marks.filter(|mark| mark.installation == installation && mark.owner != Owner::Spare).count())
}
