//! Forge's home: made, closed to everybody else, and held by one server at a time.
//!
//! Invariant: nothing is written to a home that belongs to somebody else, or that others can look into.

use std::fs::{DirBuilder, File};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use forge_os::private::{Others, take_private};
use rustix::fs::{FlockOperation, flock};

/// The file with the address at which programs of this machine reach the server.
pub const ADDRESS_FILE: &str = "address";
/// The file with the link that opens the board once.
pub const LOGIN_FILE: &str = "login";
const LOCK_WAIT: Duration = Duration::from_millis(1000);
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// Makes the home where there is none, and holds it until the file is dropped.
pub async fn take(home: &Path) -> Result<File> {
    make(home)?;
    lock(home).await
}

/// For its owner alone. A home that others can enter is closed.
pub fn make(home: &Path) -> Result<()> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(home);
    // A link to it is the user's own way to have it elsewhere.
    let real = made.and_then(|()| home.canonicalize());
    let real = real.with_context(|| format!("cannot create {}", home.display()))?;
    let closed = take_private(&real, Others::Nothing).context(
        "Forge's home must be a folder of the user who runs it and of nobody else: change its owner with `chown -R`, or \
         name another folder, which may be one inside of it, with FORGE_HOME",
    )?;
    if let Some(mode) = closed {
        eprintln!(
            "forge: {} was open to other users (mode {mode:o}); it is for you alone now",
            home.display()
        );
    }
    Ok(())
}

/// One server per home: two would settle each other's runs.
async fn lock(home: &Path) -> Result<File> {
    let file =
        File::create(home.join("lock")).with_context(|| format!("cannot write to {}", home.display()))?;
    let take = || flock(&file, FlockOperation::NonBlockingLockExclusive);
    let begun = Instant::now();
    let mut taken = take();
    // A server that was killed a moment ago may leave behind a child that has yet to become git and holds the lock, and
    // whoever asks whether it is held has it for a moment.
    while taken.is_err() && begun.elapsed() < LOCK_WAIT {
        tokio::time::sleep(LOCK_PAUSE).await;
        taken = take();
    }
    match taken {
        Ok(()) => {
            // The word of a server that was killed.
            for note in ["port", "pid", ADDRESS_FILE, LOGIN_FILE] {
                let _ = std::fs::remove_file(home.join(note));
            }
            Ok(file)
        }
        Err(_) => {
            let place = address(home).map(|address| format!(" at {address}")).unwrap_or_default();
            bail!(
                "another Forge{place} is using {}. Stop it first, or give this one a home of its own with FORGE_HOME",
                home.display()
            )
        }
    }
}

/// Where the server that holds the home says that it is reached.
pub fn address(home: &Path) -> Option<String> {
    let told = std::fs::read_to_string(home.join(ADDRESS_FILE)).ok()?;
    Some(told.trim().to_owned()).filter(|address| !address.is_empty())
}

/// Whether some process holds the home.
pub fn is_held(home: &Path) -> bool {
    let lock = File::open(home.join("lock"));
    lock.is_ok_and(|file| flock(&file, FlockOperation::NonBlockingLockShared).is_err())
}
