//! No git of Forge's runs a program that an agent planted in its worktree or in the private git directory.
//!
//! Each plant proves itself: a plain git runs it. Every public function that takes a worktree, or keeps one, has a row
//! in [`call`]; the list of them is read from the sources, so a new one cannot be forgotten.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use forge_git::*;
use forge_types::{AttemptId, Millis};

use crate::fixture::{Fixture, git, naming, owner, read, try_git, write};

struct World {
    f: Fixture,
    witness: PathBuf,
    /// A repository whose configuration and hooks are the agent's.
    evil: PathBuf,
}

struct Site {
    id: AttemptId,
    w: Worktree,
    private: PathBuf,
}

impl World {
    async fn new() -> Self {
        let f = Fixture::new().await;
        let (witness, evil) = (f.dir.path().join("witness"), f.dir.path().join("evil"));
        std::fs::create_dir(&evil).unwrap();
        git(&evil, &["init", "-q", "-b", "main"]);
        let world = Self { f, witness, evil };
        let setting = |key: &str, value: &str| _ = git(&world.evil, &["config", key, value]);
        setting("user.name", "evil");
        setting("user.email", "evil");
        write(&world.evil.join("f"), "1");
        git(&world.evil, &["add", "-A"]);
        git(&world.evil, &["commit", "-qm", "evil"]);
        setting("filter.ev.clean", &world.program());
        setting("filter.ev.smudge", &world.program());
        setting("core.fsmonitor", &world.program());
        for hook in ["post-index-change", "post-checkout", "reference-transaction", "pre-push", "post-commit"]
        {
            world.hook(&world.evil.join(".git/hooks").join(hook));
        }
        world
    }

    fn program(&self) -> String {
        format!("touch '{}'; cat", self.witness.display())
    }

    fn hook(&self, path: &Path) {
        write(path, format!("#!/bin/sh\ntouch '{}'\n", self.witness.display()));
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    }

    async fn site(&self) -> Site {
        let (id, w) = self.f.start("plant").await;
        let private = PathBuf::from(git(&w.path, &["rev-parse", "--absolute-git-dir"]));
        Site { id, w, private }
    }

    fn has_run(&self) -> bool {
        std::fs::remove_file(&self.witness).is_ok()
    }
}

fn copy(from: &Path, to: &Path) {
    let done = std::process::Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap();
    assert!(done.success());
}

/// Changes a tracked file and has every file pass through the planted filter.
fn use_filter(s: &Site) {
    write(&s.w.path.join(".gitattributes"), "* filter=ev\n");
    write(&s.w.path.join("a.txt"), "changed\n");
}

type Plant = fn(&World, &Site);
/// What a user would run there.
type Plain = &'static [&'static str];

const PLANTS: &[(&str, Plant, Plain)] = &[
    ("a nested repository", nested, &["status"]),
    ("a nested repository that .gitmodules wants looked at", nested_and_named, &["status"]),
    (".git is a directory", directory, &["add", "-A"]),
    (".git leads into the worktree", inner, &["add", "-A"]),
    (".git leads to a worktree of an inner repository", inner_worktree, &["add", "-A"]),
    ("commondir leads away", redirected, &["add", "-A"]),
    ("a stopped rebase has a step of its own", stopped_rebase, &["rebase", "--continue"]),
    ("config.worktree", configuration, &["add", "-A"]),
];

fn nested(world: &World, s: &Site) {
    let nested = s.w.path.join("nested");
    // An earlier row may have landed one.
    let _ = std::fs::remove_dir(&nested);
    copy(&world.evil, &nested);
    git(&nested, &["config", "--unset", "core.fsmonitor"]);
    std::fs::remove_dir_all(nested.join(".git/hooks")).unwrap();
    git(&s.w.path, &["add", "nested"]);
    git(&s.w.path, &["commit", "-q", "--allow-empty", "-m", "nested"]);
    write(&nested.join(".gitattributes"), "* filter=ev\n");
    write(&nested.join("f"), "2");
    world.has_run();
}

fn nested_and_named(world: &World, s: &Site) {
    write(
        &s.w.path.join(".gitmodules"),
        "[submodule \"nested\"]\n\tpath = nested\n\turl = ./nested\n\tignore = none\n",
    );
    nested(world, s);
}

fn directory(world: &World, s: &Site) {
    std::fs::rename(s.w.path.join(".git"), s.w.path.join(".git-orig")).unwrap();
    copy(&world.evil.join(".git"), &s.w.path.join(".git"));
    use_filter(s);
}

fn inner(world: &World, s: &Site) {
    copy(&world.evil, &s.w.path.join("evil"));
    write(&s.w.path.join(".git"), "gitdir: ./evil/.git\n");
    use_filter(s);
}

fn inner_worktree(world: &World, s: &Site) {
    copy(&world.evil, &s.w.path.join("evil"));
    let entry = s.w.path.join("evil/.git/worktrees/x");
    copy_entry(s, &entry);
    write(&s.w.path.join(".git"), format!("gitdir: {}\n", entry.display()));
    use_filter(s);
}

/// The private git directory as one of another repository.
fn copy_entry(s: &Site, entry: &Path) {
    std::fs::create_dir_all(entry.parent().unwrap()).unwrap();
    copy(&s.private, entry);
    std::fs::remove_file(entry.join("index")).unwrap();
    write(&entry.join("HEAD"), "ref: refs/heads/main\n");
}

fn redirected(world: &World, s: &Site) {
    write(&s.private.join("commondir"), format!("{}\n", world.evil.join(".git").display()));
    use_filter(s);
    std::fs::remove_file(s.private.join("index")).unwrap();
    write(&s.private.join("HEAD"), "ref: refs/heads/main\n");
}

fn stopped_rebase(world: &World, s: &Site) {
    let (project, path) = (world.f.project(), &s.w.path);
    write(&path.join("a.txt"), "ours\n");
    git(path, &["commit", "-qam", "ours"]);
    write(&project.join("a.txt"), format!("theirs {}\n", s.id));
    git(&project, &["commit", "-qam", "theirs"]);
    assert_ne!(try_git(path, &["rebase", "-q", "main"]).0, 0, "no conflict");
    write(&path.join("a.txt"), "both\n");
    git(path, &["add", "a.txt"]);
    let todo = s.private.join("rebase-merge/git-rebase-todo");
    write(&todo, format!("exec touch '{}'\n{}", world.witness.display(), read(&todo)));
}

fn configuration(world: &World, s: &Site) {
    git(&world.f.project(), &["config", "extensions.worktreeConfig", "true"]);
    for key in ["filter.ev.clean", "filter.ev.smudge"] {
        git(&s.w.path, &["config", "--worktree", key, &world.program()]);
    }
    use_filter(s);
}

async fn try_plant(at: usize) {
    let (name, plant, plain) = PLANTS[at];
    let world = World::new().await;
    let s = world.site().await;
    plant(&world, &s);
    try_git(&s.w.path, &[&["-c", "core.editor=true"], plain].concat());
    assert!(world.has_run(), "{name}: a plain git does not run it, so nothing is shown");
    for function in functions() {
        let s = world.site().await;
        plant(&world, &s);
        call(&function, &world, &s).await;
        assert!(!world.has_run(), "{name}: {function} has run it");
    }
}

macro_rules! plants {
    ($($test:ident = $at:literal),* $(,)?) => {
        $(#[tokio::test(flavor = "multi_thread")]
        async fn $test() {
            try_plant($at).await;
        })*
        #[test]
        fn every_plant_is_tried() {
            assert_eq!([$($at),*].len(), PLANTS.len());
        }
    };
}

plants! {
    no_function_runs_what_a_nested_repository_configures = 0,
    no_function_runs_what_a_named_submodule_configures = 1,
    no_function_runs_what_a_git_directory_in_the_worktree_configures = 2,
    no_function_follows_a_git_file_into_the_worktree = 3,
    no_function_takes_an_inner_repository_for_the_worktrees_own = 4,
    no_function_follows_a_redirected_commondir = 5,
    no_function_runs_a_step_of_a_planted_rebase = 6,
    no_function_runs_what_config_worktree_configures = 7,
}

/// Calls a function in the planted worktree. It may succeed or refuse.
async fn call(function: &str, world: &World, s: &Site) {
    let Fixture { repo, base, dir } = &world.f;
    let (path, branch, owner) = (s.w.path.as_path(), s.w.branch.as_str(), owner(s.id));
    let main = repo.resolve_branch("main").await.unwrap().unwrap();
    let head = main.commit.as_str();
    match function {
        "abort" => _ = abort(repo, path, owner, branch).await,
        "adopt" | "release" | "is_strange" | "strange_worktree" => {
            // Another program's worktree has no mark.
            let name = s.private.file_name().unwrap().to_string_lossy().into_owned();
            _ = std::fs::remove_file(base.path().join(".forge-owners").join(name + ".json"));
            _ = std::fs::remove_file(s.private.join("forge-owner.json"));
            _ = is_strange(base, owner, path);
            _ = strange_worktree(repo, base, branch, Some(path));
            _ = release(repo, base, branch, path).await;
            _ = adopt(repo, base, (owner, None), branch, path, &dir.path().join("adopted")).await;
        }
        "claim" => _ = claim(repo, base, &naming(AttemptId::random(), "x"), head).await,
        "commit_all" => _ = commit_all(repo, path, "m").await,
        "commit_work" => _ = commit_work(repo, path, branch, "m").await,
        "ContentReader::new" | "ContentReader::load" => {
            write(&path.join("dir/b.txt"), "b\r\n");
            let files = diff_worktree(repo, path, head, Counting::Skip).await.unwrap_or_default();
            _ = ContentReader::new(repo, path).load(&files, 1000).await;
        }
        "copy_files" => _ = copy_files(repo.path(), path, "a.txt,dir").await,
        "delete_file" => _ = delete_file(repo, path, owner, branch, "a.txt").await,
        "diff_worktree" => {
            _ = diff_worktree(repo, path, head, Counting::Count).await;
            git(repo.path(), &["config", "diff.submodule", "diff"]);
            _ = diff_worktree(repo, path, head, Counting::Count).await;
        }
        "drop_orphan_claim" => _ = drop_orphan_claim(repo, base, owner, path, branch, head).await,
        "empty_trash" | "trash" | "retire" => {
            _ = retire(repo, base, owner, path).await;
            _ = trash(base).await;
            _ = empty_trash(base, Duration::ZERO, Millis(i64::MAX)).await;
        }
        "ensure" => {
            _ = ensure(repo, base, owner, branch, path, None).await;
            std::fs::rename(path, dir.path().join(s.id.hex())).unwrap();
            _ = ensure(repo, base, owner, branch, path, None).await;
        }
        "Hook::find" | "Hook::path" | "Hook::state" | "Hook::install" | "Hook::uninstall" => {
            if let Ok(hook) = Hook::find(path).await {
                _ = hook.install(Path::new("/bin/true"));
                _ = hook.uninstall();
            }
        }
        "is_dirty" => _ = is_dirty(repo, path).await,
        "linked_worktree" => _ = linked_worktree(path),
        "look_at_base" => _ = look_at_base(path),
        "list" | "measure" => {
            let listed = list(base).await.unwrap();
            _ = measure(listed.into_iter().map(|listed| listed.path).collect()).await;
        }
        "operation" => _ = operation(repo, path),
        "patch_worktree" => {
            git(repo.path(), &["config", "diff.submodule", "log"]);
            let scope = PatchScope { max_bytes: 1000, context_lines: None, files: None };
            _ = patch_worktree(repo, path, head, &scope).await;
        }
        "PendingCommit::here"
        | "PendingCommit::standing"
        | "PendingCommit::add"
        | "PendingCommit::is_partial" => {
            if let Ok(commit) = PendingCommit::here(repo, path) {
                _ = commit.standing("a.txt").await;
                _ = commit.add("a.txt").await;
            }
        }
        "Pool::new" | "Pool::fill" => _ = Pool::new(base.clone(), 0).fill(repo, head, 1).await,
        "Pool::trim" => {
            let pool = Pool::new(base.clone(), 0);
            _ = pool.fill(repo, head, 1).await;
            _ = pool.trim(repo, 0).await;
        }
        "push" => {
            let remote = dir.path().join("remote.git");
            if !remote.exists() {
                git(dir.path(), &["init", "-q", "--bare", "remote.git"]);
                git(repo.path(), &["remote", "add", "origin", &remote.to_string_lossy()]);
            }
            _ = push(repo, path, branch, &remote_for(repo, "main").await.unwrap(), None).await;
        }
        "read_worktree_file" => _ = read_worktree_file(path, "a.txt", 1000).await,
        "rebase" => _ = rebase(repo, path, branch, &main, &main).await,
        "recorded" => _ = recorded(path).await,
        "Repo::head_of" => _ = repo.head_of(path).await,
        "Repo::init" => _ = Repo::init(&path.join("fresh")).await,
        "Repo::open" => _ = Repo::open(path).await,
        "reset_hard" => _ = reset_hard(repo, path, owner, branch, head).await,
        "restore" => {
            _ = retire(repo, base, owner, path).await;
            _ = restore(repo, base, owner, path).await;
            _ = status(repo, path).await;
        }
        "retire_cut_off" => _ = retire_cut_off(repo, base, owner, path).await,
        "squash_merge" => _ = squash_merge(repo, path, branch, "main", "m").await,
        "status" => _ = status(repo, path).await,
        "take_over" => _ = take_over(base).await,
        "watch" | "Watch::changed" => {
            let mut watch = watch(path).unwrap();
            write(&path.join("new"), "new");
            watch.changed().await;
        }
        "whoami" => _ = whoami(path),
        "WorktreeBase::new" | "WorktreeBase::make" => {
            _ = WorktreeBase::new(path.to_owned(), "here".to_owned()).make()
        }
        other => panic!("{other} takes a worktree and has no row here"),
    }
}

/// Every public function that is given a path or a base, and every one of a value that keeps a worktree.
fn functions() -> BTreeSet<String> {
    const KEEPERS: &[&str] = &["ContentReader", "Hook", "PendingCommit", "Pool", "Watch"];
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let lib = read(&sources.join("lib.rs"));
    let words = |text: &str| -> BTreeSet<String> {
        text.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_owned).collect()
    };
    let exported: BTreeSet<String> =
        lib.lines().filter(|line| line.starts_with("pub use")).flat_map(words).collect();
    let mut found = BTreeSet::new();
    for file in std::fs::read_dir(&sources).unwrap() {
        let text = read(&file.unwrap().path());
        let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        let mut owner: Option<&str> = None;
        for (at, line) in
            text.match_indices('\n').map(|(at, _)| (at + 1, text[at + 1..].lines().next().unwrap_or("")))
        {
            match line {
                "}" => owner = None,
                line if line.starts_with("impl ") && !line.contains(" for ") => {
                    owner = line["impl ".len()..].split([' ', '<']).next();
                }
                _ => {}
            }
            let Some((_, name)) =
                ["pub fn ", "pub async fn "].iter().find_map(|head| line.trim_start().split_once(head))
            else {
                continue;
            };
            if !line.trim_start().starts_with("pub ") {
                continue;
            }
            let name = name.split(['(', '<']).next().unwrap();
            let signature = text[at..].split("->").next().unwrap().split('{').next().unwrap();
            let takes = signature.contains("Path") || signature.contains("&WorktreeBase");
            match owner {
                None if takes && exported.contains(name) => _ = found.insert(name.to_owned()),
                Some(owner) if exported.contains(owner) && (takes || KEEPERS.contains(&owner)) => {
                    found.insert(format!("{owner}::{name}"));
                }
                _ => {}
            }
        }
    }
    assert!(found.len() > 40, "the sources are not read right: {found:?}");
    found
}

#[tokio::test]
async fn a_replaced_git_directory_is_reported_with_what_to_do() {
    for (name, plant, _) in &PLANTS[2..] {
        if *name == "a stopped rebase has a step of its own" {
            continue;
        }
        let world = World::new().await;
        let s = world.site().await;
        plant(&world, &s);
        let refused = status(&world.f.repo, &s.w.path).await.unwrap_err();
        assert!(matches!(refused, GitError::Replaced { .. }), "{name}: {refused}");
        assert!(refused.to_string().contains("was replaced"), "{name}: {refused}");
        assert!(refused.hint().is_some_and(|hint| hint.contains("put it back")), "{name}: {refused}");
        let diff = diff_worktree(&world.f.repo, &s.w.path, "main", Counting::Skip).await.unwrap_err();
        assert!(matches!(diff, GitError::Replaced { .. }), "{name}: {diff}");
    }
}

#[tokio::test]
async fn a_link_or_a_pipe_in_the_private_directory_is_refused() {
    let world = World::new().await;
    for name in ["COMMIT_EDITMSG", "logs/HEAD", "index"] {
        let s = world.site().await;
        let victim = world.f.dir.path().join("victim");
        write(&victim, "mine");
        let place = s.private.join(name);
        let _ = std::fs::remove_file(&place);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&victim, &place).unwrap();
        write(&s.w.path.join("a.txt"), "changed");
        let refused = commit_all(&world.f.repo, &s.w.path, "m").await.unwrap_err();
        assert!(matches!(refused, GitError::Replaced { .. }), "{name}: {refused}");
        assert_eq!(read(&victim), "mine", "{name}");
    }
    let s = world.site().await;
    let pipe = s.private.join("FETCH_HEAD");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let refused = status(&world.f.repo, &s.w.path).await.unwrap_err();
    assert!(matches!(refused, GitError::Replaced { .. }), "{refused}");
}

#[tokio::test]
async fn a_sparse_worktree_with_harmless_settings_is_worked_on() {
    let world = World::new().await;
    let s = world.site().await;
    git(&s.w.path, &["sparse-checkout", "set", "--no-cone", "/a.txt"]);
    assert!(s.private.join("config.worktree").exists());
    write(&s.w.path.join("a.txt"), "changed");
    let committed = commit_all(&world.f.repo, &s.w.path, "m").await.unwrap();
    assert!(matches!(committed, Committed::Commit(_)));
    assert_eq!(git(&s.w.path, &["ls-tree", "--name-only", "HEAD", "dir/"]), "dir/b.txt");
}

#[tokio::test]
async fn a_submodule_whose_commit_changed_is_committed_without_being_entered() {
    let world = World::new().await;
    let s = world.site().await;
    nested(&world, &s);
    write(&s.w.path.join("new.txt"), "new");
    let nested = s.w.path.join("nested");
    git(&nested, &["-c", "filter.ev.clean=cat", "commit", "-qam", "moved"]);
    let moved = git(&nested, &["rev-parse", "HEAD"]);
    let committed = commit_all(&world.f.repo, &s.w.path, "m").await.unwrap();
    assert!(matches!(committed, Committed::Commit(_)));
    assert!(!world.has_run());
    assert!(git(&s.w.path, &["ls-tree", "HEAD", "nested"]).contains(&moved));
    assert_eq!(git(&s.w.path, &["show", "HEAD:new.txt"]), "new");
    // What changed only inside it does not count.
    write(&nested.join("f"), "3");
    assert_eq!(commit_all(&world.f.repo, &s.w.path, "m").await.unwrap(), Committed::Nothing);
    assert!(!world.has_run());
}

#[tokio::test]
async fn the_users_hooks_run_at_a_push_and_not_at_a_commit_or_a_merge() {
    let world = World::new().await;
    let Fixture { repo, dir, .. } = &world.f;
    let (_, w) = world.f.start("hooks").await;
    let hooks = [
        "post-checkout",
        "post-index-change",
        "reference-transaction",
        "pre-commit",
        "post-commit",
        "pre-rebase",
    ];
    for hook in hooks {
        world.hook(&repo.common_dir().join("hooks").join(hook));
    }
    write(&w.path.join("a.txt"), "changed");
    commit_all(repo, &w.path, "m").await.unwrap();
    squash_merge(repo, &w.path, &w.branch, "main", "m").await.unwrap();
    assert!(!world.has_run());
    for hook in hooks {
        std::fs::remove_file(repo.common_dir().join("hooks").join(hook)).unwrap();
    }
    world.hook(&repo.common_dir().join("hooks/pre-push"));
    git(dir.path(), &["init", "-q", "--bare", "remote.git"]);
    git(repo.path(), &["remote", "add", "origin", &dir.path().join("remote.git").to_string_lossy()]);
    push(repo, &w.path, &w.branch, &remote_for(repo, "main").await.unwrap(), None).await.unwrap();
    assert!(world.has_run());
}

#[tokio::test]
async fn a_hook_that_an_agent_committed_does_not_run_when_its_worktree_comes_back() {
    let world = World::new().await;
    let Fixture { repo, base, .. } = &world.f;
    git(repo.path(), &["config", "core.hooksPath", "hooks"]);
    let s = world.site().await;
    world.hook(&s.w.path.join("hooks/post-checkout"));
    commit_all(repo, &s.w.path, "hooks").await.unwrap();
    git(repo.path(), &["worktree", "remove", "--force", &s.w.path.to_string_lossy()]);
    world.has_run();
    ensure(repo, base, owner(s.id), &s.w.branch, &s.w.path, None).await.unwrap();
    assert!(!world.has_run());
    world.hook(&repo.path().join("hooks/post-checkout"));
    world.f.start("another").await;
    assert!(world.has_run(), "the user's own does");
}

#[tokio::test]
async fn an_abort_runs_nothing_that_the_state_of_a_merge_a_pick_or_a_revert_names() {
    let starts: [&[&str]; 3] = [&["merge", "-q", "main"], &["cherry-pick", "main"], &["revert", "HEAD^"]];
    for start in starts {
        let world = World::new().await;
        let Fixture { repo, .. } = &world.f;
        let s = world.site().await;
        for text in ["ours\n", "ours again\n"] {
            write(&s.w.path.join("a.txt"), text);
            git(&s.w.path, &["commit", "-qam", "ours"]);
        }
        write(&repo.path().join("a.txt"), "theirs\n");
        git(repo.path(), &["commit", "-qam", "theirs"]);
        let tip = git(&s.w.path, &["rev-parse", "HEAD"]);
        assert_ne!(try_git(&s.w.path, start).0, 0, "no conflict");
        let step = format!("exec touch '{}'\n", world.witness.display());
        for (name, text) in [
            ("sequencer/todo", step.as_str()),
            ("sequencer/head", &format!("{tip}\n")),
            ("sequencer/abort-safety", &format!("{tip}\n")),
            ("sequencer/opts", &format!("[options]\n\tstrategy = x\n\tgpg-sign = {}\n", world.program())),
            ("MERGE_AUTOSTASH", &format!("{tip}\n")),
        ] {
            write(&s.private.join(name), text);
        }
        world.hook(&s.private.join("hooks/post-checkout"));
        abort(repo, &s.w.path, owner(s.id), &s.w.branch).await.unwrap();
        assert!(!world.has_run(), "{start:?}");
        let now = status(repo, &s.w.path).await.unwrap();
        assert_eq!((now.head, now.operation), (Some(tip), None), "{start:?}");
    }
}

#[tokio::test]
async fn a_pipe_in_place_of_the_copy_of_a_mark_holds_nobody_up() {
    let world = World::new().await;
    let s = world.site().await;
    let copy = s.private.join("forge-owner.json");
    std::fs::remove_file(&copy).unwrap();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, &copy, mode).unwrap();
    let asked = tokio::task::spawn_blocking(move || whoami(&s.w.path));
    let found = tokio::time::timeout(Duration::from_secs(20), asked).await.expect("it waits for nobody");
    assert_eq!(found.unwrap().unwrap(), None);
}

/// Makes the file a pipe to which nobody writes.
fn pipe(place: &Path) {
    let _ = std::fs::remove_file(place);
    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, place, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pipe_in_the_private_directory_holds_nobody_up() {
    for name in ["HEAD", "gitdir", "rebase-merge/head-name", "rebase-merge/done"] {
        let world = World::new().await;
        let (planted, other) = (world.site().await, world.site().await);
        write(&other.w.path.join("a.txt"), "changed");
        commit_all(&world.f.repo, &other.w.path, "m").await.unwrap();
        pipe(&planted.private.join(name));
        let work = tokio::spawn(async move {
            let Fixture { repo, base, .. } = &world.f;
            let (path, branch) = (planted.w.path.as_path(), planted.w.branch.as_str());
            _ = repo.head_of(path).await;
            assert!(matches!(status(repo, path).await, Err(GitError::Replaced { .. })));
            _ = commit_work(repo, path, branch, "m").await;
            _ = retire(repo, base, owner(planted.id), path).await;
            _ = whoami(path);
            list(base).await.unwrap();
            // Another git would wait at the pipe, so it is not begun.
            let main = repo.resolve_branch("main").await.unwrap().unwrap();
            let (path, branch) = (other.w.path.as_path(), other.w.branch.as_str());
            let rebased = rebase(repo, path, branch, &main, &main).await;
            let merged = squash_merge(repo, path, branch, "main", "m").await;
            for refused in [rebased.unwrap_err(), merged.unwrap_err()] {
                let GitError::Replaced { path, .. } = refused else { panic!("{refused}") };
                assert!(path == planted.w.path || path == planted.private, "{path:?}");
            }
        });
        let ended = tokio::time::timeout(Duration::from_secs(30), work).await;
        // A thread that waits at the pipe would hold up the end of the test, too.
        ended.unwrap_or_else(|_| std::process::exit(1)).expect(name);
    }
}

#[tokio::test]
async fn no_more_than_a_little_is_read_of_a_pointer() {
    let world = World::new().await;
    let s = world.site().await;
    assert!(linked_worktree(&s.w.path).is_some());
    let pointer = s.w.path.join(".git");
    write(&pointer, read(&pointer) + &"\n".repeat(100_000));
    assert_eq!(linked_worktree(&s.w.path), None);
    let s = world.site().await;
    std::fs::File::create(s.private.join("ORIG_HEAD")).unwrap().set_len(1 << 30).unwrap();
    let refused = status(&world.f.repo, &s.w.path).await.unwrap_err();
    assert!(matches!(refused, GitError::Replaced { .. }), "{refused}");
}

#[tokio::test]
async fn the_configuration_of_a_worktree_is_looked_at_whatever_else_is_configured() {
    let world = World::new().await;
    let s = world.site().await;
    configuration(&world, &s);
    let config = world.f.repo.common_dir().join("config");
    let mut text = std::fs::read(&config).unwrap();
    text.extend_from_slice(b"[user]\n\tname = J\xf6rg\n");
    write(&config, text);
    let refused = status(&world.f.repo, &s.w.path).await.unwrap_err();
    assert!(matches!(refused, GitError::Replaced { .. }), "{refused}");
    assert!(!world.has_run());
}

/// Puts the commit `id` of a nested repository on record.
fn link(checkout: &Path, id: &str) {
    git(checkout, &["update-index", "--add", "--cacheinfo", &format!("160000,{id},nested")]);
    git(checkout, &["commit", "-qm", "link"]);
}

#[tokio::test]
async fn a_rebase_fetches_nothing_for_a_nested_repository() {
    let world = World::new().await;
    let Fixture { repo, dir, .. } = &world.f;
    link(repo.path(), &"1".repeat(40));
    let s = world.site().await;
    link(repo.path(), &"2".repeat(40));
    let nested = s.w.path.join("nested");
    git(&nested, &["init", "-q"]);
    for (key, value) in [
        ("user.name", "evil"),
        ("user.email", "evil"),
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "ev"),
        ("remote.ev.promisor", "true"),
        ("remote.ev.url", &*world.evil.to_string_lossy()),
        ("remote.ev.uploadPack", &*format!("touch '{}'; git-upload-pack", world.witness.display())),
    ] {
        git(&nested, &["config", key, value]);
    }
    git(&nested, &["commit", "-q", "--allow-empty", "-m", "evil"]);
    git(&s.w.path, &["add", "nested"]);
    git(&s.w.path, &["commit", "-qm", "nested"]);
    assert_ne!(try_git(&s.w.path, &["rebase", "-q", "main"]).0, 0, "no conflict");
    assert!(world.has_run(), "a plain git does not run it, so nothing is shown");
    git(&s.w.path, &["rebase", "--abort"]);
    let main = repo.resolve_branch("main").await.unwrap().unwrap();
    let rebase = async || {
        let rebased = rebase(repo, &s.w.path, &s.w.branch, &main, &main).await.unwrap();
        assert!(matches!(rebased, Rebased::Conflicts { .. }), "{rebased:?}");
        assert!(!world.has_run());
        abort(repo, &s.w.path, owner(s.id), &s.w.branch).await.unwrap();
    };
    rebase().await;
    // What a partial clone fetches for itself is another matter.
    git(dir.path(), &["clone", "-q", "--bare", "project", "remote.git"]);
    git(repo.path(), &["remote", "add", "origin", &dir.path().join("remote.git").to_string_lossy()]);
    git(repo.path(), &["config", "remote.origin.promisor", "true"]);
    rebase().await;
}

#[tokio::test]
async fn a_rebase_in_a_partial_clone_fetches_what_it_needs() {
    let world = World::new().await;
    let Fixture { repo, dir, .. } = &world.f;
    git(repo.path(), &["config", "uploadpack.allowFilter", "true"]);
    git(repo.path(), &["config", "uploadpack.allowAnySHA1InWant", "true"]);
    let url = format!("file://{}", repo.path().display());
    git(dir.path(), &["clone", "-q", "--filter=blob:none", &url, "partial"]);
    let partial = Repo::open(&dir.path().join("partial")).await.unwrap();
    git(partial.path(), &["config", "user.name", "Tester"]);
    git(partial.path(), &["config", "user.email", "tester@example.com"]);
    git(partial.path(), &["worktree", "add", "-q", "-b", "work", "../work"]);
    let worktree = dir.path().join("work");
    write(&worktree.join("a.txt"), "one\ntwo\nmine\n");
    commit_all(&partial, &worktree, "mine").await.unwrap();
    write(&repo.path().join("a.txt"), "theirs\none\ntwo\nthree\n");
    git(repo.path(), &["commit", "-qam", "theirs"]);
    git(partial.path(), &["fetch", "-q"]);
    let theirs = partial.resolve_branch("origin/main").await.unwrap().unwrap();
    let rebased = rebase(&partial, &worktree, "work", &theirs, &theirs).await.unwrap();
    assert!(matches!(rebased, Rebased::Done { .. }), "{rebased:?}");
    assert_eq!(read(&worktree.join("a.txt")), "theirs\none\ntwo\nmine\n");
}
