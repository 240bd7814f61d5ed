//! The details of the selected worker.
//!
//! Invariant: details come from data already read; a missing fact has no line.

use forge_types::wire::ListedWorker;
use forge_types::{Alert, MicroUsd, Millis, ProjectId, Routing, TaskSummary};

use super::cells::word;
use super::fleet::{alert_tone, bead_tone, health_words, outcome_words, standing};
use super::thing::Thing;
use crate::figures;
use crate::model::{Bead, Data};
use crate::text::clean;
use crate::theme::Tone;

/// One line of the details; the text may be longer than a worker.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fact {
    pub label: &'static str,
    pub text: String,
    pub tone: Tone,
}

#[derive(Default)]
struct Facts(Vec<Fact>);

impl Facts {
    fn add(&mut self, label: &'static str, text: impl AsRef<str>) {
        self.add_toned(Tone::Plain, label, text);
    }

    /// One fact per line, with the label only on the first.
    fn add_toned(&mut self, tone: Tone, label: &'static str, text: impl AsRef<str>) {
        let lines: Vec<String> = clean(text.as_ref()).trim_end().lines().map(str::to_owned).collect();
        for (at, text) in lines.into_iter().enumerate() {
            self.0.push(Fact { label: if at == 0 { label } else { "" }, text, tone });
        }
    }
}

/// Facts about the row besides its cells; empty if there are none.
pub(crate) fn detail(thing: &Thing<'_>, data: &Data, now: Millis) -> Vec<Fact> {
    let mut facts = Facts::default();
    match thing {
        Thing::Worker(worker) => show_worker(&mut facts, worker, data, now),
        Thing::Bead(bead) => show_bead(&mut facts, bead, data),
        Thing::Task(task) => show_task(&mut facts, task, data),
        Thing::Routing(routing) => show_routing(&mut facts, routing),
        Thing::Alert(alert) => show_alert(&mut facts, alert, now),
        Thing::Attempt(_) | Thing::Question(_) | Thing::Usage(_) | Thing::Efficiency(_) => {}
    }
    facts.0
}

fn ago(at: Millis, now: Millis) -> String {
    format!("{} ago", figures::age(at, now))
}

fn show_worker(facts: &mut Facts, listed: &ListedWorker, data: &Data, now: Millis) {
    let (tone, _, stands) = standing(listed);
    let worker = &listed.worker;
    let looked_at = if listed.attached { ", somebody is attached" } else { "" };
    facts.add_toned(tone, "phase", format!("{stands}, started {}{looked_at}", ago(worker.since(), now)));
    if let Some((tone, words)) = health_words(listed) {
        facts.add_toned(tone, "health", words);
    } else if !listed.managed {
        facts.add("", "Not managed by Forge; press a to adopt it.");
    }
    facts.add("note", worker.note.as_deref().unwrap_or_default());
    if let Some(until) = worker.parked_until {
        facts.add("until", format!("in {}", figures::age(now, until)));
    }
    facts.add("work", data.work_of(worker));
    if let Some(attempt) = worker.bead.as_ref().and_then(|bead| bead.attempt_id) {
        facts.add("attempt", attempt.to_string());
    }
    facts.add("model", format!("{} ({})", worker.model, worker.tier));
    let answer = worker.answer.as_ref().and_then(|answer| answer.message.as_deref());
    facts.add("launcher", answer.unwrap_or_default());
    facts.add("folder", worker.workspace.to_string_lossy());
    let gone = if listed.has_session { "" } else { " (gone)" };
    facts.add("session", format!("{}{gone}", worker.session));
    if let (Some(said), Some(at)) = (worker.says(), worker.last_sign()) {
        facts.add("it says", format!("{said}, {}", ago(at, now)));
    }
    if let Some(mb) = worker.health.memory_mb {
        facts.add("memory", format!("{mb} MB"));
    }
    if let Some(last) = worker.restarts.last() {
        facts.add("restarts", format!("{}, the last {}", worker.restarts.len(), ago(*last, now)));
    }
}

/// A bead by id, with its state.
fn named(id: &str, project: ProjectId, data: &Data) -> String {
    match data.bead(id, project) {
        Some(bead) => format!("{id} ({}) {}", bead.word(), bead.title()),
        None => id.to_owned(),
    }
}

fn show_bead(facts: &mut Facts, bead: &Bead, data: &Data) {
    let (row, standing) = (&bead.facts, &bead.facts.standing);
    let state = format!("{}, P{} {}", bead.word(), bead.urgency(), bead.kind());
    facts.add_toned(bead_tone(bead).0, "status", state);
    facts.add_toned(Tone::Bad, "parked", standing.parked.as_deref().unwrap_or_default());
    facts.add("who", bead.holder().unwrap_or_default());
    if standing.failures > 0 {
        facts.add("failed", figures::count(standing.failures as usize, "time"));
    }
    for on in &row.dependencies {
        let label = match on.kind.as_deref() {
            None | Some("blocks") => "waits for",
            Some("parent-child") => "part of",
            Some(_) => "related to",
        };
        facts.add(label, named(&on.depends_on_id, bead.project, data));
    }
    let others = data.beads.rows().iter().filter(|other| other.project == bead.project);
    for other in others.filter(|other| other.facts.dependencies.iter().any(|on| on.depends_on_id == row.id)) {
        facts.add("needed by", named(&other.facts.id, bead.project, data));
    }
    facts.add("labels", row.labels.join(", "));
    if bead.is_closed() {
        facts.add("reason", row.close_reason.as_deref().unwrap_or_default());
    }
    facts.add("title", bead.title());
    facts.add("details", row.description.as_deref().unwrap_or_default());
    for comment in &row.comments {
        facts.add("comment", format!("{}: {}", comment.author, comment.text));
    }
}

fn show_task(facts: &mut Facts, summary: &TaskSummary, data: &Data) {
    let task = &summary.task;
    facts.add("title", &task.title);
    let tries = figures::count(summary.attempt_count as usize, "attempt");
    facts.add("status", format!("{}, {tries}", task.status.as_str()));
    facts.add("project", data.project_name(task.project_id));
    facts.add("details", task.description.as_deref().unwrap_or_default());
}

fn show_routing(facts: &mut Facts, routing: &Routing) {
    let decision = &routing.decision;
    let (tone, _, outcome) = outcome_words(routing);
    let worker = decision.chosen_worker.as_ref().or(routing.worker.as_ref());
    let to = worker.map_or_else(|| "a new agent".to_owned(), ToString::to_string);
    facts.add("decision", format!("to {to}, {} ({})", decision.model, decision.tier));
    facts.add("reason", word(decision.reason));
    let score = &routing.score;
    facts.add(
        "score",
        format!(
            "{} = priority {} + type {} + complexity {} + availability {} (difficulty {}/100)",
            score.total(),
            score.priority,
            score.kind,
            score.complexity,
            score.availability,
            routing.complexity,
        ),
    );
    facts.add_toned(tone, "outcome", outcome);
    let usd = |cost: MicroUsd| figures::money(cost.usd());
    facts.add(
        "cost",
        match (routing.actual_cost, decision.estimated_cost) {
            (Some(actual), Some(estimate)) if estimate.0 > 0 => {
                let percent = (actual.0 as f64 / estimate.0 as f64 * 100.0).round();
                format!("{}, {percent} % of the expected {}", usd(actual), usd(estimate))
            }
            (Some(actual), _) => format!("{}; no estimate", usd(actual)),
            (None, Some(estimate)) => format!("not known yet, expected {}", usd(estimate)),
            (None, None) => String::new(),
        },
    );
    facts.add("title", &routing.title);
    facts.add("folder", routing.workspace.to_string_lossy());
}

fn show_alert(facts: &mut Facts, alert: &Alert, now: Millis) {
    facts.add_toned(alert_tone(alert).0, "message", &alert.message);
    facts.add("kind", format!("{}, {}", word(alert.severity), word(alert.kind)));
    facts.add("about", &alert.subject);
    let times = figures::count(alert.count as usize, "time");
    facts.add(
        "noticed",
        format!("{times}, first {}, last {}", ago(alert.first_at, now), ago(alert.last_at, now)),
    );
    if let Some(at) = alert.acknowledged_at {
        facts.add("seen", ago(at, now));
    }
    if let Some(at) = alert.resolved_at {
        facts.add("resolved", ago(at, now));
    }
}
