//! Forge's home: created, private to its user, and used by one server at a time.
//!
//! Invariant: nothing is written to a home that belongs to another user, or that others can read.

use std::fs::{DirBuilder, File};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use forge_os::private::{Others, take_private};
use rustix::fs::{FlockOperation, flock};

/// The file with the server's address for programs on this machine.
pub const ADDRESS_FILE: &str = "address";
/// The file with the one-time login link of the board.
pub const LOGIN_FILE: &str = "login";
const LOCK_WAIT: Duration = Duration::from_millis(1000);
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// Creates the home if necessary, and locks it until the file is dropped.
pub async fn take(home: &Path) -> Result<File> {
    make(home)?;
    lock(home).await
}

/// Creates the home. A home that others can enter is made private.
pub fn make(home: &Path) -> Result<()> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(home);
    // The user may keep it elsewhere with a link.
    let real = made.and_then(|()| home.canonicalize());
    let real = real.with_context(|| format!("cannot create {}", home.display()))?;
    let closed = take_private(&real, Others::Nothing).context(
        "Forge's home must belong to the user who runs it: change its owner with `chown -R`, or \
         choose another folder (possibly inside it) with FORGE_HOME",
    )?;
    if let Some(mode) = closed {
        eprintln!("forge: {} was open to other users (mode {mode:o}); it is private now", home.display());
    }
    Ok(())
}

/// One server per home: two would end each other's runs.
async fn lock(home: &Path) -> Result<File> {
    let file =
        File::create(home.join("lock")).with_context(|| format!("cannot write to {}", home.display()))?;
    let take = || flock(&file, FlockOperation::NonBlockingLockExclusive);
    let begun = Instant::now();
    let mut taken = take();
    // A child of a server that was just killed may briefly hold the lock until it becomes git, and
    // checking whether it is held takes it for a moment.
    while taken.is_err() && begun.elapsed() < LOCK_WAIT {
        tokio::time::sleep(LOCK_PAUSE).await;
        taken = take();
    }
    match taken {
        Ok(()) => {
            // Notes of a server that was killed.
            for note in ["port", "pid", ADDRESS_FILE, LOGIN_FILE] {
                let _ = std::fs::remove_file(home.join(note));
            }
            Ok(file)
        }
        Err(_) => {
            let place = address(home).map(|address| format!(" at {address}")).unwrap_or_default();
            bail!(
                "another Forge{place} is using {}. Stop it first, or give this one its own home with FORGE_HOME",
                home.display()
            )
        }
    }
}

/// The address of the server that uses the home.
pub fn address(home: &Path) -> Option<String> {
    let address = std::fs::read_to_string(home.join(ADDRESS_FILE)).ok()?;
    Some(address.trim().to_owned()).filter(|address| !address.is_empty())
}

/// Whether a process is using the home.
pub fn is_held(home: &Path) -> bool {
    let lock = File::open(home.join("lock"));
    lock.is_ok_and(|file| flock(&file, FlockOperation::NonBlockingLockShared).is_err())
}
