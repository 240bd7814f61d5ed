//! The folders of a server are its user's alone, whatever somebody else put in their place before.

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;

use forge_tests::{TestForge, err, output, text, words};
use serde_json::Value;

const SOMEBODY: u32 = 65534;

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().mode() & 0o777
}

fn make(path: &Path, mode: u32) {
    std::fs::create_dir_all(path).unwrap();
    std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
}

/// A fixture whose server does not run.
async fn at_rest() -> TestForge {
    let mut forge = TestForge::start().await;
    forge.terminate().await;
    forge
}

/// What a start says that fails.
async fn refusal(forge: &TestForge) -> String {
    let mut command = forge.command();
    command.args(["serve", "--port", "0"]);
    let ended = output(command).await;
    assert!(!ended.status.success(), "{}", words(&ended));
    err(&ended)
}

#[tokio::test]
async fn a_home_and_a_base_that_others_could_enter_are_closed_and_keep_what_is_in_them() {
    let mut forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    let task = forge.start_scripted(&project, "t", "write a.txt one").await;
    let attempt = task.attempt();
    forge.settled(&attempt).await;
    assert_eq!((mode(&forge.home()), mode(&forge.worktrees())), (0o700, 0o700), "made so");
    forge.terminate().await;
    make(&forge.home(), 0o755);
    make(&forge.worktrees(), 0o755);
    forge.up().await;
    assert_eq!((mode(&forge.home()), mode(&forge.worktrees())), (0o700, 0o700), "closed");
    let place = forge.get(&format!("/api/task-attempts/{attempt}")).await.data();
    assert!(Path::new(&text(&place["container_ref"])).join("a.txt").exists(), "{place:#}");
    let log = forge.log();
    for part in ["was open to other users (mode 755); it is private now", "this folder of worktrees was open"]
    {
        assert_eq!(log.matches(part).count(), 1, "{part:?} in {log}");
    }
}

#[tokio::test]
async fn a_base_that_is_a_link_is_refused() {
    let forge = at_rest().await;
    std::fs::remove_dir_all(forge.worktrees()).unwrap();
    symlink("/", forge.worktrees()).unwrap();
    let said = refusal(&forge).await;
    assert!(said.contains("worktrees is a link") && said.contains("FORGE_WORKTREE_DIR"), "{said}");
}

#[tokio::test]
#[cfg_attr(not(is_root), ignore = "only root can give a folder to another user")]
async fn a_base_that_somebody_else_made_is_refused() {
    let forge = at_rest().await;
    std::fs::remove_dir_all(forge.worktrees()).unwrap();
    make(&forge.worktrees(), 0o777);
    chown(forge.worktrees(), Some(SOMEBODY), Some(SOMEBODY)).unwrap();
    let said = refusal(&forge).await;
    assert!(said.contains("belongs to user 65534") && said.contains("FORGE_WORKTREE_DIR"), "{said}");
    assert_eq!(mode(&forge.worktrees()), 0o777, "it is left as it is");
    let mut doctor = forge.command();
    doctor.args(["doctor", "--json"]);
    let report: Value = serde_json::from_slice(&output(doctor).await.stdout).unwrap();
    let checks = report["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["name"] == "worktrees").unwrap();
    assert!(text(&check["detail"]).contains("belongs to user 65534"), "{check:#}");
    assert_eq!(report["ok"], false);
}

#[tokio::test]
#[cfg_attr(not(is_root), ignore = "only root can give a folder to another user")]
async fn a_base_that_somebody_else_puts_there_while_the_server_runs_is_refused() {
    let forge = TestForge::with(&["--spares", "0"], &[]).await;
    let (project, _) = forge.project("repo").await;
    std::fs::rename(forge.worktrees(), forge.dir().join("cleaned-away")).unwrap();
    make(&forge.worktrees(), 0o777);
    chown(forge.worktrees(), Some(SOMEBODY), Some(SOMEBODY)).unwrap();
    let refused = forge.task(&project, "t").prompt("say x").ask().await;
    assert_eq!(refused.status, 409, "{}", refused.text);
    assert!(refused.message().contains("belongs to user 65534"), "{}", refused.text);
    assert_eq!(std::fs::read_dir(forge.worktrees()).unwrap().count(), 0);
}

#[tokio::test]
#[cfg_attr(not(is_root), ignore = "only root can give a folder to another user")]
async fn a_home_of_somebody_else_is_refused() {
    let forge = at_rest().await;
    chown(forge.home(), Some(SOMEBODY), Some(SOMEBODY)).unwrap();
    let said = refusal(&forge).await;
    for part in ["belongs to user 65534", "chown", "FORGE_HOME"] {
        assert!(said.contains(part), "{part:?} is missing: {said}");
    }
}

#[tokio::test]
async fn no_link_is_followed_to_write_the_port() {
    let mut forge = at_rest().await;
    let precious = forge.dir().join("precious");
    std::fs::write(&precious, "precious").unwrap();
    let shared = forge.dir().join("automagik-forge");
    make(&shared, 0o777);
    symlink(&precious, shared.join("automagik-forge.port")).unwrap();
    forge.up().await;
    assert_eq!(std::fs::read_to_string(&precious).unwrap(), "precious");
    let told = std::fs::read_to_string(shared.join("automagik-forge.port")).unwrap();
    assert_eq!(format!("http://127.0.0.1:{told}"), forge.base(), "the contract: the port and nothing else");
    assert_eq!(mode(&shared), 0o755, "nobody else can change it any more");
    forge.terminate().await;
    assert_eq!(std::fs::read_dir(&shared).unwrap().count(), 0, "it goes with the server");
}

#[tokio::test]
#[cfg_attr(not(is_root), ignore = "only root can give a folder to another user")]
async fn no_port_is_written_to_the_folder_of_somebody_else() {
    let mut forge = at_rest().await;
    let (shared, precious) = (forge.dir().join("automagik-forge"), forge.dir().join("precious"));
    std::fs::write(&precious, "precious").unwrap();
    make(&shared, 0o777);
    symlink(&precious, shared.join("automagik-forge.port")).unwrap();
    chown(&shared, Some(SOMEBODY), Some(SOMEBODY)).unwrap();
    forge.up().await;
    assert_eq!(forge.get("/health").await.status, 200);
    assert_eq!(std::fs::read_to_string(&precious).unwrap(), "precious");
    assert_eq!(std::fs::read_dir(&shared).unwrap().count(), 1, "only what was planted");
    assert!(forge.log().contains("no port file is written there"), "{}", forge.log());
}
