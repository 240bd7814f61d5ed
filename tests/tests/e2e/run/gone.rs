//! A keeper that dies, what an agent leaves behind, and a log that is damaged: nothing goes on unseen.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use forge_tests::{TestForge, await_file, is_alive, out, output, pid_in, signal, text};
use rustix::process::Signal;
use serde_json::{Value, json};

const LEAVES_A_CHILD: &str =
    "(setsid sh -c 'echo $$ > escaped.pid; exec sleep 600' &); echo $$ > agent.pid; sleep 600";

async fn start(forge: &TestForge, project: &str, script: &str) -> (String, PathBuf) {
    let task = forge.start_with(project, "SHELL", "t", script).await;
    (task.attempt(), task.place())
}

fn keeper_pid(forge: &TestForge, run: &Value) -> u32 {
    forge.keeper_state(&text(&run["id"]))["keeper"]["pid"].as_u64().unwrap() as u32
}

fn follow_up_path(attempt: &str) -> String {
    format!("/api/task-attempts/{attempt}/follow-up")
}

/// A process in `place` as a run leaves it behind whose keeper is gone.
pub fn leftover(place: &Path) -> Child {
    let mut command = Command::new("sleep");
    command.arg("600").current_dir(place).stdin(Stdio::null());
    command.env("FORGE_KEEPER", "1.1").env("FORGE_RUN_ID", "11111111-2222-4333-8444-555555555555");
    command.spawn().unwrap()
}

pub fn end(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[tokio::test]
async fn an_agent_ends_with_its_killed_keeper_and_the_next_one_is_alone() {
    let mut forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    for server_dies_too in [false, true] {
        let (attempt, place) = start(&forge, &project, LEAVES_A_CHILD).await;
        let pids = [pid_in(&place.join("escaped.pid")).await, pid_in(&place.join("agent.pid")).await];
        let run = forge.runs(&attempt).await[0].clone();
        let keeper = keeper_pid(&forge, &run);
        if server_dies_too {
            forge.crash();
        }
        signal(keeper, Signal::KILL);
        if server_dies_too {
            forge.up().await;
        }
        assert_eq!(forge.settled(&attempt).await[0]["status"], "failed");
        assert!(pids.iter().all(|pid| !is_alive(*pid)), "something of the run goes on");
        let word = format!("(pid {keeper}) was killed or crashed; its agent was ended with it");
        let log = forge.raw_log(&text(&run["id"])).await;
        assert!(log.contains(&word), "{log}");
        let entries = forge.entries(&text(&run["id"])).await;
        assert!(entries.iter().any(|entry| text(&entry["content"]).contains(&word)), "{entries:#?}");
        let told = forge.post(&follow_up_path(&attempt), &json!({"prompt": "echo alone"})).await;
        assert_eq!(told.status, 200, "{}", told.text);
        assert_eq!(forge.settled(&attempt).await[1]["status"], "completed");
    }
}

#[tokio::test]
async fn nothing_starts_where_a_leftover_is_at_work() {
    let forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    let (attempt, place) = start(&forge, &project, "echo 1 > one.txt").await;
    let first = forge.settled(&attempt).await;
    // What people run there is no leftover.
    let editor = Command::new("sleep").arg("600").current_dir(&place).stdin(Stdio::null()).spawn().unwrap();
    forge.post(&follow_up_path(&attempt), &json!({"prompt": "echo 2 > two.txt"})).await.data();
    let before = forge.settled(&attempt).await;
    assert_eq!(before[1]["status"], "completed");

    let child = leftover(&place);
    for body in [
        json!({"prompt": "echo never > never.txt"}),
        json!({"prompt": "echo never > never.txt", "retry_process_id": first[0]["id"]}),
    ] {
        let refused = forge.post(&follow_up_path(&attempt), &body).await;
        assert_eq!(refused.status, 409, "{}", refused.text);
        let named = format!("process {} (`sleep 600`)", child.id());
        assert!(refused.text.contains(&named) && refused.text.contains("End it"), "{}", refused.text);
    }
    assert_eq!(forge.runs(&attempt).await, before, "nothing is written and nothing dropped");
    assert!(place.join("two.txt").exists() && !place.join("never.txt").exists());
    let retired = forge.post(&format!("/api/worktrees/{attempt}/retire"), &json!({})).await;
    assert_eq!(retired.status, 409, "no directory is moved below a process: {}", retired.text);
    assert!(place.exists());
    end(child);
    forge.post(&follow_up_path(&attempt), &json!({"prompt": "echo 3 > three.txt"})).await.data();
    assert_eq!(forge.settled(&attempt).await[2]["status"], "completed");
    end(editor);
}

#[tokio::test]
async fn a_run_whose_turn_comes_beside_a_leftover_fails_and_says_why() {
    let forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    let (attempt, place) = start(&forge, &project, &await_file("go")).await;
    forge.post(&follow_up_path(&attempt), &json!({"prompt": "echo never > never.txt"})).await.data();
    let child = leftover(&place);
    fs::write(place.join("go"), "").unwrap();
    let runs = forge.settled(&attempt).await;
    assert_eq!((&runs[0]["status"], &runs[1]["status"]), (&json!("completed"), &json!("failed")));
    let log = forge.raw_log(&text(&runs[1]["id"])).await;
    assert!(log.contains(&format!("process {} (`sleep 600`)", child.id())), "{log}");
    assert!(!place.join("never.txt").exists());
    end(child);
}

#[tokio::test]
async fn what_an_agent_left_running_does_not_keep_the_next_one_from_starting() {
    let forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    let stubborn = "(trap '' TERM; echo here > here; while :; do sleep 0.1; done) >/dev/null 2>&1 & \
                    while [ ! -e here ]; do sleep 0.01; done";
    let (attempt, _) = start(&forge, &project, stubborn).await;
    forge.settled(&attempt).await;
    let told = forge.post(&follow_up_path(&attempt), &json!({"prompt": "echo next"})).await;
    assert_eq!(told.status, 200, "{}", told.text);
    assert_eq!(forge.settled(&attempt).await[1]["status"], "completed");
}

#[tokio::test]
async fn a_damaged_log_says_so_and_goes_on_in_every_way_it_is_read() {
    let forge = TestForge::start().await;
    let (project, repo) = forge.project("repo").await;
    let script = "for i in 1 2 3 4 5 6 7 8; do echo line $i; sleep 0.05; done";
    let (attempt, _) = start(&forge, &project, script).await;
    let run = text(&forge.settled(&attempt).await[0]["id"]);
    let journal = forge.home().join("runs").join(&run).join("journal");
    let mut bytes = fs::read(&journal).unwrap();
    let place = bytes.windows(6).position(|window| window == b"line 3").unwrap();
    bytes[place] ^= 0x20;
    fs::write(&journal, bytes).unwrap();

    let raw = forge.raw_log(&run).await;
    let entries = forge.entries(&run).await;
    let readable: String = entries.iter().map(|entry| text(&entry["content"])).collect();
    let mut logs = forge.command();
    logs.args(["logs", &attempt]).current_dir(&repo).stdin(Stdio::null());
    let logs = out(&output(logs).await);
    for (name, log) in [("raw", raw), ("readable", readable), ("forge logs", logs)] {
        assert!(log.contains("bytes of this log are damaged at byte"), "{name}: {log}");
        for line in ["line 1", "line 2", "line 4", "line 8"] {
            assert!(log.contains(line), "{name} has no {line}: {log}");
        }
    }
}
