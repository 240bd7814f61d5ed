//! The order in which the recordings are replayed and what has to happen between them.
//!
//! The recorded session had steps of its own that were not recorded (commits, waits, uploads); `prepare` does them.
//! Ids and paths are learned from the answers and put in place of the recorded ones in all later requests.

use std::collections::BTreeMap;
use std::path::PathBuf;

use forge_tests::git;
use serde_json::{Value, json};

use crate::compare::pairs;
use crate::server::Server;

/// Where the recorded session kept its repositories.
const RECORDED_ROOT: &str = "/srv/demo";

pub struct Story {
    pub server: Server,
    map: BTreeMap<String, String>,
    root: PathBuf,
}

impl Story {
    pub async fn begin() -> Story {
        let server = Server::start().await;
        server.forge.use_fake_claude().await;
        let root = server.forge.dir().canonicalize().expect("a real path").join("demo");
        let map = BTreeMap::from([(RECORDED_ROOT.to_owned(), root.display().to_string())]);
        let story = Story { server, map, root };
        story.make_repository("repo-337ae8");
        story
    }

    /// Puts this run's ids and paths into recorded text.
    pub fn map(&self, text: &str) -> String {
        self.map.iter().fold(text.to_owned(), |text, (recorded, actual)| text.replace(recorded, actual))
    }

    /// The id of this run that stands for a recorded one.
    pub fn id(&self, recorded: &str) -> String {
        self.map.get(recorded).cloned().unwrap_or_else(|| recorded.to_owned())
    }

    fn set(&mut self, recorded: &str, actual: &Value) {
        if let Some(actual) = actual.as_str() {
            self.map.insert(recorded.to_owned(), actual.to_owned());
        }
    }

    /// Learns ids, commits, branches and directories from an answer to a recorded request.
    pub fn learn(&mut self, recorded: &Value, actual: &Value) {
        for (recorded, actual) in pairs(recorded, actual) {
            let known = self.map.values().any(|value| *value == recorded);
            let names_something = uuid::Uuid::parse_str(&recorded).is_ok()
                || recorded.starts_with("/var/tmp/")
                || recorded.starts_with("forge/")
                || (recorded.len() == 40 && recorded.bytes().all(|byte| byte.is_ascii_hexdigit()));
            if names_something && !known && recorded != actual {
                self.map.entry(recorded).or_insert(actual);
            }
        }
    }

    fn make_repository(&self, name: &str) -> PathBuf {
        let path = self.root.join(name);
        std::fs::create_dir_all(path.join("src")).expect("a directory");
        std::fs::write(path.join("README.md"), "# scratch\n\na\n").expect("a file");
        for number in 0..3 {
            std::fs::write(path.join(format!("src/f{number}.txt")), format!("{number}\n")).expect("a file");
        }
        git(&path, &["init", "-q", "-b", "main"]);
        git(&path, &["config", "user.name", "Test"]);
        git(&path, &["config", "user.email", "test@localhost"]);
        git(&path, &["add", "-A"]);
        git(&path, &["commit", "-q", "-m", "start"]);
        path
    }

    async fn make_project(&mut self, recorded: &str, name: &str, setup_script: Option<&str>) {
        let path = self.make_repository(name);
        let body = json!({"name": name, "git_repo_path": path, "use_existing_repo": true, "setup_script": setup_script});
        let project = self.server.prepare("POST", "/api/projects", body).await;
        self.set(recorded, &project["id"]);
    }

    /// Maps a recorded attempt id to the newest attempt of a task of this run.
    async fn find_attempt(&mut self, recorded_task: &str, recorded_attempt: &str) -> String {
        let attempts =
            self.server.get(&format!("/api/task-attempts?task_id={}", self.id(recorded_task))).await;
        self.set(recorded_attempt, &attempts[0]["id"]);
        self.id(recorded_attempt)
    }

    async fn processes(&self, attempt: &str) -> Vec<Value> {
        let list = self.server.get(&format!("/api/execution-processes?task_attempt_id={attempt}")).await;
        list.as_array().cloned().unwrap_or_default()
    }

    /// Waits until so many processes of the attempt exist and none of them runs.
    async fn wait_ended(&self, attempt: &str, count: usize) {
        let look = || async {
            let processes = self.processes(attempt).await;
            let have_ended = processes.iter().all(|process| process["status"] != "running");
            // The state of the task follows the end of its last process.
            let task = &self.server.get(&format!("/api/task-attempts/{attempt}")).await["task"];
            processes.len() >= count && have_ended && task["status"] != "inprogress"
        };
        self.server.forge.eventually("the attempt has ended", look).await;
    }

    async fn upload(&mut self, recorded: &str, path: &str, name: &str, content: &str) {
        let body = format!(
            "--XX\r\nContent-Disposition: form-data; name=\"image\"; filename=\"{name}\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n{content}\r\n--XX--\r\n"
        );
        let request = self.server.request("POST", path);
        let request = request.header("Content-Type", "multipart/form-data; boundary=XX").body(body);
        let image = self.server.ask(request).await.body["data"].take();
        self.set(recorded, &image["id"]);
    }

    /// The question that the task's agent asks.
    async fn find_approval(&mut self, task: &str, attempt: &str, process: &str, approval: &str) {
        let attempt = self.find_attempt(task, attempt).await;
        let processes = self.processes(&attempt).await;
        self.set(process, &processes.first().map_or(Value::Null, |process| process["id"].clone()));
        let process = self.id(process);
        let look = || async {
            let pending = self.server.get("/api/approvals/pending").await;
            let mut pending = pending.as_array().cloned().unwrap_or_default().into_iter();
            pending.find(|asked| asked["execution_process_id"] == process)
        };
        let asked = self.server.forge.eventually("the agent asks", look).await;
        self.set(approval, &asked["approval_id"]);
    }

    /// Agents outlive their server; these shall not outlive the test.
    pub async fn end_agents(&self) {
        for attempt in self.server.get("/api/task-attempts").await.as_array().into_iter().flatten() {
            let path = format!("/api/task-attempts/{}/stop", attempt["id"].as_str().unwrap_or_default());
            self.server.prepare("POST", &path, json!({})).await;
        }
    }

    /// What the recorded session did, unrecorded, before this request.
    pub async fn prepare(&mut self, name: &str) {
        let golden_attempt = self.id("b63fb983-5468-4145-a6cc-2b4b745f3d69");
        let repository = self.root.join("repo-337ae8");
        match name {
            "004_info" => {
                self.server.prepare("PUT", "/api/config", json!({"analytics_enabled": false})).await;
            }
            "076_image_serve_svg" => {
                let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>";
                self.upload("cba02eb5-7dbf-479f-a6e9-16f757ed6c61", "/api/images/upload", "a.svg", svg).await;
            }
            "079_image_task_list" => {
                let path =
                    format!("/api/images/task/{}/upload", self.id("4a7606e6-db33-4f34-9d83-1253209e7bcf"));
                self.upload("4a3ec2bd-3810-4e0c-952e-1d57fb9968cc", &path, "b.png", "not quite a PNG").await;
            }
            "087_process_get_done" => self.wait_ended(&golden_attempt, 1).await,
            "100_draft_get2" => {
                let path = format!("/api/task-attempts/{golden_attempt}/draft?type=follow_up");
                self.server
                    .prepare("PUT", &path, json!({"prompt": "next FAKE: id=d", "image_ids": []}))
                    .await;
            }
            "104_follow_up_long" => self.wait_ended(&golden_attempt, 2).await,
            "110_task_after_fail" => {
                let task = "6c149884-8473-4bc6-b8c7-1cd3d2d988e7";
                let attempt = self.find_attempt(task, "80b6fe60-fd80-4d97-966d-5d6b26641e2b").await;
                self.wait_ended(&attempt, 1).await;
            }
            "121_change_target_branch" => drop(git(&repository, &["branch", "other"])),
            "142_cas_approvals_approved" => {
                self.make_project("a3c72389-2dd9-465c-97f1-6c5deab5cf33", "approvals", None).await;
            }
            "143_approval_respond_approved" => {
                let (task, attempt) = ("f1329edf-0945-4ed1-8262-6a7d2398bd5a", "approved attempt");
                let (process, approval) =
                    ("1dcd226a-7c24-4dc6-babd-6f60fa6cb82f", "2f9bc2bb-dd02-49cb-ad83-94f184f0d4b4");
                self.find_approval(task, attempt, process, approval).await;
            }
            "146_approval_respond_denied" => {
                let (task, attempt) = ("ebfe69b5-a4b9-4bc8-a18e-3ce0bd8fdac0", "denied attempt");
                let (process, approval) =
                    ("7a283d55-7b79-463f-81ee-f06124131b4a", "54f809f6-03b1-4068-ab92-cd735a928bb0");
                self.find_approval(task, attempt, process, approval).await;
            }
            "147_conf_start" => {
                self.make_project("8615c425-1383-4a49-98b9-b5fd44fd5c06", "conflicts", None).await;
            }
            "149_conf_merge" => {
                let task = "1acc2a8f-70a0-49cc-ba1c-eaec5e36b79e";
                let attempt = self.find_attempt(task, "860f01e4-0e06-4289-84cd-155526299401").await;
                self.wait_ended(&attempt, 1).await;
                let repository = self.root.join("conflicts");
                std::fs::write(repository.join("README.md"), "# scratch\n\na\nedited on main\n")
                    .expect("a file");
                git(&repository, &["commit", "-q", "-a", "-m", "on main"]);
            }
            "158_project_create_scripts" => drop(self.make_repository("scr-174971")),
            "160_scripts_processes" => {
                let task = "85de9c32-85cc-434b-8569-a3776d59535f";
                let attempt = self.find_attempt(task, "76bf30e4-ac5d-4b6a-a0dd-e0dbfcf58361").await;
                self.wait_ended(&attempt, 3).await;
            }
            "166_dev_process_stop" => {
                let processes = self.processes(&self.id("76bf30e4-ac5d-4b6a-a0dd-e0dbfcf58361")).await;
                let dev = processes.iter().rev().find(|process| process["run_reason"] == "devserver");
                self.set(
                    "b1fd727f-8f0f-49e8-b1d1-42b84f682f3f",
                    &dev.map_or(Value::Null, |dev| dev["id"].clone()),
                );
            }
            "167_setup_fails_start" => {
                self.make_project("de23fd76-87db-48ae-8f57-7546ab5e71c8", "setup", Some("echo boom; exit 7"))
                    .await;
            }
            "168_setup_fails_processes" => {
                let task = "5a3bc603-f374-46bc-9235-0d2c8e7e2956";
                let attempt = self.find_attempt(task, "64e1488c-84b4-448f-8811-da1d054425fe").await;
                self.wait_ended(&attempt, 1).await;
            }
            "171_queue_draft_put" => {
                let task = "ef619252-ac11-4537-84eb-7488b815f269";
                self.find_attempt(task, "41445dac-4110-40eb-b1fd-704ebd72ac15").await;
            }
            "175_queue_processes" => {
                let attempt = self.id("41445dac-4110-40eb-b1fd-704ebd72ac15");
                let draft =
                    self.server.get(&format!("/api/task-attempts/{attempt}/draft?type=follow_up")).await;
                // The second process comes from the queued draft.
                self.wait_ended(&attempt, if draft.is_null() { 1 } else { 2 }).await;
            }
            _ => {}
        }
    }
}
