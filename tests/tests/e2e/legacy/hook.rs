//! `forge hook`: commits of agents are linked in SESSION-STATE.md; commits of everybody go on as before.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use forge_tests::{TestForge, git, make_program, text, words};
use serde_json::Value;

const STATE: &str = ".genie/SESSION-STATE.md";
const BEGIN: &str = "# State\n\n## 🎯 Active Sessions\n\n### Mine\nkeep this\n";

/// A repository with Genie's folder and a wish, and the worktree of an attempt in it.
struct Stage {
    forge: TestForge,
    repo: PathBuf,
    worktree: PathBuf,
    attempt: Value,
}

impl Stage {
    async fn new(name: &str) -> Self {
        Self::with(name, Some(BEGIN), |_| {}).await
    }

    async fn with(name: &str, state: Option<&str>, prepare: impl FnOnce(&Path)) -> Self {
        let forge = TestForge::start().await;
        let (project, repo) = forge.project(name).await;
        write(&repo, ".genie/wishes/login-page/login-page-wish.md", "# Wish\n**GitHub Issue:** #42\n");
        if let Some(state) = state {
            write(&repo, STATE, state);
        }
        prepare(&repo);
        git(&repo, &["add", "-A"]);
        git(&repo, &["commit", "-q", "-m", "Wish"]);
        let task = forge.start_scripted(&project, "Login page", "say ready").await;
        let attempt = task["task_attempt"].clone();
        forge.settled(&text(&attempt["id"])).await;
        let worktree = PathBuf::from(text(&attempt["worktree_path"]));
        Self { forge, repo, worktree, attempt }
    }

    fn hook(&self, dir: &Path, args: &[&str]) -> Output {
        self.forge.command().arg("hook").args(args).current_dir(dir).output().unwrap()
    }

    fn install(&self) -> String {
        let done = self.hook(&self.repo, &["install"]);
        assert!(done.status.success(), "{}", words(&done));
        words(&done)
    }

    /// A new file in the worktree, committed as a user would.
    fn commit(&self, file: &str) -> Output {
        write(&self.worktree, file, "x\n");
        git(&self.worktree, &["add", file]);
        commit(&self.worktree, &["-m", file])
    }

    fn state(&self) -> String {
        std::fs::read_to_string(self.worktree.join(STATE)).unwrap_or_default()
    }

    fn id(&self) -> String {
        text(&self.attempt["id"])
    }
}

fn write(top: &Path, path: &str, content: &str) {
    let path = top.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

fn commit(dir: &Path, args: &[&str]) -> Output {
    Command::new("git").arg("-C").arg(dir).args(["commit", "-q"]).args(args).output().unwrap()
}

fn old_hook(path: &Path, script: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    make_program(path, script);
}

#[tokio::test]
async fn the_first_commit_of_an_attempt_carries_its_link_and_the_second_nothing_more() {
    let mut stage = Stage::new("a repo with spaces").await;
    stage.install();
    stage.forge.terminate().await;
    let first = stage.commit("a.txt");
    assert!(first.status.success(), "{}", words(&first));
    let committed = git(&stage.worktree, &["show", &format!("HEAD:{STATE}")]) + "\n";
    assert_eq!(committed, stage.state());
    assert_eq!(git(&stage.worktree, &["status", "--porcelain"]), "");

    let (id, branch) = (stage.id(), text(&stage.attempt["branch"]));
    let task = text(&stage.attempt["task_id"]);
    let (head, rest) = committed.split_once("## 🎯 Active Sessions\n\n").unwrap();
    let (block, rest) = rest.split_once("\n\n").unwrap();
    assert_eq!((head, rest), ("# State\n\n", "### Mine\nkeep this\n"), "the rest is as it was");
    let lines: Vec<&str> = block.lines().filter(|line| !line.starts_with("**Linked:**")).collect();
    let want = [
        "### Forge Task - login-page".to_owned(),
        format!("**Attempt ID Prefix:** `{}`", &id[..4]),
        "**Wish:** login-page".to_owned(),
        format!("**Branch:** {branch}"),
        "**Status:** active".to_owned(),
        "**Next:** First commit detected - auto-linked".to_owned(),
        format!("**Attempt ID:** `{id}`"),
        format!("**Task ID:** `{task}`"),
        "**Task:** Login page".to_owned(),
        "**Issue:** #42".to_owned(),
    ];
    assert_eq!(lines, want);
    assert!(block.lines().any(|line| line.starts_with("**Linked:** 2") && line.ends_with(" UTC")), "{block}");

    assert!(stage.commit("b.txt").status.success());
    assert_eq!(stage.state(), committed);
    assert_eq!(git(&stage.worktree, &["show", "--format=", "--name-only", "HEAD"]), "b.txt");
}

#[tokio::test]
async fn whoami_tells_attempt_task_wish_and_issue_from_anywhere_in_the_worktree() {
    let mut stage = Stage::new("repo").await;
    stage.forge.terminate().await;
    let here = stage.worktree.join(".genie/wishes");
    let asked = stage.forge.command().args(["whoami", "--json"]).current_dir(&here).output().unwrap();
    let told: Value = serde_json::from_slice(&asked.stdout).unwrap();
    assert_eq!((text(&told["kind"]).as_str(), text(&told["id"])), ("attempt", stage.id()));
    assert_eq!(
        (&told["task"]["id"], &told["task"]["title"]),
        (&stage.attempt["task_id"], &"Login page".into())
    );
    assert_eq!((&told["wish"]["slug"], &told["issue"]), (&"login-page".into(), &42.into()));
    assert_eq!(told["branch"], stage.attempt["branch"]);
    assert_eq!(text(&told["repository"]), stage.repo.to_string_lossy());

    // A checkout that somebody else made of the same branch is known by git's configuration.
    let own = stage.forge.dir().join("own");
    git(&stage.worktree, &["checkout", "-q", "--detach"]);
    let branch = text(&stage.attempt["branch"]);
    git(&stage.repo, &["worktree", "add", "-q", own.to_str().unwrap(), &branch]);
    let asked = stage.forge.command().arg("whoami").current_dir(&own).output().unwrap();
    assert!(words(&asked).contains(&stage.id()) && words(&asked).contains("login-page"), "{}", words(&asked));
    let outside = stage.forge.command().arg("whoami").current_dir(&stage.repo).output().unwrap();
    assert_eq!(outside.status.code(), Some(4), "{}", words(&outside));
}

#[tokio::test]
async fn an_existing_hook_decides_first_and_comes_back_as_it_was() {
    let stage = Stage::new("repo").await;
    let path = stage.repo.join(".git/hooks/pre-commit");
    let script = "#!/bin/sh\necho before me \"$(basename \"$0\")\"\n[ ! -e stop ]\n";
    old_hook(&path, script);
    assert!(stage.install().contains("kept and runs first"));
    assert!(stage.install().contains("already"), "a second install changes nothing");

    let printed = stage.commit("a.txt");
    assert!(
        printed.status.success() && words(&printed).contains("before me pre-commit"),
        "{}",
        words(&printed)
    );
    assert!(stage.state().contains(&stage.id()));
    write(&stage.worktree, "stop", "");
    let stopped = stage.commit("b.txt");
    assert_eq!(stopped.status.code(), Some(1), "{}", words(&stopped));

    let taken = stage.hook(&stage.worktree, &["uninstall"]);
    assert!(words(&taken).contains("is restored"), "{}", words(&taken));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), script);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o755);
    assert!(!stage.repo.join(".git/hooks/pre-commit.before-forge").exists());
    let again = stage.hook(&stage.repo, &["uninstall"]);
    assert!(again.status.success() && words(&again).contains("not Forge's"), "{}", words(&again));
}

#[tokio::test]
async fn a_failing_hook_that_is_no_shell_script_still_fails_the_commit() {
    let stage = Stage::new("repo").await;
    old_hook(
        &stage.repo.join(".git/hooks/pre-commit"),
        "#!/usr/bin/env -S awk -f\nBEGIN { print \"no\"; exit 7 }\n",
    );
    stage.install();
    let stopped = stage.commit("a.txt");
    assert_eq!(stopped.status.code(), Some(1), "{}", words(&stopped));
    assert!(words(&stopped).contains("no") && !stage.state().contains(&stage.id()));
}

#[tokio::test]
async fn a_folder_of_hooks_in_the_checkout_is_respected() {
    let stage = Stage::with("repo", Some(BEGIN), |repo| {
        // As husky does it: every hook asks by which name it was called.
        old_hook(&repo.join(".husky/_/pre-commit"), "#!/usr/bin/env sh\n. \"$(dirname \"$0\")/h\"\n");
        write(repo, ".husky/_/h", "sh -e \"$(dirname \"$(dirname \"$0\")\")/$(basename \"$0\")\"\n");
        write(repo, ".husky/pre-commit", "echo husky was here\n");
        git(repo, &["config", "core.hooksPath", ".husky/_"]);
    })
    .await;
    let here = stage.worktree.join(".genie");
    let done = stage.hook(&here, &["install"]);
    assert!(words(&done).contains("part of this checkout"), "{}", words(&done));
    assert!(stage.worktree.join(".husky/_/pre-commit.before-forge").exists());
    let made = stage.commit("a.txt");
    assert!(made.status.success() && words(&made).contains("husky was here"), "{}", words(&made));
    assert!(stage.state().contains(&stage.id()));
    let status = stage.hook(&here, &["status", "--json"]);
    let told: Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!(told["state"], "installed");
    assert!(text(&told["before"]).ends_with(".husky/_/pre-commit.before-forge"));
}

#[tokio::test]
async fn without_forge_and_in_the_main_checkout_commits_go_on() {
    let stage = Stage::new("repo").await;
    stage.install();
    write(&stage.repo, "mine.txt", "x");
    git(&stage.repo, &["add", "mine.txt"]);
    let own = commit(&stage.repo, &["-m", "own"]);
    assert!(own.status.success() && words(&own).is_empty(), "{}", words(&own));
    assert_eq!(std::fs::read_to_string(stage.repo.join(STATE)).unwrap(), BEGIN);

    let path = stage.repo.join(".git/hooks/pre-commit");
    let script = std::fs::read_to_string(&path).unwrap();
    let program = script.lines().find(|line| line.starts_with("forge=")).unwrap();
    std::fs::write(&path, script.replace(program, "forge='/nowhere/forge'")).unwrap();
    write(&stage.worktree, "a.txt", "x");
    git(&stage.worktree, &["add", "a.txt"]);
    let mut bare = Command::new("git");
    bare.arg("-C").arg(&stage.worktree).args(["commit", "-q", "-m", "a"]).env("PATH", "/usr/bin:/bin");
    let bare = bare.output().unwrap();
    assert!(bare.status.success() && words(&bare).is_empty(), "{}", words(&bare));
    assert_eq!(stage.state(), BEGIN);
}

#[tokio::test]
async fn nothing_is_committed_that_the_user_did_not_add() {
    let stage = Stage::new("repo").await;
    stage.install();
    // Only a named file: the next whole commit takes the link.
    write(&stage.worktree, "README.md", "changed\n");
    let partial = commit(&stage.worktree, &["-m", "partial", "README.md"]);
    assert!(partial.status.success(), "{}", words(&partial));
    assert_eq!(
        (stage.state().as_str(), git(&stage.worktree, &["status", "--porcelain"]).as_str()),
        (BEGIN, "")
    );

    // Changes that wait in the working tree stay there.
    write(&stage.worktree, STATE, &format!("{BEGIN}a thought\n"));
    let left = stage.commit("a.txt");
    assert!(words(&left).contains("unstaged changes"), "{}", words(&left));
    assert!(stage.state().contains(&stage.id()) && stage.state().ends_with("a thought\n"));
    assert_eq!(git(&stage.worktree, &["show", "--format=", "--name-only", "HEAD"]), "a.txt");
}

#[tokio::test]
async fn a_commit_of_everything_takes_the_link_along() {
    let stage = Stage::new("repo").await;
    stage.install();
    write(&stage.worktree, "README.md", "changed\n");
    write(&stage.worktree, STATE, &format!("{BEGIN}a thought\n"));
    let all = commit(&stage.worktree, &["-a", "-m", "all"]);
    assert!(all.status.success(), "{}", words(&all));
    assert!(git(&stage.worktree, &["show", &format!("HEAD:{STATE}")]).contains(&stage.id()));
    assert_eq!(git(&stage.worktree, &["status", "--porcelain"]), "");
}

#[tokio::test]
async fn a_missing_file_is_made_and_a_missing_folder_is_not() {
    let stage = Stage::with("repo", None, |_| {}).await;
    stage.install();
    assert!(stage.commit("a.txt").status.success());
    assert!(stage.state().starts_with("## 🎯 Active Sessions\n\n### Forge Task - login-page\n"));
    assert_eq!(git(&stage.worktree, &["status", "--porcelain"]), "");

    git(&stage.worktree, &["rm", "-rq", ".genie"]);
    assert!(commit(&stage.worktree, &["-m", "gone"]).status.success());
    assert!(!stage.worktree.join(".genie").exists());
}

#[tokio::test]
async fn a_direct_call_tells_what_came_of_it_by_its_exit_code() {
    let stage = Stage::with("repo", Some(BEGIN), |repo| {
        std::fs::remove_dir_all(repo.join(".genie/wishes")).unwrap();
    })
    .await;
    let strict = |dir: &Path| stage.hook(dir, &["run", "--strict"]).status.code();
    assert_eq!(strict(&stage.repo), Some(0), "not an agent's worktree");
    assert_eq!(strict(&stage.worktree), Some(1), "no wish fits");
    assert!(stage.state().contains("**Wish:** none") && stage.state().contains(&stage.id()));
    assert_eq!(strict(&stage.worktree), Some(0), "linked already");
    std::fs::write(stage.worktree.join(STATE), b"\xff\xfe").unwrap();
    assert_eq!(strict(&stage.worktree), Some(2));
    assert_eq!(stage.hook(&stage.worktree, &["run"]).status.code(), Some(0), "a hook never fails");
}

#[tokio::test]
async fn what_forge_commits_and_merges_itself_runs_no_hook() {
    let stage = Stage::new("repo").await;
    old_hook(&stage.repo.join(".git/hooks/pre-commit"), "#!/bin/sh\nexit 1\n");
    stage.install();
    let body = serde_json::json!({"prompt": "write a.txt one"});
    stage.forge.post(&format!("/api/task-attempts/{}/follow-up", stage.id()), &body).await.data();
    stage.forge.settled(&stage.id()).await;
    assert_eq!(git(&stage.worktree, &["status", "--porcelain"]), "");
    stage
        .forge
        .post(&format!("/api/task-attempts/{}/merge", stage.id()), &serde_json::json!({}))
        .await
        .data();
    assert_eq!(git(&stage.repo, &["show", "--format=", "--name-only", "main"]), "a.txt");
    assert_eq!(std::fs::read_to_string(stage.repo.join(STATE)).unwrap(), BEGIN);
}
