//! Free space.

use std::path::Path;

/// Bytes a user may still write on the file system of `path`; 0 when it cannot be told.
pub fn free_bytes(path: &Path) -> u64 {
    match rustix::fs::statvfs(path) {
        Ok(stat) => stat.f_bavail.saturating_mul(stat.f_frsize),
        Err(_) => 0,
    }
}
