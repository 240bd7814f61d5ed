use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use forge_git::{
    BranchTip, Committed, GitError, Pair, Rebased, Worktree, abort, commit_work, merge_all, rebase,
    reset_hard, squash_merge, status,
};
use forge_types::{AttemptId, ConflictOp};
use pretty_assertions::assert_eq;

use crate::fixture::{Fixture, git, owner, read, try_git, write};

fn commit(dir: &Path, file: &str, text: &str, message: &str) {
    write(&dir.join(file), text);
    git(dir, &["add", "-A"]);
    git(dir, &["commit", "-qm", message]);
}

async fn main_tip(f: &Fixture) -> BranchTip {
    f.repo.resolve_branch("main").await.unwrap().unwrap()
}

async fn rebase_onto_main(f: &Fixture, w: &Worktree) -> Result<Rebased, GitError> {
    let main = main_tip(f).await;
    rebase(&f.repo, &w.path, &w.branch, &main, &main).await
}

/// An attempt and `main` that changed the same line, and the attempt another file after that.
async fn conflicting() -> (Fixture, AttemptId, Worktree) {
    let f = Fixture::new().await;
    let (id, w) = f.start("conflict").await;
    commit(&w.path, "a.txt", "one\nours\nthree\n", "ours");
    commit(&w.path, "later.txt", "later", "later");
    commit(&f.project(), "a.txt", "one\ntheirs\nthree\n", "theirs");
    (f, id, w)
}

#[tokio::test]
async fn a_rebase_replays_the_branch_and_touches_nothing_else() {
    let f = Fixture::new().await;
    let (_, w) = f.start("work").await;
    commit(&w.path, "work.txt", "1", "step 1");
    git(&w.path, &["branch", "bystander"]);
    git(&w.path, &["commit", "-q", "--allow-empty", "-m", "empty"]);
    commit(&f.project(), "b.txt", "main moved", "meanwhile");
    for (key, value) in
        [("rebase.updateRefs", "true"), ("commit.gpgSign", "true"), ("core.editor", "sleep 600")]
    {
        git(&f.project(), &["config", key, value]);
    }
    let hook = f.project().join(".git/hooks/pre-rebase");
    write(&hook, "#!/bin/sh\nexit 1\n");
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    write(&w.path.join("untracked.txt"), "mine");
    let bystander = git(&w.path, &["rev-parse", "bystander"]);

    let Rebased::Done { head } = rebase_onto_main(&f, &w).await.unwrap() else { panic!("conflicts") };
    assert_eq!(git(&w.path, &["rev-parse", &w.branch]), head);
    assert_eq!(git(&w.path, &["log", "--format=%s"]), "empty\nstep 1\nmeanwhile\nfirst");
    assert_eq!(git(&w.path, &["status", "--porcelain"]), "?? untracked.txt");
    assert_eq!(git(&w.path, &["rev-parse", "bystander"]), bystander);
    assert_eq!(rebase_onto_main(&f, &w).await.unwrap(), Rebased::Done { head }, "once more changes nothing");
}

#[tokio::test]
async fn only_own_commits_are_replayed_when_the_base_was_rewritten() {
    let f = Fixture::new().await;
    commit(&f.project(), "c.txt", "draft", "to be amended");
    let (_, w) = f.start("work").await;
    commit(&w.path, "work.txt", "1", "mine");
    write(&f.project().join("c.txt"), "final");
    git(&f.project(), &["commit", "-qa", "--amend", "-m", "amended"]);
    assert!(matches!(rebase_onto_main(&f, &w).await.unwrap(), Rebased::Done { .. }));
    assert_eq!(git(&w.path, &["log", "--format=%s"]), "mine\namended\nfirst");
}

#[tokio::test]
async fn work_that_was_merged_and_taken_back_is_not_dropped() {
    let f = Fixture::new().await;
    let (_, w) = f.start("work").await;
    commit(&w.path, "work.txt", "1", "mine");
    squash_merge(&f.repo, &w.path, &w.branch, "main", "Landed").await.unwrap();
    git(&f.project(), &["reset", "-q", "--hard", "HEAD^"]);
    commit(&f.project(), "b.txt", "something else", "meanwhile");
    assert!(matches!(rebase_onto_main(&f, &w).await.unwrap(), Rebased::Done { .. }));
    assert_eq!(git(&w.path, &["log", "--format=%s"]), "Landed\nmeanwhile\nfirst");
}

#[tokio::test]
async fn what_is_uncommitted_or_in_the_way_refuses_a_rebase_and_stays() {
    let (f, _, w) = conflicting().await;
    let tip = git(&w.path, &["rev-parse", "HEAD"]);
    write(&w.path.join("later.txt"), "not committed");
    let refused = rebase_onto_main(&f, &w).await.unwrap_err();
    assert!(matches!(&refused, GitError::Dirty { files, .. } if files == &["later.txt"]), "{refused}");
    git(&w.path, &["checkout", "-q", "later.txt"]);

    // Main brings a file that lies untracked in the worktree.
    commit(&f.project(), "notes.txt", "theirs", "notes");
    write(&w.path.join("notes.txt"), "mine");
    let refused = rebase_onto_main(&f, &w).await.unwrap_err();
    assert!(matches!(&refused, GitError::Dirty { files, .. } if files == &["notes.txt"]), "{refused}");
    assert_eq!(read(&w.path.join("notes.txt")), "mine");
    let now = status(&w.path).await.unwrap();
    assert_eq!((now.head, now.branch, now.operation), (Some(tip), Some(w.branch.clone()), None));

    git(&w.path, &["checkout", "-q", "--detach"]);
    assert!(matches!(rebase_onto_main(&f, &w).await.unwrap_err(), GitError::OffBranch { .. }));
}

#[tokio::test]
async fn open_conflicts_are_never_committed_and_staged_ones_are_carried_on() {
    let (f, _, w) = conflicting().await;
    let Rebased::Conflicts { files } = rebase_onto_main(&f, &w).await.unwrap() else { panic!("no conflict") };
    assert_eq!(files, ["a.txt"]);
    let stopped = status(&w.path).await.unwrap();
    assert_eq!((stopped.operation, stopped.branch), (Some(ConflictOp::Rebase), None));
    assert!(matches!(rebase_onto_main(&f, &w).await.unwrap_err(), GitError::InProgress { .. }));

    // Resolved in the file but not staged: nobody said that it is done.
    write(&w.path.join("a.txt"), "one\nboth\nthree\n");
    let held = commit_work(&f.repo, &w.path, "never used").await.unwrap();
    assert_eq!(held, Committed::Conflicts(vec!["a.txt".to_owned()]));
    assert_eq!(status(&w.path).await.unwrap().conflicted, ["a.txt"]);

    git(&w.path, &["add", "a.txt"]);
    let Committed::Commit(head) = commit_work(&f.repo, &w.path, "never used").await.unwrap() else {
        panic!("not continued")
    };
    assert_eq!(git(&w.path, &["rev-parse", &w.branch]), head);
    assert_eq!(git(&w.path, &["log", "--format=%s"]), "later\nours\ntheirs\nfirst");
    assert_eq!(git(&w.path, &["show", "HEAD:a.txt"]), "one\nboth\nthree");
    assert_eq!(git(&w.path, &["status", "--porcelain"]), "");
}

#[tokio::test]
async fn an_abort_goes_back_and_keeps_what_it_throws_away() {
    let (f, id, w) = conflicting().await;
    let tip = git(&w.path, &["rev-parse", "HEAD"]);
    for staged in [false, true] {
        rebase_onto_main(&f, &w).await.unwrap();
        write(&w.path.join("a.txt"), "half resolved");
        write(&w.path.join("thoughts.txt"), "untracked");
        if staged {
            git(&w.path, &["add", "a.txt"]);
        }
        let aborted = abort(&f.repo, &w.path, owner(id), &w.branch).await.unwrap();
        assert_eq!(aborted, Some(ConflictOp::Rebase));
        let now = status(&w.path).await.unwrap();
        assert_eq!(
            (now.head.as_deref(), now.branch.as_deref()),
            (Some(tip.as_str()), Some(w.branch.as_str()))
        );
        assert_eq!((now.operation, now.changed), (None, vec![]));
        assert_eq!(read(&w.path.join("thoughts.txt")), "untracked");
        let newest = git(
            &w.path,
            &["for-each-ref", "--sort=-refname", "--count=1", "--format=%(refname)", "refs/forge/undo"],
        );
        assert_eq!(git(&w.path, &["show", &format!("{newest}:a.txt")]), "half resolved");
    }
    assert_eq!(abort(&f.repo, &w.path, owner(id), &w.branch).await.unwrap(), None);
}

#[tokio::test]
async fn going_back_to_an_earlier_commit_ends_a_stopped_rebase_first() {
    let (f, id, w) = conflicting().await;
    rebase_onto_main(&f, &w).await.unwrap();
    let earlier = git(&w.path, &["rev-parse", &format!("{}^", w.branch)]);
    reset_hard(&f.repo, &w.path, owner(id), &earlier).await.unwrap();
    let now = status(&w.path).await.unwrap();
    assert_eq!((now.head, now.branch, now.operation), (Some(earlier.clone()), Some(w.branch.clone()), None));
    assert_eq!(git(&w.path, &["rev-parse", &w.branch]), earlier);
}

#[tokio::test]
async fn a_stopped_merge_is_concluded_or_aborted_like_a_rebase() {
    let (f, id, w) = conflicting().await;
    let tip = git(&w.path, &["rev-parse", "HEAD"]);
    assert_ne!(try_git(&w.path, &["merge", "-q", "main"]).0, 0);
    assert_eq!(status(&w.path).await.unwrap().operation, Some(ConflictOp::Merge));
    let refused = squash_merge(&f.repo, &w.path, &w.branch, "main", "m").await.unwrap_err();
    assert!(matches!(refused, GitError::InProgress { operation: "merge", .. }), "{refused}");
    abort(&f.repo, &w.path, owner(id), &w.branch).await.unwrap();
    assert_eq!(git(&w.path, &["rev-parse", "HEAD"]), tip);

    assert_ne!(try_git(&w.path, &["merge", "-q", "main"]).0, 0);
    assert!(matches!(commit_work(&f.repo, &w.path, "m").await.unwrap(), Committed::Conflicts(_)));
    write(&w.path.join("a.txt"), "one\nboth\nthree\n");
    git(&w.path, &["add", "a.txt"]);
    assert!(matches!(commit_work(&f.repo, &w.path, "merged").await.unwrap(), Committed::Commit(_)));
    assert_eq!(git(&w.path, &["rev-list", "--merges", "--count", "HEAD"]), "1");
}

#[tokio::test]
async fn conflicts_are_foreseen_without_leaving_a_trace() {
    let (f, _, ours) = conflicting().await;
    let (_, clean) = f.start("clean").await;
    commit(&clean.path, "new.txt", "new", "new");
    let (_, rival) = f.start("rival").await;
    commit(&rival.path, "a.txt", "one\nrival\nthree\n", "rival");
    git(&f.project(), &["checkout", "-q", "--orphan", "stranger"]);
    git(&f.project(), &["commit", "-qm", "no common history"]);
    let tip = |name: &str| git(&f.project(), &["rev-parse", name]);
    let (main, a, b, c) = (tip("main"), tip(&ours.branch), tip(&clean.branch), tip(&rival.branch));
    let objects = git(&f.project(), &["count-objects"]);
    let pair = |one: &String, other: &String| Pair(one.clone(), other.clone());
    let pairs = [pair(&a, &main), pair(&b, &main), pair(&a, &c), pair(&b, &c), pair(&a, &tip("stranger"))];
    let found = merge_all(&f.repo, &pairs).await.unwrap();
    let a_txt = vec!["a.txt".to_owned()];
    assert_eq!(found[..4], [a_txt.clone(), vec![], a_txt, vec![]]);
    assert!(!found[4].is_empty(), "unrelated histories are merged like any other");
    assert_eq!(git(&f.project(), &["count-objects"]), objects);
    assert!(merge_all(&f.repo, &[Pair("main".into(), a)]).await.is_err(), "only object ids");
}
