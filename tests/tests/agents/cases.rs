//! What every agent must be able to do.

use anyhow::{Context, Result, ensure};
use forge_tests::model::{BAD_KEY, usage};
use forge_tests::{git, text};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::agent::Cost;
use crate::stage::{Entries, Stage, Work};

const KEY: &str = "test";
const REASON: &str = "the blue folder is not yours";

pub struct Case {
    pub name: &'static str,
    pub key: &'static str,
    pub play: for<'a> fn(&'a mut Stage) -> BoxFuture<'a, Result<()>>,
}

pub const CASES: &[Case] = &[
    Case { name: "fresh", key: KEY, play: |stage| Box::pin(fresh(stage)) },
    Case { name: "follow-up", key: KEY, play: |stage| Box::pin(follow_up(stage)) },
    Case { name: "message", key: KEY, play: |stage| Box::pin(message(stage)) },
    Case { name: "allowed", key: KEY, play: |stage| Box::pin(allowed(stage)) },
    Case { name: "denied", key: KEY, play: |stage| Box::pin(denied(stage)) },
    Case { name: "stop", key: KEY, play: |stage| Box::pin(stop(stage)) },
    Case { name: "401", key: BAD_KEY, play: |stage| Box::pin(unauthorised(stage)) },
    Case { name: "429", key: KEY, play: |stage| Box::pin(limited(stage)) },
    Case { name: "500", key: KEY, play: |stage| Box::pin(broken(stage)) },
    Case { name: "crash", key: KEY, play: |stage| Box::pin(crash(stage)) },
    Case { name: "ask-crash", key: KEY, play: |stage| Box::pin(ask_and_crash(stage)) },
    Case { name: "usage", key: KEY, play: |stage| Box::pin(count_usage(stage)) },
    Case { name: "mcp", key: KEY, play: |stage| Box::pin(direct(stage)) },
    Case { name: "worker", key: KEY, play: |stage| Box::pin(work_in_terminal(stage)) },
];

/// A file is written and committed; the log shows how, and the same to whoever comes late.
async fn fresh(stage: &mut Stage) -> Result<()> {
    let work = stage.start("Write the file. [[write:hello.txt:from the model]]").await?;
    let live = stage.entries(&work.run).await;
    stage.completed(&work).await?;
    let written = git(&stage.repo, &["show", &format!("{}:hello.txt", work.branch)]);
    ensure!(written.trim_end() == "from the model", "hello.txt on the branch holds {written:?}");
    let left = git(&work.place, &["status", "--porcelain"]);
    ensure!(left.is_empty(), "not everything was committed: {left}");
    let tools = live.tools("hello.txt");
    ensure!(!tools.is_empty(), "no tool use names the file");
    ensure!(
        tools.iter().all(|tool| tool["status"]["status"] == "success"),
        "a tool use is not closed: {tools:?}"
    );
    ensure!(
        last_words(&live)?.starts_with("Done. Tool said:"),
        "the last words are {:?}",
        last_words(&live)?
    );
    ensure!(stage.entries(&work.run).await == live, "a late reader sees other entries than a live one");
    Ok(())
}

/// The agent's own session goes on, in a new process, turn after turn.
async fn follow_up(stage: &mut Stage) -> Result<()> {
    let work = stage.start("The bird is a heron. [[say:I will remember.]]").await?;
    stage.completed(&work).await?;
    let mut before = work.run.clone();
    for words in ["Which bird? [[say:A heron.]]", "Are you sure? [[say:Quite sure.]]"] {
        let run = stage.follow_up(&work, words).await;
        let action = &run["executor_action"]["typ"];
        let session = text(&action["session_id"]);
        ensure!(
            action["type"] == "CodingAgentFollowUpRequest" && !session.is_empty(),
            "no session: {action}"
        );
        let printed = stage.forge.raw_log(&before).await;
        ensure!(printed.contains(&session), "session {session} is not the one of the run before");
        stage.completed(&work).await?;
        let calls = stage.model.calls();
        let call =
            calls.iter().rev().find(|call| call.says(words)).context("the model was not asked again")?;
        ensure!(call.says("The bird is a heron."), "the model did not get the first prompt again");
        ensure!(call.says("I will remember."), "the model did not get its own first answer again");
        before = text(&run["id"]);
    }
    ensure!(last_words(&stage.entries(&before).await)? == "Quite sure.", "the last run says something else");
    Ok(())
}

/// What is said to an agent at work is answered, once: at once, which may cut its words short, or afterwards.
async fn message(stage: &mut Stage) -> Result<()> {
    let work = stage.start("Take your time. [[slow:3]]").await?;
    stage.until(&work.run, "it said a word", says("word0")).await?;
    stage.follow_up(&work, "By the way: [[say:I heard you.]]").await;
    let runs = stage.forge.settled(&work.attempt).await;
    let mut said = Vec::new();
    for run in &runs {
        ensure!(run["status"] == "completed", "a run is {}", run["status"]);
        said.extend(stage.entries(&text(&run["id"])).await.of("assistant_message"));
    }
    let answers = said.iter().filter(|said| said.trim() == "I heard you.").count();
    let kept = said.first().is_some_and(|said| said.starts_with("Starting. word0"));
    ensure!(kept && answers == 1, "it said {said:?} in {} runs", runs.len());
    Ok(())
}

async fn allowed(stage: &mut Stage) -> Result<()> {
    let work = stage.start_asking("Make it. [[bash:touch made.txt]]").await?;
    let approval = stage.question(&work).await?;
    ensure!(!work.place.join("made.txt").exists(), "it did not wait for the answer");
    stage.answer(&work, &approval, json!({"status": "approved"})).await?;
    finish_allowed(stage, &work).await
}

async fn finish_allowed(stage: &Stage, work: &Work) -> Result<()> {
    stage.completed(work).await?;
    git(&stage.repo, &["show", &format!("{}:made.txt", work.branch)]);
    let entries = stage.entries(&work.run).await;
    let tools = entries.tools("made.txt");
    ensure!(tools.len() == 1, "one tool use should be shown: {tools:?}");
    ensure!(tools[0]["status"]["status"] == "success", "the tool use is {}", tools[0]["status"]);
    ensure!(last_words(&entries)?.starts_with("Done."), "the last words are {:?}", last_words(&entries)?);
    let pending = stage.forge.get("/api/approvals/pending").await.data();
    ensure!(pending == json!([]), "still pending: {pending}");
    Ok(())
}

async fn denied(stage: &mut Stage) -> Result<()> {
    let work = stage.start_asking("Make it. [[bash:touch made.txt]]").await?;
    // Answered by a client that is quicker than the server's own bookkeeping.
    let approval = stage.asked(&work).await?;
    stage.answer(&work, &approval, json!({"status": "denied", "reason": REASON})).await?;
    stage.settled(&work).await;
    ensure!(!work.place.join("made.txt").exists(), "the file was made all the same");
    let calls = stage.model.calls();
    ensure!(calls.iter().any(|call| call.says(REASON)), "the reason did not reach the model");
    let entries = stage.entries(&work.run).await;
    let tools = entries.tools("made.txt");
    ensure!(
        tools.len() == 1 && tools[0]["status"]["status"] == "denied",
        "the tool use is not denied: {tools:?}"
    );
    ensure!(tools[0]["status"]["reason"] == REASON, "the reason is not shown: {tools:?}");
    Ok(())
}

async fn stop(stage: &mut Stage) -> Result<()> {
    let work = stage.start("Take your time. [[slow:60]]").await?;
    stage.until(&work.run, "it said a word", says("word0")).await?;
    ensure!(!stage.processes(&work.run).is_empty(), "the run has no process");
    stage.forge.post(&format!("/api/task-attempts/{}/stop", work.attempt), &json!({})).await.data();
    let run = stage.settled(&work).await;
    ensure!(run["status"] == "killed", "the run is {}", run["status"]);
    let left = stage.processes(&work.run);
    ensure!(left.is_empty(), "processes are left: {left:?}");
    let entries = stage.entries(&work.run).await;
    ensure!(says("word0")(&entries), "what was said before the stop is lost");
    Ok(())
}

async fn unauthorised(stage: &mut Stage) -> Result<()> {
    let words = stage.agent.words.on_401;
    fail(stage, "Hello. [[say:Hello.]]", words).await
}

/// The run waits for its provider, without a process; whoever does not want to wait goes on in the same conversation.
async fn limited(stage: &mut Stage) -> Result<()> {
    let work = stage.start("Hello. [[status:429]]").await?;
    let path = format!("/api/execution-processes/{}", work.run);
    let is_over = |run: &Value| run["parked_until"].is_string() || run["status"] != "running";
    let run = stage.forge.until(&path, "the limit is met", is_over).await;
    ensure!(run["parked_until"].is_string(), "the run is {} and not parked", run["status"]);
    check_error(stage, &work, stage.agent.words.on_429).await?;
    stage.follow_up(&work, "And now? [[say:At your service.]]").await;
    let next = stage.completed(&work).await?;
    ensure!(last_words(&stage.entries(&text(&next["id"])).await)? == "At your service.", "no service");
    let calls = stage.model.calls();
    ensure!(calls.last().is_some_and(|call| call.says("Hello.")), "the first prompt was forgotten");
    Ok(())
}

async fn broken(stage: &mut Stage) -> Result<()> {
    let words = stage.agent.words.on_500;
    fail(stage, "Hello. [[status:500]]", words).await
}

/// The run fails with the provider's words.
async fn fail(stage: &Stage, prompt: &str, words: &str) -> Result<()> {
    let work = stage.start(prompt).await?;
    let run = stage.settled(&work).await;
    ensure!(run["status"] == "failed", "the run is {}", run["status"]);
    check_error(stage, &work, words).await
}

async fn check_error(stage: &Stage, work: &Work, words: &str) -> Result<()> {
    let errors = stage.entries(&work.run).await.of("error_message");
    ensure!(errors.iter().any(|error| error.contains(words)), "no error says {words:?}: {errors:?}");
    ensure!(stage.processes(&work.run).is_empty(), "processes are left");
    Ok(())
}

/// The server dies while the agent speaks; nothing is lost, nothing is said twice.
async fn crash(stage: &mut Stage) -> Result<()> {
    let work = stage.start("Take your time. [[slow:5]]").await?;
    stage.until(&work.run, "it said a word", says("word0")).await?;
    stage.forge.crash();
    stage.forge.up().await;
    let live = stage.entries(&work.run).await;
    stage.completed(&work).await?;
    let said: Vec<String> = live.of("assistant_message").iter().map(|said| said.trim().to_owned()).collect();
    ensure!(said == ["Starting. word0 word1 word2 word3 word4"], "it said {said:?}");
    ensure!(stage.entries(&work.run).await == live, "a late reader sees other entries than a live one");
    let calls = stage.model.calls();
    let calls = calls.iter().filter(|call| call.says("[[slow:5]]") && !call.is_aside()).count();
    ensure!(calls == 1, "the model was asked {calls} times");
    Ok(())
}

/// The server dies while a question is open; the next one takes the answer.
async fn ask_and_crash(stage: &mut Stage) -> Result<()> {
    let work = stage.start_asking("Make it. [[bash:touch made.txt]]").await?;
    let approval = stage.question(&work).await?;
    stage.forge.crash();
    stage.forge.up().await;
    ensure!(stage.question(&work).await? == approval, "the question changed its id");
    stage.answer(&work, &approval, json!({"status": "approved"})).await?;
    finish_allowed(stage, &work).await
}

/// Two turns cost what the model served in both, counted once.
async fn count_usage(stage: &mut Stage) -> Result<()> {
    let work = stage.start("Write the file. [[write:hello.txt:x]]").await?;
    stage.completed(&work).await?;
    let first = check_tokens(stage, &work).await.context("after the first turn")?;
    stage.follow_up(&work, "And now? [[say:Nothing.]]").await;
    stage.completed(&work).await?;
    let second = check_tokens(stage, &work).await.context("after the second turn")?;
    if stage.agent.cost == Cost::ByAgent {
        let (first, second) = (first["cost_usd"].as_f64(), second["cost_usd"].as_f64());
        ensure!(first > Some(0.0) && second > first, "the cost is {first:?} and then {second:?}");
    }
    Ok(())
}

async fn check_tokens(stage: &Stage, work: &Work) -> Result<Value> {
    let attempt = stage.forge.get(&format!("/api/task-attempts/{}", work.attempt)).await.data();
    let calls = stage.model.sent();
    let expected = [
        ("input_tokens", usage::INPUT - usage::CACHED),
        ("cache_read_tokens", usage::CACHED),
        ("output_tokens", usage::OUTPUT),
    ];
    for (key, each) in expected {
        let shown = &attempt[key];
        ensure!(*shown == json!(each * calls), "{key} is {shown}; {calls} calls cost {}", each * calls);
    }
    Ok(attempt)
}

/// The agent directs Forge through Forge's own tools: what they answer reaches its model, and what they do is done.
async fn direct(stage: &mut Stage) -> Result<()> {
    stage.offer_forge().await?;
    let work = stage.start("What is there? [[mcp:forge:list_projects:{}]]").await?;
    stage.completed(&work).await?;
    // Nothing but the tool has given the agent which id its project has.
    let calls = stage.model.calls();
    ensure!(calls.iter().any(|call| call.says(&stage.project)), "the projects did not reach the model");

    let wish = json!({"project_id": stage.project, "title": "Paint the fence"});
    stage.follow_up(&work, &format!("Then plan it. [[mcp:forge:create_task:{wish}]]")).await;
    let run = stage.completed(&work).await?;
    let tasks = stage.forge.get(&format!("/api/projects/{}/tasks", stage.project)).await.data();
    let made = tasks.as_array().into_iter().flatten().find(|task| task["title"] == "Paint the fence");
    let made = made.with_context(|| format!("no such task: {tasks}"))?;
    let calls = stage.model.calls();
    ensure!(calls.iter().any(|call| call.says(&text(&made["id"]))), "the task's id did not reach the model");
    let entries = stage.entries(&text(&run["id"])).await;
    let tools = entries.tools("");
    let closed = tools.len() == 1 && tools[0]["status"]["status"] == "success";
    ensure!(closed, "the tool use is shown as {tools:?}");
    Ok(())
}

/// The agent does a bead in a tmux session that its shipped launcher makes; what it used is counted from its log. An agent
/// without a launcher is refused beforehand.
async fn work_in_terminal(stage: &mut Stage) -> Result<()> {
    std::fs::create_dir(stage.repo.join(".beads"))?;
    let wish = "Write the file. [[write:hello.txt:from a worker]]";
    let body = json!({"project_id": stage.project, "title": "A bead", "description": wish});
    let bead = text(&stage.forge.post("/api/beads", &body).await.data()["id"]);
    let rule = json!({"enabled": true, "mode": "worker", "executor_profile_id": stage.agent.executor});
    let ruled = stage.forge.put(&format!("/api/projects/{}/dispatch", stage.project), &rule).await;
    if !["CLAUDE_CODE", "CODEX", "OPENCODE"].contains(&stage.agent.executor) {
        ensure!(ruled.message().contains("no launcher starts"), "it is not refused: {}", ruled.text);
        return Ok(());
    }
    ruled.data();
    let path = format!("/api/beads/{bead}?project_id={}", stage.project);
    let settled = |bead: &Value| bead["status"] == "closed" || bead["standing"]["parked"].is_string();
    let bead = stage.forge.until(&path, "the bead is settled", settled).await;
    ensure!(bead["status"] == "closed", "the bead was given up: {bead:#}");
    let task = text(&bead["standing"]["task_id"]);
    let attempt = stage.forge.get(&format!("/api/task-attempts?task_id={task}")).await.data()[0].clone();
    let written = git(&stage.repo, &["show", &format!("{}:hello.txt", text(&attempt["branch"]))]);
    ensure!(written.trim_end() == "from a worker", "hello.txt on the branch holds {written:?}");
    let runs = stage.forge.runs(&text(&attempt["id"])).await;
    let run = text(&runs[0]["id"]);
    let log = stage.forge.raw_log(&run).await;
    ensure!(log.contains("Done. Tool said:"), "what it said is not kept: {log}");
    if stage.agent.executor == "CLAUDE_CODE" {
        let said = last_words(&stage.entries(&run).await)?;
        ensure!(said.starts_with("Done. Tool said:"), "it said {said:?}");
    }
    let used = stage.forge.get("/api/usage?group_by=worker").await.data();
    let (calls, total) = (stage.model.sent(), &used["total"]);
    let shown = [&total["input_tokens"], &total["cache_read_tokens"], &total["output_tokens"]];
    let expected =
        [usage::INPUT - usage::CACHED, usage::CACHED, usage::OUTPUT].map(|each| json!(each * calls));
    ensure!(shown == expected.each_ref(), "{calls} calls are counted as {used}");
    Ok(())
}

fn says(word: &'static str) -> impl Fn(&Entries) -> bool {
    move |entries| entries.of("assistant_message").iter().any(|said| said.contains(word))
}

fn last_words(entries: &Entries) -> Result<String> {
    entries.of("assistant_message").pop().context("it said nothing")
}
