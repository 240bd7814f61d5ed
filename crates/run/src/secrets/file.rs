//! The file with the secrets, next to the output that may contain them, one value per line.
//!
//! Invariant: it appears as a whole, with mode 600, and is on the disk before the first output byte.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use super::{MAX_BYTES, MAX_VALUES};

const FILE: &str = "secrets";
const MAX_FILE_BYTES: u64 = (MAX_BYTES + MAX_VALUES) as u64;

pub(super) fn write(dir: &Path, values: &[String]) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    let temporary = dir.join("secrets.part");
    // Left by an interrupted start.
    let _ = fs::remove_file(&temporary);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
    file.write_all(values.join("\n").as_bytes())?;
    // A power failure that the journal survives must not lose this file; the names of both are equally durable, so
    // the folder is not synced at every start.
    file.sync_data()?;
    fs::rename(&temporary, dir.join(FILE))
}

pub(super) fn remove(dir: &Path) -> io::Result<()> {
    match fs::remove_file(dir.join(FILE)) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

pub(super) fn read(dir: &Path) -> io::Result<Vec<String>> {
    let file = match File::open(dir.join(FILE)) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(e),
    };
    let mut text = String::new();
    file.take(MAX_FILE_BYTES).read_to_string(&mut text)?;
    Ok(text.lines().map(str::to_owned).collect())
}
