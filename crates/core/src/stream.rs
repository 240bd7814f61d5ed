//! Logs, entries and diffs as they grow.
//!
//! Invariant: everything is read from disk at the reader's pace; a slow reader costs nobody memory and loses nothing.
//! Entries are folded anew for each reader, so live and replay agree by construction.

use std::collections::HashMap;
use std::time::Duration;

use forge_git::{ContentReader, FileDiff, Repo, Watch};
use forge_run::fold::{Dialect, Fold};
use forge_run::{Record, Tail};
use forge_types::{AttemptId, Diff, EntryPatch, Merge, Run, RunId, RunOwner, RunPhase};

use crate::site::Site;
use crate::{Error, Forge, Result};

/// Files above this size are shown without contents.
const INLINE_MAX_BYTES: u64 = 2 << 20;
/// After this much content on one feed the rest is shown without.
const FEED_MAX_BYTES: u64 = 200 << 20;
/// How long a reader of a run that has not started yet waits between two looks, at most.
const LOOK: Duration = Duration::from_millis(250);

/// The records of one run, from the first to the last, whenever the reader comes.
pub struct LogTail {
    forge: Forge,
    id: RunId,
    tail: Option<Tail>,
    skip: u64,
}

impl Forge {
    pub async fn log(&self, id: RunId) -> Result<LogTail> {
        self.run(id).await?;
        Ok(LogTail { forge: self.clone(), id, tail: None, skip: 0 })
    }

    pub async fn entries(&self, id: RunId) -> Result<EntryTail> {
        let run = self.run(id).await?;
        let site = self.site(run.owner).await?;
        let executor = run.action.profile().map(|profile| profile.executor);
        let fold = Fold::new(Dialect::of(executor, run.reason), &site.place);
        Ok(EntryTail { log: self.log(id).await?, fold, finished: false })
    }

    /// The transcript of an ended run.
    pub async fn run_output(&self, run: &Run) -> Option<String> {
        if run.phase != RunPhase::Ended {
            return None;
        }
        tokio::fs::read_to_string(self.run_dir(run.id).join("output.txt")).await.ok()
    }
}

impl LogTail {
    /// The next records, waiting for them while the run lives; `None` once everything was read.
    pub async fn next(&mut self) -> Result<Option<Vec<Record>>> {
        let unreadable = |cause| Error::internal("the run's log cannot be read", cause);
        let tail = match &mut self.tail {
            Some(tail) => tail,
            empty => {
                let mut tail = open_tail(&self.forge, self.id).await?;
                tail.skip_outputs(self.skip).await.map_err(unreadable)?;
                empty.insert(tail)
            }
        };
        tail.next().await.map_err(unreadable)
    }

    /// Leaves out the first `count` output records.
    pub async fn skip_outputs(&mut self, count: u64) -> Result<()> {
        self.skip = count;
        Ok(())
    }
}

/// Opens the log of a run once it has a process or has ended.
async fn open_tail(forge: &Forge, id: RunId) -> Result<Tail> {
    loop {
        let changed = forge.0.changed.notified();
        let progress = forge.attended().get(&id).map(|attended| attended.live.progress());
        if progress.is_some() || forge.run(id).await?.phase == RunPhase::Ended {
            return Ok(Tail::new(&forge.run_dir(id), progress));
        }
        let _ = tokio::time::timeout(LOOK, changed).await;
    }
}

/// The readable log of one run.
pub struct EntryTail {
    log: LogTail,
    fold: Fold,
    finished: bool,
}

impl EntryTail {
    /// The next patches, never none; `None` once the run's log is at its end.
    pub async fn next(&mut self) -> Result<Option<Vec<EntryPatch>>> {
        let mut patches = Vec::new();
        while patches.is_empty() && !self.finished {
            match self.log.next().await? {
                Some(records) => records.iter().for_each(|record| self.fold.push(record, &mut patches)),
                None => {
                    self.fold.finish(&mut patches);
                    self.finished = true;
                }
            }
        }
        Ok(Some(patches).filter(|patches| !patches.is_empty()))
    }
}

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
    repo: Repo,
    site: Site,
    source: Source,
    detail: DiffDetail,
    reader: ContentReader,
    /// Changed files still to be told, newest last.
    pending: Vec<Step>,
    told: HashMap<String, FileDiff>,
    sent_bytes: u64,
}

enum Step {
    Put(FileDiff),
    Remove(String),
}

enum Source {
    /// Landed work: the diff of one commit, told once.
    Commit,
    /// The working tree against the merge base, for as long as the reader stays.
    Tree(Watch),
}

impl Forge {
    pub async fn diff(&self, id: AttemptId, detail: DiffDetail) -> Result<DiffFeed> {
        let mut site = self.site(RunOwner::Attempt(id)).await?;
        let Some(attempt) = site.attempt.clone().filter(|attempt| attempt.use_worktree) else {
            return Err(Error::conflict(format!(
                "attempt {id} works in the main checkout and has no branch of its own; there is no diff"
            )));
        };
        let repo = self.repo(&site.project).await?;
        let merged = self.0.store.merges(id).await?.into_iter().next();
        let landed = match merged.as_ref().and_then(Merge::commit) {
            Some(commit) if self.is_landed(&repo, &site, &attempt.branch, &attempt.target_branch).await? => {
                Some(commit.to_owned())
            }
            _ => None,
        };
        let (source, files) = match landed {
            Some(commit) => (Source::Commit, forge_git::diff_commit(&repo, &commit).await?),
            None => {
                self.ensure_place(&mut site).await?;
                // Watching starts before the first look, so that no change falls in between.
                let watch = forge_git::watch(&site.place)?;
                (Source::Tree(watch), changed_files(&repo, &site).await?)
            }
        };
        let reader = ContentReader::new(&repo, &site.place);
        let pending = files.into_iter().rev().map(Step::Put).collect();
        Ok(DiffFeed { repo, site, source, detail, reader, pending, told: HashMap::new(), sent_bytes: 0 })
    }

    /// Clean and not ahead of its target: what the attempt did is the merge commit and nothing more.
    async fn is_landed(&self, repo: &Repo, site: &Site, branch: &str, target: &str) -> Result<bool> {
        if site.place.exists() && forge_git::is_dirty(&site.place).await? {
            return Ok(false);
        }
        let (ahead, _) = forge_git::ahead_behind(repo, branch, target).await?;
        Ok(ahead == 0)
    }
}

async fn changed_files(repo: &Repo, site: &Site) -> Result<Vec<FileDiff>> {
    let Some(attempt) = &site.attempt else { return Ok(Vec::new()) };
    let head = repo.head_of(&site.place).await?;
    let base = forge_git::merge_base(repo, &head, &attempt.target_branch).await?;
    Ok(forge_git::diff_worktree(repo, &site.place, base.as_deref().unwrap_or(&head)).await?)
}

impl DiffFeed {
    /// The next changed file, waiting for it while the tree may still change; `None` after a landed diff.
    pub async fn next(&mut self) -> Result<Option<DiffStep>> {
        loop {
            match self.pending.pop() {
                Some(Step::Remove(key)) => {
                    self.told.remove(&key);
                    return Ok(Some(DiffStep::Remove(key)));
                }
                Some(Step::Put(file)) => {
                    let diff = self.load(&file).await?;
                    self.told.insert(file.key().to_owned(), file);
                    return Ok(Some(DiffStep::Put(diff)));
                }
                None => {}
            }
            match &mut self.source {
                Source::Commit => return Ok(None),
                Source::Tree(watch) => watch.changed().await,
            }
            let files = changed_files(&self.repo, &self.site).await?;
            self.pending = self.compare(files);
        }
    }

    fn compare(&self, files: Vec<FileDiff>) -> Vec<Step> {
        let gone = self.told.keys().filter(|key| !files.iter().any(|file| file.key() == *key));
        let mut steps: Vec<Step> = gone.cloned().map(Step::Remove).collect();
        let news = files.into_iter().rev().filter(|file| self.told.get(file.key()) != Some(file));
        steps.extend(news.map(Step::Put));
        steps
    }

    async fn load(&mut self, file: &FileDiff) -> Result<Diff> {
        let max_bytes = match self.detail {
            DiffDetail::StatsOnly => 0,
            DiffDetail::Contents if self.sent_bytes >= FEED_MAX_BYTES => 0,
            DiffDetail::Contents => INLINE_MAX_BYTES,
        };
        if max_bytes == 0 {
            return Ok(without_contents(file));
        }
        let diff = self.reader.load(file, max_bytes).await?;
        let size = |text: &Option<String>| text.as_ref().map_or(0, |text| text.len() as u64);
        self.sent_bytes += size(&diff.old_content) + size(&diff.new_content);
        Ok(diff)
    }
}

fn without_contents(file: &FileDiff) -> Diff {
    Diff {
        change: file.change,
        old_path: file.old_path.clone(),
        new_path: file.new_path.clone(),
        old_content: None,
        new_content: None,
        content_omitted: true,
        additions: file.additions,
        deletions: file.deletions,
    }
}
