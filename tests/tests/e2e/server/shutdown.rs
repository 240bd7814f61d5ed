//! Stopping the server is quick, whoever is connected, and leaves agents at work unless asked otherwise.

use std::time::Duration;

use forge_tests::{TestForge, await_file, is_alive, text};

/// The contract's bound; a stop that needs longer is a defect, not a slow machine.
const LIMIT: Duration = Duration::from_secs(2);

fn keeper_pids(forge: &TestForge) -> Vec<u32> {
    let runs = std::fs::read_dir(forge.home().join("runs")).unwrap().flatten();
    let states = runs.map(|run| forge.keeper_state(&run.file_name().to_string_lossy()));
    states.filter_map(|state| state["agent"]["pid"].as_u64().map(|pid| pid as u32)).collect()
}

#[tokio::test]
async fn a_server_with_connected_clients_stops_in_time_and_its_agents_go_on() {
    let mut forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    let script = format!("{}; echo survived", await_file("../go"));
    let task = forge.start_with(&project, "SHELL", "t", &script).await;
    let attempt = task.attempt();
    let run = text(&forge.runs(&attempt).await[0]["id"]);
    let mut tasks = forge.socket(&format!("/api/tasks/stream/ws?project_id={project}")).await;
    let mut logs = forge.socket(&format!("/api/execution-processes/{run}/raw-logs/ws")).await;
    let _events = forge.client().events("/api/events").await.unwrap();
    let _silent = tokio::net::TcpStream::connect(forge.base().trim_start_matches("http://")).await.unwrap();
    tasks.next().await;

    let took = forge.terminate().await;
    assert!(took < LIMIT, "took {took:?}");
    tasks.until_closed().await;
    logs.until_closed().await;
    assert_eq!((tasks.closed, logs.closed), (Some(1001), Some(1001)));

    let agents = keeper_pids(&forge);
    assert!(agents.iter().all(|pid| is_alive(*pid)) && agents.len() == 1, "{agents:?}");
    forge.up().await;
    std::fs::write(forge.worktrees().join("go"), "").unwrap();
    let runs = forge.settled(&attempt).await;
    assert_eq!(runs[0]["status"], "completed");
    assert!(forge.raw_log(&run).await.contains("survived"));
}

#[tokio::test]
async fn agents_end_with_the_server_when_that_is_asked_for() {
    let mut forge = TestForge::with(&["--stop-agents"], &[]).await;
    let (project, _) = forge.project("repo").await;
    let task = forge.start_with(&project, "SHELL", "t", "sleep 600").await;
    let agents = keeper_pids(&forge);
    forge.terminate().await;
    assert!(agents.iter().all(|pid| !is_alive(*pid)) && agents.len() == 1, "{agents:?}");
    forge.up().await;
    let runs = forge.runs(&task.attempt()).await;
    assert_eq!(runs[0]["status"], "killed");
}
