//! Calls that differ between systems: free space, killing a process group.
//!
//! Invariant: each has a portable fallback, so nothing else in the crate asks which system it runs on.

use std::path::Path;

/// Bytes a user may still write on the file system of `path`; 0 when it cannot be told.
pub fn free_bytes(path: &Path) -> u64 {
    match rustix::fs::statvfs(path) {
        Ok(stat) => stat.f_bavail.saturating_mul(stat.f_frsize),
        Err(_) => 0,
    }
}

/// Ends a process group that this process started and has not yet waited for.
pub(crate) fn kill_group(leader: Option<u32>) {
    let pid = leader.and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
    if let Some(pid) = pid {
        // The group may be gone already, which is what was wanted.
        let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
    }
}
