//! The keeper's unix socket, `<run dir>/sock`.
//!
//! Invariant: the length of the run directory's path does not matter, although the system allows only about 100
//! bytes for a socket's path: the keeper binds relative to its working directory, clients connect through a
//! descriptor of the directory.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;

use tokio::net::UnixStream;

const FILE: &str = "sock";

/// Listens in the working directory, for this user only.
pub(crate) fn bind_here() -> io::Result<UnixListener> {
    let listener = UnixListener::bind(FILE)?;
    fs::set_permissions(FILE, Permissions::from_mode(0o600))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

#[cfg(target_os = "linux")]
pub(crate) async fn connect(dir: &Path) -> io::Result<UnixStream> {
    use std::os::fd::AsRawFd;

    use rustix::fs::{Mode, OFlags, open};

    let place = open(dir, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    UnixStream::connect(format!("/proc/self/fd/{}/{FILE}", place.as_raw_fd())).await
}

#[cfg(not(target_os = "linux"))]
pub(crate) async fn connect(dir: &Path) -> io::Result<UnixStream> {
    UnixStream::connect(dir.join(FILE)).await
}
