//! The details of the selected row.
//!
//! Invariant: details come from data already read; a missing fact has no line.

use forge_types::{Alert, Millis, ProjectId, Routing, TaskSummary};

use super::cells::word;
use super::fleet::{alert_tone, bead_tone, health_words, outcome_words, standing};
use super::thing::Thing;
use crate::figures;
use crate::model::{Bead, Data, Section, Worker};
use crate::text::clean;
use crate::theme::Tone;

/// One line of the details; the text may be longer than a row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fact {
    pub label: &'static str,
    pub text: String,
    pub tone: Tone,
}

#[derive(Default)]
struct Facts(Vec<Fact>);

impl Facts {
    fn say(&mut self, label: &'static str, text: impl AsRef<str>) {
        self.toned(Tone::Plain, label, text);
    }

    /// One fact per line, with the label only on the first.
    fn toned(&mut self, tone: Tone, label: &'static str, text: impl AsRef<str>) {
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
        Thing::Worker(worker) => tell_worker(&mut facts, worker, data, now),
        Thing::Bead(bead) => tell_bead(&mut facts, bead, data),
        Thing::Task(task) => tell_task(&mut facts, task, data),
        Thing::Routing(routing) => tell_routing(&mut facts, routing),
        Thing::Alert(alert) => tell_alert(&mut facts, alert, now),
        Thing::Attempt(_) | Thing::Question(_) | Thing::Spent(_) | Thing::WorkerSpent(_) => {}
    }
    facts.0
}

fn ago(at: Millis, now: Millis) -> String {
    format!("{} ago", figures::age(at, now))
}

fn tell_worker(facts: &mut Facts, worker: &Worker, data: &Data, now: Millis) {
    let (tone, _, stands) = standing(worker);
    let row = &worker.facts;
    let looked_at = if worker.attached { ", somebody is attached" } else { "" };
    facts.toned(tone, "phase", format!("{stands}, started {}{looked_at}", ago(worker.since(), now)));
    if let Some((tone, words)) = health_words(worker) {
        facts.toned(tone, "health", words);
    } else if !worker.managed {
        facts.say("", "Not managed by Forge; press a to adopt it.");
    }
    facts.say("note", row.note.as_deref().unwrap_or_default());
    if let Some(until) = row.parked_until {
        facts.say("until", format!("in {}", figures::age(now, until)));
    }
    facts.say("work", data.work_of(worker));
    if let Some(attempt) = row.bead.as_ref().and_then(|bead| bead.attempt_id) {
        facts.say("attempt", attempt.to_string());
    }
    facts.say("model", format!("{} ({})", row.model, row.tier));
    let answer = row.answer.as_ref().and_then(|answer| answer.message.as_deref());
    facts.say("launcher", answer.unwrap_or_default());
    facts.say("folder", row.workspace.to_string_lossy());
    let gone = if worker.has_session { "" } else { " (gone)" };
    facts.say("session", format!("{}{gone}", row.session));
    let said = row.status.as_ref().and_then(|status| status["status"].as_str());
    if let (Some(said), Some(at)) = (said, worker.last_sign()) {
        facts.say("it says", format!("{said}, {}", ago(at, now)));
    }
    if let Some(mb) = row.health.memory_mb {
        facts.say("memory", format!("{mb} MB"));
    }
    if let Some(last) = row.restarts.last() {
        facts.say("restarts", format!("{}, the last {}", row.restarts.len(), ago(*last, now)));
    }
}

/// A bead by id, with its state.
fn named(id: &str, project: Option<ProjectId>, data: &Data) -> String {
    match data.bead(id, project) {
        Some(bead) => format!("{id} ({}) {}", bead.word(), bead.title),
        None => id.to_owned(),
    }
}

fn tell_bead(facts: &mut Facts, bead: &Bead, data: &Data) {
    let kind = bead.issue_type.as_deref().unwrap_or("task");
    facts.toned(bead_tone(bead).0, "status", format!("{}, P{} {kind}", bead.word(), bead.urgency()));
    facts.toned(Tone::Bad, "parked", bead.standing.parked.as_deref().unwrap_or_default());
    facts.say("who", bead.holder().unwrap_or_default());
    if bead.standing.failures > 0 {
        facts.say("failed", figures::count(bead.standing.failures as usize, "time"));
    }
    for on in &bead.dependencies {
        let label = match on.kind.as_deref() {
            None | Some("blocks") => "waits for",
            Some("parent-child") => "part of",
            Some(_) => "related to",
        };
        facts.say(label, named(&on.depends_on_id, bead.project, data));
    }
    let others = data.beads.rows().iter().filter(|other| other.project == bead.project);
    for other in others.filter(|other| other.dependencies.iter().any(|on| on.depends_on_id == bead.id)) {
        facts.say("needed by", named(&other.id, bead.project, data));
    }
    facts.say("labels", bead.labels.join(", "));
    if bead.section() == Section::Closed {
        facts.say("reason", bead.close_reason.as_deref().unwrap_or_default());
    }
    facts.say("title", &bead.title);
    facts.say("details", bead.description.as_deref().unwrap_or_default());
    for comment in &bead.comments {
        facts.say("comment", format!("{}: {}", comment.author, comment.text));
    }
}

fn tell_task(facts: &mut Facts, summary: &TaskSummary, data: &Data) {
    let task = &summary.task;
    facts.say("title", &task.title);
    let tries = figures::count(summary.attempt_count as usize, "attempt");
    facts.say("status", format!("{}, {tries}", task.status.as_str()));
    facts.say("project", data.project_name(task.project_id));
    facts.say("details", task.description.as_deref().unwrap_or_default());
}

fn tell_routing(facts: &mut Facts, routing: &Routing) {
    let decision = &routing.decision;
    let (tone, _, outcome) = outcome_words(routing);
    let worker = decision.chosen_worker.as_ref().or(routing.worker.as_ref());
    let to = worker.map_or_else(|| "a new agent".to_owned(), ToString::to_string);
    facts.say("decision", format!("to {to}, {} ({})", decision.model, decision.tier));
    facts.say("reason", word(decision.reason));
    let score = &routing.score;
    facts.say(
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
    facts.toned(tone, "outcome", outcome);
    let usd = |cost: forge_types::MicroUsd| figures::money(cost.0 as f64 / 1e6);
    facts.say(
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
    facts.say("title", &routing.title);
    facts.say("folder", routing.workspace.to_string_lossy());
}

fn tell_alert(facts: &mut Facts, alert: &Alert, now: Millis) {
    facts.toned(alert_tone(alert).0, "message", &alert.message);
    facts.say("kind", format!("{}, {}", word(alert.severity), word(alert.kind)));
    facts.say("about", &alert.subject);
    let times = figures::count(alert.count as usize, "time");
    facts.say(
        "noticed",
        format!("{times}, first {}, last {}", ago(alert.first_at, now), ago(alert.last_at, now)),
    );
    if let Some(at) = alert.acknowledged_at {
        facts.say("seen", ago(at, now));
    }
    if let Some(at) = alert.resolved_at {
        facts.say("resolved", ago(at, now));
    }
}
