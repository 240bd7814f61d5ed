//! Rows for beads, workers, routing decisions and alerts.

use forge_types::wire::ListedWorker;
use forge_types::{Alert, HealthLevel, Millis, Outcome, Routing, Severity, WorkerPhase};

use super::cells::{Cell, age, cell, money, nothing, number, word};
use crate::model::{Bead, Data, Section};
use crate::state::State;
use crate::theme::Tone;

pub(crate) fn bead_tone(bead: &Bead) -> (Tone, &'static str) {
    match bead.section() {
        Section::Ready => (Tone::Plain, "."),
        Section::InProgress => (Tone::Busy, ">"),
        Section::Blocked => (Tone::Warn, "="),
        Section::Parked => (Tone::Bad, "!"),
        Section::Closed => (Tone::Good, "+"),
    }
}

pub(crate) fn bead_row(bead: &Bead, data: &Data, now: Millis) -> Vec<Cell> {
    let (tone, mark) = bead_tone(bead);
    let urgency = bead.urgency();
    vec![
        cell(tone, mark),
        cell(Tone::Strong, &bead.facts.id),
        number(if urgency < 2 { Tone::Warn } else { Tone::Plain }, format!("P{urgency}"), urgency as f64),
        cell(tone, bead.word()),
        cell(Tone::Plain, bead.kind()),
        cell(Tone::Plain, bead.holder().unwrap_or_default()),
        bead.updated_at.map_or_else(nothing, |at| age(at, now)),
        cell(Tone::Dim, data.project_name(bead.project)),
        cell(Tone::Plain, bead.title()),
    ]
}

pub(crate) fn phase_tone(phase: WorkerPhase) -> (Tone, &'static str) {
    match phase {
        WorkerPhase::Starting | WorkerPhase::Recovering => (Tone::Busy, "~"),
        WorkerPhase::Running => (Tone::Good, ">"),
        WorkerPhase::Paused | WorkerPhase::Parked => (Tone::Warn, "="),
        WorkerPhase::Stopped | WorkerPhase::Finished => (Tone::Dim, "."),
        WorkerPhase::Failed => (Tone::Bad, "!"),
    }
}

fn health_tone(level: HealthLevel) -> Tone {
    match level {
        HealthLevel::Healthy => Tone::Good,
        HealthLevel::Degraded => Tone::Warn,
        HealthLevel::Critical | HealthLevel::Failed => Tone::Bad,
    }
}

/// Level and findings; empty for a worker that Forge does not manage, or that ended normally.
pub(crate) fn health_words(listed: &ListedWorker) -> Option<(Tone, String)> {
    let level = listed.worker.fares().filter(|_| listed.managed)?;
    let findings: Vec<String> = listed.worker.health.findings.iter().map(word).collect();
    let words = match findings.is_empty() {
        true => word(level),
        false => format!("{}: {}", word(level), findings.join(", ")),
    };
    Some((health_tone(level), words))
}

/// Managed workers by phase; the others have a mark and a word of their own.
pub(crate) fn standing(listed: &ListedWorker) -> (Tone, &'static str, String) {
    if !listed.managed {
        return (Tone::Dim, "o", "unmanaged".to_owned());
    }
    let (tone, mark) = phase_tone(listed.worker.phase);
    (tone, mark, word(listed.worker.phase))
}

pub(crate) fn worker_row(listed: &ListedWorker, state: &State) -> Vec<Cell> {
    let State { data, now, emoji, .. } = state;
    let (tone, mark, stands) = standing(listed);
    let worker = &listed.worker;
    let mark = if *emoji && listed.managed { worker.indication().emoji() } else { mark };
    let health = health_words(listed).map_or_else(nothing, |(tone, words)| cell(tone, words));
    let memory = worker.health.memory_mb;
    vec![
        cell(tone, mark),
        cell(Tone::Strong, worker.id.as_str()),
        cell(tone, stands),
        health,
        cell(Tone::Plain, &worker.model),
        cell(Tone::Plain, worker.tier.as_str()),
        memory.map_or_else(nothing, |mb| number(Tone::Plain, mb.to_string(), mb as f64)),
        age(worker.since(), *now),
        cell(Tone::Plain, data.work_of(worker)),
        cell(Tone::Dim, worker.last_word()),
    ]
}

pub(crate) fn outcome_words(routing: &Routing) -> (Tone, &'static str, String) {
    match routing.outcome {
        None => (Tone::Busy, ">", "running".to_owned()),
        Some(outcome @ Outcome::Closed) => (Tone::Good, "+", word(outcome)),
        Some(outcome @ Outcome::Released) => (Tone::Warn, "x", word(outcome)),
        Some(outcome @ Outcome::Parked) => (Tone::Bad, "!", word(outcome)),
    }
}

pub(crate) fn routing_row(routing: &Routing, now: Millis) -> Vec<Cell> {
    let (tone, mark, outcome) = outcome_words(routing);
    let score = routing.score.total();
    vec![
        cell(tone, mark),
        cell(Tone::Strong, &routing.work),
        number(Tone::Plain, score.to_string(), f64::from(score)),
        cell(Tone::Plain, routing.decision.tier.as_str()),
        cell(Tone::Plain, &routing.decision.model),
        cell(Tone::Plain, word(routing.decision.reason)),
        cell(tone, outcome),
        money(routing.actual_cost),
        money(routing.decision.estimated_cost),
        age(routing.decided_at, now),
        cell(Tone::Plain, &routing.title),
    ]
}

/// Neither acknowledged nor resolved.
pub(crate) fn is_open(alert: &Alert) -> bool {
    alert.acknowledged_at.is_none() && alert.resolved_at.is_none()
}

pub(crate) fn alert_tone(alert: &Alert) -> (Tone, &'static str) {
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

pub(crate) fn alert_line(alert: &Alert, now: Millis) -> Vec<Cell> {
    let (tone, mark) = alert_tone(alert);
    vec![
        cell(tone, mark),
        cell(tone, "alert"),
        cell(Tone::Plain, &alert.subject),
        age(alert.last_at, now),
        cell(Tone::Plain, &alert.message),
    ]
}

pub(crate) fn alert_row(alert: &Alert, now: Millis) -> Vec<Cell> {
    let (tone, mark) = alert_tone(alert);
    vec![
        cell(tone, mark),
        cell(tone, alert_word(alert)),
        cell(Tone::Plain, word(alert.kind)),
        cell(Tone::Plain, &alert.subject),
        number(Tone::Plain, alert.count.to_string(), f64::from(alert.count)),
        age(alert.last_at, now),
        cell(Tone::Plain, &alert.message),
    ]
}
