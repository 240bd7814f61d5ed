//! Lines that git has counted in large diffs.
//!
//! Owns, for each worktree whose last look found many files, what was counted there: git reads both sides of every file
//! for that, and a look follows every edit. Invariant: a count is used again only for the same two stored contents at
//! the same path, and only while the base, attributes and settings are those that it was made with.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::Repo;
use crate::diff::Raw;

/// Fewer files are counted in the time that it takes to find out which of them are known.
const MANY: usize = 200;
const WORKTREES_KEPT: usize = 16;

#[derive(Default)]
pub(crate) struct Counted(Mutex<HashMap<PathBuf, Look>>);

/// What one look counted.
struct Look {
    rules: u64,
    lines: HashMap<Vec<u8>, Lines>,
}

struct Lines {
    old_path: Vec<u8>,
    oids: (String, String),
    counts: Option<(u64, u64)>,
}

impl Counted {
    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, Look>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn knows(&self, worktree: &Path) -> bool {
        self.lock().contains_key(worktree)
    }

    /// Fills in the counts that are known; returns where the others belong.
    pub fn fill(&self, worktree: &Path, rules: u64, raws: &mut [Raw]) -> Vec<usize> {
        let looks = self.lock();
        let look = looks.get(worktree).filter(|look| look.rules == rules);
        let mut unknown = Vec::new();
        for (at, raw) in raws.iter_mut().enumerate() {
            let lines = look
                .and_then(|look| look.lines.get(&raw.new_path))
                .filter(|lines| raw.is_stored() && lines.oids == raw.oids && lines.old_path == raw.old_path);
            match lines {
                Some(lines) => raw.counts = lines.counts,
                None => unknown.push(at),
            }
        }
        unknown
    }

    pub fn keep(&self, worktree: &Path, rules: Option<u64>, raws: &[Raw]) {
        let mut looks = self.lock();
        looks.remove(worktree);
        let Some(rules) = rules.filter(|_| raws.len() >= MANY) else { return };
        if looks.len() >= WORKTREES_KEPT {
            looks.clear();
        }
        let stored = raws.iter().filter(|raw| raw.is_stored()).map(|raw| {
            let (old_path, oids) = (raw.old_path.clone(), raw.oids.clone());
            (raw.new_path.clone(), Lines { old_path, oids, counts: raw.counts })
        });
        looks.insert(worktree.to_owned(), Look { rules, lines: stored.collect() });
    }
}

/// Stands for what decides how git counts: the base, attributes and settings. `None` when attributes are being edited.
pub(crate) fn rules_of(repo: &Repo, base: &str, raws: &[Raw]) -> Option<u64> {
    let mut rules = DefaultHasher::new();
    base.hash(&mut rules);
    for file in ["config", "info/attributes"] {
        let about = std::fs::metadata(repo.common_dir().join(file)).ok();
        about.and_then(|about| about.modified().ok()).hash(&mut rules);
    }
    for raw in raws.iter().filter(|raw| raw.new_path.ends_with(b".gitattributes")) {
        if !raw.is_stored() {
            return None;
        }
        (&raw.new_path, &raw.oids).hash(&mut rules);
    }
    Some(rules.finish())
}
