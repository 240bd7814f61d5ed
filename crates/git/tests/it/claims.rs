use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use forge_git::{
    GitError, Naming, Owner, Pool, check_git, claim, drop_orphan_claim, ensure, list, restore, retire,
    spawned, whoami,
};
use forge_types::{AttemptId, ErrandId};
use pretty_assertions::assert_eq;

use crate::fixture::{Fixture, base, git, naming, owner, read, try_git, write};

fn shape(f: &Fixture, w: &forge_git::Worktree) -> Vec<String> {
    vec![
        git(&w.path, &["status", "--porcelain=v2", "--branch"]).replace(&w.branch, "B"),
        git(&w.path, &["rev-parse", "HEAD"]),
        git(&w.path, &["symbolic-ref", "HEAD"]).replace(&w.branch, "B"),
        git(&f.project(), &["config", "--get-regexp", &format!("^branch.{}", w.branch)])
            .split(' ')
            .next()
            .unwrap()
            .replace(&w.branch, "B"),
        git(&w.path, &["ls-files", "-s"]),
        git(&w.path, &["rev-parse", "--show-toplevel"]).replace(&w.name, "N"),
    ]
}

#[tokio::test]
async fn a_warm_claim_is_indistinguishable_from_a_cold_one() {
    let f = Fixture::new().await;
    let (_, cold) = f.start("Same thing").await;
    let pool = Pool::new(f.base.clone(), 0);
    assert_eq!(pool.fill(&f.repo, &f.head(), 1).await.unwrap().made, 1);
    let (id, warm) = f.start("Same thing").await;
    assert_eq!(shape(&f, &cold), shape(&f, &warm));
    assert_eq!(warm.name, format!("{}-same-thing", &id.hex()[..4]));
    assert_eq!(warm.branch, format!("forge/{}", warm.name));
    let key = format!("branch.{}.forgeAttempt", warm.branch);
    assert_eq!(git(&f.project(), &["config", &key]), id.to_string());
    assert_eq!(git(&warm.path, &["fsck", "--no-dangling"]), "");
    let listed = git(&f.project(), &["worktree", "list", "--porcelain"]);
    assert!(listed.contains(&format!("{}\n", warm.path.display())), "{listed}");
    assert!(!listed.contains("prunable"), "{listed}");
}

#[tokio::test]
async fn a_worktree_names_its_task_also_when_it_was_made_again() {
    let f = Fixture::new().await;
    let (id, w) = f.start("Fix it").await;
    let marked = || forge_git::whoami(&w.path).unwrap().and_then(|found| found.mark.task);
    let task = marked().unwrap();
    assert_eq!(task.title, "Fix it");
    git(&f.project(), &["worktree", "remove", w.path.to_str().unwrap()]);
    ensure(&f.repo, &f.base, owner(id), &w.branch, &w.path, Some(&task)).await.unwrap();
    assert_eq!(marked(), Some(task));
}

#[tokio::test]
async fn a_warm_claim_starts_one_process() {
    let f = Fixture::new().await;
    check_git().await.unwrap();
    Pool::new(f.base.clone(), 0).fill(&f.repo, &f.head(), 2).await.unwrap();
    let commit = f.head();
    let before = spawned();
    let naming = naming(AttemptId::random(), "quick");
    claim(&f.repo, &f.base, &naming, &commit).await.unwrap();
    assert_eq!(spawned() - before, 1);
}

#[tokio::test]
async fn names_grow_when_a_branch_or_a_directory_has_them() {
    let f = Fixture::new().await;
    let id: AttemptId = "a1b2c3d4-e5f6-4000-8000-000000000001".parse().unwrap();
    git(&f.project(), &["branch", "forge/a1b2-fix"]);
    write(&f.base.path().join("a1b2c-fix/mine.txt"), "a stranger's");
    git(&f.project(), &["branch", "forge/a1b2c3-fix"]);
    let worktree = claim(&f.repo, &f.base, &naming(id, "Fix"), &f.head()).await.unwrap();
    assert_eq!(worktree.name, "a1b2c3d-fix");
    assert_eq!(worktree.branch, "forge/a1b2c3d-fix");
    assert_eq!(read(&f.base.path().join("a1b2c-fix/mine.txt")), "a stranger's");
    let errand: ErrandId = "a1b2c3d4-e5f6-4000-8000-000000000001".parse().unwrap();
    let run = claim(&f.repo, &f.base, &Naming::Errand { id: errand }, &f.head()).await.unwrap();
    assert_eq!((run.name.as_str(), run.branch.as_str()), ("run-a1b2", "run/a1b2c3d4"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_parallel_starts_in_one_repository_succeed() {
    let f = Fixture::new().await;
    Pool::new(f.base.clone(), 0).fill(&f.repo, &f.head(), 3).await.unwrap();
    let commit = f.head();
    let mut starts = tokio::task::JoinSet::new();
    for n in 0..100 {
        let (repo, base, commit) = (f.repo.clone(), f.base.clone(), commit.clone());
        starts.spawn(async move {
            let naming = naming(AttemptId::random(), &format!("start {n}"));
            claim(&repo, &base, &naming, &commit).await
        });
    }
    let mut names = std::collections::HashSet::new();
    while let Some(started) = starts.join_next().await {
        let worktree = started.unwrap().unwrap();
        assert_eq!(git(&worktree.path, &["symbolic-ref", "--short", "HEAD"]), worktree.branch);
        assert!(names.insert(worktree.name));
    }
    let ids = git(&f.project(), &["config", "--get-regexp", "forgeattempt$"]);
    assert_eq!(ids.lines().count(), 100);
}

#[tokio::test]
async fn a_failed_claim_leaves_nothing() {
    let f = Fixture::new().await;
    let before = git(&f.project(), &["for-each-ref"]);
    let id = AttemptId::random();
    let bad = "1234567890123456789012345678901234567890";
    claim(&f.repo, &f.base, &naming(id, "x"), bad).await.unwrap_err();
    let missing = claim(&f.repo, &f.base, &naming(id, "x"), "nope").await.unwrap_err();
    assert_eq!(missing.to_string(), "Branch not found: nope");
    // A branch named `forge` makes every `forge/…` impossible.
    git(&f.project(), &["branch", "forge"]);
    let before_block = git(&f.project(), &["for-each-ref"]);
    f.claim(id, "x").await.unwrap_err();
    assert_eq!(git(&f.project(), &["for-each-ref"]), before_block);
    git(&f.project(), &["branch", "-D", "forge"]);
    assert_eq!(git(&f.project(), &["for-each-ref"]), before);
    assert_eq!(try_git(&f.project(), &["config", "--get-regexp", "forgeattempt$"]).0, 1);
    let names =
        |l: Vec<forge_git::Listed>| l.into_iter().map(|l| l.mark.map(|m| m.owner)).collect::<Vec<_>>();
    assert_eq!(names(list(&f.base).await.unwrap()), [Some(Owner::Spare)]);
    // The checkout that was made for the failed start serves the next one.
    let (_, worktree) = f.start("y").await;
    assert_eq!(git(&worktree.path, &["status", "--porcelain"]), "");
    assert_eq!(list(&f.base).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_claim_that_cannot_record_its_id_is_undone() {
    let f = Fixture::new().await;
    let before = git(&f.project(), &["for-each-ref"]);
    // A directory in the place of the lock does not disappear by waiting.
    std::fs::create_dir(f.repo.common_dir().join("config.lock")).unwrap();
    f.claim(AttemptId::random(), "x").await.unwrap_err();
    std::fs::remove_dir(f.repo.common_dir().join("config.lock")).unwrap();
    assert_eq!(git(&f.project(), &["for-each-ref"]), before);
    let (_, worktree) = f.start("x").await;
    assert_eq!(git(&worktree.path, &["status", "--porcelain"]), "");
}

#[tokio::test]
async fn whoami_returns_the_full_id_from_a_subdirectory_and_nothing_elsewhere() {
    let f = Fixture::new().await;
    let (id, worktree) = f.start("who").await;
    let me = whoami(&worktree.path.join("dir")).unwrap().unwrap();
    assert_eq!(me.mark.owner, owner(id));
    assert_eq!(me.mark.branch.as_deref(), Some(worktree.branch.as_str()));
    assert_eq!(me.mark.repo, f.project().to_string_lossy());
    assert_eq!(me.worktree, std::fs::canonicalize(&worktree.path).unwrap());
    assert_eq!(read(&me.git_dir.join("forge-attempt")).trim(), id.to_string());
    assert_eq!(whoami(&f.project()).unwrap(), None);
    assert_eq!(whoami(f.dir.path()).unwrap(), None);
}

#[tokio::test]
async fn ensure_brings_a_deleted_directory_back_and_refuses_a_strangers() {
    let f = Fixture::new().await;
    let (id, w) = f.start("back").await;
    write(&w.path.join("new.txt"), "committed");
    git(&w.path, &["add", "-A"]);
    git(&w.path, &["commit", "-q", "-m", "more"]);
    ensure(&f.repo, &f.base, owner(id), &w.branch, &w.path, None).await.unwrap();
    std::fs::remove_dir_all(&w.path).unwrap();
    ensure(&f.repo, &f.base, owner(id), &w.branch, &w.path, None).await.unwrap();
    assert_eq!(read(&w.path.join("new.txt")), "committed");
    assert_eq!(git(&w.path, &["status", "--porcelain"]), "");
    // The same after git has forgotten the worktree.
    std::fs::remove_dir_all(&w.path).unwrap();
    git(&f.project(), &["worktree", "prune", "--expire=now"]);
    ensure(&f.repo, &f.base, owner(id), &w.branch, &w.path, None).await.unwrap();
    assert_eq!(read(&w.path.join("new.txt")), "committed");
    assert_eq!(git(&w.path, &["symbolic-ref", "--short", "HEAD"]), w.branch);
    assert_eq!(whoami(&w.path).unwrap().unwrap().mark.owner, owner(id));
    let other = ensure(&f.repo, &f.base, owner(AttemptId::random()), &w.branch, &w.path, None).await;
    assert!(matches!(other, Err(GitError::NotForges { .. })));
    let stranger = f.base.path().join("stranger");
    write(&stranger.join("f"), "x");
    let refused = ensure(&f.repo, &f.base, owner(id), &w.branch, &stranger, None).await;
    assert!(matches!(refused, Err(GitError::NotForges { .. })));
    let gone =
        ensure(&f.repo, &f.base, owner(id), "nope", &f.base.path().join("gone"), None).await.unwrap_err();
    assert_eq!(gone.to_string(), "Branch not found: nope");
}

#[tokio::test]
async fn an_orphan_claim_loses_its_branch_only_while_it_carries_nothing() {
    let f = Fixture::new().await;
    let (id, w) = f.start("orphan").await;
    let kept = drop_orphan_claim(&f.repo, &f.base, owner(id), &w.path, &w.branch, &w.head).await.unwrap();
    assert!(kept.unwrap().trash.unwrap().is_dir());
    assert_eq!(git(&f.project(), &["branch", "--list", &w.branch]), "");
    let (id, w) = f.start("worked").await;
    git(&w.path, &["commit", "-q", "--allow-empty", "-m", "work"]);
    drop_orphan_claim(&f.repo, &f.base, owner(id), &w.path, &w.branch, &w.head).await.unwrap();
    assert!(git(&f.project(), &["branch", "--list", &w.branch]).contains(&w.branch));
}

#[tokio::test]
async fn the_pool_adopts_moves_and_respects_size_disk_and_other_installations() {
    let f = Fixture::new().await;
    let pool = Pool::new(f.base.clone(), 0);
    pool.fill(&f.repo, &f.head(), 2).await.unwrap();
    // Another server of this installation takes the spares over, another installation makes its own.
    let again = base(f.base.path(), "here");
    let filled = Pool::new(again.clone(), 0).fill(&f.repo, &f.head(), 2).await.unwrap();
    assert_eq!((filled.ready, filled.made), (2, 0));
    let other = base(f.base.path(), "there");
    assert_eq!(Pool::new(other, 0).fill(&f.repo, &f.head(), 2).await.unwrap().made, 2);
    assert_eq!(Pool::new(again.clone(), u64::MAX).fill(&f.repo, &f.head(), 9).await.unwrap().made, 0);
    write(&f.project().join("a.txt"), "newer\n");
    git(&f.project(), &["commit", "-qam", "second"]);
    let spare = list(&again).await.unwrap();
    let ours = spare.iter().find(|l| l.mark.as_ref().unwrap().installation == "here").unwrap();
    write(&ours.path.join("surprise.txt"), "!");
    let filled = Pool::new(again.clone(), 0).fill(&f.repo, &f.head(), 2).await.unwrap();
    assert_eq!((filled.ready, filled.made, filled.moved, filled.retired), (2, 1, 1, 1));
    let w = claim(&f.repo, &again, &naming(AttemptId::random(), "n"), &f.head()).await.unwrap();
    assert_eq!(read(&w.path.join("a.txt")), "newer\n");
    assert_eq!(git(&w.path, &["status", "--porcelain"]), "");
}

#[tokio::test]
async fn spares_that_are_no_longer_wanted_are_put_away() {
    let f = Fixture::new().await;
    let pool = Pool::new(f.base.clone(), 0);
    pool.fill(&f.repo, &f.head(), 3).await.unwrap();
    assert_eq!(pool.trim(&f.repo, 3).await.unwrap(), 0);
    assert_eq!(pool.trim(&f.repo, 1).await.unwrap(), 2);
    assert_eq!(list(&f.base).await.unwrap().len(), 1);
    assert_eq!(forge_git::trash(&f.base).await.unwrap().len(), 2);
    assert_eq!(pool.fill(&f.repo, &f.head(), 1).await.unwrap().made, 0);
}

#[tokio::test]
async fn a_spare_is_made_with_what_others_leave_of_the_processor_and_a_claim_is_not() {
    let f = Fixture::new().await;
    let (seen, cold) = (f.dir.path().join("seen"), f.dir.path().join("cold"));
    // The nineteenth field says how nice the git is that calls the hook; it may take a moment to become so.
    let hook = format!(
        "#!/bin/sh\nnice_of() {{ cut -d' ' -f19 /proc/$PPID/stat; }}\nn=0\n\
         while [ ! -e '{}' ] && [ $n -lt 100 ] && [ \"$(nice_of)\" != 10 ]; do n=$((n+1)); sleep 0.05; done\n\
         nice_of >> '{}'\n",
        cold.display(),
        seen.display()
    );
    let path = f.project().join(".git/hooks/post-checkout");
    write(&path, hook);
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    Pool::new(f.base.clone(), 0).fill(&f.repo, &f.head(), 1).await.unwrap();
    f.start("warm").await;
    write(&cold, "");
    f.start("cold").await;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let own = stat.rsplit(") ").next().unwrap().split(' ').nth(16).unwrap();
    assert_eq!(read(&seen), format!("10\n{own}\n"));
}

#[tokio::test]
async fn sparse_checkout_and_line_end_rules_are_honoured() {
    let f = Fixture::new().await;
    write(&f.project().join(".gitattributes"), "*.txt text eol=crlf\n");
    write(&f.project().join("other/c.txt"), "c\n");
    git(&f.project(), &["add", "-A"]);
    git(&f.project(), &["commit", "-qm", "attributes"]);
    git(&f.project(), &["sparse-checkout", "set", "dir"]);
    for warmth in [0, 1] {
        Pool::new(f.base.clone(), 0).fill(&f.repo, &f.head(), warmth).await.unwrap();
        let (_, w) = f.start("sparse").await;
        assert_eq!(std::fs::read(w.path.join("dir/b.txt")).unwrap(), b"b\r\n");
        assert!(!w.path.join("other").exists());
        assert_eq!(git(&w.path, &["status", "--porcelain"]), "");
    }
}

#[tokio::test]
async fn a_submodule_that_cannot_be_fetched_is_a_warning() {
    let f = Fixture::new().await;
    let sub = f.dir.path().join("sub");
    forge_git::Repo::init(&sub).await.unwrap();
    let url = sub.to_string_lossy().into_owned();
    git(&f.project(), &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &url, "lib"]);
    git(&f.project(), &["commit", "-qm", "submodule"]);
    std::fs::remove_dir_all(&sub).unwrap();
    let (_, w) = f.start("modules").await;
    assert_eq!(w.warnings.len(), 1, "{:?}", w.warnings);
    assert!(w.warnings[0].contains("lib"), "{:?}", w.warnings);
    assert!(w.path.join("a.txt").is_file());
}

#[tokio::test]
async fn what_a_crash_leaves_of_a_claim_is_recognised_and_can_be_undone() {
    let f = Fixture::new().await;
    Pool::new(f.base.clone(), 0).fill(&f.repo, &f.head(), 1).await.unwrap();
    let id = AttemptId::random();
    // Marked and moved, but the server died before the branch was made.
    let spare = list(&f.base).await.unwrap()[0].path.clone();
    let git_dir = std::path::PathBuf::from(git(&spare, &["rev-parse", "--absolute-git-dir"]));
    let file = mark_file(&f, &git_dir);
    write(&file, read(&file).replace("\"spare\"", &format!("{{\"attempt\":\"{id}\"}}")));
    let left = list(&f.base).await.unwrap();
    assert_eq!(left[0].mark.as_ref().map(|mark| mark.owner), Some(owner(id)));
    let again = base(f.base.path(), "here");
    assert_eq!(Pool::new(again.clone(), 0).fill(&f.repo, &f.head(), 1).await.unwrap().made, 1);
    let head = f.head();
    drop_orphan_claim(&f.repo, &again, owner(id), &left[0].path, "forge/never-made", &head).await.unwrap();
    assert!(!left[0].path.exists());
    assert_eq!(list(&again).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_claim_cut_off_between_its_move_and_gits_knowing_of_it_is_undone() {
    let f = Fixture::new().await;
    let (id, w) = f.start("moved").await;
    let git_dir = std::path::PathBuf::from(git(&w.path, &["rev-parse", "--absolute-git-dir"]));
    let spare = f.base.path().join(".forge-spare/before/.git");
    write(&git_dir.join("gitdir"), format!("{}\n", spare.display()));
    drop_orphan_claim(&f.repo, &f.base, owner(id), &w.path, &w.branch, &w.head).await.unwrap();
    assert!(!w.path.exists());
    assert_eq!(git(&f.project(), &["branch", "--list", &w.branch]), "");
    assert!(!git_dir.exists(), "git has forgotten it too");
}

#[tokio::test]
async fn the_users_post_checkout_hook_runs_once_for_a_new_worktree() {
    let f = Fixture::new().await;
    let (hook, trace) = (f.repo.common_dir().join("hooks/post-checkout"), f.dir.path().join("trace"));
    write(&hook, format!("#!/bin/sh\necho ran >> '{}'\n", trace.display()));
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let (id, w) = f.start("hook").await;
    assert_eq!(read(&trace), "ran\n");
    // What is brought back is an agent's work.
    write(&w.path.join("new.txt"), "of an agent");
    git(&w.path, &["-c", "core.hooksPath=/dev/null", "add", "-A"]);
    git(&w.path, &["-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "work"]);
    retire(&f.repo, &f.base, owner(id), &w.path).await.unwrap();
    ensure(&f.repo, &f.base, owner(id), &w.branch, &w.path, None).await.unwrap();
    assert_eq!(read(&w.path.join("new.txt")), "of an agent");
    assert_eq!(read(&trace), "ran\n");
}

#[tokio::test]
async fn an_unfinished_spare_of_a_crashed_server_is_retired() {
    let f = Fixture::new().await;
    Pool::new(f.base.clone(), 0).fill(&f.repo, &f.head(), 1).await.unwrap();
    let spare = list(&f.base).await.unwrap()[0].path.clone();
    std::fs::remove_file(spare.join("a.txt")).unwrap();
    let filled = Pool::new(base(f.base.path(), "here"), 0).fill(&f.repo, &f.head(), 1).await.unwrap();
    assert_eq!((filled.retired, filled.made, filled.ready), (1, 1, 1));
    assert!(!spare.exists());
}

/// Git reads every worktree's entry at the start of a checkout, a rebase, a fetch, and dies of an incomplete one.
#[tokio::test(flavor = "multi_thread")]
async fn the_users_own_git_never_meets_half_a_worktree() {
    let f = Fixture::new().await;
    let (done, entries) = (Arc::new(AtomicBool::new(false)), f.repo.common_dir().join("worktrees"));
    let user = std::thread::spawn({
        let done = done.clone();
        move || {
            while !done.load(Ordering::Relaxed) {
                for entry in std::fs::read_dir(&entries).into_iter().flatten().flatten() {
                    for name in ["HEAD", "commondir", "gitdir"] {
                        assert_ne!(read(&entry.path().join(name)), "", "{name}");
                    }
                }
            }
        }
    });
    for n in 0..20 {
        f.start(&format!("t{n}")).await;
    }
    done.store(true, Ordering::Relaxed);
    user.join().unwrap();
    assert_eq!(git(&f.project(), &["worktree", "list"]).lines().count(), 21);
}

/// The file that decides whose a worktree is.
fn mark_file(f: &Fixture, git_dir: &std::path::Path) -> std::path::PathBuf {
    let id = git_dir.file_name().unwrap().to_string_lossy().into_owned();
    f.base.path().join(".forge-owners").join(format!("{id}.json"))
}

fn private(w: &forge_git::Worktree) -> std::path::PathBuf {
    git(&w.path, &["rev-parse", "--absolute-git-dir"]).into()
}

async fn owner_of(f: &Fixture, w: &forge_git::Worktree) -> Option<Owner> {
    let listed = list(&f.base).await.unwrap().into_iter().find(|listed| listed.path == w.path);
    listed.and_then(|listed| listed.mark).map(|mark| mark.owner)
}

#[tokio::test]
async fn a_forged_mark_makes_nobody_the_owner() {
    let f = Fixture::new().await;
    let ((id, w), (other, theirs)) = (f.start("mine").await, f.start("theirs").await);
    let forge_mark = || {
        for name in ["forge-owner.json", "forge-attempt"] {
            std::fs::copy(private(&theirs).join(name), private(&w).join(name)).unwrap();
        }
    };
    forge_mark();
    assert_eq!(owner_of(&f, &w).await, Some(owner(id)));
    let refused = retire(&f.repo, &f.base, owner(other), &w.path).await.unwrap_err();
    assert!(matches!(refused, GitError::NotForges { .. }), "{refused}");
    retire(&f.repo, &f.base, owner(id), &w.path).await.unwrap();
    assert_eq!(
        std::fs::read_dir(f.base.path().join(".forge-owners")).unwrap().count(),
        1,
        "only theirs is left"
    );
    restore(&f.repo, &f.base, owner(id), &w.path).await.unwrap();
    assert_eq!(owner_of(&f, &w).await, Some(owner(id)));
    assert_eq!(whoami(&w.path).unwrap().unwrap().mark.owner, owner(id), "the copy is right again");
    forge_mark();
    let garbage = read(&private(&w).join("forge-owner.json")).replace("here", "there");
    write(&private(&w).join("forge-owner.json"), garbage);
    std::fs::rename(&w.path, f.dir.path().join("aside")).unwrap();
    ensure(&f.repo, &f.base, owner(id), &w.branch, &w.path, None).await.unwrap();
    assert_eq!(owner_of(&f, &w).await, Some(owner(id)));
}

#[tokio::test]
async fn marks_of_an_earlier_version_are_taken_over_once() {
    let f = Fixture::new().await;
    let (id, w) = f.start("old").await;
    std::fs::remove_dir_all(f.base.path().join(".forge-owners")).unwrap();
    assert_eq!(owner_of(&f, &w).await, Some(owner(id)), "known by its copy");
    forge_git::take_over(&base(f.base.path(), "another installation")).await.unwrap();
    assert!(!mark_file(&f, &private(&w)).exists(), "not by somebody else");
    forge_git::take_over(&f.base).await.unwrap();
    let copy = private(&w).join("forge-owner.json");
    write(&copy, read(&copy).replace(&id.to_string(), &AttemptId::random().to_string()));
    forge_git::take_over(&f.base).await.unwrap();
    assert_eq!(owner_of(&f, &w).await, Some(owner(id)));
}
