//! A home whose database is missing, or is another home's.
//!
//! Invariant: no other database takes the place of a lost one without a word, an empty one neither. The installation's
//! id is in the database, and for this look also in a file of the home, which is written after the database has it: so
//! the file alone shows that there was a database, also before the first run. Runs in the home show it too.

use std::path::Path;

use forge_types::RunId;

use crate::home::file;
use crate::{Config, Error, Kind, Result};

/// Where a home remembers which installation it is.
pub(crate) const FILE: &str = "installation";
/// Where a database has it.
pub(crate) const KEY: &str = "installation";

/// Refuses a home whose database is not there any more, and the database of another home.
pub(crate) async fn refuse_lost(config: &Config) -> Result<()> {
    let (home, database) = (&config.home, &config.database);
    let known = recall(home);
    let runs = count_runs(&home.join("runs"));
    let way_back = "Put the right one back (DATABASE_URL names it), or restore a backup: \
                    `forge backup restore FILE --replace`";
    if std::fs::metadata(database).is_ok_and(|file| file.len() > 0) {
        // What cannot be read is refused, with the way back, by whoever opens it.
        let found = forge_store::read_meta(database, KEY).await.ok().flatten();
        let (Some(known), Some(found)) = (known, found) else { return Ok(()) };
        return match known == found {
            true => Ok(()),
            false => Err(Error::new(
                Kind::Unavailable,
                format!(
                    "the database {} is another home's: its installation is {found}, and that of {} is {known}. Nothing \
                     was changed. {way_back}. To accept it, move {} away: the worktrees of {known} are left alone then",
                    database.display(),
                    home.display(),
                    home.join(FILE).display(),
                ),
            )),
        };
    }
    if known.is_none() && runs == 0 {
        return Ok(());
    }
    let newest = forge_store::copies(database).into_iter().next();
    let copy = newest.map_or_else(String::new, |copy| {
        format!(" (the newest copy here is {}, which it takes too)", copy.display())
    });
    Err(Error::new(
        Kind::Unavailable,
        format!(
            "the database {} is missing or empty, but {} had one ({runs} runs). Nothing was changed. {way_back}{copy}. To \
             begin again without it, move {} and {} away",
            database.display(),
            home.display(),
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

pub(crate) fn recall(home: &Path) -> Option<String> {
    let text = std::fs::read_to_string(home.join(FILE)).ok()?;
    Some(text.trim().to_owned()).filter(|id| !id.is_empty())
}

fn count_runs(runs: &Path) -> usize {
    let entries = std::fs::read_dir(runs).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name());
    names.filter(|name| name.to_str().is_some_and(|name| name.parse::<RunId>().is_ok())).count()
}
