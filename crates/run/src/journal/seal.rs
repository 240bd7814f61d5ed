//! Sealing: an ended run's journal, compressed.
//!
//! Invariant: at every moment the directory contains at least one complete copy of the journal under its own name,
//! so a crash at any point loses nothing and sealing again finishes the job. Open readers continue undisturbed.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use super::{FILE, SEALED_FILE};
use crate::state::State;

const LEVEL: i32 = 3;
/// Compressing a smaller journal would cost time and save no disk space.
const MIN_BYTES: u64 = 64 * 1024;

/// Compresses the journal of an ended run; does nothing if that is already done or not worth it.
pub async fn seal(dir: &Path) -> io::Result<()> {
    let dir = dir.to_owned();
    tokio::task::spawn_blocking(move || seal_now(&dir)).await.map_err(io::Error::other)?
}

pub(super) fn seal_now(dir: &Path) -> io::Result<()> {
    if let Ok(Some(state)) = State::read(dir)
        && state.is_kept()
    {
        let message = format!("{}: the run has not ended; seal it after its end", dir.display());
        return Err(io::Error::new(io::ErrorKind::ResourceBusy, message));
    }
    let mut plain = match File::open(dir.join(FILE)) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(e),
    };
    if plain.metadata()?.len() < MIN_BYTES {
        return Ok(());
    }
    let temporary = dir.join("journal.zst.part");
    let outcome =
        compress(&mut plain, &temporary).and_then(|()| fs::rename(&temporary, dir.join(SEALED_FILE)));
    if let Err(e) = outcome {
        // Best effort: the next attempt overwrites a leftover part.
        let _ = fs::remove_file(&temporary);
        return Err(e);
    }
    File::open(dir)?.sync_all()?;
    fs::remove_file(dir.join(FILE))
}

fn compress(plain: &mut File, to: &Path) -> io::Result<()> {
    let sealed = File::create(to)?;
    let mut encoder = zstd::Encoder::new(sealed, LEVEL)?;
    encoder.include_checksum(true)?;
    io::copy(plain, &mut encoder)?;
    encoder.finish()?.sync_all()
}
