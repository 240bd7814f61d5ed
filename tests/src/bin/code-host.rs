//! The code host of the tests as a program, for tests that are not written in Rust: one public repository `acme/widgets`
//! of the GitHub dialect. It prints its remote, the folder behind it and the settings that Forge needs as one line of JSON,
//! and lives until its standard input ends.

use std::io::Read;

use forge_tests::{CodeHost, Dialect};
use serde_json::json;

#[tokio::main]
async fn main() {
    let host = CodeHost::start(Dialect::Github).await;
    host.add_issue(7, "Greet politely", "The greeting is rude.", &["manners"]);
    let remote = host.repository("acme/widgets");
    println!(
        "{}",
        json!({"remote": remote, "bare": host.bare("acme/widgets"), "settings": {"hosts": host.settings()}})
    );
    let ended = tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new()));
    let _ = ended.await;
}
