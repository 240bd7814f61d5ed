//! One row of each kind.
//!
//! Invariant: every state has a mark and a word besides its tone, and text of strangers is cleaned.

use forge_types::{
    Alert, AttemptStatus, HealthLevel, MicroUsd, Millis, Outcome, Routing, Severity, TaskStatus, TaskSummary,
    Worker, WorkerPhase,
};
use serde::Serialize;
use serde_json::Value;

use super::Row;
use crate::figures;
use crate::model::{Attempt, Bead, Data, Question, Spent};
use crate::state::Subject;
use crate::text::clean;
use crate::theme::Tone;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    pub text: String,
    pub tone: Tone,
    /// What it is sorted by, where that is no text.
    pub number: Option<f64>,
}

fn cell(tone: Tone, text: impl AsRef<str>) -> Cell {
    Cell { text: clean(text.as_ref()).replace('\n', " "), tone, number: None }
}

fn number(tone: Tone, text: impl AsRef<str>, number: f64) -> Cell {
    Cell { number: Some(number), ..cell(tone, text) }
}

fn age(at: Millis, now: Millis) -> Cell {
    number(Tone::Dim, figures::age(at, now), (now.0 - at.0) as f64)
}

fn money(cost: Option<MicroUsd>) -> Cell {
    match cost {
        Some(cost) => number(Tone::Plain, figures::money(cost.0 as f64 / 1e6), cost.0 as f64),
        None => cell(Tone::Dim, "-"),
    }
}

fn count(count: u64) -> Cell {
    number(Tone::Plain, figures::tokens(count), count as f64)
}

fn short(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}

/// The word of a fieldless variant, as the wire has it.
fn word(value: impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word.replace('_', " "),
        _ => String::new(),
    }
}

fn mark(status: AttemptStatus) -> (Tone, &'static str) {
    match status {
        AttemptStatus::Pending => (Tone::Dim, "."),
        AttemptStatus::Running => (Tone::Busy, ">"),
        AttemptStatus::Completed => (Tone::Good, "+"),
        AttemptStatus::Failed => (Tone::Bad, "!"),
        AttemptStatus::Stopped => (Tone::Warn, "x"),
    }
}

fn is_asking(attempt: &str, data: &Data) -> bool {
    data.questions.rows().iter().any(|question| question.attempt.as_deref() == Some(attempt))
}

/// Its state, or that its agent waits for an answer.
fn standing(attempt: &Attempt, data: &Data) -> (Tone, &'static str, String) {
    if is_asking(&attempt.attempt.id.to_string(), data) {
        return (Tone::Warn, "?", "asks".to_owned());
    }
    let (tone, mark) = mark(attempt.attempt.status);
    (tone, mark, word(attempt.attempt.status))
}

pub fn question_row(question: &Question, now: Millis) -> Row {
    let of = question.attempt.as_deref().map_or("", short);
    Row {
        subject: Subject::Question(question.id.clone()),
        cells: vec![
            cell(Tone::Warn, "?"),
            cell(Tone::Warn, "asks"),
            cell(Tone::Plain, of),
            age(question.created_at, now),
            cell(Tone::Strong, question.wish()),
        ],
        at: Some(question.created_at),
    }
}

pub fn attempt_line(attempt: &Attempt, data: &Data, now: Millis) -> Row {
    let (tone, mark, word) = standing(attempt, data);
    let id = attempt.attempt.id.to_string();
    let project = data.project_name(attempt.attempt.project_id);
    let title = match project {
        "" => attempt.task_title.clone(),
        name => format!("{name}: {}", attempt.task_title),
    };
    Row {
        cells: vec![
            cell(tone, mark),
            cell(tone, word),
            cell(Tone::Plain, short(&id)),
            age(attempt.attempt.created_at, now),
            cell(Tone::Plain, title),
        ],
        subject: Subject::Attempt(id),
        at: Some(attempt.attempt.created_at),
    }
}

pub fn attempt_row(attempt: &Attempt, data: &Data, now: Millis) -> Row {
    let (tone, mark, word) = standing(attempt, data);
    let Attempt { attempt, task_title } = attempt;
    let id = attempt.id.to_string();
    Row {
        cells: vec![
            cell(tone, mark),
            cell(Tone::Strong, short(&id)),
            cell(tone, word),
            cell(Tone::Plain, &attempt.executor),
            age(attempt.created_at, now),
            money(attempt.cost_usd),
            cell(Tone::Plain, task_title),
            cell(Tone::Dim, &attempt.branch),
        ],
        subject: Subject::Attempt(id),
        at: Some(attempt.created_at),
    }
}

pub fn task_row(summary: &TaskSummary, data: &Data, now: Millis) -> Row {
    let task = &summary.task;
    let (tone, mark) = match task.status {
        TaskStatus::Todo | TaskStatus::Agent => (Tone::Plain, "."),
        TaskStatus::InProgress => (Tone::Busy, ">"),
        TaskStatus::InReview => (Tone::Warn, "?"),
        TaskStatus::Done => (Tone::Good, "+"),
        TaskStatus::Cancelled | TaskStatus::Archived => (Tone::Dim, "x"),
    };
    let id = task.id.to_string();
    Row {
        cells: vec![
            cell(tone, mark),
            cell(Tone::Dim, "task"),
            cell(Tone::Strong, short(&id)),
            cell(tone, task.status.as_str()),
            number(Tone::Plain, summary.attempt_count.to_string(), summary.attempt_count as f64),
            cell(Tone::Plain, data.project_name(task.project_id)),
            age(task.created_at, now),
            cell(Tone::Plain, &task.title),
        ],
        subject: Subject::Task(id),
        at: Some(task.created_at),
    }
}

pub fn bead_row(bead: &Bead, now: Millis) -> Row {
    let (tone, mark) = match bead.word() {
        "in_progress" => (Tone::Busy, ">"),
        "parked" => (Tone::Bad, "!"),
        "closed" => (Tone::Good, "+"),
        "blocked" => (Tone::Warn, "="),
        _ => (Tone::Plain, "."),
    };
    let priority = bead.priority.map(|priority| format!("P{priority} ")).unwrap_or_default();
    Row {
        cells: vec![
            cell(tone, mark),
            cell(Tone::Dim, "bead"),
            cell(Tone::Strong, &bead.id),
            cell(tone, bead.word().replace('_', "")),
            cell(Tone::Dim, "-"),
            cell(Tone::Plain, bead.assignee.as_deref().unwrap_or_default()),
            bead.updated_at.map_or_else(|| cell(Tone::Dim, "-"), |at| age(at, now)),
            cell(Tone::Plain, format!("{priority}{}", bead.title)),
        ],
        subject: Subject::Bead(bead.id.clone()),
        at: bead.updated_at,
    }
}

fn phase_tone(phase: WorkerPhase) -> (Tone, &'static str) {
    match phase {
        WorkerPhase::Starting | WorkerPhase::Recovering => (Tone::Busy, "~"),
        WorkerPhase::Running => (Tone::Good, ">"),
        WorkerPhase::Paused | WorkerPhase::Parked => (Tone::Warn, "="),
        WorkerPhase::Stopped | WorkerPhase::Finished => (Tone::Dim, "."),
        WorkerPhase::Failed => (Tone::Bad, "!"),
    }
}

pub fn health_tone(level: HealthLevel) -> Tone {
    match level {
        HealthLevel::Healthy => Tone::Good,
        HealthLevel::Degraded => Tone::Warn,
        HealthLevel::Critical | HealthLevel::Failed => Tone::Bad,
    }
}

pub fn worker_row(worker: &Worker, now: Millis) -> Row {
    let (tone, mark) = phase_tone(worker.phase);
    let findings: Vec<String> = worker.health.findings.iter().map(word).collect();
    let health = match (worker.phase.is_live(), findings.is_empty()) {
        (false, _) => cell(Tone::Dim, "-"),
        (true, true) => cell(health_tone(worker.health.level), word(worker.health.level)),
        (true, false) => cell(health_tone(worker.health.level), findings.join(", ")),
    };
    let bead = worker.bead.as_ref().map(|bead| format!("{} {}", bead.id, bead.title));
    let memory = worker.health.memory_mb;
    Row {
        subject: Subject::Worker(worker.id.to_string()),
        cells: vec![
            cell(tone, mark),
            cell(Tone::Strong, worker.id.as_str()),
            cell(tone, word(worker.phase)),
            health,
            cell(Tone::Plain, &worker.model),
            cell(Tone::Plain, worker.tier.as_str()),
            memory.map_or_else(|| cell(Tone::Dim, "-"), |mb| number(Tone::Plain, mb.to_string(), mb as f64)),
            age(worker.created_at, now),
            cell(Tone::Plain, bead.or_else(|| worker.note.clone()).unwrap_or_default()),
        ],
        at: Some(worker.created_at),
    }
}

pub fn spent_row(spent: &Spent) -> Row {
    let name = spent.day.as_deref().or(spent.model.as_deref()).filter(|name| !name.is_empty()).unwrap_or("-");
    Row {
        subject: Subject::Spent(name.to_owned()),
        cells: vec![
            cell(Tone::Strong, name),
            count(spent.runs),
            count(spent.input_tokens),
            count(spent.cache_read_tokens + spent.cache_write_tokens),
            count(spent.output_tokens),
            money(spent.cost_usd),
        ],
        at: None,
    }
}

pub fn routing_row(routing: &Routing, now: Millis) -> Row {
    let (tone, mark, outcome) = match routing.outcome {
        None => (Tone::Busy, ">", "at work".to_owned()),
        Some(outcome @ Outcome::Closed) => (Tone::Good, "+", word(outcome)),
        Some(outcome @ Outcome::Released) => (Tone::Warn, "x", word(outcome)),
        Some(outcome @ Outcome::Parked) => (Tone::Bad, "!", word(outcome)),
    };
    let score = routing.score.total();
    Row {
        subject: Subject::Routing(routing.id.to_string()),
        cells: vec![
            cell(tone, mark),
            cell(Tone::Strong, &routing.work),
            number(Tone::Plain, score.to_string(), f64::from(score)),
            cell(Tone::Plain, routing.decision.tier.as_str()),
            cell(Tone::Plain, &routing.decision.model),
            cell(Tone::Plain, word(routing.decision.reason)),
            cell(tone, outcome),
            money(routing.actual_cost.or(routing.decision.estimated_cost)),
            age(routing.decided_at, now),
            cell(Tone::Plain, &routing.title),
        ],
        at: Some(routing.decided_at),
    }
}

/// Nobody has seen or solved it.
pub fn is_open(alert: &Alert) -> bool {
    alert.acknowledged_at.is_none() && alert.resolved_at.is_none()
}

fn alert_tone(alert: &Alert) -> (Tone, &'static str) {
    match alert.severity {
        _ if !is_open(alert) => (Tone::Dim, "."),
        Severity::Critical => (Tone::Bad, "!"),
        Severity::Warning => (Tone::Warn, "?"),
        Severity::Info => (Tone::Plain, "-"),
    }
}

fn alert_word(alert: &Alert) -> String {
    match (alert.resolved_at, alert.acknowledged_at) {
        (Some(_), _) => "resolved".to_owned(),
        (None, Some(_)) => "seen".to_owned(),
        (None, None) => word(alert.severity),
    }
}

pub fn alert_line(alert: &Alert, now: Millis) -> Row {
    let (tone, mark) = alert_tone(alert);
    Row {
        subject: Subject::Alert(alert.id.to_string()),
        cells: vec![
            cell(tone, mark),
            cell(tone, "alert"),
            cell(Tone::Plain, &alert.subject),
            age(alert.last_at, now),
            cell(Tone::Plain, &alert.message),
        ],
        at: Some(alert.last_at),
    }
}

pub fn alert_row(alert: &Alert, now: Millis) -> Row {
    let (tone, mark) = alert_tone(alert);
    Row {
        subject: Subject::Alert(alert.id.to_string()),
        cells: vec![
            cell(tone, mark),
            cell(tone, alert_word(alert)),
            cell(Tone::Plain, word(alert.kind)),
            cell(Tone::Plain, &alert.subject),
            number(Tone::Plain, alert.count.to_string(), f64::from(alert.count)),
            age(alert.last_at, now),
            cell(Tone::Plain, &alert.message),
        ],
        at: Some(alert.last_at),
    }
}
