//! Eight processes want one bead.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use forge_fleet::beads::Claim;
use serde_json::json;

use crate::fixture::Project;

const ROOT: &str = "FORGE_TEST_RACE_ROOT";
const ACTOR: &str = "FORGE_TEST_RACE_ACTOR";

/// One of the processes: this executable again. By itself it does nothing.
#[tokio::test]
async fn contender() {
    let (Ok(root), Ok(actor)) = (std::env::var(ROOT), std::env::var(ACTOR)) else { return };
    let workspace = forge_fleet::beads::Workspace::find_in(root.as_ref(), &Default::default()).await;
    let store = workspace.unwrap().unwrap().open().unwrap();
    println!("\nready");
    let claim = store.claim("f-a", &actor).await;
    match claim {
        Claim::Won(_) => println!("\nwon"),
        Claim::AlreadyClaimed { by } => println!("\nlost to {by}"),
        other => println!("\nfailed: {other:?}"),
    }
}

#[test]
fn one_of_eight_processes_wins() {
    let project = Project::new(&[json!({ "id": "f-a", "title": "a", "status": "open", "priority": 2 })]);
    // While the lock is held nobody can win, so all of them are waiting when it is released.
    let lock = std::fs::File::create(project.beads().join(".write.lock")).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let mut children: Vec<_> = (0..8)
        .map(|number| {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.args(["race::contender", "--exact", "--nocapture"]);
            command.env(ROOT, project.root()).env(ACTOR, format!("forge/host/w{number}/r"));
            let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
            let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
            (number, child, lines)
        })
        .collect();
    for (_, _, lines) in &mut children {
        assert!(lines.any(|line| line == "ready"));
    }
    drop(lock);
    let mut winners = Vec::new();
    let mut losers = Vec::new();
    for (number, mut child, mut lines) in children {
        let said = lines
            .find(|line| line.starts_with("won") || line.starts_with("lost") || line.starts_with("failed"));
        assert!(child.wait().unwrap().success());
        match said.as_deref() {
            Some("won") => winners.push(format!("forge/host/w{number}/r")),
            said => losers.push(said.unwrap_or_default().to_owned()),
        }
    }
    assert_eq!(winners.len(), 1, "{winners:?} {losers:?}");
    assert!(losers.iter().all(|said| *said == format!("lost to {}", winners[0])), "{losers:?}");
    assert_eq!(project.record("f-a")["assignee"], json!(winners[0]));
}
