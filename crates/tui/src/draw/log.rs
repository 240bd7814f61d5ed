//! The log of the selected attempt, and what it changed.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::error_lines;
use super::grid::fit;
use crate::figures;
use crate::log::Log;
use crate::model::short;
use crate::state::State;
use crate::text;
use crate::theme::{Theme, Tone};

/// From this width on, the changes are shown beside the log.
const WIDE: u16 = 110;
const CHANGES: u16 = 40;
/// Rows of changes below the log on narrower screens.
const SHORT: usize = 3;

/// Width of the log's rows on a screen of `columns` columns.
pub(crate) fn row_width(columns: u16) -> usize {
    let beside = if columns >= WIDE { CHANGES } else { 0 };
    usize::from(columns.saturating_sub(beside)).saturating_sub(2).max(1)
}

pub(crate) fn draw(state: &State, frame: &mut Frame, area: Rect) {
    let log = &state.log;
    let [head, body] = Layout::vertical([Constraint::Length(1), Constraint::Min(1)]).areas(area);
    title(state, frame, head);
    if area.width >= WIDE {
        let [left, right] = Layout::horizontal([Constraint::Min(1), Constraint::Length(CHANGES)]).areas(body);
        entries(state, frame, left);
        changes(log, state.theme, frame, right, usize::from(right.height));
        return;
    }
    let rows = log.changes.len().min(SHORT) as u16;
    let [above, below] = Layout::vertical([Constraint::Min(1), Constraint::Length(rows)]).areas(body);
    entries(state, frame, above);
    changes(log, state.theme, frame, below, SHORT);
}

fn title(state: &State, frame: &mut Frame, area: Rect) {
    let (log, theme) = (&state.log, state.theme);
    let Some(id) = log.attempt.map(short) else { return };
    let stands = match (&log.run, log.ended) {
        _ if !log.begun => String::new(),
        (None, _) => "no agent has run yet".to_owned(),
        (Some(_), false) => "live".to_owned(),
        (Some(_), true) => "ended".to_owned(),
    };
    let stands = match log.scroll {
        0 => stands,
        rows => format!("{stands}, {rows} rows back"),
    };
    let sum = match log.changes.len() {
        0 => String::new(),
        files => {
            let added: u64 = log.changes.values().filter_map(|file| file.additions).sum();
            let removed: u64 = log.changes.values().filter_map(|file| file.deletions).sum();
            format!(", {} +{added} -{removed}", figures::count(files, "file"))
        }
    };
    let text = format!("── {id} {stands}{sum} ");
    let rest = usize::from(area.width).saturating_sub(text.width());
    let line = format!("{}{}", fit(&text, usize::from(area.width)), "─".repeat(rest));
    frame.render_widget(Line::styled(line, theme.style(Tone::Dim)), area);
}

fn entries(state: &State, frame: &mut Frame, area: Rect) {
    let (log, theme) = (&state.log, state.theme);
    let say = |frame: &mut Frame, tone, lines: &[String]| {
        for (line, y) in lines.iter().zip(area.y..area.bottom()) {
            let line = Line::styled(fit(&format!(" {line}"), usize::from(area.width)), theme.style(tone));
            frame.render_widget(line, Rect { y, height: 1, ..area });
        }
    };
    if let Some(error) = &log.failure {
        return say(frame, Tone::Bad, &error_lines(error));
    }
    let (width, height) = (usize::from(area.width).saturating_sub(2).max(1), usize::from(area.height));
    // From the end upwards until the screen is full.
    let mut rows: Vec<Line> = Vec::new();
    for block in log.blocks() {
        let wrapped: Vec<Line> = block.iter().flat_map(|line| wrap(line, width, theme)).collect();
        rows.extend(wrapped.into_iter().rev());
        if rows.len() >= height.saturating_add(log.scroll) {
            break;
        }
    }
    if rows.is_empty() && log.attempt.is_some() {
        let text = if log.ended { "The agent wrote nothing." } else { "waiting for the log …" };
        return say(frame, Tone::Dim, &[text.to_owned()]);
    }
    let start = log.scroll.min(rows.len().saturating_sub(height));
    let seen: Vec<Line> = rows.into_iter().skip(start).take(height).collect();
    for (at, line) in seen.into_iter().rev().enumerate() {
        frame.render_widget(
            line,
            Rect { x: area.x + 1, y: area.y + at as u16, width: width as u16, height: 1 },
        );
    }
}

/// Wraps a line by the width of its characters.
fn wrap(line: &text::Line, width: usize, theme: Theme) -> Vec<Line<'static>> {
    let mut rows = Vec::new();
    let (mut row, mut used): (Vec<Span>, usize) = (Vec::new(), 0);
    for (ink, piece) in line.pieces() {
        let mut part = String::new();
        for c in piece.chars() {
            let columns = c.width().unwrap_or(0);
            if used + columns > width {
                row.push(Span::styled(std::mem::take(&mut part), theme.ink(*ink)));
                rows.push(Line::from(std::mem::take(&mut row)));
                used = 0;
            }
            used += columns;
            part.push(c);
        }
        row.push(Span::styled(part, theme.ink(*ink)));
    }
    rows.push(Line::from(row));
    rows
}

fn changes(log: &Log, theme: Theme, frame: &mut Frame, area: Rect, most: usize) {
    for (at, (path, file)) in log.changes.iter().take(most.min(usize::from(area.height))).enumerate() {
        let (added, removed) = (file.additions.unwrap_or(0), file.deletions.unwrap_or(0));
        let numbers = format!("+{added} -{removed}");
        let room = usize::from(area.width).saturating_sub(numbers.width() + 3);
        let path = text::clean(path);
        // The end of a path is more useful than its beginning.
        let mut path = path.as_str();
        while path.width() > room {
            path = path.split_once('/').map_or("", |(_, rest)| rest);
        }
        let spans = vec![
            Span::raw(" "),
            Span::styled(format!("+{added}"), theme.style(Tone::Good)),
            Span::styled(format!(" -{removed} "), theme.style(Tone::Bad)),
            Span::raw(path.to_owned()),
        ];
        frame.render_widget(Line::from(spans), Rect { y: area.y + at as u16, height: 1, ..area });
    }
}
