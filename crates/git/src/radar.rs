//! Where merging would conflict, without merging.
//!
//! Owns what is known about pairs of commits of a repository. Two commits never change, so neither does the result, and
//! after a commit only the pairs of that one branch are computed again. Invariant: at most [`PAIRS_KEPT`] results are
//! kept per repository. Only commits are used; no branch, index or checkout is read or written, and the trees that git
//! makes on the way go to a scratch directory, not to the repository.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::command::Git;
use crate::history::is_object_id;
use crate::scratch::Scratch;
use crate::{GitError, Repo};

/// Two commits that might be merged, in either order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pair(pub String, pub String);

const PAIRS_KEPT: usize = 20_000;

type Files = Arc<Vec<String>>;

#[derive(Default)]
pub(crate) struct Conflicts(Mutex<HashMap<Pair, Files>>);

impl Conflicts {
    fn lock(&self) -> MutexGuard<'_, HashMap<Pair, Files>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The files in which each pair conflicts, in the order of the pairs: from memory, or from one run of git for all new
/// pairs.
pub async fn conflicts_of(repo: &Repo, pairs: &[Pair]) -> Result<Vec<Files>, GitError> {
    let unknown: Vec<Pair> = {
        let known = repo.conflicts().lock();
        pairs.iter().filter(|pair| !known.contains_key(pair)).cloned().collect()
    };
    let found = merge_all(repo, &unknown).await?;
    let mut known = repo.conflicts().lock();
    if known.len() + unknown.len() > PAIRS_KEPT {
        let wanted: HashSet<&Pair> = pairs.iter().collect();
        known.retain(|pair, _| wanted.contains(pair));
    }
    known.extend(unknown.into_iter().zip(found.into_iter().map(Arc::new)));
    Ok(pairs.iter().map(|pair| known.get(pair).cloned().unwrap_or_default()).collect())
}

async fn merge_all(repo: &Repo, pairs: &[Pair]) -> Result<Vec<Vec<String>>, GitError> {
    if pairs.is_empty() {
        return Ok(Vec::new());
    }
    let mut input = String::new();
    for Pair(one, other) in pairs {
        // A blank or a newline would be read as another pair.
        let stranger = [one, other].into_iter().find(|oid| !is_object_id(oid));
        if let Some(stranger) = stranger {
            return Err(GitError::BranchMissing(stranger.clone()));
        }
        input.push_str(&format!("{one} {other}\n"));
    }
    let scratch = Scratch::new(repo)?;
    let args = ["merge-tree", "--write-tree", "--name-only", "--no-messages", "-z"];
    let git = Git::read(repo.store()).args(args).args(["--allow-unrelated-histories", "--stdin"]);
    let git = git.env("GIT_OBJECT_DIRECTORY", scratch.path());
    let git = git.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", repo.common_dir().join("objects"));
    let answer = git.input(input).answer().await?;
    if answer.code == 129 {
        let found = crate::check_git().await?.to_string();
        return Err(GitError::TooOld { found, needed: "2.39".to_owned() });
    }
    let found = read(&answer.stdout);
    match found.len() == pairs.len() {
        true => Ok(found),
        false => Err(answer.into_error()),
    }
}

/// Each merge is its verdict, its tree, the conflicted files and an empty field.
fn read(bytes: &[u8]) -> Vec<Vec<String>> {
    let mut fields = bytes.split(|byte| *byte == 0);
    let mut merges = Vec::new();
    while let Some(verdict) = fields.next() {
        if verdict.is_empty() || fields.next().is_none() {
            break;
        }
        let files = fields.by_ref().take_while(|field| !field.is_empty());
        merges.push(files.map(|file| String::from_utf8_lossy(file).into_owned()).collect());
    }
    merges
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn clean_and_conflicting_merges_are_distinguished() {
        let fields = ["0", "9d6e", "f", "ü \"x.txt", "", "1", "4a06", "", "0", "2408", "g", "", ""];
        let found = read(fields.join("\0").as_bytes());
        assert_eq!(found, [vec!["f".to_owned(), "ü \"x.txt".to_owned()], vec![], vec!["g".to_owned()]]);
        assert!(read(b"").is_empty());
    }
}
