//! The reckoning at the end of an era: what is reported and what lies on the disk, compared with what was asked for and
//! done.

mod git;
mod run;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use serde_json::Value;

use self::run::Row;
use super::ledger::{Existence, Fate, Known};
use super::operations::answer_question;
use super::table::Promise;
use super::witness::Witness;
use super::world::Stage;
use crate::{PATIENCE, Rng, text};

/// Everything of the project as it is reported now.
pub struct Report {
    tasks: Vec<Value>,
    attempts: Vec<Value>,
    runs: Vec<Row>,
    /// The text in each attempt's draft, and whether it waits to be sent.
    drafts: BTreeMap<String, (String, bool)>,
}

impl Report {
    async fn now(stage: &Stage<'_>) -> Option<Report> {
        let server = stage.server;
        let tasks = list(server.read(&format!("/api/tasks?project_id={}", stage.project)).await?);
        let attempts = list(server.read(&format!("/api/task-attempts?project_id={}", stage.project)).await?);
        let (mut runs, mut drafts) = (Vec::new(), BTreeMap::new());
        for attempt in attempts.iter().map(|attempt| text(&attempt["id"])) {
            runs.extend(stage.runs(&attempt).await?.iter().map(|run| Row::of(&attempt, run)));
            let path = format!("/api/task-attempts/{attempt}/draft?type=follow_up");
            let draft = server.read(&path).await?;
            drafts.insert(attempt, (text(&draft["prompt"]), draft["queued"] == true));
        }
        Some(Report { tasks, attempts, runs, drafts })
    }

    /// What has not come to its end.
    fn open(&self) -> Vec<String> {
        let runs = self.runs.iter().filter(|run| run.status == "running");
        let runs = runs.map(|run| format!("run {} of attempt {}", run.id, run.attempt));
        let drafts = self.drafts.iter().filter(|(_, (_, queued))| *queued);
        runs.chain(drafts.map(|(attempt, _)| format!("queued draft of attempt {attempt}"))).collect()
    }

    /// Rows that say of a directory what is not so.
    fn misplaced(&self) -> Vec<String> {
        let wrong = self.attempts.iter().filter(|attempt| {
            let place = text(&attempt["worktree_path"]);
            std::path::Path::new(&place).exists() == (attempt["worktree_deleted"] == true)
        });
        let report = |attempt: &Value| {
            let (id, deleted) = (text(&attempt["id"]), &attempt["worktree_deleted"]);
            format!("attempt {id}: worktree_deleted is {deleted}; {}", text(&attempt["worktree_path"]))
        };
        wrong.map(report).collect()
    }
}

fn list(value: Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

/// Waits until everything has ended, and answers the questions that are left. What never ends is noted.
pub async fn settle(stage: &Stage<'_>) -> Option<Report> {
    let (begun, mut rng) = (Instant::now(), Rng::new(1));
    loop {
        answer_question(stage, &mut rng).await;
        let report = Report::now(stage).await;
        let (open, misplaced) = match &report {
            Some(report) => (report.open(), report.misplaced()),
            None => (vec!["the server does not answer".to_owned()], Vec::new()),
        };
        if open.is_empty() && misplaced.is_empty() {
            return report;
        }
        if begun.elapsed() > PATIENCE {
            open.into_iter().for_each(|what| stage.server.broke(Promise::Stuck, what));
            misplaced.into_iter().for_each(|what| stage.server.broke(Promise::Wrong, what));
            return report;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Holds everything against everything.
pub async fn reckon(stage: &Stage<'_>, report: &Report) {
    existence(stage, report);
    texts(stage, report);
    witnesses(stage);
    processes(stage).await;
    for row in &report.runs {
        run::compare(stage, row).await;
    }
    git::sound(stage);
    git::files(stage, &report.runs);
    git::merges(stage).await;
}

/// Acknowledged tasks are there, deleted ones are not, none is there twice or by half.
fn existence(stage: &Stage<'_>, report: &Report) {
    let ids: BTreeSet<String> = report.tasks.iter().map(|task| text(&task["id"])).collect();
    for Known { task, existence, .. } in stage.ledger().known() {
        match (existence, ids.contains(task)) {
            (Existence::There, false) => stage.server.broke(Promise::Lost, format!("task {task} is gone")),
            (Existence::Gone, true) => {
                stage.server.broke(Promise::Wrong, format!("task {task} was deleted and is there"));
            }
            _ => {}
        }
    }
    let mut titles = BTreeSet::new();
    for task in &report.tasks {
        let (id, title) = (text(&task["id"]), text(&task["title"]));
        if !titles.insert(title.clone()) {
            stage.server.broke(Promise::Doubled, format!("two tasks have the title {title}"));
        }
        let attempts: Vec<_> = report.attempts.iter().filter(|attempt| attempt["task_id"] == *id).collect();
        let has_run = |attempt: &&&Value| report.runs.iter().any(|run| attempt["id"] == *run.attempt);
        if attempts.len() != 1 || attempts.iter().find(has_run).is_none() {
            let what = format!("task {id} has {} attempts, or one without a run", attempts.len());
            stage.server.broke(Promise::Wrong, what);
        }
    }
}

/// Every text that was taken has its run, every draft is kept or sent, none is sent twice, and none that was refused.
fn texts(stage: &Stage<'_>, report: &Report) {
    let ledger = stage.ledger();
    let gone = |attempt: &str| {
        let mut known = ledger.known().iter();
        known.any(|known| known.attempt == attempt && known.existence != Existence::There)
    };
    for (token, known) in &ledger.texts {
        let runs: Vec<&Row> = report.runs.iter().filter(|run| run.prompt.contains(token)).collect();
        if runs.len() > 1 {
            let ids: Vec<&str> = runs.iter().map(|run| run.id.as_str()).collect();
            stage.server.broke(Promise::Doubled, format!("text {token} was sent in runs {ids:?}"));
        }
        let Some(attempt) = known.attempt.as_deref().filter(|attempt| !gone(attempt)) else { continue };
        let sent = !runs.is_empty();
        let drafted = report.drafts.get(attempt).is_some_and(|(text, _)| text.contains(token));
        let of = format!("text {token} of attempt {attempt}");
        match &known.fate {
            Fate::Taken(Some(id)) if runs.iter().all(|run| run.id != *id) => {
                stage.server.broke(Promise::Lost, format!("{of}: its run {id} is gone"));
            }
            Fate::Taken(None) if !sent => stage.server.broke(Promise::Lost, format!("{of} has no run")),
            Fate::Kept if !sent && !drafted => {
                stage.server.broke(Promise::Lost, format!("{of} is in no draft and was not sent"));
            }
            Fate::Kept if sent && drafted => {
                stage.server.broke(Promise::Doubled, format!("{of} was sent and is still in the draft"));
            }
            Fate::Refused if sent || drafted => {
                stage.server.broke(Promise::Wrong, format!("{of} was refused and is there"));
            }
            _ => {}
        }
    }
}

/// What agents say of themselves, those of deleted tasks too.
fn witnesses(stage: &Stage<'_>) {
    let mut asked: BTreeMap<String, String> = BTreeMap::new();
    for witness in Witness::all(&stage.root) {
        let run = &witness.run;
        for token in witness.tokens() {
            if let Some(other) = asked.insert(token.clone(), run.clone()) {
                let what = format!("text {token} began in run {other} and in run {run}");
                stage.server.broke(Promise::Doubled, what);
            }
        }
        for odd in witness.odd() {
            let promise = if odd.contains("another") { Promise::Doubled } else { Promise::Wrong };
            stage.server.broke(promise, format!("run {run}: {odd}"));
        }
        for twice in witness.heard_twice() {
            stage.server.broke(Promise::Doubled, format!("run {run} heard this twice: {twice}"));
        }
    }
    for (question, answers) in stage.ledger().answers.iter().filter(|(_, answers)| answers.len() > 1) {
        let what = format!("question {question} was answered {} times", answers.len());
        stage.server.broke(Promise::Doubled, what);
    }
}

/// Nothing of a run that has ended is at work. A child that is deaf to signals is killed a moment after the end.
async fn processes(stage: &Stage<'_>) {
    let (begun, all) = (Instant::now(), Witness::all(&stage.root));
    let alive = |witness: &Witness| witness.processes().into_iter().find(|process| process.is_alive());
    while all.iter().any(|witness| alive(witness).is_some()) && begun.elapsed() < PATIENCE / 4 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    for (witness, process) in all.iter().filter_map(|witness| Some((witness, alive(witness)?))) {
        let what = format!("run {} has ended and {process:?} is at work", witness.run);
        stage.server.broke(Promise::Left, what);
    }
}
