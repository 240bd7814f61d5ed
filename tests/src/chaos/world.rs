//! The server that is killed again and again, and a project in it for an era of the tale.
//!
//! Invariant: whoever asks waits for a living server; one that dies over a question gives no answer, and the question
//! counts as cut off. Everything that the tale started is gone when [`Server`] is, by pid.

use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use forge_client::{Client, Method};
use futures_util::FutureExt;
use serde_json::{Value, json};
use tokio::sync::{Mutex as Turn, watch};

use super::ledger::Ledger;
use super::table::{Ending, Promise, Tally};
use super::witness::Witness;
use crate::{Answer, PATIENCE, TestForge, ask, beside, git, text};

pub struct Server {
    forge: Turn<TestForge>,
    /// Who can ask the living server, while there is one.
    up: watch::Sender<Option<Client>>,
    tally: Mutex<Tally>,
    /// Set when everybody has to come to an end.
    over: watch::Sender<bool>,
    pub dir: PathBuf,
    pub home: PathBuf,
    pub worktrees: PathBuf,
    roots: Mutex<Vec<PathBuf>>,
    /// When the last of the keepers began that were killed, in milliseconds.
    killed_keeper_began_ms: AtomicI64,
}

impl Server {
    pub async fn start() -> Server {
        let forge = TestForge::start().await;
        let (dir, home, worktrees) = (forge.dir().to_owned(), forge.home(), forge.worktrees());
        let up = watch::Sender::new(Some(forge.client().clone()));
        let (tally, over, roots) = (Mutex::default(), watch::Sender::new(false), Mutex::default());
        let killed_keeper_began_ms = AtomicI64::new(i64::MIN);
        Server {
            forge: Turn::new(forge),
            up,
            tally,
            over,
            dir,
            home,
            worktrees,
            roots,
            killed_keeper_began_ms,
        }
    }

    pub fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn broke(&self, promise: Promise, what: impl Into<String>) {
        self.tally().note_broken(promise, what.into());
    }

    /// Noted before it is killed.
    pub fn note_killed_keeper(&self, began_ms: i64) {
        self.killed_keeper_began_ms.fetch_max(began_ms, Ordering::SeqCst);
    }

    /// A keeper that is killed before it has started anything leaves a run that failed, and a caller who is informed: one
    /// who asked before that keeper began.
    fn may_have_lost_its_keeper(&self, asked_ms: i64) -> bool {
        self.killed_keeper_began_ms.load(Ordering::SeqCst) >= asked_ms
    }

    pub fn begin(&self) {
        self.over.send_replace(false);
    }

    pub fn end(&self) {
        self.over.send_replace(true);
    }

    pub fn is_over(&self) -> bool {
        *self.over.borrow()
    }

    pub async fn until_over(&self) {
        // The sender is ours: it cannot be gone.
        let _ = self.over.subscribe().wait_for(|over| *over).await;
    }

    /// Waits for a server, and gives up when the tale is over and there is none.
    pub async fn client(&self) -> Option<Client> {
        let mut up = self.up.subscribe();
        let found = tokio::time::timeout(PATIENCE, up.wait_for(Option::is_some)).await;
        found.ok()?.ok()?.clone()
    }

    /// `kill -9`, at once, whatever is under way.
    pub async fn crash(&self) {
        let mut forge = self.forge.lock().await;
        self.up.send_replace(None);
        forge.crash();
    }

    /// A server that has not got far when it is killed.
    pub async fn launch(&self) {
        self.forge.lock().await.launch();
    }

    /// A server that does not start is the end of the tale.
    pub async fn start_again(&self) {
        let mut forge = self.forge.lock().await;
        let begun = Instant::now();
        forge.launch();
        if AssertUnwindSafe(forge.ready()).catch_unwind().await.is_err() {
            self.broke(
                Promise::Dead,
                format!("the server did not start; its log ends with\n{}", tail(&forge.log())),
            );
            return self.end();
        }
        self.tally().note_start(begun.elapsed());
        self.up.send_replace(Some(forge.client().clone()));
    }

    pub async fn command(&self) -> std::process::Command {
        self.forge.lock().await.command()
    }

    /// Ends the tale; the folder stays when a promise is broken.
    pub async fn finish(self) -> (Tally, Option<PathBuf>) {
        let tally = std::mem::take(&mut *self.tally());
        let kept = match tally.holds() {
            true => None,
            false => Some(self.forge.lock().await.keep_folder()),
        };
        (tally, kept)
    }

    /// Asks as a person or a program would; `None` when the server died over it.
    pub async fn ask(
        &self,
        name: &'static str,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Option<Answer> {
        let client = self.client().await?;
        let asked_ms = now_ms();
        let answer = tokio::time::timeout(PATIENCE, ask(&client, method, path, body, &[])).await;
        let (ending, answer) = match answer {
            Err(_) => {
                self.broke(Promise::Stuck, format!("no answer to {name} {path} within {PATIENCE:?}"));
                (Ending::CutOff, None)
            }
            Ok(Err(_)) => (Ending::CutOff, None),
            Ok(Ok(answer)) if answer.status == 500 && self.may_have_lost_its_keeper(asked_ms) => {
                (Ending::Refused, Some(answer))
            }
            Ok(Ok(answer)) if answer.status >= 500 => {
                let what = format!("{} for {name} {path}: {}", answer.status, answer.text);
                self.broke(Promise::Fault, what);
                (Ending::Fault, None)
            }
            Ok(Ok(answer)) if answer.status == 409 => (Ending::Conflict, Some(answer)),
            Ok(Ok(answer)) if !is_done(&answer) => (Ending::Refused, Some(answer)),
            Ok(Ok(answer)) => (Ending::Done, Some(answer)),
        };
        self.tally().note_operation(name, ending);
        answer
    }

    /// What a path returns now, `null` where nothing is; `None` when the server died over it.
    pub async fn read(&self, path: &str) -> Option<Value> {
        let client = self.client().await?;
        let answer = ask(&client, Method::GET, path, None, &[]).await.ok()?;
        if answer.status >= 500 {
            self.broke(Promise::Fault, format!("{} for GET {path}: {}", answer.status, answer.text));
        }
        Some(answer.body["data"].clone())
    }
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// The last lines of a log.
pub fn tail(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(12)..].join("\n")
}

/// Answered as asked.
pub fn is_done(answer: &Answer) -> bool {
    answer.status < 300 && answer.body["success"] != false
}

impl Drop for Server {
    /// Agents whose keeper was killed have nobody else who ends them. Without a server no more of them begin.
    fn drop(&mut self) {
        self.forge.get_mut().end_server();
        for root in self.roots.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            for process in Witness::all(root).iter().flat_map(Witness::processes) {
                process.kill();
            }
        }
    }
}

/// One era: a fresh project, and all that was asked for in it.
pub struct Stage<'a> {
    pub server: &'a Server,
    pub project: String,
    pub repo: PathBuf,
    /// Where the agents keep their copies.
    pub root: PathBuf,
    ledger: Mutex<Ledger>,
}

impl<'a> Stage<'a> {
    pub async fn set(server: &'a Server, era: usize) -> Stage<'a> {
        let root = server.dir.join(format!("witness-{era}"));
        std::fs::create_dir_all(root.join("runs")).expect("a folder for the agents' copies");
        server.roots.lock().unwrap_or_else(PoisonError::into_inner).push(root.clone());
        let forge = server.forge.lock().await;
        let repo = forge.repository(&format!("repo-{era}"));
        std::fs::write(repo.join(".gitignore"), "*.log\n").expect("write");
        git(&repo, &["add", "."]);
        git(&repo, &["commit", "-q", "-m", "Ignore logs"]);
        let body = json!({"name": format!("era {era}"), "git_repo_path": repo, "use_existing_repo": true});
        let project = text(&forge.post("/api/projects", &body).await.data()["id"]);
        let (agent, fake) = (beside("chaos-agent"), beside("fake-claude"));
        let command = format!("{} pass {} {}", agent.display(), root.display(), fake.display());
        forge.use_as_claude(&command).await;
        drop(forge);
        Stage { server, project, repo, root, ledger: Mutex::default() }
    }

    pub fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub async fn post(&self, name: &'static str, path: &str, body: &Value) -> Option<Answer> {
        self.server.ask(name, Method::POST, path, Some(body)).await
    }

    /// The runs of an attempt, oldest first.
    pub async fn runs(&self, attempt: &str) -> Option<Vec<Value>> {
        let runs = self.server.read(&format!("/api/execution-processes?task_attempt_id={attempt}")).await?;
        runs.as_array().cloned()
    }
}
