//! Where a case plays: one model, one home, one server, one repository, one agent.
//!
//! Invariant: whatever happens to a case, it ends in time, its processes go with it, and a failure shows what was seen.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use forge_tests::model::Model;
use forge_tests::{Socket, TestForge, forge_exe, text};
use futures_util::FutureExt;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::agent::Agent;
use crate::cases::Case;
use crate::home::Home;
use crate::table::Cell;

const CASE_LIMIT: Duration = Duration::from_secs(120);
/// How long a story waits for more.
const STORY_LIMIT: Duration = Duration::from_secs(2);
const STORY_LINES: usize = 25;
const LINE_CHARS: usize = 240;

pub struct Stage {
    pub agent: &'static Agent,
    pub model: Model,
    pub forge: TestForge,
    pub repo: PathBuf,
    pub project: String,
    home: Home,
}

/// An attempt and its first run.
pub struct Work {
    pub attempt: String,
    pub run: String,
    pub branch: String,
    pub place: PathBuf,
}

/// Entries by their index, as a client builds them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entries(BTreeMap<u64, Value>);

pub async fn play(agent: &'static Agent, case: &Case, programs: &Path) -> Cell {
    let mut stage = match AssertUnwindSafe(Stage::set(agent, case.key, programs)).catch_unwind().await {
        Ok(stage) => stage,
        Err(panic) => return Cell::failed(first_line(&*panic)),
    };
    let played = AssertUnwindSafe((case.play)(&mut stage)).catch_unwind();
    let why = match timeout(CASE_LIMIT, played).await {
        Ok(Ok(Ok(()))) => return Cell::Ok,
        Ok(Ok(Err(error))) => format!("{error:#}"),
        Ok(Err(panic)) => first_line(&*panic),
        Err(_) => format!("not over after {} s", CASE_LIMIT.as_secs()),
    };
    let story = AssertUnwindSafe(stage.story()).catch_unwind().await;
    Cell::Failed { why, story: story.unwrap_or_else(|panic| first_line(&*panic)) }
}

/// The first line says what is wrong; what follows it is in the story.
fn first_line(panic: &(dyn std::any::Any + Send)) -> String {
    let words = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    let first = words.and_then(|words| words.lines().next()).unwrap_or("a panic without words");
    first.chars().take(LINE_CHARS).collect()
}

impl Stage {
    async fn set(agent: &'static Agent, key: &str, programs: &Path) -> Stage {
        let model = Model::start().await;
        let home = Home::make(agent, &model, key, programs);
        let env: Vec<(&str, &str)> =
            home.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let forge = TestForge::with(&[], &env).await;
        let (project, repo) = forge.project("repo").await;
        Stage { agent, model, forge, repo, project, home }
    }

    /// Gives the agent this very Forge as an MCP server, in the file where its program looks for them.
    pub async fn offer_forge(&self) -> Result<()> {
        let (program, env) = (forge_exe(), json!({"FORGE_BACKEND_URL": self.forge.base()}));
        let server = match self.agent.executor {
            "OPENCODE" => json!({"type": "local", "command": [program, "mcp"], "environment": env}),
            "COPILOT" => json!({"command": program, "args": ["mcp"], "env": env, "tools": ["*"]}),
            _ => json!({"command": program, "args": ["mcp"], "env": env}),
        };
        let path = format!("/api/mcp-config?executor={}", self.agent.executor);
        let answer = self.forge.post(&path, &json!({"servers": {"forge": server}})).await;
        ensure!(answer.body["success"] == true, "not configured: {} {}", answer.status, answer.text);
        Ok(())
    }

    /// Starts a task with the agent's usual variant.
    pub async fn start(&self, prompt: &str) -> Result<Work> {
        self.start_as(self.agent.executor, prompt).await
    }

    /// Starts a task with the variant that asks before it acts.
    pub async fn start_asking(&self, prompt: &str) -> Result<Work> {
        self.start_as(&format!("{}:APPROVALS", self.agent.executor), prompt).await
    }

    async fn start_as(&self, profile: &str, prompt: &str) -> Result<Work> {
        let task = self.forge.start_with(&self.project, profile, "A task", prompt).await;
        let run = text(&self.forge.runs(&task.attempt()).await[0]["id"]);
        Ok(Work { attempt: task.attempt(), run, branch: task.branch(), place: task.place() })
    }

    /// Says more and answers the run that says it.
    pub async fn follow_up(&self, work: &Work, prompt: &str) -> Value {
        let path = format!("/api/task-attempts/{}/follow-up", work.attempt);
        self.forge.post(&path, &json!({"prompt": prompt})).await.data()
    }

    pub async fn entries_socket(&self, run: &str) -> Socket {
        self.forge.socket(&format!("/api/execution-processes/{run}/normalized-logs/ws")).await
    }

    /// All entries of a run, once it has ended.
    pub async fn entries(&self, run: &str) -> Entries {
        let mut entries = Entries::default();
        let mut socket = self.entries_socket(run).await;
        while let Some(frame) = socket.next().await {
            entries.take(&frame);
        }
        entries
    }

    /// Follows a living run until its entries are as wanted.
    pub async fn until(&self, run: &str, what: &str, holds: impl Fn(&Entries) -> bool) -> Result<Entries> {
        let mut entries = Entries::default();
        let mut socket = self.entries_socket(run).await;
        while let Some(frame) = socket.next().await {
            entries.take(&frame);
            if holds(&entries) {
                return Ok(entries);
            }
        }
        bail!("the run ended before {what}")
    }

    /// The question that waits for an answer, as soon as the run's stream shows it.
    pub async fn asked(&self, work: &Work) -> Result<String> {
        let seen = self.until(&work.run, "it asked anything", |entries| entries.pending().is_some()).await?;
        seen.pending().context("a pending tool use in the stream")
    }

    /// The same, as the list of questions shows it too.
    pub async fn question(&self, work: &Work) -> Result<String> {
        let in_stream = self.asked(work).await?;
        // The log shows a question a moment before it is written down.
        let is_listed = |listed: &Value| listed.as_array().is_some_and(|listed| !listed.is_empty());
        let listed = self.forge.until("/api/approvals/pending", "a question is listed", is_listed).await;
        let listed = listed.as_array().context("a list of approvals")?;
        ensure!(listed.len() == 1, "one approval should be pending: {listed:?}");
        ensure!(
            text(&listed[0]["approval_id"]) == in_stream,
            "the stream names {in_stream}, the list {listed:?}"
        );
        ensure!(text(&listed[0]["execution_process_id"]) == work.run, "{listed:?} is of another run");
        Ok(in_stream)
    }

    pub async fn answer(&self, work: &Work, approval: &str, status: Value) -> Result<()> {
        let body = json!({"execution_process_id": work.run, "status": status});
        let answer = self.forge.post(&format!("/api/approvals/{approval}/respond"), &body).await;
        ensure!(answer.status == 200, "the answer was not taken: {} {}", answer.status, answer.text);
        Ok(())
    }

    /// The newest run of the attempt, once none of them runs.
    pub async fn settled(&self, work: &Work) -> Value {
        self.forge.settled(&work.attempt).await.pop().unwrap()
    }

    /// As [`Stage::settled`], and it must have succeeded.
    pub async fn completed(&self, work: &Work) -> Result<Value> {
        let run = self.settled(work).await;
        ensure!(run["status"] == "completed", "the run is {}, not completed", run["status"]);
        Ok(run)
    }

    /// Processes of this run, its keeper included, that live.
    pub fn processes(&self, run: &str) -> Vec<u32> {
        let mark = format!("FORGE_RUN_ID={run}");
        let pids = std::fs::read_dir("/proc").unwrap().flatten();
        let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let ours = |pid: &u32| {
            let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environ.split(|byte| *byte == 0).any(|pair| pair == mark.as_bytes())
        };
        pids.filter(ours).filter(|pid| forge_tests::is_alive(*pid)).collect()
    }

    /// What was seen, for whoever has to find out why.
    async fn story(&self) -> String {
        let mut story = String::new();
        let attempts = self.forge.get("/api/task-attempts").await.data();
        for attempt in attempts.as_array().into_iter().flatten() {
            for run in self.forge.runs(&text(&attempt["id"])).await {
                let id = text(&run["id"]);
                let _ = writeln!(story, "run {id}: {} exit {}", run["status"], run["exit_code"]);
                let mut entries = Entries::default();
                let socket = self.entries_socket(&id).await;
                waiting(socket).await.iter().for_each(|frame| entries.take(frame));
                let lines: Vec<String> = entries.0.values().map(line).collect();
                let _ = writeln!(story, "entries:\n{}", tail(&lines.join("\n"), STORY_LINES));
                let path = format!("/api/execution-processes/{id}/raw-logs/ws");
                let frames = waiting(self.forge.socket(&path).await).await;
                let ops = frames.iter().flat_map(|frame| frame["JsonPatch"].as_array().into_iter().flatten());
                let raw: String = ops.map(|op| text(&op["value"]["content"])).collect();
                let _ = writeln!(story, "printed:\n{}", tail(&raw, STORY_LINES));
            }
        }
        for call in self.model.calls() {
            let sent = if call.sent { "sent" } else { "not sent" };
            let _ = writeln!(story, "model call: {:?} {:?} {sent}", call.api, call.status);
        }
        let _ = writeln!(story, "home: {:?}", names(self.home.path()));
        let _ = write!(story, "server:\n{}", tail(&self.forge.log(), STORY_LINES));
        story
    }
}

/// The frames that are there; a run that still lives will send more.
async fn waiting(mut socket: Socket) -> Vec<Value> {
    let mut frames = Vec::new();
    while let Ok(Some(frame)) = timeout(STORY_LIMIT, socket.next()).await {
        frames.push(frame);
    }
    frames
}

fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

fn line(entry: &Value) -> String {
    let kind = &entry["entry_type"];
    let content = text(&entry["content"]).replace('\n', "⏎");
    format!(
        "{} {} {} | {content}",
        text(&kind["type"]),
        text(&kind["tool_name"]),
        text(&kind["status"]["status"])
    )
}

/// The last lines, none too long.
fn tail(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text.lines().collect();
    let short = |line: &&str| format!("  {}", line.chars().take(LINE_CHARS).collect::<String>());
    all[all.len().saturating_sub(lines)..].iter().map(short).collect::<Vec<_>>().join("\n")
}

impl Entries {
    fn take(&mut self, frame: &Value) {
        for op in frame["JsonPatch"].as_array().into_iter().flatten() {
            let index = text(&op["path"]).rsplit('/').next().and_then(|index| index.parse().ok());
            let Some(index) = index else { continue };
            match op["op"].as_str() {
                Some("remove") => drop(self.0.remove(&index)),
                _ => drop(self.0.insert(index, op["value"]["content"].clone())),
            }
        }
    }

    /// The contents of all entries of a kind.
    pub fn of(&self, kind: &str) -> Vec<String> {
        let entries = self.0.values().filter(|entry| entry["entry_type"]["type"] == kind);
        entries.map(|entry| text(&entry["content"])).collect()
    }

    /// All tool uses that mention the word.
    pub fn tools(&self, word: &str) -> Vec<&Value> {
        let tools =
            self.0.values().map(|entry| &entry["entry_type"]).filter(|kind| kind["type"] == "tool_use");
        tools.filter(|kind| kind.to_string().contains(word)).collect()
    }

    fn pending(&self) -> Option<String> {
        let mut states = self.0.values().map(|entry| &entry["entry_type"]["status"]);
        states
            .find(|status| status["status"] == "pending_approval")
            .map(|status| text(&status["approval_id"]))
    }
}
