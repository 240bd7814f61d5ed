//! Where another system keeps its data, and who reads it.

use std::path::{Path, PathBuf};

use forge_store::Foreign;
use forge_types::{Bundle, ImportMode, ImportReport, ImportRequest};

use crate::{Error, Forge, Result};

const DATABASE: &str = "db.sqlite";
/// Systems whose database has the one schema that is read here, in all its ages.
const KINDS: [&str; 2] = ["vibe-kanban", "automagik-forge"];
/// Its sessions lie in files of each repository.
const GENIE: &str = "genie";

impl Forge {
    /// Reads what the request names and takes it over.
    pub async fn import_from(&self, request: ImportRequest) -> Result<ImportReport> {
        let mode = if request.dry_run { ImportMode::DryRun } else { ImportMode::Apply };
        let (bundle, path) = match request.kind.as_str() {
            GENIE => return self.import_genie(&request).await,
            kind if KINDS.contains(&kind) => self.read_database(&request).await?,
            other => {
                return Err(Error::invalid(format!(
                    "kind: '{other}' cannot be imported; allowed: {}, {GENIE}",
                    KINDS.join(", ")
                )));
            }
        };
        let mut report = self.import(bundle, mode, request.worktrees).await?;
        report.path = Some(path.to_string_lossy().into_owned());
        Ok(report)
    }

    async fn read_database(&self, request: &ImportRequest) -> Result<(Bundle, PathBuf)> {
        let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        let database = match &request.path {
            Some(path) => given(path, &home)?,
            None => usual(&request.kind, &home)?,
        };
        let foreign = Foreign {
            source: request.kind.clone(),
            images: image_folders(&request.kind, &database, &home),
            scratch: self.0.config.home.join(format!("import-{}", uuid::Uuid::new_v4())),
            database: database.clone(),
        };
        let read = foreign.read().await.map_err(|error| Error::invalid(format!("path: {error}")));
        let mut bundle = read?;
        if let Some(name) = &request.project {
            keep_project(&mut bundle, name)?;
        }
        Ok((bundle, database))
    }
}

/// A path that somebody gave: the file, or the folder it lies in.
fn given(text: &str, home: &Path) -> Result<PathBuf> {
    let path = match text.strip_prefix("~/") {
        Some(rest) => home.join(rest),
        None => PathBuf::from(text),
    };
    if !path.is_absolute() {
        return Err(Error::invalid(format!(
            "path: '{text}' is not absolute; give the whole path of the database"
        )));
    }
    let file = if path.is_dir() { path.join(DATABASE) } else { path };
    match file.is_file() {
        true => Ok(file),
        false => Err(Error::not_found(format!("path: there is no database at {}", file.display()))),
    }
}

/// The first of the places where the system's releases keep their database.
fn usual(kind: &str, home: &Path) -> Result<PathBuf> {
    let data = std::env::var_os("XDG_DATA_HOME").map_or_else(|| home.join(".local/share"), PathBuf::from);
    let mut folders = vec![data.join(kind), home.join(format!(".{kind}"))];
    // Where the name of the company comes first.
    folders.extend(folders_ending(&home.join("Library/Application Support"), kind));
    let files: Vec<PathBuf> = folders.into_iter().map(|folder| folder.join(DATABASE)).collect();
    files.iter().find(|file| file.is_file()).cloned().ok_or_else(|| {
        let looked: Vec<_> = files.iter().map(|file| file.display().to_string()).collect();
        Error::not_found(format!(
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

fn keep_project(bundle: &mut Bundle, name: &str) -> Result<()> {
    let names: Vec<_> = bundle.projects.iter().map(|project| project.name.clone()).collect();
    bundle.projects.retain(|project| {
        project.name.eq_ignore_ascii_case(name) || project.key == name || project.git_repo_path == name
    });
    match bundle.projects.is_empty() {
        true => {
            Err(Error::not_found(format!("project: no '{name}' in the source; it has: {}", names.join(", "))))
        }
        false => Ok(()),
    }
}
