//! Every change is reported once, and trouble does not hide what is known.

use std::time::Duration;

use forge_fleet::beads::{NewBead, News, Watch};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::fixture::{Project, bd_version};

async fn next(watch: &mut Watch) -> News {
    tokio::time::timeout(Duration::from_secs(60), watch.next()).await.expect("news in time").unwrap()
}

async fn ids(watch: &mut Watch) -> Vec<String> {
    match next(watch).await {
        News::Changed(snapshot) => snapshot.beads().iter().map(|bead| bead.id.clone()).collect(),
        News::Trouble(why) => panic!("{why}"),
    }
}

#[tokio::test]
async fn a_replaced_file_is_reported() {
    let project = Project::new(&[json!({ "id": "f-a" })]);
    let store = project.open().await;
    let mut watch = store.watch();
    assert_eq!(ids(&mut watch).await, ["f-a"]);
    let made = store.create(&NewBead::new("x"), "me").await.unwrap();
    assert_eq!(ids(&mut watch).await, ["f-a".to_owned(), made.id]);
}

#[tokio::test]
async fn other_files_and_the_same_content_are_no_news() {
    let project = Project::new(&[json!({ "id": "f-a" })]);
    let mut watch = project.open().await.watch();
    assert_eq!(ids(&mut watch).await, ["f-a"]);
    project.write("issues.jsonl.tmp", "x");
    project.write(".write.lock", "");
    project.write("issues.jsonl", "{\"id\":\"f-a\"}\n");
    // The next news is this one, and none before it.
    project.write("issues.jsonl", "{\"id\":\"f-b\"}\n");
    assert_eq!(ids(&mut watch).await, ["f-b"]);
}

#[tokio::test]
async fn trouble_is_reported_with_its_line_and_so_is_its_end() {
    let project = Project::new(&[json!({ "id": "f-a" })]);
    let mut watch = project.open().await.watch();
    assert_eq!(ids(&mut watch).await, ["f-a"]);
    project.write("issues.jsonl", "{\"id\":\"f-a\"}\n<<<<<<< HEAD\n");
    assert!(matches!(next(&mut watch).await, News::Trouble(why) if why.contains("line 2")));
    project.write("issues.jsonl", "{\"id\":\"f-a\"}\n");
    assert_eq!(ids(&mut watch).await, ["f-a"]);
}

#[tokio::test]
async fn where_nothing_can_be_watched_own_changes_are_looked_up() {
    let project = Project::new(&[]);
    project.write("metadata.json", r#"{"backend":"dolt"}"#);
    let list = |ids: &[&str]| json!(ids.iter().map(|id| json!({ "id": id })).collect::<Vec<_>>()).to_string();
    project
        .stub("bd")
        .on("version", &bd_version("1.0.0"), "", 0)
        .on("list", &list(&["f-a"]), "", 0)
        .on("list", &list(&["f-a", "f-b"]), "", 0)
        .on("create", r#"{"id":"f-b","title":"x","schema_version":1}"#, "", 0);
    let store = project.open().await;
    let mut watch = store.watch();
    assert_eq!(ids(&mut watch).await, ["f-a"]);
    store.create(&NewBead::new("x"), "me").await.unwrap();
    assert_eq!(ids(&mut watch).await, ["f-a", "f-b"]);
}
