//! Finding files of a project by name.
//!
//! Invariant: at most `limit` hits, best first: file name before directory name before path, exact and prefix matches
//! before others, recently committed files before the rest.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use forge_types::wire::{MatchType, SearchResult};

use crate::base::blocking;
use crate::command::Git;
use crate::{GitError, Repo};

const PRUNED: &[&str] = &[".git", "node_modules", "target", "dist", "build"];
const MAX_ENTRIES: usize = 500_000;

/// Which files are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchScope {
    /// Tracked and untracked, but not ignored.
    Tracked,
    /// Ignored ones too, without the usual build directories.
    All,
}

impl Repo {
    /// Files and directories whose path contains `needle`, whatever the case.
    pub async fn search_files(
        &self,
        needle: &str,
        scope: SearchScope,
        limit: usize,
    ) -> Result<Vec<SearchResult>, GitError> {
        let files = match scope {
            SearchScope::Tracked => {
                let args = ["ls-files", "-co", "--exclude-standard", "--deduplicate", "-z"];
                split(&Git::read(self.main()).args(args).run().await?)
            }
            SearchScope::All => {
                let root = self.path().to_owned();
                blocking(move || Ok(walk(&root))).await?
            }
        };
        let args = ["log", "-n", "200", "--name-only", "--format=", "-z"];
        let recent = Git::read(self.main()).args(args).answer().await?;
        let mut ranks = HashMap::new();
        for path in split(&recent.stdout) {
            let rank = ranks.len();
            ranks.entry(path).or_insert(rank);
        }
        Ok(rank(&files, &ranks, &needle.to_lowercase(), limit))
    }
}

fn split(bytes: &[u8]) -> Vec<String> {
    let paths = bytes.split(|byte| *byte == 0).filter(|path| !path.is_empty());
    paths.map(|path| String::from_utf8_lossy(path).trim_start_matches('\n').to_owned()).collect()
}

fn walk(root: &Path) -> Vec<String> {
    let mut builder = ignore::WalkBuilder::new(root);
    builder.standard_filters(false).follow_links(false);
    builder.filter_entry(|entry| !PRUNED.iter().any(|name| entry.file_name() == *name));
    let files =
        builder.build().flatten().filter(|entry| entry.file_type().is_some_and(|kind| !kind.is_dir()));
    let relative =
        files.filter_map(|entry| Some(entry.path().strip_prefix(root).ok()?.to_string_lossy().into_owned()));
    relative.take(MAX_ENTRIES).collect()
}

fn rank(files: &[String], ranks: &HashMap<String, usize>, needle: &str, limit: usize) -> Vec<SearchResult> {
    let directories: BTreeSet<&str> =
        files.iter().flat_map(|path| path.match_indices('/').map(|(at, _)| &path[..at])).collect();
    let entries = files
        .iter()
        .map(|path| (path.as_str(), true))
        .chain(directories.into_iter().map(|path| (path, false)));
    let mut hits: Vec<_> = entries
        .filter_map(|(path, is_file)| {
            let (match_type, closeness) = compare(&path.to_lowercase(), needle)?;
            let recency = ranks.get(path).copied().unwrap_or(usize::MAX);
            Some(((match_type, closeness, recency, path.len(), path), is_file))
        })
        .collect();
    hits.sort_unstable();
    let shown = hits.into_iter().take(limit);
    shown
        .map(|((match_type, .., path), is_file)| SearchResult { path: path.to_owned(), is_file, match_type })
        .collect()
}

/// What matches and how closely: 0 exact, 1 prefix, 2 somewhere inside.
fn compare(path: &str, needle: &str) -> Option<(MatchType, u8)> {
    let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
    let parent_name = parent.rsplit('/').next().unwrap_or(parent);
    let stem = name.split('.').next().unwrap_or(name);
    for (text, match_type) in [(name, MatchType::FileName), (parent_name, MatchType::DirectoryName)] {
        if text == needle || (match_type == MatchType::FileName && stem == needle && !stem.is_empty()) {
            return Some((match_type, 0));
        }
        if text.starts_with(needle) && !text.is_empty() {
            return Some((match_type, 1));
        }
        if text.contains(needle) && !text.is_empty() {
            return Some((match_type, 2));
        }
    }
    path.contains(needle).then_some((MatchType::FullPath, 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_name_comes_first() {
        let files: Vec<String> =
            ["docs/main/guide.md", "src/domain.rs", "src/main.rs", "lib/amain.txt"].map(str::to_owned).into();
        let hits = rank(&files, &HashMap::from([("lib/amain.txt".to_owned(), 0)]), "main", 10);
        let paths: Vec<_> = hits.iter().map(|hit| hit.path.as_str()).collect();
        assert_eq!(
            paths,
            ["docs/main", "src/main.rs", "lib/amain.txt", "src/domain.rs", "docs/main/guide.md"]
        );
        assert_eq!(hits[4].match_type, MatchType::DirectoryName);
        assert!(!hits[0].is_file);
    }
}
