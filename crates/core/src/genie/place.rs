//! Where a repository has Genie's session stores.

use std::path::{Path, PathBuf};

use super::store::{self, Contents};

/// Newer first: what both hold is taken from the first.
const STORES: [&str; 2] = [".genie/state/tasks.json", ".genie/state/agents/sessions.json"];
/// No store of people is this large.
const MAX_BYTES: u64 = 64 << 20;

/// The stores of the checkout at `top`.
pub fn stores(top: &Path) -> Vec<PathBuf> {
    STORES.iter().map(|store| top.join(store)).filter(|store| store.is_file()).collect()
}

/// Reads a store file; the error says why it cannot be understood.
pub fn read_store(path: &Path) -> Result<Contents, String> {
    let size = std::fs::metadata(path).map_err(|error| error.to_string())?.len();
    if size > MAX_BYTES {
        return Err(format!("{size} bytes are more than the {MAX_BYTES} that are read"));
    }
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    store::read(&String::from_utf8_lossy(&bytes))
}

/// The nearest folder around `path` with a `.genie` folder, no farther up than the checkout goes.
pub(crate) fn top_of(path: &Path) -> Option<&Path> {
    for dir in path.ancestors() {
        if dir.join(".genie").is_dir() {
            return Some(dir);
        }
        if dir.join(".git").exists() {
            return None;
        }
    }
    None
}
