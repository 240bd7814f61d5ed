//! A `git cat-file --batch-command` process that answers many questions about objects.
//!
//! Invariant: there is one answer for each question, in order; after any error the session is unusable and must be
//! dropped, which ends its process. Refs and packs that appear while it runs are seen, because git re-reads them.

use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout};

use crate::GitError;
use crate::command::Git;
use crate::tree::Tree;

const TIME_LIMIT: Duration = Duration::from_secs(120);

pub(crate) struct Session {
    // Dropping the child kills it.
    _child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Info {
    pub oid: String,
    pub kind: String,
    pub size: u64,
}

impl Session {
    pub fn open(tree: &Tree) -> Result<Self, GitError> {
        let mut child = Git::read(tree).args(["cat-file", "--batch-command", "--buffer"]).start()?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(stdin), Some(stdout)) => {
                Ok(Self { _child: child, stdin, stdout: BufReader::with_capacity(64 << 10, stdout) })
            }
            _ => Err(broken("no pipes")),
        }
    }

    /// What `name` resolves to, or `None` when there is no such object.
    pub async fn info(&mut self, name: &str) -> Result<Option<Info>, GitError> {
        if name.contains('\n') {
            return Ok(None);
        }
        self.ask(&format!("info {name}\n")).await?;
        self.head().await
    }

    /// The content of `oid`, or `None` when it is missing or larger than `max_bytes`.
    pub async fn contents(&mut self, oid: &str, max_bytes: u64) -> Result<Option<Vec<u8>>, GitError> {
        Ok(self.contents_of(&[oid], max_bytes).await?.pop().flatten())
    }

    /// The contents of several objects, requested at once so that git never waits for the next question; `None` for one
    /// that is missing or larger than `max_bytes`. The caller makes sure that the questions fit into a pipe.
    pub async fn contents_of(
        &mut self,
        oids: &[&str],
        max_bytes: u64,
    ) -> Result<Vec<Option<Vec<u8>>>, GitError> {
        let questions: String = oids.iter().map(|oid| format!("contents {oid}\n")).collect();
        self.ask(&questions).await?;
        let mut found = Vec::with_capacity(oids.len());
        for _ in oids {
            found.push(match self.head().await? {
                None => None,
                Some(info) if info.size > max_bytes => {
                    self.receive(info.size, &mut tokio::io::sink()).await?;
                    None
                }
                Some(info) => {
                    let mut bytes = Vec::new();
                    self.receive(info.size, &mut bytes).await?;
                    Some(bytes)
                }
            });
        }
        Ok(found)
    }

    /// Writes the content of `oid` to `to`; false when there is no such object.
    pub async fn copy(&mut self, oid: &str, to: &mut (impl AsyncWrite + Unpin)) -> Result<bool, GitError> {
        if oid.contains('\n') {
            return Ok(false);
        }
        self.ask(&format!("contents {oid}\n")).await?;
        self.answer(to).await
    }

    /// Git collects its answers until it gets a flush: one write for many.
    async fn ask(&mut self, questions: &str) -> Result<(), GitError> {
        let work = async {
            self.stdin.write_all(format!("{questions}flush\n").as_bytes()).await?;
            self.stdin.flush().await
        };
        bound(work).await
    }

    /// Reads one requested object; false when there is none.
    async fn answer(&mut self, to: &mut (impl AsyncWrite + Unpin)) -> Result<bool, GitError> {
        let Some(info) = self.head().await? else { return Ok(false) };
        self.receive(info.size, to).await?;
        Ok(true)
    }

    /// Takes the content that follows such a line.
    async fn receive(&mut self, size: u64, to: &mut (impl AsyncWrite + Unpin)) -> Result<(), GitError> {
        let work = async {
            let copied = tokio::io::copy(&mut (&mut self.stdout).take(size), to).await?;
            if copied != size || self.stdout.read_u8().await? != b'\n' {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            to.flush().await
        };
        bound(work).await
    }

    /// The line with which git begins an answer.
    async fn head(&mut self) -> Result<Option<Info>, GitError> {
        let mut line = String::new();
        bound((&mut self.stdout).take(64 << 10).read_line(&mut line)).await?;
        let Some(line) = line.strip_suffix('\n') else { return Err(broken("it ended")) };
        let mut words = line.rsplitn(3, ' ');
        let (size, kind, oid) = (words.next(), words.next(), words.next());
        Ok(match (oid, kind, size.and_then(|size| size.parse().ok())) {
            (Some(oid), Some(kind), Some(size)) => {
                Some(Info { oid: oid.to_owned(), kind: kind.to_owned(), size })
            }
            _ => None,
        })
    }
}

async fn bound<T>(work: impl Future<Output = std::io::Result<T>>) -> Result<T, GitError> {
    match tokio::time::timeout(TIME_LIMIT, work).await {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(broken(&error.to_string())),
        Err(_) => Err(broken("no answer in time")),
    }
}

fn broken(why: &str) -> GitError {
    GitError::Failed { command: "cat-file --batch-command".into(), stderr: why.to_owned() }
}
