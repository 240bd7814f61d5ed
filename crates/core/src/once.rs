//! Requests that may be sent twice: a key, given by the client, under which a request has one effect.
//!
//! Invariant: what a request made and the row that says so are written in one transaction, so whoever comes again with the
//! key finds either both or neither. A request that made nothing leaves no row, and its key may be used again. Equal
//! requests that come at once take turns.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use forge_run::{Tail, View};
use forge_store::{Keyed, Tx};
use forge_types::{AttemptId, Millis, RunId, TaskId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::sync::OwnedMutexGuard;

use crate::{Error, Forge, Result};

/// How long a key is remembered.
const KEPT_MS: i64 = 24 * 3_600_000;
/// How long a request waits for an equal one that is under way.
const TURN_LIMIT: Duration = Duration::from_secs(30);

/// A request as its client names it.
pub struct KeyedRequest<'a> {
    pub key: &'a str,
    /// Method and path.
    pub route: &'a str,
    pub body: &'a [u8],
}

/// What a request made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Effect {
    Task(TaskId),
    Attempt(AttemptId),
    Run(RunId),
    /// A running agent is about to receive `line`; its log says whether it did.
    #[serde(rename = "telling")]
    Sending {
        run: RunId,
        line: String,
    },
    /// The commit that landed.
    Merge(String),
}

/// The turn of one request under its key. Others with the same key wait until it is dropped.
pub struct Once {
    /// As it is written when the request has made something.
    row: Keyed,
    known: Option<Effect>,
    replayed: AtomicBool,
    _turn: Turn,
}

/// Who works under which key.
#[derive(Default)]
pub(crate) struct Keys(Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>);

struct Turn {
    forge: Forge,
    key: String,
    guard: Option<OwnedMutexGuard<()>>,
}

impl Keys {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<tokio::sync::Mutex<()>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.guard = None;
        let mut keys = self.forge.0.keys.lock();
        // Whoever waits holds one, too.
        if keys.get(&self.key).is_some_and(|turn| Arc::strong_count(turn) == 1) {
            keys.remove(&self.key);
        }
    }
}

impl Once {
    /// Whether the answer was that of an earlier request.
    pub fn is_replay(&self) -> bool {
        self.replayed.load(Ordering::Relaxed)
    }

    /// What an earlier request under this key made.
    pub(crate) fn effect(&self) -> Option<&Effect> {
        self.known.as_ref()
    }

    /// When what is known was written.
    pub(crate) fn at(&self) -> Millis {
        self.row.created_at
    }

    /// What an earlier request was answered. None too when another version of Forge wrote it in another form.
    pub(crate) fn answer<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_str(self.row.answer.as_deref()?).ok()
    }

    /// Says that the answer is that of an earlier request.
    pub(crate) fn replay<T>(&self, answer: T) -> T {
        self.replayed.store(true, Ordering::Relaxed);
        answer
    }

    /// The row to write together with what the request makes.
    pub(crate) fn row<T: Serialize>(&self, effect: &Effect, answer: Option<&T>) -> Result<Keyed> {
        let answer = answer.map(serde_json::to_string).transpose().map_err(not_json)?;
        let effect = serde_json::to_string(effect).map_err(not_json)?;
        Ok(Keyed { effect, answer, created_at: Millis::now(), ..self.row.clone() })
    }
}

/// Writes the row of a request, if it came under a key.
pub(crate) async fn note<T: Serialize>(
    tx: &mut Tx,
    once: Option<&Once>,
    effect: impl FnOnce() -> Effect,
    answer: Option<&T>,
) -> Result<()> {
    if let Some(once) = once {
        tx.put_keyed(&once.row(&effect(), answer)?).await?;
    }
    Ok(())
}

impl Forge {
    /// Takes the turn of a request under its key, and reads what an earlier one made.
    pub async fn once(&self, request: KeyedRequest<'_>) -> Result<Once> {
        let turn = self.take_turn(request.key).await?;
        let row = Keyed {
            key: request.key.to_owned(),
            route: request.route.to_owned(),
            fingerprint: fingerprint(request.body),
            effect: String::new(),
            answer: None,
            created_at: Millis::now(),
        };
        let since = Millis(row.created_at.0.saturating_sub(KEPT_MS));
        let Some(known) = self.0.store.keyed(request.key, since).await? else {
            return Ok(Once { row, known: None, replayed: AtomicBool::new(false), _turn: turn });
        };
        let differs = match (known.route == row.route, known.fingerprint == row.fingerprint) {
            (false, _) => format!("{}, not {}", known.route, row.route),
            (true, false) => "a request with another body".to_owned(),
            (true, true) => {
                let effect = serde_json::from_str(&known.effect)
                    .map_err(|cause| Error::internal("a key's row cannot be read", cause))?;
                let replayed = AtomicBool::new(false);
                return Ok(Once { row: known, known: Some(effect), replayed, _turn: turn });
            }
        };
        let key = request.key;
        Err(Error::invalid(format!(
            "Idempotency-Key: '{key}' was used for {differs}; a key belongs to one request: send a new one"
        )))
    }

    async fn take_turn(&self, key: &str) -> Result<Turn> {
        let mutex = Arc::clone(self.0.keys.lock().entry(key.to_owned()).or_default());
        let mut turn = Turn { forge: self.clone(), key: key.to_owned(), guard: None };
        match tokio::time::timeout(TURN_LIMIT, mutex.lock_owned()).await {
            Ok(guard) => {
                turn.guard = Some(guard);
                Ok(turn)
            }
            Err(_) => Err(Error::conflict(format!(
                "Idempotency-Key: a request with the key '{key}' is in progress"
            ))
            .hint("try again")),
        }
    }

    /// Keeps what is answered to a request whose effect is written already. Without it the answer is made again.
    pub(crate) async fn keep_answer<T: Serialize>(&self, once: Option<&Once>, answer: &T) {
        let Some(once) = once else { return };
        let kept = async {
            let answer = serde_json::to_string(answer).map_err(not_json)?;
            let mut tx = self.0.store.begin().await?;
            tx.put_answer(&once.row.key, &answer).await?;
            tx.commit().await?;
            Ok::<_, Error>(())
        };
        if let Err(error) = kept.await {
            tracing::warn!(%error, "an answer is not kept; it is made again if it is asked for");
        }
    }

    /// Whether the log of a run says that its agent received `line` since `at`.
    pub(crate) async fn was_sent(&self, run: RunId, line: &str, at: Millis) -> Result<bool> {
        let mut tail = Tail::new(&self.run_dir(run), View::Exact, None);
        let unreadable = |cause| Error::internal(format!("the log of run {run} cannot be read"), cause);
        while let Some(records) = tail.next().await.map_err(unreadable)? {
            let is_it = |record: &forge_run::Record| {
                record.kind == forge_run::Kind::Stdin
                    && record.at_ms >= at.0
                    && record.bytes.trim_ascii_end() == line.as_bytes()
            };
            if records.iter().any(is_it) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Forgets the keys that are no longer honoured.
    pub(crate) async fn forget_keys(&self) -> Result<()> {
        self.0.store.forget_keys(Millis(Millis::now().0.saturating_sub(KEPT_MS))).await?;
        Ok(())
    }
}

fn not_json(cause: serde_json::Error) -> Error {
    Error::internal("an answer cannot be written as JSON", cause)
}

fn fingerprint(body: &[u8]) -> String {
    Sha256::digest(body).iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
