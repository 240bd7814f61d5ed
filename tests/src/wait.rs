//! Waiting for what has to come: for as long as a loaded machine may need, and never for a fixed time.

use std::fmt::Debug;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::TestForge;

/// Long enough for a loaded machine; a test that runs into it has failed.
pub const PATIENCE: Duration = Duration::from_secs(60);

const PAUSE: Duration = Duration::from_millis(10);

/// What a look found: `true`, `Some` or `Ok` end the wait; an `Err` is shown when it ends in vain.
pub trait Look {
    type Found;

    /// What was found, or what was seen instead.
    fn found(self) -> Result<Self::Found, impl Debug>;
}

impl Look for bool {
    type Found = ();

    fn found(self) -> Result<(), impl Debug> {
        self.then_some(()).ok_or(self)
    }
}

impl<T> Look for Option<T> {
    type Found = T;

    fn found(self) -> Result<T, impl Debug> {
        self.ok_or("nothing")
    }
}

impl<T, E: Debug> Look for Result<T, E> {
    type Found = T;

    fn found(self) -> Result<T, impl Debug> {
        self
    }
}

/// Looks until something is found and returns it; `what` says what is waited for.
pub async fn eventually<L: Look>(what: &str, mut look: impl FnMut() -> L) -> L::Found {
    wait(what, || std::future::ready(look())).await.unwrap_or_else(|why| panic!("{why}"))
}

async fn wait<L: Look, F: Future<Output = L>>(
    what: &str,
    mut look: impl FnMut() -> F,
) -> Result<L::Found, String> {
    let begun = Instant::now();
    loop {
        match look().await.found() {
            Ok(found) => return Ok(found),
            Err(seen) if begun.elapsed() > PATIENCE => {
                return Err(format!("waited in vain until {what}: {seen:#?}"));
            }
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

impl TestForge {
    /// As [`eventually`], with looks that ask the server; a failure shows its log.
    pub async fn eventually<L: Look, F: Future<Output = L>>(
        &self,
        what: &str,
        look: impl FnMut() -> F,
    ) -> L::Found {
        wait(what, look).await.unwrap_or_else(|why| panic!("{why}\n{}", self.log()))
    }

    pub async fn until_logged(&self, words: &str) {
        self.eventually(&format!("{words:?} is in the log"), || async { self.log().contains(words) }).await;
    }
}

/// The pid that a script wrote to a file.
pub async fn pid_in(path: &Path) -> u32 {
    let what = format!("a pid is in {}", path.display());
    eventually(&what, || {
        let text = std::fs::read_to_string(path).ok()?;
        text.strip_suffix('\n')?.parse().ok()
    })
    .await
}

/// A piece of shell that waits for a file.
pub fn await_file(path: impl AsRef<Path>) -> String {
    format!("while [ ! -e '{}' ]; do sleep 0.02; done", path.as_ref().display())
}

pub async fn until_exists(path: &Path) {
    eventually(&format!("{} is there", path.display()), || path.exists()).await;
}
