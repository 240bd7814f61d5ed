//! What people and programs do all day, at random.

use std::time::Duration;

use forge_client::Method;
use serde_json::{Value, json};

use super::ledger::{Existence, Fate, Kind, Known};
use super::world::{Stage, is_done};
use crate::{Answer, Rng, beside, text};

/// Runs that an attempt may have open before nobody asks for more.
const BACKLOG: usize = 2;

/// What can be done to an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    FollowUp,
    Draft,
    Stop,
    Merge,
    Rebase,
    Retire,
    Restore,
    Archive,
    Delete,
}

/// Each as often as it stands here.
const DEEDS: [Deed; 22] = {
    use Deed::{Archive, Delete, Draft, FollowUp, Merge, Rebase, Restore, Retire, Stop};
    [
        FollowUp, FollowUp, FollowUp, FollowUp, FollowUp, FollowUp, Draft, Draft, Draft, Draft, Stop, Stop,
        Merge, Merge, Rebase, Retire, Retire, Retire, Restore, Restore, Archive, Delete,
    ]
};

/// One pair of hands, until the tale is over.
pub async fn work(stage: &Stage<'_>, mut rng: Rng, most_attempts: usize) {
    while !stage.server.is_over() {
        act(stage, &mut rng, most_attempts).await;
        tokio::time::sleep(Duration::from_millis(rng.below(100) as u64)).await;
    }
}

async fn act(stage: &Stage<'_>, rng: &mut Rng, most_attempts: usize) {
    let (count, known) = {
        let ledger = stage.ledger();
        (ledger.count(), ledger.pick(rng))
    };
    let Some(known) = known.filter(|_| count >= most_attempts || rng.below(5) > 0) else {
        return start(stage, rng).await;
    };
    match rng.below(10) {
        0 => answer_question(stage, rng).await,
        // Two at once, as two tabs or a person and a program would.
        1..=3 => {
            let (one, other) = (*rng.pick(&DEEDS), *rng.pick(&DEEDS));
            let mut elsewhere = Rng::new(rng.below(usize::MAX) as u64);
            let pause = Duration::from_millis(rng.below(60) as u64);
            let later = async {
                tokio::time::sleep(pause).await;
                perform(stage, other, &known, &mut elsewhere).await;
            };
            tokio::join!(perform(stage, one, &known, rng), later);
        }
        _ => {
            let deed = *rng.pick(&DEEDS);
            perform(stage, deed, &known, rng).await;
        }
    }
}

/// What a worker has to do: more or fewer lines, some with a child in a session of its own, some deaf to signals.
fn script(stage: &Stage<'_>, token: &str, rng: &mut Rng) -> String {
    let agent = beside("chaos-agent");
    let (agent, root) = (agent.display(), stage.root.display());
    let lines = 5 + rng.below(100);
    let pause = rng.pick(&[0, 2, 5, 15, 30]);
    let exit = rng.pick(&[0, 0, 0, 0, 3, 17]);
    let heavy = rng.pick(&[0, 0, 24]);
    let daemon = rng.below(2);
    let deaf = if rng.below(12) == 0 { "trap '' INT TERM HUP; " } else { "" };
    format!(
        "{deaf}exec {agent} work {root} {token} lines={lines} pause={pause} exit={exit} heavy={heavy} daemon={daemon}"
    )
}

async fn start(stage: &Stage<'_>, rng: &mut Rng) {
    let token = stage.ledger().token();
    let kind = if rng.below(6) == 0 { Kind::Asker } else { Kind::Worker };
    let (executor, description) = match kind {
        Kind::Worker => ("SHELL", script(stage, &token, rng)),
        Kind::Asker => {
            ("CLAUDE_CODE:APPROVALS", format!("FAKE: id={token} approve=1 repeat=1 file=work-{token}.txt"))
        }
    };
    // A shell takes the title for a comment.
    let task =
        json!({"project_id": stage.project, "title": format!("# {token}"), "description": description});
    let body = json!({"task": task, "executor_profile_id": executor});
    let answer = stage.post("start", "/api/tasks/create-and-start", &body).await;
    let mut ledger = stage.ledger();
    match answer {
        Some(answer) if is_done(&answer) => {
            let data = &answer.body["data"];
            let attempt = &data["task_attempt"];
            let id = text(&attempt["id"]);
            ledger.add(&text(&data["id"]), &id, text(&attempt["branch"]), kind);
            ledger.note_text(&token, Some(&id), Fate::Taken(None));
        }
        Some(_) => ledger.note_text(&token, None, Fate::Refused),
        None => {}
    }
}

async fn perform(stage: &Stage<'_>, deed: Deed, known: &Known, rng: &mut Rng) {
    let base = format!("/api/task-attempts/{}", known.attempt);
    let worktree = format!("/api/worktrees/{}", known.attempt);
    let nothing = json!({});
    match deed {
        // What is said to an agent that converses is not always a run of its own.
        Deed::FollowUp | Deed::Draft if known.kind == Kind::Asker => answer_question(stage, rng).await,
        Deed::FollowUp => follow_up(stage, known, rng).await,
        Deed::Draft => {
            if stage.ledger().take_draft(&known.attempt) {
                draft(stage, known, rng).await;
                stage.ledger().leave_draft(&known.attempt);
            }
        }
        Deed::Stop => {
            // Before it is asked: the stop may happen although no answer comes.
            if let Some(known) = stage.ledger().of(&known.attempt) {
                known.stopped = true;
            }
            stage.post("stop", &format!("{base}/stop"), &nothing).await;
        }
        Deed::Merge => merge(stage, known).await,
        Deed::Rebase => drop(stage.post("rebase", &format!("{base}/rebase"), &nothing).await),
        Deed::Retire => drop(stage.post("retire", &format!("{worktree}/retire"), &nothing).await),
        Deed::Restore => drop(stage.post("restore", &format!("{worktree}/restore"), &nothing).await),
        Deed::Archive => {
            let (path, body) = (format!("/api/tasks/{}", known.task), json!({"status": "archived"}));
            stage.server.ask("archive", Method::PUT, &path, Some(&body)).await;
        }
        Deed::Delete => delete(stage, known).await,
    }
}

async fn follow_up(stage: &Stage<'_>, known: &Known, rng: &mut Rng) {
    let runs = stage.runs(&known.attempt).await.unwrap_or_default();
    if runs.iter().filter(|run| run["status"] == "running").count() >= BACKLOG {
        return;
    }
    let token = stage.ledger().token();
    stage.ledger().note_text(&token, Some(&known.attempt), Fate::Unknown);
    let body = json!({"prompt": script(stage, &token, rng)});
    let path = format!("/api/task-attempts/{}/follow-up", known.attempt);
    let fate = match stage.post("follow-up", &path, &body).await {
        Some(answer) if is_done(&answer) => Fate::Taken(Some(text(&answer.body["data"]["id"]))),
        Some(_) => Fate::Refused,
        None => Fate::Unknown,
    };
    stage.ledger().note_text(&token, Some(&known.attempt), fate);
}

/// Writes a draft where there is none, and queues what there is.
async fn draft(stage: &Stage<'_>, known: &Known, rng: &mut Rng) {
    let base = format!("/api/task-attempts/{}/draft", known.attempt);
    let Some(now) = stage.server.read(&format!("{base}?type=follow_up")).await else { return };
    if text(&now["prompt"]).is_empty() {
        let token = stage.ledger().token();
        let body = json!({"prompt": script(stage, &token, rng)});
        stage.ledger().note_text(&token, Some(&known.attempt), Fate::Unknown);
        let saved =
            stage.server.ask("draft", Method::PUT, &format!("{base}?type=follow_up"), Some(&body)).await;
        let fate = match saved {
            Some(answer) if is_done(&answer) => Fate::Kept,
            Some(_) => Fate::Refused,
            None => Fate::Unknown,
        };
        stage.ledger().note_text(&token, Some(&known.attempt), fate);
    }
    if rng.below(4) > 0 {
        stage.post("queue", &format!("{base}/queue?type=follow_up"), &json!({"queued": true})).await;
    }
}

/// As a person would: onto the target's tip first, then the merge.
async fn merge(stage: &Stage<'_>, known: &Known) {
    let base = format!("/api/task-attempts/{}", known.attempt);
    stage.post("rebase", &format!("{base}/rebase"), &json!({})).await;
    let answer = stage.post("merge", &format!("{base}/merge"), &json!({})).await;
    if answer.is_some_and(|answer| is_done(&answer))
        && let Some(known) = stage.ledger().of(&known.attempt)
    {
        known.merges += 1;
    }
}

async fn delete(stage: &Stage<'_>, known: &Known) {
    let note = |existence| {
        if let Some(known) = stage.ledger().of(&known.attempt) {
            known.existence = existence;
        }
    };
    note(Existence::Unknown);
    let path = format!("/api/tasks/{}", known.task);
    match stage.server.ask("delete", Method::DELETE, &path, None).await {
        Some(answer) if is_done(&answer) => note(Existence::Gone),
        Some(Answer { status: 409, .. }) => note(Existence::There),
        _ => {}
    }
}

/// Answers one of the questions that wait, if any does.
pub async fn answer_question(stage: &Stage<'_>, rng: &mut Rng) {
    let Some(Value::Array(waiting)) = stage.server.read("/api/approvals/pending").await else { return };
    if waiting.is_empty() {
        return;
    }
    let question = rng.pick(&waiting);
    let (id, run) = (text(&question["id"]), text(&question["execution_process_id"]));
    let approved = rng.below(2) == 0;
    let body = json!({"approved": approved, "comment": "as the dice fell"});
    let answer = stage.post("answer", &format!("/api/approvals/{id}/respond"), &body).await;
    if answer.is_some_and(|answer| is_done(&answer)) {
        let mut ledger = stage.ledger();
        ledger.answers.entry(id).or_default().push(approved);
        ledger.decisions.insert(run, approved);
    }
}
