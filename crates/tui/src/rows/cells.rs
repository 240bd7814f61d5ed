//! Cells, and the rows for questions, attempts, tasks and costs.
//!
//! Invariant: every state has a mark and a word besides its tone, and untrusted text is cleaned.

use forge_types::{AttemptStatus, MicroUsd, Millis, TaskStatus, TaskSummary};
use serde::Serialize;
use serde_json::Value;

use crate::figures;
use crate::model::{Attempt, Data, ModelServed, Question, Spent, WorkerSpent};
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
        Some(cost) => number(Tone::Plain, figures::money(cost.0 as f64 / 1e6), cost.0 as f64),
        None => nothing(),
    }
}

fn count(count: u64) -> Cell {
    number(Tone::Plain, figures::tokens(count), count as f64)
}

fn short(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
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

fn is_asking(attempt: &str, data: &Data) -> bool {
    data.questions.rows().iter().any(|question| question.attempt.as_deref() == Some(attempt))
}

/// Its state, or that its agent has a question.
fn standing(attempt: &Attempt, data: &Data) -> (Tone, &'static str, String) {
    if is_asking(&attempt.attempt.id.to_string(), data) {
        return (Tone::Warn, "?", "asks".to_owned());
    }
    let (tone, mark) = mark(attempt.attempt.status);
    (tone, mark, word(attempt.attempt.status))
}

pub(crate) fn question_row(question: &Question, now: Millis) -> Vec<Cell> {
    let of = question.attempt.as_deref().map_or("", short);
    vec![
        cell(Tone::Warn, "?"),
        cell(Tone::Warn, "asks"),
        cell(Tone::Plain, of),
        age(question.created_at, now),
        cell(Tone::Strong, question.wish()),
    ]
}

pub(crate) fn attempt_line(attempt: &Attempt, data: &Data, now: Millis) -> Vec<Cell> {
    let (tone, mark, word) = standing(attempt, data);
    let id = attempt.attempt.id.to_string();
    let project = data.project_name(attempt.attempt.project_id);
    let title = match project {
        "" => attempt.task_title.clone(),
        name => format!("{name}: {}", attempt.task_title),
    };
    vec![
        cell(tone, mark),
        cell(tone, word),
        cell(Tone::Plain, short(&id)),
        age(attempt.attempt.created_at, now),
        cell(Tone::Plain, title),
    ]
}

pub(crate) fn attempt_row(attempt: &Attempt, data: &Data, now: Millis) -> Vec<Cell> {
    let (tone, mark, word) = standing(attempt, data);
    let Attempt { attempt, task_title } = attempt;
    let id = attempt.id.to_string();
    vec![
        cell(tone, mark),
        cell(Tone::Strong, short(&id)),
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
    let id = task.id.to_string();
    vec![
        cell(tone, mark),
        cell(Tone::Strong, short(&id)),
        cell(tone, task.status.as_str()),
        number(Tone::Plain, summary.attempt_count.to_string(), summary.attempt_count as f64),
        cell(Tone::Plain, data.project_name(task.project_id)),
        age(task.created_at, now),
        cell(Tone::Plain, &task.title),
    ]
}

pub(crate) fn spent_row(spent: &Spent) -> Vec<Cell> {
    vec![
        cell(Tone::Strong, spent.name()),
        count(spent.runs),
        count(spent.input_tokens),
        count(spent.cache_read_tokens + spent.cache_write_tokens),
        count(spent.output_tokens),
        money(spent.cost_usd),
    ]
}

/// With the model's performance, where the server reports it.
pub(crate) fn model_spent_row(spent: &Spent, served: &[ModelServed]) -> Vec<Cell> {
    let served = served.iter().find(|one| Some(one.model.as_str()) == spent.model.as_deref());
    let share = served.and_then(|one| one.cache_hit_rate);
    let latency = served.and_then(|one| one.avg_latency_ms);
    let mut row = spent_row(spent);
    row.extend([
        share.map_or_else(nothing, |share| number(Tone::Plain, format!("{:.0} %", share * 100.0), share)),
        latency.map_or_else(nothing, |ms| number(Tone::Plain, format!("{:.1} s", ms / 1000.0), ms)),
    ]);
    row
}

pub(crate) fn worker_spent_row(spent: &WorkerSpent) -> Vec<Cell> {
    let gain = spent.efficiency_score;
    vec![
        cell(Tone::Strong, &spent.worker_id),
        cell(Tone::Plain, spent.tier.as_deref().unwrap_or_default()),
        count(spent.call_count),
        count(spent.total_tokens),
        money(spent.total_cost_usd),
        gain.map_or_else(nothing, |gain| number(Tone::Plain, figures::tokens(gain as u64), gain)),
    ]
}
