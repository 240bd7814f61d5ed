//! Free space on a disk.

use std::path::Path;

/// Bytes that a user may still write on the file system of `path`; 0 when unknown.
pub fn free_bytes(path: &Path) -> u64 {
    match rustix::fs::statvfs(path) {
        Ok(stat) => stat.f_bavail.saturating_mul(stat.f_frsize),
        Err(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_where_a_folder_is_and_none_where_nothing_is() {
        let dir = tempfile::tempdir().expect("a folder");
        assert!(free_bytes(dir.path()) > 0);
        assert_eq!(free_bytes(&dir.path().join("none")), 0);
    }
}
