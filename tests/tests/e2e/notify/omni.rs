//! Notifications through Omni: queued once per attempt, sent in spite of failures and restarts, without telling the key.

use std::sync::{Arc, Mutex};

use forge_tests::{TestForge, text};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const KEY: &str = "omni-key-never-shown";

/// A gateway that refuses so many texts before it takes one, and remembers what it was sent.
#[derive(Clone)]
pub(super) struct Gateway {
    pub(super) address: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Gateway {
    pub(super) async fn start(port: u16, refusals: usize) -> Gateway {
        let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let gateway = Gateway { address, requests: Arc::default() };
        let own = gateway.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(own.clone().answer(stream, refusals));
            }
        });
        gateway
    }

    async fn answer(self, mut stream: TcpStream, refusals: usize) {
        let mut request = Vec::new();
        let mut buffer = [0; 4096];
        while !is_whole(&request) {
            match stream.read(&mut buffer).await {
                Ok(0) | Err(_) => return,
                Ok(length) => request.extend_from_slice(&buffer[..length]),
            }
        }
        let request = String::from_utf8(request).unwrap();
        let (status, body) = if request.starts_with("GET /api/v1/instances/ ") && request.contains(KEY) {
            let channel = json!({"instance_name": "i", "channel_type": "whatsapp", "display_name": "I",
                "status": "connected", "is_healthy": true});
            ("200 OK", json!({"channels": [channel]}))
        } else if request.starts_with("POST ") {
            let mut requests = self.requests.lock().unwrap();
            requests.push(request);
            match requests.len() <= refusals {
                true => ("503 Unavailable", json!({"error": format!("try later, {KEY}")})),
                false => ("200 OK", json!({"ok": true})),
            }
        } else {
            ("401 Unauthorized", json!({"error": "wrong key"}))
        };
        let body = body.to_string();
        let head = format!(
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            body.len()
        );
        let _ = stream.write_all(format!("{head}{body}").as_bytes()).await;
    }

    pub(super) fn texts(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_ascii_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    body.len() >= length.unwrap_or(0)
}

async fn notifications(forge: &TestForge) -> Vec<Value> {
    let answer = forge.get("/api/forge/omni/notifications").await;
    answer.body["notifications"].as_array().expect("a list without the envelope").clone()
}

async fn until(forge: &TestForge, what: &str, holds: impl Fn(&[Value]) -> bool) -> Vec<Value> {
    let look = || async {
        let list = notifications(forge).await;
        if holds(&list) { Ok(list) } else { Err(list) }
    };
    forge.eventually(what, look).await
}

fn settings(host: &str) -> Value {
    json!({"omni_enabled": true, "omni_config": {"enabled": true, "host": host, "api_key": KEY, "instance": "my inst",
        "recipient": "+49", "recipient_type": "PhoneNumber"}})
}

#[tokio::test]
async fn one_word_per_attempt_gets_through_although_the_gateway_fails_at_first() {
    let gateway = Gateway::start(0, 2).await;
    let mut forge =
        TestForge::with(&[], &[("PUBLIC_BASE_URL", "https://board.example/"), ("RUST_LOG", "debug")]).await;
    let mut answers = vec![forge.put("/api/forge/config", &settings(&gateway.address)).await.text];
    // The form of a client sends back what it was shown.
    let shown = forge.get("/api/forge/config").await.data();
    forge.put("/api/forge/config", &shown).await.data();
    let status = forge.get("/api/forge/omni/status").await;
    assert_eq!(
        (&status.body["enabled"], &status.body["config"]["api_key"]),
        (&json!(true), &json!("********"))
    );
    assert_eq!(forge.get("/api/forge/omni/instances").await.body["instances"][0]["instance_name"], "i");

    let (project, _) = forge.project("repo").await;
    forge.put(&format!("/api/projects/{project}"), &json!({"setup_script": "true"})).await.data();
    let task = forge.start_scripted(&project, "Fix it", "say done").await;
    let attempt = task.attempt();
    let sent = until(&forge, "it is sent", |list| list.iter().any(|one| one["status"] == "sent")).await;
    let metadata = &sent[0]["metadata"];
    assert_eq!(metadata["task_attempt_id"], attempt.replace('-', ""));
    assert_eq!((&metadata["status"], &metadata["executor"]), (&json!("completed"), &json!("SCRIPTED")));
    assert!(sent[0]["sent_at"].is_string() && sent[0]["task_id"] == task["id"]);
    let texts = gateway.texts();
    assert_eq!(texts.len(), 3, "two refusals and the one that got through");
    assert!(texts[2].starts_with("POST /api/v1/instance/my%20inst/send-text "), "{}", texts[2]);
    let link = format!("https://board.example/projects/{project}/tasks/{}", text(&task["id"]));
    assert!(texts[2].contains(&link) && texts[2].contains("\"phone_number\":\"+49\""), "{}", texts[2]);

    forge.settled(&attempt).await;
    forge
        .post(&format!("/api/task-attempts/{attempt}/follow-up"), &json!({"prompt": "say more"}))
        .await
        .data();
    forge.settled(&attempt).await;
    assert_eq!(notifications(&forge).await.len(), 1, "only the first end of an attempt is told");
    for path in ["/api/forge/config", "/api/forge/omni/status", "/api/forge/omni/notifications", "/api/info"]
    {
        answers.push(forge.get(path).await.text);
    }
    forge.terminate().await;
    answers.push(forge.log());
    assert!(answers.iter().all(|told| !told.contains(KEY)), "the key is told: {answers:#?}");
}

#[tokio::test]
async fn what_could_not_be_sent_is_sent_by_the_next_server() {
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = gone.local_addr().unwrap().port();
    drop(gone);
    let mut forge = TestForge::start().await;
    forge.put("/api/forge/config", &settings(&format!("http://127.0.0.1:{port}"))).await.data();
    let (project, _) = forge.project("repo").await;
    let task = forge.start_scripted(&project, "t", "fail").await;
    forge.settled(&task.attempt()).await;
    until(&forge, "a try failed", |list| list.iter().any(|one| one["error_message"].is_string())).await;
    forge.crash();
    let gateway = Gateway::start(port, 0).await;
    forge.up().await;
    until(&forge, "it is sent", |list| list.iter().any(|one| one["status"] == "sent")).await;
    assert_eq!(gateway.texts().len(), 1);
}

#[tokio::test]
async fn a_project_decides_for_itself_and_nothing_is_sent_unasked() {
    let gateway = Gateway::start(0, 0).await;
    let forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    let path = format!("/api/forge/projects/{project}/settings");
    assert_eq!(forge.get(&path).await.data(), json!({"omni_enabled": false, "omni_config": null}));
    forge.put("/api/forge/config", &settings(&gateway.address)).await.data();
    forge.put(&path, &json!({"omni_enabled": false})).await.data();
    forge.start_scripted(&project, "t", "say done").await;
    until(&forge, "it is skipped", |list| list.iter().any(|one| one["status"] == "skipped")).await;
    assert_eq!(gateway.texts().len(), 0);
    let own = json!({"omni_enabled": true, "omni_config": {"enabled": true, "recipient": "me", "recipient_type": "UserId"}});
    forge.put(&path, &own).await.data();
    forge.start_scripted(&project, "t", "say done").await;
    until(&forge, "it is sent", |list| list.iter().any(|one| one["status"] == "sent")).await;
    assert!(gateway.texts()[0].contains("\"user_id\":\"me\""));

    let unknown = "/api/forge/projects/00000000-0000-4000-8000-000000000000/settings";
    assert_eq!(forge.get(unknown).await.data()["omni_enabled"], false);
    assert_eq!(forge.put(unknown, &own).await.status, 404);
    let wrong = forge.put(&path, &json!({"omni_config": {"host": "file:///etc"}})).await;
    assert_eq!(wrong.status, 422);
    assert!(wrong.message().contains("omni_config.host"), "{}", wrong.text);
}

#[tokio::test]
async fn a_stored_key_is_tried_with_its_own_host_only() {
    let (gateway, thief) = (Gateway::start(0, 0).await, Gateway::start(0, 0).await);
    let forge = TestForge::start().await;
    forge.put("/api/forge/config", &settings(&gateway.address)).await.data();
    let probe = async |host: &str, key: &str| {
        forge.post("/api/forge/omni/validate", &json!({"host": host, "api_key": key})).await.body
    };
    let right = probe(&gateway.address, "********").await;
    assert_eq!((&right["valid"], &right["error"]), (&json!(true), &Value::Null));
    assert_eq!(right["instances"][0]["channel_type"], "whatsapp");
    let stolen = probe(&thief.address, "********").await;
    assert_eq!((&stolen["valid"], &stolen["instances"]), (&json!(false), &json!([])));
    let wrong = probe(&gateway.address, "other").await;
    assert!(wrong["error"].as_str().unwrap().contains("401"), "{wrong}");
}
