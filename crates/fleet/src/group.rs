//! The process group of a child that may have to be ended with all that it started.

/// Ends the group of a run that timed out or was given up. Once the leader is waited for, its number may become a
/// stranger's, so the number is forgotten then.
pub(crate) struct Group(pub(crate) Option<u32>);

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(leader) = self.0 {
            forge_os::process::end_group(leader);
        }
    }
}
