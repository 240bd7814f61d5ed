use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use forge_git::{
    BranchTip, Committed, GitError, Pair, Rebased, Worktree, abort, commit_work, conflicts_of, operation,
    rebase, reset_hard, squash_merge, status,
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

    // Main brings a file that is untracked in the worktree.
    commit(&f.project(), "notes.txt", "theirs", "notes");
    write(&w.path.join("notes.txt"), "mine");
    let refused = rebase_onto_main(&f, &w).await.unwrap_err();
    assert!(matches!(&refused, GitError::Dirty { files, .. } if files == &["notes.txt"]), "{refused}");
    assert_eq!(read(&w.path.join("notes.txt")), "mine");
    let now = status(&f.repo, &w.path).await.unwrap();
    assert_eq!((now.head, now.branch, now.operation), (Some(tip), Some(w.branch.clone()), None));

    git(&w.path, &["checkout", "-q", "--detach"]);
    assert!(matches!(rebase_onto_main(&f, &w).await.unwrap_err(), GitError::OffBranch { .. }));
}

#[tokio::test]
async fn open_conflicts_are_never_committed_and_staged_ones_are_carried_on() {
    let (f, _, w) = conflicting().await;
    let Rebased::Conflicts { files } = rebase_onto_main(&f, &w).await.unwrap() else { panic!("no conflict") };
    assert_eq!(files, ["a.txt"]);
    let stopped = status(&f.repo, &w.path).await.unwrap();
    assert_eq!((stopped.operation, stopped.branch), (Some(ConflictOp::Rebase), None));
    assert!(matches!(rebase_onto_main(&f, &w).await.unwrap_err(), GitError::InProgress { .. }));

    // Resolved in the file but not staged: nobody declared it done.
    write(&w.path.join("a.txt"), "one\nboth\nthree\n");
    let held = commit_work(&f.repo, &w.path, &w.branch, "never used").await.unwrap();
    assert_eq!(held, Committed::Conflicts(vec!["a.txt".to_owned()]));
    assert_eq!(status(&f.repo, &w.path).await.unwrap().conflicted, ["a.txt"]);

    git(&w.path, &["add", "a.txt"]);
    let Committed::Commit(head) = commit_work(&f.repo, &w.path, &w.branch, "never used").await.unwrap()
    else {
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
        let now = status(&f.repo, &w.path).await.unwrap();
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
    reset_hard(&f.repo, &w.path, owner(id), &w.branch, &earlier).await.unwrap();
    let now = status(&f.repo, &w.path).await.unwrap();
    assert_eq!((now.head, now.branch, now.operation), (Some(earlier.clone()), Some(w.branch.clone()), None));
    assert_eq!(git(&w.path, &["rev-parse", &w.branch]), earlier);
}

#[tokio::test]
async fn a_stopped_merge_is_concluded_or_aborted_like_a_rebase() {
    let (f, id, w) = conflicting().await;
    let tip = git(&w.path, &["rev-parse", "HEAD"]);
    assert_ne!(try_git(&w.path, &["merge", "-q", "main"]).0, 0);
    assert_eq!(status(&f.repo, &w.path).await.unwrap().operation, Some(ConflictOp::Merge));
    let refused = squash_merge(&f.repo, &w.path, &w.branch, "main", "m").await.unwrap_err();
    assert!(matches!(&refused, GitError::InProgress { operation, .. } if operation == "merge"), "{refused}");
    abort(&f.repo, &w.path, owner(id), &w.branch).await.unwrap();
    assert_eq!(git(&w.path, &["rev-parse", "HEAD"]), tip);

    assert_ne!(try_git(&w.path, &["merge", "-q", "main"]).0, 0);
    assert!(matches!(commit_work(&f.repo, &w.path, &w.branch, "m").await.unwrap(), Committed::Conflicts(_)));
    write(&w.path.join("a.txt"), "one\nboth\nthree\n");
    git(&w.path, &["add", "a.txt"]);
    assert!(matches!(
        commit_work(&f.repo, &w.path, &w.branch, "merged").await.unwrap(),
        Committed::Commit(_)
    ));
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
    let found = conflicts_of(&f.repo, &pairs).await.unwrap();
    let a_txt = vec!["a.txt".to_owned()];
    let found: Vec<&[String]> = found.iter().map(|files| files.as_slice()).collect();
    assert_eq!(found[..4], [&a_txt[..], &[], &a_txt, &[]]);
    assert!(!found[4].is_empty(), "unrelated histories are merged like any other");
    assert_eq!(git(&f.project(), &["count-objects"]), objects);
    assert!(conflicts_of(&f.repo, &[Pair("main".into(), a)]).await.is_err(), "only object ids");
}

fn private(w: &Worktree) -> std::path::PathBuf {
    git(&w.path, &["rev-parse", "--absolute-git-dir"]).into()
}

/// Stops at `a.txt`, which is then resolved and staged.
async fn resolved() -> (Fixture, AttemptId, Worktree) {
    let (f, id, w) = conflicting().await;
    assert!(matches!(rebase_onto_main(&f, &w).await.unwrap(), Rebased::Conflicts { .. }));
    write(&w.path.join("a.txt"), "one\nboth\nthree\n");
    git(&w.path, &["add", "a.txt"]);
    (f, id, w)
}

#[tokio::test]
async fn a_rebase_that_goes_on_keeps_authors_and_what_was_left_out() {
    let f = Fixture::new().await;
    let (_, w) = f.start("authors").await;
    write(&w.path.join("a.txt"), "one\nours\nthree\n");
    git(&w.path, &["commit", "-qam", "ours\n\nwith a body", "--author=Ada <ada@example.com>"]);
    commit(&w.path, "dropped.txt", "x", "dropped");
    commit(&w.path, "later.txt", "later", "later");
    commit(&f.project(), "a.txt", "one\ntheirs\nthree\n", "theirs");
    rebase_onto_main(&f, &w).await.unwrap();
    // An agent may leave a commit out, as it may with git itself.
    let todo = private(&w).join("rebase-merge/git-rebase-todo");
    let kept: Vec<String> =
        read(&todo).lines().filter(|line| !line.contains("dropped")).map(str::to_owned).collect();
    write(&todo, kept.join("\n") + "\n");
    write(&w.path.join("a.txt"), "one\nboth\nthree\n");
    git(&w.path, &["add", "a.txt"]);
    let done = commit_work(&f.repo, &w.path, &w.branch, "never used").await.unwrap();
    assert!(matches!(done, Committed::Commit(_)));
    assert_eq!(
        git(&w.path, &["log", "-3", "--format=%s|%an|%b"]),
        "later|Tester|\nours|Ada|with a body\n\ntheirs|Tester|"
    );
    assert_eq!(git(&w.path, &["symbolic-ref", "--short", "HEAD"]), w.branch);
    assert!(!private(&w).join("forge-rebase").exists());
}

#[tokio::test]
async fn a_rebase_goes_on_from_conflict_to_conflict_with_merges_and_without_a_rest() {
    let f = Fixture::new().await;
    let (_, w) = f.start("twice").await;
    commit(&w.path, "a.txt", "one\nours\nthree\n", "ours");
    git(&w.path, &["checkout", "-q", "-b", "side", "HEAD^"]);
    commit(&w.path, "side.txt", "side", "side");
    git(&w.path, &["checkout", "-q", &w.branch]);
    git(&w.path, &["merge", "-q", "--no-edit", "side"]);
    commit(&w.path, "dir/b.txt", "ours\n", "ours too");
    commit(&f.project(), "a.txt", "one\ntheirs\nthree\n", "theirs");
    commit(&f.project(), "dir/b.txt", "theirs\n", "theirs too");
    rebase_onto_main(&f, &w).await.unwrap();
    write(&w.path.join("a.txt"), "one\nboth\nthree\n");
    git(&w.path, &["add", "a.txt"]);
    let next = commit_work(&f.repo, &w.path, &w.branch, "never used").await.unwrap();
    assert_eq!(next, Committed::Conflicts(vec!["dir/b.txt".to_owned()]));
    assert_eq!(status(&f.repo, &w.path).await.unwrap().operation, Some(ConflictOp::Rebase));
    write(&w.path.join("dir/b.txt"), "both\n");
    git(&w.path, &["add", "-A"]);
    let done = commit_work(&f.repo, &w.path, &w.branch, "never used").await.unwrap();
    assert!(matches!(done, Committed::Commit(_)));
    let subjects = git(&w.path, &["log", "--format=%s", "main.."]);
    let subjects: std::collections::BTreeSet<&str> = subjects.lines().collect();
    assert_eq!(subjects, ["ours", "side", "ours too"].into());
    assert_eq!(status(&f.repo, &w.path).await.unwrap().operation, None);
}

#[tokio::test]
async fn a_rebase_with_steps_of_its_own_is_refused_and_stays() {
    let (f, id, w) = resolved().await;
    let dir = private(&w).join("rebase-merge");
    let todo = read(&dir.join("git-rebase-todo"));
    let stranger = git(&f.project(), &["rev-parse", "main"]);
    let bad = [
        ("git-rebase-todo", format!("{todo}exec touch x\n")),
        ("git-rebase-todo", todo.replace("pick", "edit")),
        ("git-rebase-todo", format!("{todo}pick {stranger}\n")),
        ("git-rebase-todo", "pick HEAD\n".to_owned()),
        ("done", "exec touch x\n".to_owned()),
        ("head-name", "refs/heads/main\n".to_owned()),
    ];
    for (file, text) in bad {
        let before = read(&dir.join(file));
        write(&dir.join(file), &text);
        let refused = commit_work(&f.repo, &w.path, &w.branch, "m").await.unwrap_err();
        assert!(matches!(refused, GitError::StrangeRebase { .. }), "{text}: {refused}");
        assert!(refused.hint().is_some_and(|hint| hint.contains("abort it")), "{refused}");
        assert_eq!(status(&f.repo, &w.path).await.unwrap().operation, Some(ConflictOp::Rebase));
        write(&dir.join(file), before);
    }
    write(&dir.join("git-rebase-todo"), format!("exec touch x\n{todo}"));
    write(&dir.join("head-name"), "refs/heads/main\n");
    let (main, tip) = (f.head(), git(&w.path, &["rev-parse", &w.branch]));
    abort(&f.repo, &w.path, owner(id), &w.branch).await.unwrap();
    let now = status(&f.repo, &w.path).await.unwrap();
    assert_eq!((now.head, now.branch, now.operation), (Some(tip), Some(w.branch.clone()), None));
    assert_eq!((f.head(), w.path.join("x").exists()), (main, false), "no branch but its own is touched");
}

#[tokio::test]
async fn a_rebase_that_was_cut_off_while_it_went_on_is_still_in_progress() {
    let (f, _, w) = resolved().await;
    let dir = private(&w);
    std::fs::rename(dir.join("rebase-merge"), dir.join("forge-rebase")).unwrap();
    assert_eq!(operation(&f.repo, &w.path).unwrap(), Some(ConflictOp::Rebase));
    let done = commit_work(&f.repo, &w.path, &w.branch, "never used").await.unwrap();
    assert!(matches!(done, Committed::Commit(_)));
    assert_eq!(git(&w.path, &["log", "--format=%s"]), "later\nours\ntheirs\nfirst");
    // After its end it is nothing any more.
    std::fs::create_dir(dir.join("forge-rebase")).unwrap();
    assert_eq!(operation(&f.repo, &w.path).unwrap(), None);
    commit_work(&f.repo, &w.path, &w.branch, "m").await.unwrap();
    assert!(!dir.join("forge-rebase").exists());
}

#[tokio::test]
async fn what_a_rebase_had_stashed_is_kept_by_its_abort() {
    let (f, id, w) = conflicting().await;
    write(&w.path.join("later.txt"), "not committed");
    assert_ne!(try_git(&w.path, &["rebase", "-q", "--autostash", "main"]).0, 0);
    abort(&f.repo, &w.path, owner(id), &w.branch).await.unwrap();
    assert_eq!(git(&w.path, &["show", "stash@{0}:later.txt"]), "not committed");
    assert_eq!(status(&f.repo, &w.path).await.unwrap().changed, Vec::<String>::new());
}
