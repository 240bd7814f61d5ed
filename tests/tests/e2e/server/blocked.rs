//! Streams where a proxy lets no WebSocket through: the same lines, by another way.

use std::process::Stdio;

use forge_tests::{Proxy, Terminal, TestForge, Treatment, err, output, patches, text};
use serde_json::json;

const EVENTS: &str = "WebSockets do not get through; using server-sent events";
const PAGES: &str = "server-sent events do not get through; asking for news again and again";

/// Follows an agent through a proxy, and answers what was told of it and how.
async fn follow(sockets: Treatment, events: Treatment) -> (Vec<String>, String, usize) {
    let server = TestForge::start().await;
    let (project, repo) = server.project("repo").await;
    let script = "for i in 1 2 3; do echo line $i; done; while [ ! -e go ]; do sleep 0.02; done; \
                  for i in 4 5 6; do echo line $i; done";
    let task = server.start_with(&project, "SHELL", "blocked", script).await;
    let place = task.place();
    let proxy = Proxy::start(server.base(), sockets, events).await;
    let mut command = server.command();
    command.args(["view", "--follow"]).current_dir(&repo).env("FORGE_BACKEND_URL", proxy.base());
    command.env("NO_COLOR", "1");
    let mut terminal = Terminal::start(command, 100);
    terminal.until("line 3").await;
    std::fs::write(place.join("go"), "").unwrap();
    assert!(terminal.ended().await.success(), "{}", terminal.screen());
    let screen = terminal.screen();
    let lines =
        screen.lines().filter(|row| row.starts_with("line ")).map(|row| row.trim().to_owned()).collect();
    (lines, screen, proxy.refused())
}

fn all() -> Vec<String> {
    (1..=6).map(|number| format!("line {number}")).collect()
}

#[tokio::test]
async fn a_proxy_that_lets_everything_through_changes_nothing() {
    let (lines, screen, refused) = follow(Treatment::Passes, Treatment::Passes).await;
    assert_eq!((lines, refused), (all(), 0), "{screen}");
    assert!(!screen.contains("get through"), "{screen}");
}

#[tokio::test]
async fn where_sockets_are_refused_or_cut_events_are_used_and_that_is_said_once() {
    for sockets in [Treatment::Refused, Treatment::Cut] {
        let (lines, screen, refused) = follow(sockets, Treatment::Passes).await;
        assert_eq!(lines, all(), "{sockets:?}: {screen}");
        assert_eq!(screen.matches(EVENTS).count(), 1, "{sockets:?}: {screen}");
        assert!(!screen.contains(PAGES), "{screen}");
        assert!(refused >= 2, "{sockets:?}: a single failure may be a restart");
    }
}

#[tokio::test]
async fn where_events_do_not_get_through_either_pages_are_asked_for() {
    for events in [Treatment::Refused, Treatment::HeldBack] {
        let (lines, screen, _) = follow(Treatment::Refused, events).await;
        assert_eq!(lines, all(), "{events:?}: {screen}");
        assert_eq!(
            (screen.matches(EVENTS).count(), screen.matches(PAGES).count()),
            (1, 1),
            "{events:?}: {screen}"
        );
    }
}

#[tokio::test]
async fn a_refusal_of_the_server_itself_is_no_blocked_way() {
    let server = TestForge::start().await;
    let (project, repo) = server.project("repo").await;
    let task = server.start_scripted(&project, "done", "say done").await;
    server.settled(&task.attempt()).await;
    let proxy = Proxy::start(server.base(), Treatment::Refused, Treatment::Refused).await;
    let mut command = server.command();
    command.args(["view", "ffffffff", "--follow"]).current_dir(&repo).stdin(Stdio::null());
    command.env("FORGE_BACKEND_URL", proxy.base());
    let none = output(command).await;
    let words = err(&none);
    assert_eq!(none.status.code(), Some(4), "{words}");
    assert!(!words.contains("get through"), "{words}");
}

#[tokio::test]
async fn events_and_pages_tell_the_same_frames_as_a_socket() {
    let server = TestForge::start().await;
    let (project, _) = server.project("repo").await;
    let task = server.start_scripted(&project, "same", "say one\nwrite a.txt x\nsay two").await;
    let run = text(&server.settled(&task.attempt()).await[0]["id"]);
    for log in ["raw-logs", "normalized-logs"] {
        let path = format!("/api/execution-processes/{run}/{log}");
        let frames = server.socket(&format!("{path}/ws?after=0")).await.until_closed().await;
        let page = server.get(&path).await.data();
        assert_eq!((page["frames"].as_array(), &page["finished"]), (Some(&frames), &true.into()), "{log}");
        let events = server.get(&format!("{path}/sse")).await.text;
        let told: Vec<serde_json::Value> = events
            .lines()
            .filter_map(|line| line.strip_prefix("data: "))
            .map(|data| serde_json::from_str(data).unwrap())
            .collect();
        assert_eq!(told, frames, "{log}");
        let after = &patches(&frames)[1..];
        let rest = server.get(&format!("{path}?after=1")).await.data();
        let rest = rest["frames"].as_array().unwrap();
        assert_eq!((patches(rest).as_slice(), rest.last()), (after, frames.last()), "{log}");
        let header = [("last-event-id", "1")];
        let again = server.send_with(forge_client::Method::GET, &format!("{path}/sse"), None, &header).await;
        assert_eq!(again.text.matches("data: ").count(), rest.len(), "{log}: {}", again.text);
    }
}

#[tokio::test]
async fn a_log_can_be_read_from_its_end_by_every_way() {
    let server = TestForge::start().await;
    let (project, _) = server.project("repo").await;
    // More than one chunk can hold, and enough to be sealed.
    let task = server.start_with(&project, "SHELL", "end", "seq 100000").await;
    let run = text(&server.settled(&task.attempt()).await[0]["id"]);
    let path = format!("/api/execution-processes/{run}/raw-logs");
    let all = server.socket(&format!("{path}/ws?after=0")).await.until_closed().await;
    // Two entries and the end.
    let last = &all[all.len() - 3..];
    assert!(all.len() > last.len(), "{all:?}");
    assert_eq!(server.socket(&format!("{path}/ws?tail=2")).await.until_closed().await, last);
    assert_eq!(server.get(&format!("{path}?tail=2")).await.data()["frames"], json!(last));
    assert_eq!(
        server.get(&format!("{path}?tail=1000")).await.data()["frames"],
        json!(all),
        "more than there are"
    );
    let told = async |headers: &[(&str, &str)]| {
        let path = format!("{path}/sse?tail=2");
        let events = server.send_with(forge_client::Method::GET, &path, None, headers).await.text;
        let data = events.lines().filter_map(|line| line.strip_prefix("data: "));
        data.map(|data| serde_json::from_str(data).unwrap()).collect::<Vec<serde_json::Value>>()
    };
    assert_eq!(told(&[]).await, last);
    assert_eq!(told(&[("last-event-id", "1")]).await, all[1..], "a browser that comes back misses nothing");
    for (query, field) in
        [("tail=2&after=0", "after"), ("tail=0", "tail: '0'"), ("tail=many", "tail: 'many'")]
    {
        let refused = server.get(&format!("{path}?{query}")).await;
        assert!(refused.status == 400 && refused.message().contains(field), "{query}: {}", refused.text);
    }
}
