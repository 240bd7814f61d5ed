//! The file that a backup is: a tar, compressed with zstd, whose first entry tells what has to follow.
//!
//! Invariant: the list comes first and names size and SHA-256 of every file, in their order; a reader refuses whatever
//! does not agree with it, and every path that could lead out of the folder it is unpacked to. Files that grow are taken
//! up to the length that they had when they were opened, which is how the logs of agents at work are read anyway.
//!
//! Hashes are known only after the files were read, and the list stands before them: so the files are written first, to
//! a file of their own, and put behind the list as a second frame. Tools that know zstd read both as one.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use forge_types::Millis;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::content;
use crate::{Error, Kind, Result};

const LIST: &str = "forge-backup.json";
const FORMAT: u32 = 1;
const LEVEL: i32 = 3;
/// A list this long names a million files.
const LIST_LIMIT: u64 = 256 << 20;
/// The two empty blocks that end a tar.
const END: usize = 1024;

/// What a backup says of itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Header {
    format: u32,
    pub(super) made_at: Millis,
    /// The version of Forge that made it.
    pub(super) forge: String,
    pub(super) schema: Option<i64>,
    /// Where it was made from.
    pub(super) home: PathBuf,
    pub(super) files: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) path: String,
    size: u64,
    sha256: String,
    mode: u32,
}

impl Header {
    pub(super) fn new(schema: Option<i64>, home: &Path) -> Self {
        let forge = env!("CARGO_PKG_VERSION").to_owned();
        Self {
            format: FORMAT,
            made_at: Millis::now(),
            forge,
            schema,
            home: home.to_owned(),
            files: Vec::new(),
        }
    }
}

/// A backup that is being written.
pub(super) struct Archive {
    body: PathBuf,
    tar: tar::Builder<zstd::Encoder<'static, BufWriter<File>>>,
    files: Vec<Entry>,
}

impl Archive {
    pub(super) fn create(body: &Path) -> io::Result<Self> {
        let tar = tar::Builder::new(compressed(create_private(body)?)?);
        Ok(Self { body: body.to_owned(), tar, files: Vec::new() })
    }

    /// Adds a file as it is now.
    pub(super) fn add(&mut self, name: &str, path: &Path) -> io::Result<()> {
        let file = File::open(path)?;
        let meta = file.metadata()?;
        let (size, mode) = (meta.len(), meta.permissions().mode() & 0o777);
        let mut header = plain_header(size, mode);
        let mut read = Hashed::new(BufReader::new(file).take(size));
        self.tar.append_data(&mut header, name, &mut read)?;
        let (read_bytes, sha256) = read.end();
        if read_bytes != size {
            return Err(io::Error::other(format!("'{}' became shorter while it was read", path.display())));
        }
        self.files.push(Entry { path: name.to_owned(), size, sha256, mode });
        Ok(())
    }

    /// How many files there are, and their bytes.
    pub(super) fn totals(&self) -> (usize, u64) {
        (self.files.len(), self.files.iter().map(|entry| entry.size).sum())
    }

    /// Writes the list and what was added behind it, and syncs.
    pub(super) fn finish(self, header: Header, to: &Path) -> io::Result<()> {
        self.tar.into_inner()?.finish()?.flush()?;
        let header = Header { files: self.files, ..header };
        let list = serde_json::to_vec_pretty(&header)?;
        let mut first = tar::Builder::new(Vec::new());
        first.append_data(&mut plain_header(list.len() as u64, 0o600), LIST, list.as_slice())?;
        let mut first = first.into_inner()?;
        first.truncate(first.len() - END);
        let mut out = compressed(create_private(to)?)?;
        out.write_all(&first)?;
        let mut out = out.finish()?;
        io::copy(&mut File::open(&self.body)?, &mut out)?;
        out.flush()?;
        out.get_ref().sync_all()
    }
}

fn compressed(file: File) -> io::Result<zstd::Encoder<'static, BufWriter<File>>> {
    let mut encoder = zstd::Encoder::new(BufWriter::new(file), LEVEL)?;
    encoder.include_checksum(true)?;
    Ok(encoder)
}

fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

fn plain_header(size: u64, mode: u32) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::Regular);
    header.set_size(size);
    header.set_mode(mode);
    header.set_mtime(0);
    header
}

/// Reads all of a backup and refuses one that does not agree with its list.
pub(super) fn verify(file: &Path) -> Result<Header> {
    read(file, |_, from| io::copy(from, &mut io::sink()).map(drop))
}

/// Unpacks a backup into an empty folder; every file is on the disk when this returns.
pub(super) fn unpack(file: &Path, to: &Path) -> Result<Header> {
    read(file, |entry, from| {
        let path = to.join(&entry.path);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut out = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        io::copy(from, &mut out)?;
        // Nobody else gets more than the owner had given them.
        out.set_permissions(PermissionsExt::from_mode(entry.mode & 0o755 | 0o600))?;
        out.sync_all()
    })
}

fn read(file: &Path, mut take: impl FnMut(&Entry, &mut dyn Read) -> io::Result<()>) -> Result<Header> {
    let refused = |why: String| {
        Error::invalid(format!("{} is not a sound backup: {why}. Nothing was changed", file.display()))
    };
    let broken = |cause: io::Error| match cause.kind() {
        io::ErrorKind::StorageFull => {
            let place = "there is no room to unpack it: free some and try again. Nothing was changed";
            Error::new(Kind::Unavailable, format!("{}: {place}", file.display()))
        }
        _ => refused(cause.to_string()),
    };
    let unread = |cause: io::Error| Error::not_found(format!("cannot read {}: {cause}", file.display()));
    let decoder = zstd::Decoder::new(File::open(file).map_err(unread)?).map_err(broken)?;
    let mut archive = tar::Archive::new(decoder);
    let mut entries = archive.entries().map_err(broken)?;
    let list = entries.next().ok_or_else(|| refused("it is empty".to_owned()))?.map_err(broken)?;
    let header = read_list(list).map_err(refused)?;
    for wanted in &header.files {
        let path = &wanted.path;
        let entry = entries.next().ok_or_else(|| refused(format!("'{path}' is missing")))?;
        let mut entry = entry.map_err(broken)?;
        let is_it = *entry.path_bytes() == *path.as_bytes()
            && entry.header().entry_type().is_file()
            && entry.size() == wanted.size;
        if !is_it {
            return Err(refused(format!("something else stands in the place of '{path}'")));
        }
        let mut hashed = Hashed::new(&mut entry);
        take(wanted, &mut hashed).map_err(broken)?;
        if hashed.end() != (wanted.size, wanted.sha256.clone()) {
            return Err(refused(format!("'{path}' is not what the list says")));
        }
    }
    if entries.next().is_some() {
        return Err(refused("there is more in it than the list says".to_owned()));
    }
    // The checksum of the last frame stands at its end.
    io::copy(&mut archive.into_inner(), &mut io::sink()).map_err(broken)?;
    Ok(header)
}

fn read_list(list: tar::Entry<'_, impl Read>) -> std::result::Result<Header, String> {
    if *list.path_bytes() != *LIST.as_bytes() || list.size() > LIST_LIMIT {
        return Err(format!("it does not begin with '{LIST}'"));
    }
    let header: Header = serde_json::from_reader(list).map_err(|error| format!("its list: {error}"))?;
    if header.format != FORMAT {
        return Err(format!("its format is {}, and this Forge knows {FORMAT}", header.format));
    }
    let mut seen = std::collections::HashSet::new();
    for Entry { path, .. } in &header.files {
        if !is_inside(path) {
            return Err(format!("'{path}' does not belong into a home"));
        }
        if !seen.insert(path) {
            return Err(format!("'{path}' is in it twice"));
        }
    }
    Ok(header)
}

/// Whether a path stays below the folder that it is unpacked to, and is one that a backup may bring.
fn is_inside(path: &str) -> bool {
    let mut parts = Path::new(path).components();
    let first = match parts.next() {
        Some(Component::Normal(first)) => first.to_str().unwrap_or_default(),
        _ => return false,
    };
    content::may_return(first)
        && !path.ends_with('/')
        && !path.contains(['\0', '\\'])
        && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// Counts and hashes what is read through it.
struct Hashed<R> {
    from: R,
    count: u64,
    hash: Sha256,
}

impl<R> Hashed<R> {
    fn new(from: R) -> Self {
        Self { from, count: 0, hash: Sha256::new() }
    }

    fn end(self) -> (u64, String) {
        let hex = self.hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        (self.count, hex)
    }
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.from.read(into)?;
        self.hash.update(&into[..count]);
        self.count += count as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_path_leads_out_of_the_home_or_to_what_stays() {
        for path in ["config.json", "runs/a/journal", "db.sqlite", "workers/x.yaml"] {
            assert!(is_inside(path), "{path}");
        }
        for path in
            ["", "/etc/passwd", "../x", "runs/../../x", "./x", "runs/", "lock", "token", "backups/x", "a\\b"]
        {
            assert!(!is_inside(path), "{path}");
        }
    }
}
