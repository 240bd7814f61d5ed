//! What an attempt changed, file by file, for as long as somebody looks.
//!
//! Owns: the choice between the working tree, the branch of one that was put away and a landed commit, and what the reader
//! has received already.
//! Invariant: files are loaded at the reader's pace, a batch of at most [`BATCH_MAX_BYTES`] (or one file) at a time. Lines
//! are counted only for files that are sent without contents; whoever has the contents can count.

use std::collections::HashMap;

use forge_git::{ContentReader, Counting, FileDiff, Repo, Watch};
use forge_types::{AttemptId, Diff, Merge};
use tokio::sync::watch;

use crate::worktree::attempt_repo::{AttemptRepo, tip_of};
use crate::worktree::changes::is_landed;
use crate::worktree::host::Changes;
use crate::{Error, Forge, Result};

/// Files above this size are shown without contents.
const INLINE_MAX_BYTES: u64 = 2 << 20;
/// After this much content on one feed the rest is shown without.
const FEED_MAX_BYTES: u64 = 200 << 20;
const BATCH_MAX_BYTES: u64 = 4 << 20;
/// As many questions as surely fit into a pipe.
const BATCH_MAX_FILES: usize = 256;
/// What a file counts for whose size nobody knows yet.
const UNKNOWN_BYTES: u64 = 256 << 10;

/// How much of a diff is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffDetail {
    Contents,
    StatsOnly,
}

/// One change of the reader's list of changed files.
#[derive(Clone, Debug)]
pub enum DiffStep {
    Put(Diff),
    Remove(String),
}

/// What an attempt changed, and keeps changing.
pub struct DiffFeed {
    attempt_repo: AttemptRepo,
    source: Source,
    /// Changes with every event, and so when a worktree is put away or comes back.
    wake: watch::Receiver<i64>,
    detail: DiffDetail,
    reader: ContentReader,
    /// Changed files still to be sent, the next one last.
    pending: Vec<Step>,
    sent: HashMap<String, FileDiff>,
    /// Lines of the files that are sent without contents, counted when the first of them is met.
    counts: Option<HashMap<String, FileDiff>>,
    sent_bytes: u64,
}

enum Step {
    Put(FileDiff),
    Remove(String),
}

enum Source {
    /// Landed work: the diff of one commit, sent once.
    Commit(String),
    /// The working tree against the merge base, for as long as the reader stays; its branch while there is none to watch.
    Work { watch: Option<Watch>, base: Base },
}

/// The merge base that was true for a HEAD and a target.
#[derive(Default)]
struct Base {
    of: (String, String),
    commit: String,
}

impl Forge {
    pub async fn diff(&self, id: AttemptId, detail: DiffDetail) -> Result<DiffFeed> {
        let wake = self.0.store.subscribe();
        let attempt_repo = self.open_for_read(id).await?;
        let merged = self.0.store.merges(id).await?.into_iter().next();
        let source = match merged.as_ref().and_then(Merge::commit) {
            Some(commit) if is_landed(&attempt_repo, commit).await? => Source::Commit(commit.to_owned()),
            _ => Source::Work { watch: None, base: Base::default() },
        };
        let reader = attempt_repo.host.contents(&attempt_repo.workplace.directory).await?;
        let mut feed = DiffFeed {
            attempt_repo,
            source,
            wake,
            detail,
            reader,
            pending: Vec::new(),
            sent: HashMap::new(),
            counts: None,
            sent_bytes: 0,
        };
        feed.look().await?;
        Ok(feed)
    }
}

impl Base {
    async fn renew(&mut self, repo: &Repo, head: String, target: String) -> Result<()> {
        let of = (head, target);
        if self.of != of {
            let base = forge_git::merge_base(repo, &of.0, &of.1).await?;
            self.commit = base.unwrap_or_else(|| of.0.clone());
            self.of = of;
        }
        Ok(())
    }
}

impl DiffFeed {
    /// The next changed files, waiting for them while the tree may still change; `None` after a landed diff.
    pub async fn next(&mut self) -> Result<Option<Vec<DiffStep>>> {
        while self.pending.is_empty() {
            match &mut self.source {
                Source::Commit(_) => return Ok(None),
                Source::Work { watch: Some(watch), .. } => watch.changed().await,
                Source::Work { watch: None, .. } => self.wait_for_worktree().await?,
            }
            self.look().await?;
        }
        let mut steps = Vec::new();
        let mut files = Vec::new();
        let mut bytes = 0;
        while files.len() < BATCH_MAX_FILES
            && let Some(step) = self.pending.pop()
        {
            match step {
                Step::Remove(key) => {
                    self.sent.remove(&key);
                    steps.push(DiffStep::Remove(key));
                }
                Step::Put(file) => {
                    bytes += size(&file);
                    if bytes > BATCH_MAX_BYTES && !files.is_empty() {
                        self.pending.push(Step::Put(file));
                        break;
                    }
                    files.push(file);
                }
            }
        }
        for diff in self.load(&files).await? {
            steps.push(DiffStep::Put(diff));
        }
        self.sent.extend(files.into_iter().map(|file| (file.key().to_owned(), file)));
        Ok(Some(steps))
    }

    async fn wait_for_worktree(&mut self) -> Result<()> {
        loop {
            self.wake.borrow_and_update();
            if !self.attempt_repo.is_away().await? {
                return Ok(());
            }
            let closed = |cause| Error::internal("the event log was closed", cause);
            self.wake.changed().await.map_err(closed)?;
        }
    }

    /// Watches the worktree if it is there. Watching starts before the look, so that no change falls in between.
    async fn find_worktree(&mut self) -> Result<()> {
        let Source::Work { watch, .. } = &mut self.source else { return Ok(()) };
        if self.attempt_repo.is_away().await? {
            *watch = None;
        } else if watch.is_none() {
            let AttemptRepo { host, workplace, .. } = &self.attempt_repo;
            *watch = Some(host.watch(&workplace.directory).await?);
        }
        Ok(())
    }

    /// Sees what differs now and notes what the reader has not received.
    async fn look(&mut self) -> Result<()> {
        self.find_worktree().await?;
        let files = self.changed_files(match self.detail {
            DiffDetail::Contents => Counting::Skip,
            DiffDetail::StatsOnly => Counting::Count,
        });
        let files = files.await?;
        self.counts = None;
        let now: HashMap<&str, &FileDiff> = files.iter().map(|file| (file.key(), file)).collect();
        let gone = self.sent.keys().filter(|key| !now.contains_key(key.as_str()));
        let mut steps: Vec<Step> = gone.cloned().map(Step::Remove).collect();
        let news = files.into_iter().rev().filter(|file| self.sent.get(file.key()) != Some(file));
        steps.extend(news.map(Step::Put));
        self.pending = steps;
        Ok(())
    }

    async fn changed_files(&mut self, counting: Counting) -> Result<Vec<FileDiff>> {
        let AttemptRepo { workplace, attempt, repo, host } = &self.attempt_repo;
        Ok(match &mut self.source {
            Source::Commit(commit) => forge_git::diff_commit(repo, commit, counting).await?,
            Source::Work { watch, base } => {
                let head = self.attempt_repo.work_head().await?;
                base.renew(repo, head, tip_of(repo, &attempt.target_branch).await?).await?;
                match watch {
                    Some(_) => {
                        let (at, base) = (workplace.directory.clone(), base.commit.clone());
                        host.ask(Changes { at, base, counting }).await?
                    }
                    None => forge_git::diff_between(repo, &base.commit, &base.of.0, counting).await?,
                }
            }
        })
    }

    async fn load(&mut self, files: &[FileDiff]) -> Result<Vec<Diff>> {
        if self.detail == DiffDetail::StatsOnly {
            return Ok(files.iter().map(FileDiff::outline).collect());
        }
        let mut diffs = match self.sent_bytes < FEED_MAX_BYTES {
            true => self.reader.load(files, INLINE_MAX_BYTES).await?,
            false => files.iter().map(FileDiff::outline).collect(),
        };
        for diff in &mut diffs {
            let length = |text: &Option<String>| text.as_ref().map_or(0, |text| text.len() as u64);
            self.sent_bytes += length(&diff.old_content) + length(&diff.new_content);
            if diff.content_omitted {
                self.count(diff).await?;
            }
        }
        Ok(diffs)
    }

    /// Counts the changed lines of a file that is sent without its contents.
    async fn count(&mut self, diff: &mut Diff) -> Result<()> {
        if self.counts.is_none() {
            let files = self.changed_files(Counting::Count).await?;
            self.counts = Some(files.into_iter().map(|file| (file.key().to_owned(), file)).collect());
        }
        let counted = self.counts.as_ref().and_then(|counts| counts.get(diff.key()));
        diff.additions = counted.and_then(|file| file.additions);
        diff.deletions = counted.and_then(|file| file.deletions);
        Ok(())
    }
}

/// What a file is expected to take in memory. Most files are about as large as they were.
fn size(file: &FileDiff) -> u64 {
    let known = file.new.as_ref().and_then(|blob| blob.size);
    // What is too large is not loaded.
    known.map_or(UNKNOWN_BYTES, |size| if size > INLINE_MAX_BYTES { 0 } else { 2 * size })
}
