//! Where another system keeps its database and its images.

use std::path::{Path, PathBuf};

use super::Database;
use crate::LegacyError;

const FILE: &str = "db.sqlite";
/// Systems whose database has the one schema that is read here, in all its ages.
pub const KINDS: [&str; 2] = ["vibe-kanban", "automagik-forge"];

impl Database {
    /// The database at a path that somebody gave, or else where releases of that kind keep theirs.
    pub fn find(kind: &str, path: Option<&str>, scratch: PathBuf) -> Result<Self, LegacyError> {
        let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        let path = match path {
            Some(path) => given(path, &home)?,
            None => usual(kind, &home)?,
        };
        Ok(Self { source: kind.to_owned(), images: image_folders(kind, &path, &home), scratch, path })
    }
}

/// A path that somebody gave: the file, or the folder it lies in.
fn given(text: &str, home: &Path) -> Result<PathBuf, LegacyError> {
    let path = match text.strip_prefix("~/") {
        Some(rest) => home.join(rest),
        None => PathBuf::from(text),
    };
    if !path.is_absolute() {
        return Err(LegacyError::Invalid(format!(
            "path: '{text}' is not absolute; give the whole path of the database"
        )));
    }
    let file = if path.is_dir() { path.join(FILE) } else { path };
    match file.is_file() {
        true => Ok(file),
        false => Err(LegacyError::NotFound(format!("path: there is no database at {}", file.display()))),
    }
}

/// The first of the places where the system's releases keep their database.
fn usual(kind: &str, home: &Path) -> Result<PathBuf, LegacyError> {
    let data = std::env::var_os("XDG_DATA_HOME").map_or_else(|| home.join(".local/share"), PathBuf::from);
    let mut folders = vec![data.join(kind), home.join(format!(".{kind}"))];
    // Where the name of the company comes first.
    folders.extend(folders_ending(&home.join("Library/Application Support"), kind));
    let files: Vec<PathBuf> = folders.into_iter().map(|folder| folder.join(FILE)).collect();
    files.iter().find(|file| file.is_file()).cloned().ok_or_else(|| {
        let looked: Vec<_> = files.iter().map(|file| file.display().to_string()).collect();
        LegacyError::NotFound(format!(
            "path: no database of {kind} was found; looked at {}; give its path",
            looked.join(", ")
        ))
    })
}

/// Where the images of a database may lie. Releases keep them in the user's cache, under a name of their own.
fn image_folders(kind: &str, database: &Path, home: &Path) -> Vec<PathBuf> {
    let folder = database.parent().unwrap_or(Path::new("/"));
    let mut caches = vec![];
    // The home that the database was in may be a copy of another one.
    for home in folder.ancestors().skip(1).take(4).chain([home]) {
        caches.push(home.join(".cache"));
        caches.push(home.join("Library/Caches"));
    }
    caches.extend(std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from));
    let named = caches
        .iter()
        .flat_map(|cache| [kind, "utils"].into_iter().flat_map(|name| folders_ending(cache, name)));
    let mut folders = vec![folder.join("images"), folder.join("attachments")];
    folders.extend(named.flat_map(|folder| [folder.join("images"), folder.join("attachments")]));
    folders
}

fn folders_ending(folder: &Path, name: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let named = entries.filter(|entry| entry.file_name().to_string_lossy().ends_with(name));
    named.map(|entry| entry.path()).collect()
}
