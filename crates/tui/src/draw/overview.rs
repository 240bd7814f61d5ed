//! The overview's figures, and the sum below the costs.

use forge_types::{AttemptStatus, Day, HealthLevel, MicroUsd, TaskStatus};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::figures;
use crate::model::{List, Section};
use crate::state::State;
use crate::theme::Tone;

pub(crate) fn draw(state: &State, frame: &mut Frame, area: Rect) {
    let theme = state.theme;
    for (at, (head, parts)) in
        [attempts(state), tasks(state), beads(state), workers(state), money(state)].iter().enumerate()
    {
        let mut spans = vec![Span::styled(format!(" {head:<10}"), theme.style(Tone::Strong))];
        for (tone, text) in parts {
            spans.push(Span::styled(format!("{text}   "), theme.style(*tone)));
        }
        frame.render_widget(Line::from(spans), Rect { y: area.y + at as u16, height: 1, ..area });
    }
}

type Figures = (&'static str, Vec<(Tone, String)>);

/// A count of zero is dimmed.
fn some(tone: Tone, count: usize, word: &str) -> (Tone, String) {
    (if count == 0 { Tone::Dim } else { tone }, format!("{count} {word}"))
}

fn attempts(state: &State) -> Figures {
    let data = &state.data;
    let count = |status| data.attempts.rows().iter().filter(|row| row.attempt.status == status).count();
    let parts = vec![
        some(Tone::Warn, data.questions.rows().len(), "asking"),
        some(Tone::Busy, count(AttemptStatus::Running), "running"),
        some(Tone::Plain, count(AttemptStatus::Pending), "pending"),
        some(Tone::Good, count(AttemptStatus::Completed), "completed"),
        some(Tone::Bad, count(AttemptStatus::Failed), "failed"),
    ];
    ("Attempts", parts)
}

fn tasks(state: &State) -> Figures {
    let count = |status| state.data.tasks.rows().iter().filter(|row| row.task.status == status).count();
    let parts = vec![
        some(Tone::Plain, count(TaskStatus::Todo), "todo"),
        some(Tone::Busy, count(TaskStatus::InProgress), "in progress"),
        some(Tone::Warn, count(TaskStatus::InReview), "in review"),
        some(Tone::Good, count(TaskStatus::Done), "done"),
    ];
    ("Tasks", parts)
}

fn beads(state: &State) -> Figures {
    let List::Read(beads) = &state.data.beads else { return unread("Beads", &state.data.beads) };
    let count = |section| beads.iter().filter(|bead| bead.section() == section).count();
    let parts = vec![
        some(Tone::Good, count(Section::Ready), "ready"),
        some(Tone::Busy, count(Section::InProgress), "in progress"),
        some(Tone::Warn, count(Section::Blocked), "blocked"),
        some(Tone::Bad, count(Section::Parked), "parked"),
        some(Tone::Dim, count(Section::Closed), "closed"),
    ];
    ("Beads", parts)
}

fn unread<T: PartialEq>(head: &'static str, list: &List<T>) -> Figures {
    let text = if *list == List::NotServed { "not served by this server" } else { "reading …" };
    (head, vec![(Tone::Dim, text.to_owned())])
}

fn workers(state: &State) -> Figures {
    let List::Read(workers) = &state.data.workers else { return unread("Workers", &state.data.workers) };
    let ours = workers.iter().filter(|worker| worker.managed);
    let count = |level| ours.clone().filter(|worker| worker.worker.fares() == Some(level)).count();
    let over = ours.clone().filter(|worker| worker.worker.fares().is_none()).count();
    let bad = count(HealthLevel::Critical) + count(HealthLevel::Failed);
    let parts = vec![
        some(Tone::Good, count(HealthLevel::Healthy), "healthy"),
        some(Tone::Warn, count(HealthLevel::Degraded), "degraded"),
        some(Tone::Bad, bad, "critical"),
        some(Tone::Dim, over, "ended"),
        some(Tone::Dim, workers.len() - ours.count(), "unmanaged"),
    ];
    ("Workers", parts)
}

fn usd(cost: Option<MicroUsd>) -> String {
    cost.map_or_else(|| "-".to_owned(), |cost| figures::money(cost.usd()))
}

fn money(state: &State) -> Figures {
    let usage = &state.data.usage;
    let today = Some(Day::of(state.now));
    let today = usage.days.iter().find(|group| group.day == today).and_then(|group| group.sum.cost_usd);
    let parts = vec![
        (Tone::Plain, format!("{} today", usd(today))),
        (Tone::Plain, format!("{} in all", usd(usage.total.cost_usd))),
        (Tone::Dim, format!("{} runs", usage.total.runs)),
    ];
    ("Costs", parts)
}

pub(crate) fn total(state: &State, frame: &mut Frame, area: Rect) {
    let total = &state.data.usage.total;
    let tokens = |count: i64| figures::tokens(count.unsigned_abs());
    let mut text = format!(
        " total {}   {} runs   {} in   {} out",
        usd(total.cost_usd),
        total.runs,
        tokens(total.input_tokens),
        tokens(total.output_tokens),
    );
    if total.unpriced_tokens > 0 {
        text += &format!("   {} tokens without a price", tokens(total.unpriced_tokens));
    }
    frame.render_widget(Line::styled(text, state.theme.style(Tone::Strong)), area);
}
