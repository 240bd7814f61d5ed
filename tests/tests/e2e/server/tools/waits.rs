//! Waiting for an attempt, and no longer waiting for it.

use forge_tests::{PATIENCE, TestForge, last_message};
use serde_json::{Value, json};

async fn endless(forge: &TestForge) -> String {
    let (project, _) = forge.project("repo").await;
    let task = forge.start_scripted(&project, "Sleep", "sleep 600000").await;
    task.attempt()
}

fn wait_for(attempt: &str, id: i64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
        "name": "wait_for_attempt", "arguments": {"attempt_id": attempt, "wait_s": 600}, "_meta": {"progressToken": id}}})
}

async fn name(forge: &TestForge) -> String {
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
        "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}});
    let response = forge.mcp(&hello, None).await;
    response.headers()["mcp-session-id"].to_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_client_takes_its_own_wait_back_and_nobody_elses() {
    let forge = TestForge::start().await;
    let attempt = endless(&forge).await;
    let (mine, yours) = (name(&forge).await, name(&forge).await);
    assert_ne!(mine, yours);
    let (mut my_wait, mut your_wait) = (
        forge.mcp(&wait_for(&attempt, 7), Some(&mine)).await,
        forge.mcp(&wait_for(&attempt, 7), Some(&yours)).await,
    );
    // The first word of each says that both are under way.
    for wait in [&mut my_wait, &mut your_wait] {
        let word = tokio::time::timeout(PATIENCE, wait.chunk()).await.unwrap().unwrap().unwrap();
        assert!(String::from_utf8_lossy(&word).contains("notifications/progress"), "{word:?}");
    }
    let take_back = |id: Value| json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    forge.mcp(&take_back(json!(8)), Some(&mine)).await;
    forge.mcp(&take_back(json!(7)), None).await;
    let accepted = forge.mcp(&take_back(json!(7)), Some(&mine)).await;
    assert_eq!(accepted.status().as_u16(), 202);
    let told = last_message(my_wait).await;
    let told = &told["result"]["structuredContent"];
    assert_eq!((&told["reason"], &told["finished"]), (&json!("cancelled"), &json!(false)), "{told:#}");

    forge.tool("stop_task_attempt", json!({"attempt_id": attempt})).await;
    let told = last_message(your_wait).await;
    let told = &told["result"]["structuredContent"];
    assert_eq!((&told["reason"], &told["status"]), (&json!("ended"), &json!("stopped")), "{told:#}");
}

/// The name is nothing that a server has to remember.
#[tokio::test]
async fn a_name_from_before_a_restart_is_as_good_as_new() {
    let mut forge = TestForge::start().await;
    let client = name(&forge).await;
    forge.terminate().await;
    forge.up().await;
    let message =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_projects"}});
    let told = last_message(forge.mcp(&message, Some(&client)).await).await;
    assert_eq!(told["result"]["structuredContent"]["count"], 0, "{told:#}");
}

#[tokio::test]
async fn a_wait_ends_with_its_connection() {
    let forge = TestForge::start().await;
    let attempt = endless(&forge).await;
    let mut wait = forge.mcp(&wait_for(&attempt, 1), None).await;
    assert!(tokio::time::timeout(PATIENCE, wait.chunk()).await.unwrap().unwrap().is_some());
    drop(wait);
    forge.until_logged("a wait was cancelled").await;
}
