//! What the readers of a worker do not see: secrets of the environment that it was started with.
//!
//! Owns `secrets/<worker>` beside the folder of the logs. Invariants: the values are kept before the launcher runs, and beside those of
//! former lives, whose words are in the same log; whatever a pane, a log, a status file or a launcher says passes here
//! before anybody reads it. A session that Forge did not start has the server's own, as far as anybody knows.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use forge_run::Secrets;
use forge_types::WorkerId;

use crate::{Error, Forge, Result};

/// More than anybody reads at a terminal.
const MAX_LOG_BYTES: u64 = 256 << 20;
/// A longer line is looked through in pieces.
const MAX_LINE_BYTES: u64 = 1 << 20;

impl Forge {
    /// Those of a worker that Forge started or adopted.
    pub(crate) async fn worker_secrets(&self, id: &WorkerId) -> Result<Secrets> {
        let dir = place(&self.worker_log(id));
        blocking(id, move || Secrets::read(&dir)).await
    }

    /// Keeps those of an environment in which the worker is about to begin.
    pub(super) async fn keep_worker_secrets(
        &self,
        id: &WorkerId,
        environment: BTreeMap<OsString, OsString>,
    ) -> Result<()> {
        let dir = place(&self.worker_log(id));
        blocking(id, move || Secrets::add(&dir, environment)).await
    }

    /// Forgets those that the log of a worker which is no more does not show.
    pub(super) async fn forget_worker_secrets(&self, id: &WorkerId) -> Result<()> {
        let log = self.worker_log(id);
        blocking(id, move || forget_unseen(&log)).await
    }
}

async fn blocking<T: Send + 'static>(
    id: &WorkerId,
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T> {
    let done = tokio::task::spawn_blocking(work).await.unwrap_or_else(|cause| Err(io::Error::other(cause)));
    done.map_err(|cause| {
        Error::internal(format!("the secrets of worker '{id}' cannot be had: {cause}"), cause)
    })
}

/// Where the secrets of the worker with this log are.
fn place(log: &Path) -> PathBuf {
    let home = log.parent().and_then(Path::parent).unwrap_or(log);
    home.join("secrets").join(log.file_stem().unwrap_or_default())
}

/// What a reader sees of a worker's log.
pub fn read_worker_log(log: &Path) -> io::Result<String> {
    let secrets = Secrets::read(&place(log))?;
    let text = forge_os::file::read(log.parent().unwrap_or(log), log, MAX_LOG_BYTES)?;
    Ok(secrets.mask_text(&String::from_utf8_lossy(&text)).into_owned())
}

fn forget_unseen(log: &Path) -> io::Result<()> {
    let dir = place(log);
    let secrets = Secrets::read(&dir)?;
    match forge_os::file::open(log.parent().unwrap_or(log), log) {
        Ok(file) => look_through(&secrets, file)?,
        Err(error) if error.is_missing() => {}
        Err(error) => return Err(error.into()),
    }
    secrets.forget_unseen(&dir)?;
    // Fails where some are kept.
    let _ = std::fs::remove_dir(&dir);
    Ok(())
}

/// Line by line, for no secret goes over the end of one.
fn look_through(secrets: &Secrets, log: impl Read) -> io::Result<()> {
    let mut log = BufReader::new(log);
    let mut line = Vec::new();
    while (&mut log).take(MAX_LINE_BYTES).read_until(b'\n', &mut line)? > 0 {
        secrets.mask_text(&String::from_utf8_lossy(&line));
        line.clear();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const KEY: &str = "sk-demo-0123456789";

    #[test]
    fn a_log_is_read_without_the_workers_secrets() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("logs/fg-1.2.log");
        fs::create_dir(dir.path().join("logs")).unwrap();
        fs::write(&log, format!("the key is {KEY}\n")).unwrap();
        assert_eq!(read_worker_log(&log).unwrap(), format!("the key is {KEY}\n"), "no secret of this worker");
        Secrets::add(&place(&log), [("DEMO_TOKEN".into(), KEY.into())]).unwrap();
        assert_eq!(read_worker_log(&log).unwrap(), "the key is ***\n");
        let file = place(&log).join("secrets");
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(place(&log), dir.path().join("secrets/fg-1.2"));
        assert_eq!(place(&log).metadata().unwrap().permissions().mode() & 0o777, 0o700);
        fs::write(file, [0xFF]).unwrap();
        assert!(read_worker_log(&log).is_err(), "nothing is shown that may be a secret");
    }

    #[test]
    fn secrets_stay_only_for_a_log_that_shows_them() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("logs/alpha.log");
        fs::create_dir(dir.path().join("logs")).unwrap();
        let add = || {
            let both = [("A_TOKEN".into(), KEY.into()), ("B_TOKEN".into(), "never-printed".into())];
            Secrets::add(&place(&log), both).unwrap();
        };
        add();
        fs::write(&log, format!("one\ntwo {KEY}\nthree")).unwrap();
        forget_unseen(&log).unwrap();
        assert_eq!(fs::read_to_string(place(&log).join("secrets")).unwrap(), KEY);
        assert_eq!(read_worker_log(&log).unwrap(), "one\ntwo ***\nthree");
        add();
        fs::remove_file(&log).unwrap();
        forget_unseen(&log).unwrap();
        assert!(!place(&log).exists());
    }
}
