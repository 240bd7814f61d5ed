//! The file that a backup is: a tar, compressed with zstd, whose first entry lists what has to follow.
//!
//! Invariant: the list comes first and names size and SHA-256 of every file, in their order; a reader refuses whatever
//! does not agree with it, and every path that could lead out of the folder it is unpacked to. Nothing of the size that
//! an archive claims is kept in memory but the list, which has a limit. Files that grow are taken
//! up to the length that they had when they were opened, which is how the logs of agents at work are read anyway.
//!
//! Hashes are known only after the files were read, and the list stands before them: so the files are written first, to
//! a file of their own, and put behind the list as a second frame. Tools that know zstd read both as one.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use forge_types::{ErrorCode, Millis};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::content;
use crate::{Error, Kind, Result};

const LIST: &str = "forge-backup.json";
const FORMAT: u32 = 1;
const LEVEL: i32 = 3;
/// A list this long names a million files.
const LIST_LIMIT: u64 = 256 << 20;
/// Longer than any path that a system takes.
const NAME_LIMIT: u64 = 64 << 10;
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
    pub(super) fn add(&mut self, name: &str, file: File) -> io::Result<()> {
        let meta = file.metadata()?;
        let (size, mode) = (meta.len(), meta.permissions().mode() & 0o777);
        let mut header = plain_header(size, mode);
        let mut read = Hashed::new(BufReader::new(file).take(size));
        self.tar.append_data(&mut header, name, &mut read)?;
        let (read_bytes, sha256) = read.end();
        if read_bytes != size {
            return Err(io::Error::other(format!("'{name}' became shorter while it was read")));
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
    read(file, |_| Ok(()), |_, from| io::copy(from, &mut io::sink()).map(drop))
}

/// Unpacks a backup into an empty folder, if there is room for it; every file is on the disk when this returns.
pub(super) fn unpack(file: &Path, to: &Path) -> Result<Header> {
    let check_room = |header: &Header| {
        let needed = header.files.iter().fold(0u64, |sum, entry| sum.saturating_add(entry.size));
        let free = forge_os::free_bytes(to);
        match needed <= free {
            true => Ok(()),
            false => Err(Error::new(
                Kind::Unavailable,
                format!(
                    "{} needs {needed} bytes when it is unpacked, and {free} are free at {}: free some and try again. \
                     Nothing was changed",
                    file.display(),
                    to.display()
                ),
            )),
        }
    };
    read(file, check_room, |entry, from| {
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

fn read(
    file: &Path,
    check: impl FnOnce(&Header) -> Result<()>,
    mut take: impl FnMut(&Entry, &mut dyn Read) -> io::Result<()>,
) -> Result<Header> {
    let refused = |why: String| {
        let message = format!("{} is not a sound backup: {why}. Nothing was changed", file.display());
        Error::invalid(message).code(ErrorCode::Refused)
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
    // Raw, because names of any length would be read into memory otherwise.
    let mut entries = archive.entries().map_err(broken)?.raw(true);
    let list = entries.next().ok_or_else(|| refused("it is empty".to_owned()))?.map_err(broken)?;
    let header = read_list(list).map_err(refused)?;
    check(&header)?;
    for wanted in &header.files {
        let path = &wanted.path;
        let entry = next_named(&mut entries).map_err(broken)?;
        let (name, mut entry) = entry.ok_or_else(|| refused(format!("'{path}' is missing")))?;
        let is_it =
            name == path.as_bytes() && entry.header().entry_type().is_file() && entry.size() == wanted.size;
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

/// The next file and its name, which stands in an entry of its own when it is long.
fn next_named<'a, R: Read>(
    entries: &mut tar::Entries<'a, R>,
) -> io::Result<Option<(Vec<u8>, tar::Entry<'a, R>)>> {
    let Some(mut entry) = entries.next().transpose()? else { return Ok(None) };
    if !entry.header().entry_type().is_gnu_longname() {
        return Ok(Some((entry.path_bytes().into_owned(), entry)));
    }
    if entry.size() > NAME_LIMIT {
        return Err(io::Error::other(format!("a name in it is {} bytes long", entry.size())));
    }
    let mut name = Vec::new();
    entry.read_to_end(&mut name)?;
    if name.last() == Some(&0) {
        name.pop();
    }
    Ok(entries.next().transpose()?.map(|entry| (name, entry)))
}

fn read_list(list: tar::Entry<'_, impl Read>) -> std::result::Result<Header, String> {
    let is_list = *list.path_bytes() == *LIST.as_bytes() && list.header().entry_type().is_file();
    if !is_list || list.size() > LIST_LIMIT {
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
    let mut parts = path.split('/');
    parts.clone().next().is_some_and(content::may_return)
        && !path.contains(['\0', '\\'])
        && parts.all(|part| !["", ".", ".."].contains(&part))
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
            ["", "/etc/passwd", "../x", "runs/../../x", "./x", "runs/", "runs//x", "runs/./x", "runs/."]
        {
            assert!(!is_inside(path), "{path}");
        }
        for path in ["lock", "token", "backups/x", "a\\b"] {
            assert!(!is_inside(path), "{path}");
        }
    }

    /// A backup whose list is this one, with these entries behind it.
    fn forged(dir: &Path, files: Vec<Entry>, entries: impl FnOnce(&mut Vec<u8>)) -> PathBuf {
        let list = serde_json::to_vec(&Header { files, ..Header::new(None, dir) }).unwrap();
        let mut tar = tar::Builder::new(Vec::new());
        tar.append_data(&mut plain_header(list.len() as u64, 0o600), LIST, list.as_slice()).unwrap();
        let mut tar = tar.into_inner().unwrap();
        tar.truncate(tar.len() - END);
        entries(&mut tar);
        let path = dir.join("forged.tar.zst");
        std::fs::write(&path, zstd::encode_all(tar.as_slice(), 1).unwrap()).unwrap();
        path
    }

    fn entry(size: u64) -> Entry {
        Entry { path: "config.json".to_owned(), size, sha256: String::new(), mode: 0o600 }
    }

    #[test]
    fn a_name_of_any_length_is_refused_before_it_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = forged(dir.path(), vec![entry(1)], |tar| {
            let mut header = plain_header(1 << 40, 0o600);
            header.set_entry_type(tar::EntryType::GNULongName);
            header.set_path("././@LongLink").unwrap();
            header.set_cksum();
            tar.extend(header.as_bytes());
        });
        let error = verify(&path).unwrap_err();
        assert!(error.message().contains("a name in it is 1099511627776 bytes long"), "{}", error.message());
    }

    #[test]
    fn a_backup_that_needs_more_room_than_there_is_is_refused_before_anything_is_unpacked() {
        let dir = tempfile::tempdir().unwrap();
        let path = forged(dir.path(), vec![entry(u64::MAX)], |_| {});
        let to = dir.path().join("to");
        std::fs::create_dir(&to).unwrap();
        let error = unpack(&path, &to).unwrap_err();
        assert_eq!(error.kind(), Kind::Unavailable, "{}", error.message());
        assert!(error.message().contains("are free at"), "{}", error.message());
        assert_eq!(std::fs::read_dir(&to).unwrap().count(), 0);
    }

    #[test]
    fn a_long_name_comes_back() {
        let dir = tempfile::tempdir().unwrap();
        let name = format!("runs/{}/{}", "a".repeat(200), "b".repeat(200));
        std::fs::write(dir.path().join("file"), "content").unwrap();
        let mut archive = Archive::create(&dir.path().join("body")).unwrap();
        archive.add(&name, File::open(dir.path().join("file")).unwrap()).unwrap();
        let it = dir.path().join("it");
        archive.finish(Header::new(None, dir.path()), &it).unwrap();
        let to = dir.path().join("to");
        std::fs::create_dir(&to).unwrap();
        unpack(&it, &to).unwrap();
        assert_eq!(std::fs::read_to_string(to.join(name)).unwrap(), "content");
    }
}
