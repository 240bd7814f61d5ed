//! The details of the selected row, below its list.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};

use super::{fold, grid};
use crate::rows::{Fact, detail, table};
use crate::state::State;
use crate::theme::Tone;

/// Width of the labels.
const LABEL: usize = 11;

/// The list with the details of the selected row below it, or only the details when zoomed.
pub(crate) fn draw(state: &State, frame: &mut Frame, area: Rect) {
    let table = table(state);
    let facts = table.thing().map(|thing| detail(thing, &state.data, state.now)).unwrap_or_default();
    if state.zoomed && !facts.is_empty() {
        draw_facts(state, frame, area, &facts);
        return;
    }
    // The list keeps more than half.
    let rows = facts.len().saturating_add(1).min(usize::from(area.height) * 2 / 5) as u16;
    let rows = if facts.is_empty() { 0 } else { rows };
    let [list, below] = Layout::vertical([Constraint::Min(1), Constraint::Length(rows)]).areas(area);
    grid::draw(state, &table, frame, list);
    if rows > 0 {
        draw_facts(state, frame, below, &facts);
    }
}

fn draw_facts(state: &State, frame: &mut Frame, area: Rect, facts: &[Fact]) {
    let theme = state.theme;
    let [head, body] = Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(area);
    let width = usize::from(body.width).saturating_sub(LABEL + 2).max(1);
    let height = usize::from(body.height);
    let mut lines = Vec::new();
    for fact in facts {
        for (at, text) in fold(&fact.text, width).into_iter().enumerate() {
            let label = if at == 0 { fact.label } else { "" };
            lines.push(Line::from(vec![
                Span::styled(format!(" {label:<LABEL$}"), theme.style(Tone::Dim)),
                Span::styled(text, theme.style(fact.tone)),
            ]));
        }
    }
    let first = state.look().scroll.min(lines.len().saturating_sub(height));
    let more = lines.len().saturating_sub(first + height);
    let title = match more {
        0 => String::new(),
        more => format!(" {more} more, Enter shows all "),
    };
    let rule = "─".repeat(usize::from(head.width).saturating_sub(title.len() + 2));
    frame.render_widget(Line::styled(format!("{rule}{title}──"), theme.style(Tone::Dim)), head);
    for (at, line) in lines.into_iter().skip(first).take(height).enumerate() {
        frame.render_widget(line, Rect { y: body.y + at as u16, height: 1, ..body });
    }
}
