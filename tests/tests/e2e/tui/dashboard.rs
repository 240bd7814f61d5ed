//! `forge tui`, driven through a real terminal: tmux on a socket of its own.

use std::process::{Command, Stdio};

use forge_tests::{Proxy, TestForge, Treatment, await_file, err, eventually, git, out, output, text};
use serde_json::json;

/// A terminal with the dashboard in it. When it goes, so does its tmux server, and no other.
pub struct Dashboard {
    socket: String,
}

impl Dashboard {
    /// After the dashboard the terminal stays and says how it ended.
    pub fn open(forge: &TestForge, env: &[(&str, &str)]) -> Self {
        let dashboard = Self { socket: format!("forge-test-{}", uuid::Uuid::new_v4().simple()) };
        let program = forge.command();
        let mut tmux = dashboard.tmux();
        tmux.args(["-f", "/dev/null", "new-session", "-d", "-x", "110", "-y", "30"]);
        let own = program
            .get_envs()
            .filter_map(|(key, value)| Some((key.to_str()?.to_owned(), value?.to_str()?.to_owned())));
        let more = env.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        for (key, value) in own.chain(more) {
            tmux.args(["-e", &format!("{key}={value}")]);
        }
        let exe = program.get_program().to_str().expect("a plain path");
        tmux.arg(format!("'{exe}' tui; echo left with $?; exec cat"));
        let made = tmux.output().expect("tmux");
        assert!(made.status.success(), "{}", err(&made));
        dashboard
    }

    fn tmux(&self) -> Command {
        let mut command = Command::new("tmux");
        command.args(["-L", &self.socket]).env_remove("TMUX");
        command
    }

    pub fn press(&self, keys: &[&str]) {
        let sent = self.tmux().arg("send-keys").args(keys).status().expect("tmux");
        assert!(sent.success());
    }

    pub fn write(&self, line: &str) {
        self.press(&["-l", line]);
    }

    pub fn screen(&self) -> String {
        let shown = self.tmux().args(["capture-pane", "-p"]).output().expect("tmux");
        out(&shown)
    }

    pub async fn until(&self, what: &str, holds: impl Fn(&str) -> bool) -> String {
        let look = || {
            let screen = self.screen();
            if holds(&screen) { Ok(screen) } else { Err(screen) }
        };
        eventually(&format!("this is shown: {what}"), look).await
    }

    pub async fn until_shown(&self, text: &str) -> String {
        self.until(text, |screen| screen.contains(text)).await
    }
}

impl Drop for Dashboard {
    fn drop(&mut self) {
        let _ = self.tmux().arg("kill-server").output();
    }
}

/// An agent that says something and waits for a file of that name.
fn waits_for(name: &str) -> String {
    format!("echo here I am; echo x > made.txt; {}; echo all done", await_file(name))
}

#[tokio::test]
async fn the_dashboard_shows_what_happens_and_acts_on_it() {
    let forge = TestForge::start().await;
    let (project, repo) = forge.project("shop").await;
    let dashboard = Dashboard::open(&forge, &[]);
    dashboard.until_shown("Nothing is running").await;
    // What begins elsewhere comes into sight by itself, and so does what an agent asks.
    let started = forge.start_with(&project, "SHELL", "Mend the door", &waits_for("go")).await;
    let attempt = started.attempt();
    dashboard
        .until("the attempt at work", |screen| {
            screen.contains("1 running") && screen.contains("shop: Mend the door")
        })
        .await;
    let run = text(&forge.runs(&attempt).await[0]["id"]);
    let question = json!({"tool_name": "Bash", "tool_input": {"command": "make"}, "session_id": run});
    let asked = forge.post("/api/approvals/create", &question).await.data();
    dashboard.until_shown("Bash: make").await;
    dashboard.press(&["a"]);
    let path = format!("/api/approvals/{}/status", text(&asked["id"]));
    forge.until(&path, "it is approved", |status| status["status"] == "approved").await;
    dashboard.until("the question gone", |screen| !screen.contains("Bash: make")).await;
    // Its log and its changes, live.
    dashboard.press(&["2"]);
    dashboard.until("the log", |screen| screen.contains("here I am") && screen.contains("made.txt")).await;
    assert!(!dashboard.screen().contains("all done"));
    let worktree = started.place();
    std::fs::write(worktree.join("go"), "").unwrap();
    dashboard.until("its end", |screen| screen.contains("all done") && screen.contains("completed")).await;
    // A follow-up is typed; letters that are commands elsewhere are text here.
    forge.settled(&attempt).await;
    dashboard.press(&["f"]);
    dashboard.until_shown("message to").await;
    dashboard.write("echo quit q; echo more > more.txt");
    dashboard.press(&["Enter"]);
    dashboard
        .until("the second turn", |screen| {
            screen.lines().any(|line| line.trim_start().starts_with("quit q")) && screen.contains("more.txt")
        })
        .await;
    forge.settled(&attempt).await;
    // Nothing lands before the yes.
    dashboard.press(&["m"]);
    dashboard.until_shown("into main?").await;
    assert_eq!(git(&repo, &["rev-list", "--count", "main"]), "1");
    dashboard.press(&["y"]);
    dashboard.until_shown("merged").await;
    assert_eq!(git(&repo, &["show", "main:made.txt"]), "x");
    // The terminal is lent to a command and comes back.
    dashboard.press(&["t"]);
    let lent = dashboard.until_shown("Press Enter to return to the dashboard").await;
    assert!(lent.contains("all done") && !lent.contains("1 Overview"), "{lent}");
    dashboard.press(&["Enter"]);
    dashboard
        .until("the dashboard again", |screen| screen.contains("2 Attempts") && screen.contains("? help"))
        .await;
    dashboard.press(&["q"]);
    let left = dashboard.until_shown("left with 0").await;
    assert!(!left.contains("1 Overview"), "the terminal is as it was:\n{left}");
}

#[tokio::test]
async fn a_task_is_given_by_a_form_and_stopped_after_a_yes() {
    let forge = TestForge::start().await;
    let (project, _) = forge.project("shop").await;
    let dashboard = Dashboard::open(&forge, &[("NO_COLOR", "1")]);
    dashboard.until_shown("Nothing is running").await;
    // The project may come a moment after the rest.
    dashboard.press(&["3", "n"]);
    dashboard.until_shown("Give an agent a task").await;
    dashboard.write("sleep 1000");
    dashboard.press(&["Enter", "Enter", "C-u"]);
    dashboard.write("SHELL");
    dashboard.press(&["Enter"]);
    dashboard.until_shown("Start SHELL on this task?").await;
    let path = format!("/api/task-attempts?project_id={project}");
    assert_eq!(forge.get(&path).await.data(), json!([]), "nothing starts before the yes");
    dashboard.press(&["y"]);
    dashboard.until_shown("inprogress").await;
    let attempts = forge.until(&path, "it runs", |rows| rows[0]["status"] == "running").await;
    dashboard.press(&["2"]);
    dashboard.until_shown("running").await;
    dashboard.press(&["s"]);
    dashboard.until_shown("Its changes are kept").await;
    dashboard.press(&["y"]);
    forge.settled(&text(&attempts[0]["id"])).await;
    dashboard
        .until("that it was stopped", |screen| screen.contains("x  ") && screen.contains("stopped"))
        .await;
}

#[tokio::test]
async fn it_says_that_the_server_is_away_and_goes_on_when_it_is_back() {
    let mut forge = TestForge::start().await;
    let (project, _) = forge.project("shop").await;
    let proxy = Proxy::start(forge.base(), Treatment::Passes, Treatment::Passes).await;
    let dashboard = Dashboard::open(&forge, &[("FORGE_BACKEND_URL", proxy.base())]);
    dashboard.until_shown("Nothing is running").await;
    forge.crash();
    dashboard.until_shown("disconnected for").await;
    forge.up().await;
    proxy.aim(forge.base());
    dashboard.until_shown("the server is back").await;
    forge.start_with(&project, "SHELL", "Later work", &waits_for("never")).await;
    dashboard.until_shown("shop: Later work").await;
}

#[tokio::test]
async fn without_a_server_it_starts_and_says_so() {
    let mut forge = TestForge::start().await;
    let base = forge.base().to_owned();
    forge.crash();
    let dashboard = Dashboard::open(&forge, &[("FORGE_BACKEND_URL", &base)]);
    dashboard.until_shown("disconnected for").await;
    dashboard.press(&["?"]);
    dashboard.until_shown("Quit; agents and workers keep running").await;
    // Sent at once they would be one key.
    dashboard.press(&["Escape"]);
    dashboard.until("the view again", |screen| !screen.contains("Quit; agents")).await;
    dashboard.press(&["q"]);
    dashboard.until_shown("left with 0").await;
}

#[tokio::test]
async fn without_a_terminal_it_refuses() {
    let forge = TestForge::start().await;
    let mut command = forge.command();
    command.arg("tui").stdin(Stdio::null());
    let refused = output(command).await;
    assert_eq!(refused.status.code(), Some(2));
    let said = err(&refused);
    assert!(said.contains("needs a terminal") && said.contains("forge list"), "{said}");
    assert!(refused.stdout.is_empty());
}
