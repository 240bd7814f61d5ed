//! Where a repository has Genie's session stores.

use std::path::{Path, PathBuf};

use forge_os::file;

use super::store::{self, Contents};

/// Newer first: what both hold is taken from the first.
const STORES: [&str; 2] = [".genie/state/tasks.json", ".genie/state/agents/sessions.json"];
/// No store of people is this large.
pub(super) const MAX_BYTES: u64 = 64 << 20;

/// The stores of the checkout at `top`, also those that turn out to be none when they are read.
pub fn stores(top: &Path) -> Vec<PathBuf> {
    STORES.iter().map(|store| top.join(store)).filter(|store| store.symlink_metadata().is_ok()).collect()
}

/// Reads a store file below `root`; the error says why it cannot be understood.
pub fn read_store(root: &Path, path: &Path) -> Result<Contents, String> {
    let bytes = file::read(root, path, MAX_BYTES).map_err(|error| error.to_string())?;
    store::read(&String::from_utf8_lossy(&bytes))
}

/// The nearest folder around `path` with a `.genie` folder, no farther up than the checkout goes.
pub(super) fn top_of(path: &Path) -> Option<&Path> {
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
