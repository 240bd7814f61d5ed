//! The process group of a child, which may have to be ended with everything that it started.

/// Ends the group of a run that timed out or was dropped. Once the leader has been waited for, its pid may be reused,
/// so it must be cleared then.
pub(crate) struct Group(pub(crate) Option<u32>);

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(leader) = self.0 {
            forge_os::process::end_group(leader);
        }
    }
}
