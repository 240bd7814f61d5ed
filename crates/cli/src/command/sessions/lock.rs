//! The lock that Genie takes before it writes a store: a file beside it that names the holder.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, bail};
use forge_types::Millis;
use rustix::process::{Pid, test_kill_process};
use serde_json::{Value, json};

const TRIES: usize = 10;
/// A lock contains only its holder.
const MAX_BYTES: u64 = 64 << 10;
const PAUSE: Duration = Duration::from_millis(100);
/// A lock this old is stale.
const STALE: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub struct Lock(PathBuf);

impl Lock {
    pub fn take(store: &Path) -> Result<Lock> {
        let mut name = store.as_os_str().to_owned();
        name.push(".lock");
        let path = PathBuf::from(name);
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let holder = json!({"pid": std::process::id(), "timestamp": Millis::now(), "host": host});
        for _ in 0..TRIES {
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(mut file) => {
                    let lock = Lock(path.clone());
                    file.write_all(holder.to_string().as_bytes())
                        .with_context(|| format!("cannot write {}", path.display()))?;
                    return Ok(lock);
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error).with_context(|| format!("cannot create {}", path.display())),
            }
            if is_stale(&path, &host) {
                // Another process may also take it over.
                let _ = std::fs::remove_file(&path);
            } else {
                std::thread::sleep(PAUSE);
            }
        }
        bail!("{} exists: Genie is writing. Try again, or remove it if Genie is not running", path.display())
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Without it the next writer waits until it is stale.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Whether the holder left the lock behind.
fn is_stale(path: &Path, host: &str) -> bool {
    let written = std::fs::metadata(path).and_then(|found| found.modified()).ok();
    let age = written.and_then(|at| SystemTime::now().duration_since(at).ok()).unwrap_or_default();
    if age < STALE {
        return false;
    }
    let text = forge_os::file::read(path.parent().unwrap_or(path), path, MAX_BYTES).unwrap_or_default();
    let holder: Value = serde_json::from_slice(&text).unwrap_or_default();
    let here = holder.get("host").and_then(Value::as_str).is_none_or(|name| name == host);
    let pid = holder.get("pid").and_then(|pid| Pid::from_raw(i32::try_from(pid.as_i64()?).ok()?));
    here && pid.is_none_or(|pid| test_kill_process(pid).is_err())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_held_once_and_a_stale_one_is_taken_over() {
        let dir = tempfile::tempdir().unwrap();
        let store = dir.path().join("tasks.json");
        let path = dir.path().join("tasks.json.lock");
        let held = Lock::take(&store).unwrap();
        assert!(Lock::take(&store).unwrap_err().to_string().contains("tasks.json.lock"));
        drop(held);
        assert!(!path.exists());
        // No process has this number.
        std::fs::write(&path, r#"{"pid": 2147483647}"#).unwrap();
        let old = SystemTime::now() - STALE * 2;
        std::fs::File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
        Lock::take(&store).unwrap();
    }
}
