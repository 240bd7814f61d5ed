//! Cells, and the rows for questions, attempts, tasks and costs.
//!
//! Invariant: every state has a mark and a word besides its tone, and untrusted text is cleaned.

use forge_types::wire::PendingApproval;
use forge_types::{
    AttemptStatus, ListedAttempt, MicroUsd, Millis, ModelPerformance, TaskStatus, TaskSummary, UsageGroup,
    WorkerEfficiency, WorkerTier,
};
use serde::Serialize;
use serde_json::Value;

use crate::figures;
use crate::model::{Data, name_of, short};
use crate::text::clean;
use crate::theme::Tone;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cell {
    pub text: String,
    pub tone: Tone,
    /// The sort key, where it is not the text.
    pub number: Option<f64>,
}

pub(crate) fn cell(tone: Tone, text: impl AsRef<str>) -> Cell {
    Cell { text: clean(text.as_ref()).replace('\n', " "), tone, number: None }
}

pub(crate) fn number(tone: Tone, text: impl AsRef<str>, number: f64) -> Cell {
    Cell { number: Some(number), ..cell(tone, text) }
}

pub(crate) fn age(at: Millis, now: Millis) -> Cell {
    number(Tone::Dim, figures::age(at, now), (now.0 - at.0) as f64)
}

/// Shown where there is no value.
pub(crate) fn nothing() -> Cell {
    cell(Tone::Dim, "-")
}

pub(crate) fn money(cost: Option<MicroUsd>) -> Cell {
    match cost {
        Some(cost) => number(Tone::Plain, figures::money(cost.usd()), cost.usd()),
        None => nothing(),
    }
}

fn count(count: i64) -> Cell {
    number(Tone::Plain, figures::tokens(count.unsigned_abs()), count as f64)
}

/// The wire name of a fieldless variant.
pub(crate) fn word(value: impl Serialize) -> String {
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

/// Its state, or that its agent has a question.
fn standing(listed: &ListedAttempt, data: &Data) -> (Tone, &'static str, String) {
    let attempt = &listed.attempt;
    if data.questions.rows().iter().any(|question| question.task_attempt_id == Some(attempt.id)) {
        return (Tone::Warn, "?", "asks".to_owned());
    }
    let (tone, mark) = mark(attempt.status);
    (tone, mark, word(attempt.status))
}

pub(crate) fn question_row(question: &PendingApproval, now: Millis) -> Vec<Cell> {
    vec![
        cell(Tone::Warn, "?"),
        cell(Tone::Warn, "asks"),
        cell(Tone::Plain, question.task_attempt_id.map(short).unwrap_or_default()),
        age(question.created_at, now),
        cell(Tone::Strong, question.wish()),
    ]
}

pub(crate) fn attempt_line(listed: &ListedAttempt, data: &Data, now: Millis) -> Vec<Cell> {
    let (tone, mark, word) = standing(listed, data);
    let ListedAttempt { attempt, task_title } = listed;
    let title = match data.project_name(attempt.project_id) {
        "" => task_title.clone(),
        name => format!("{name}: {task_title}"),
    };
    vec![
        cell(tone, mark),
        cell(tone, word),
        cell(Tone::Plain, short(attempt.id)),
        age(attempt.created_at, now),
        cell(Tone::Plain, title),
    ]
}

pub(crate) fn attempt_row(listed: &ListedAttempt, data: &Data, now: Millis) -> Vec<Cell> {
    let (tone, mark, word) = standing(listed, data);
    let ListedAttempt { attempt, task_title } = listed;
    vec![
        cell(tone, mark),
        cell(Tone::Strong, short(attempt.id)),
        cell(tone, word),
        cell(Tone::Plain, &attempt.executor),
        age(attempt.created_at, now),
        money(attempt.cost_usd),
        cell(Tone::Plain, task_title),
        cell(Tone::Dim, &attempt.branch),
    ]
}

pub(crate) fn task_row(summary: &TaskSummary, data: &Data, now: Millis) -> Vec<Cell> {
    let task = &summary.task;
    let (tone, mark) = match task.status {
        TaskStatus::Todo | TaskStatus::Agent => (Tone::Plain, "."),
        TaskStatus::InProgress => (Tone::Busy, ">"),
        TaskStatus::InReview => (Tone::Warn, "?"),
        TaskStatus::Done => (Tone::Good, "+"),
        TaskStatus::Cancelled | TaskStatus::Archived => (Tone::Dim, "x"),
    };
    vec![
        cell(tone, mark),
        cell(Tone::Strong, short(task.id)),
        cell(tone, task.status.as_str()),
        number(Tone::Plain, summary.attempt_count.to_string(), summary.attempt_count as f64),
        cell(Tone::Plain, data.project_name(task.project_id)),
        age(task.created_at, now),
        cell(Tone::Plain, &task.title),
    ]
}

pub(crate) fn usage_row(group: &UsageGroup) -> Vec<Cell> {
    let sum = &group.sum;
    vec![
        cell(Tone::Strong, name_of(group)),
        count(sum.runs),
        count(sum.input_tokens),
        count(sum.cache_read_tokens + sum.cache_write_tokens),
        count(sum.output_tokens),
        money(sum.cost_usd),
    ]
}

/// With the model's performance, where the server reports it.
pub(crate) fn model_usage_row(group: &UsageGroup, served: &[ModelPerformance]) -> Vec<Cell> {
    let served = served.iter().find(|one| Some(&one.model) == group.model.as_ref());
    let share = served.and_then(|one| one.cache_hit_rate);
    let latency = served.and_then(|one| one.avg_latency_ms);
    let mut row = usage_row(group);
    row.extend([
        share.map_or_else(nothing, |share| number(Tone::Plain, format!("{:.0} %", share * 100.0), share)),
        latency.map_or_else(nothing, |ms| number(Tone::Plain, format!("{:.1} s", ms / 1000.0), ms)),
    ]);
    row
}

pub(crate) fn efficiency_row(worker: &WorkerEfficiency) -> Vec<Cell> {
    let gain = worker.efficiency_score;
    vec![
        cell(Tone::Strong, worker.worker_id.as_str()),
        cell(Tone::Plain, worker.tier.map_or("", WorkerTier::as_str)),
        count(worker.call_count),
        count(worker.total_tokens),
        money(Some(worker.total_cost_usd)),
        gain.map_or_else(nothing, |gain| number(Tone::Plain, figures::tokens(gain as u64), gain)),
    ]
}
