//! A server that a command starts by itself, and the way to end it.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use forge_tests::{Terminal, TestForge, await_file, client, err, is_alive, output, text, words};
use rustix::fs::{FlockOperation, flock};
use serde_json::json;

fn forge_at(forge: &TestForge, repo: &Path, args: &[&str]) -> Command {
    let mut command = forge.command();
    command.args(args).current_dir(repo).stdin(Stdio::null());
    command
}

/// A home that has no server, and a repository.
async fn without_server() -> (TestForge, std::path::PathBuf) {
    let mut forge = TestForge::start().await;
    forge.terminate().await;
    let repo = forge.repository("repo");
    (forge, repo)
}

async fn stop(forge: &TestForge, repo: &Path) -> Output {
    output(forge_at(forge, repo, &["serve", "--stop"])).await
}

#[tokio::test]
async fn a_run_without_a_server_starts_one_that_stays_until_it_is_stopped() {
    let (mut forge, repo) = without_server().await;
    let run = ["run", "-x", "SCRIPTED", "say hello"];
    let first = output(forge_at(&forge, &repo, &run)).await;
    assert!(first.status.success() && words(&first).contains("\nhello\n"), "{}", words(&first));
    let log = forge.home().join("server.log").display().to_string();
    for part in ["started one at http://127.0.0.1:", &log, "forge serve --stop"] {
        assert!(err(&first).contains(part), "{part:?} is missing: {}", err(&first));
    }
    let pid = forge.background_pid().expect("a server that holds the home");
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let session = stat.rsplit_once(") ").unwrap().1.split(' ').nth(3).unwrap();
    assert_eq!(session, pid.to_string(), "no terminal's end or Ctrl-C reaches another session");

    let second = output(forge_at(&forge, &repo, &["resume", "-", "say again"])).await;
    assert!(second.status.success() && err(&second).is_empty(), "it is used silently: {}", err(&second));
    assert_eq!(forge.background_pid(), Some(pid));

    let stopped = stop(&forge, &repo).await;
    assert!(stopped.status.success() && words(&stopped).contains(&pid.to_string()), "{}", words(&stopped));
    assert!(!is_alive(pid));
    let again = stop(&forge, &repo).await;
    assert!(again.status.success() && words(&again).contains("nothing to stop"), "{}", words(&again));
    forge.up().await;
    let attempts = forge.get("/api/task-attempts").await.data();
    assert_eq!(attempts.as_array().unwrap().len(), 1, "the next server has it");
}

#[tokio::test]
async fn two_runs_at_once_end_up_with_one_server() {
    let (mut forge, repo) = without_server().await;
    let run = |words: &str| output(forge_at(&forge, &repo, &["run", "-x", "SCRIPTED", words]));
    let (one, two) = tokio::join!(run("say one"), run("say two"));
    assert!(one.status.success() && two.status.success(), "{}\n{}", words(&one), words(&two));
    let log = std::fs::read_to_string(forge.home().join("server.log")).unwrap();
    assert_eq!(log.matches("Forge app listening").count(), 1, "{log}");
    stop(&forge, &repo).await;
    forge.up().await;
    assert_eq!(forge.get("/api/task-attempts").await.data().as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_server_that_cannot_start_is_explained_by_its_log() {
    let (forge, repo) = without_server().await;
    let mut command = forge_at(&forge, &repo, &["run", "-x", "SCRIPTED", "say x"]);
    command.env("DATABASE_URL", "postgres://nowhere");
    let failed = output(command).await;
    assert_eq!(failed.status.code(), Some(1));
    for part in ["the server did not start", "server.log", "only sqlite://<path> is supported"] {
        assert!(err(&failed).contains(part), "{part:?} is missing: {}", err(&failed));
    }
}

#[tokio::test]
async fn a_server_elsewhere_is_not_started() {
    let (forge, repo) = without_server().await;
    let mut command = forge_at(&forge, &repo, &["run", "-x", "SCRIPTED", "say x"]);
    command.env("FORGE_BACKEND_URL", "http://127.0.0.1:1");
    let none = output(command).await;
    assert_eq!(none.status.code(), Some(3));
    assert!(err(&none).contains("no Forge answers at http://127.0.0.1:1"), "{}", err(&none));
    assert!(!forge.home().join("server.log").exists());
}

#[tokio::test]
async fn a_server_can_be_started_in_the_background_and_its_agents_outlive_it() {
    let (mut forge, repo) = without_server().await;
    let begun = output(forge_at(&forge, &repo, &["serve", "--background", "--spares", "0"])).await;
    let pid = forge.background_pid().expect("a server that holds the home");
    for part in ["listens at http://127.0.0.1:", &format!("process {pid}"), "forge serve --stop"] {
        assert!(words(&begun).contains(part), "{part:?} is missing: {}", words(&begun));
    }
    let twice = output(forge_at(&forge, &repo, &["serve", "--background"])).await;
    assert!(twice.status.success() && words(&twice).contains("is already running"), "{}", words(&twice));
    let script = format!("run {}", await_file("../go"));
    let run = ["run", "-b", "--json", "-x", "SCRIPTED", &script];
    let told: serde_json::Value =
        serde_json::from_slice(&output(forge_at(&forge, &repo, &run)).await.stdout).unwrap();
    assert!(stop(&forge, &repo).await.status.success());
    std::fs::write(forge.worktrees().join("go"), "").unwrap();
    forge.up().await;
    let runs = forge.settled(&text(&told["attempt"]["id"])).await;
    assert_eq!(runs[0]["status"], json!("completed"));
}

#[tokio::test]
async fn nothing_is_stopped_but_the_server_that_holds_the_home() {
    let (forge, repo) = without_server().await;
    let mut stranger = Command::new("sleep").arg("600").spawn().unwrap();
    std::fs::write(forge.home().join("pid"), stranger.id().to_string()).unwrap();
    let lock = std::fs::File::create(forge.home().join("lock")).unwrap();
    flock(&lock, FlockOperation::NonBlockingLockExclusive).unwrap();
    let refused = stop(&forge, &repo).await;
    assert_eq!(refused.status.code(), Some(1));
    assert!(err(&refused).contains("is in use, but not by a server"), "{}", err(&refused));
    assert!(stranger.try_wait().unwrap().is_none(), "a stranger is left alone");
    stranger.kill().unwrap();
    stranger.wait().unwrap();
}

#[tokio::test]
async fn the_login_link_is_for_who_started_the_server_and_in_no_log() {
    let (forge, repo) = without_server().await;
    let log = forge.home().join("server.log");
    std::fs::write(&log, "").unwrap();
    std::fs::set_permissions(&log, PermissionsExt::from_mode(0o644)).unwrap();
    let serve = ["serve", "--background", "--require-token"];
    let mut terminal = Terminal::start(forge_at(&forge, &repo, &serve), 200);
    let screen = terminal.until("(works once)").await;
    assert!(terminal.ended().await.success(), "{screen}");
    let link = screen.split_whitespace().find(|word| word.contains("/login?code=")).unwrap();
    let code = link.split_once("code=").unwrap().1;
    let token = std::fs::read_to_string(forge.home().join("token")).unwrap();
    let written = std::fs::read_to_string(&log).unwrap();
    assert!(written.contains("Forge app listening"), "{written}");
    assert!(!written.contains(code) && !written.contains(token.trim()), "{written}");
    for name in ["server.log", "token", "login"] {
        let mode = std::fs::metadata(forge.home().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    let browser = client().redirect(forge_client::redirect::Policy::none()).build().unwrap();
    let answer = browser.get(link).send().await.unwrap();
    assert!(answer.status().is_redirection(), "it opens the board: {}", answer.status());
    stop(&forge, &repo).await;
    assert!(!forge.home().join("login").exists(), "it goes with the server");
    // Whoever keeps what is printed keeps no secret.
    let unseen = output(forge_at(&forge, &repo, &serve)).await;
    assert!(
        words(&unseen).contains("login the link in") && !words(&unseen).contains("code="),
        "{}",
        words(&unseen)
    );
}

#[tokio::test]
async fn a_server_that_listens_on_one_address_only_is_found_there() {
    let (forge, repo) = without_server().await;
    let serve = ["serve", "--background", "--no-open", "--host", "127.0.0.2", "--port", "0"];
    let started = output(forge_at(&forge, &repo, &serve)).await;
    assert!(words(&started).contains("listens at http://127.0.0.2:"), "{}", words(&started));
    assert!(forge.background_pid().is_some());
    let run = output(forge_at(&forge, &repo, &["run", "-x", "SCRIPTED", "say hello"])).await;
    assert!(run.status.success() && err(&run).is_empty(), "{}", words(&run));
    let second = output(forge_at(&forge, &repo, &["serve", "--port", "0"])).await;
    assert!(err(&second).contains("another Forge at http://127.0.0.2:"), "{}", err(&second));
    assert!(stop(&forge, &repo).await.status.success());
}
