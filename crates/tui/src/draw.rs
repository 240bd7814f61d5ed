//! Draws the screen from the state.
//!
//! Invariant: drawing reads nothing else and waits for nothing; a terminal that is too small shows a message instead.

mod chrome;
mod detail;
mod grid;
mod log;
mod overlay;
mod overview;

use forge_client::Error;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;
use unicode_width::UnicodeWidthStr;

use crate::rows::table;
use crate::state::{State, View};
use crate::text::clean;
use crate::theme::Tone;
pub(crate) use log::row_width;

const LEAST: (u16, u16) = (80, 24);
/// The overview's figures and the blank line below them.
const FIGURES: u16 = 7;

pub(crate) fn draw(state: &State, frame: &mut Frame) {
    let area = frame.area();
    if area.width < LEAST.0 || area.height < LEAST.1 {
        let text = format!("{}x{} is too small for the dashboard; it needs 80x24", area.width, area.height);
        frame.render_widget(Line::styled(text, state.theme.style(Tone::Warn)), area);
        return;
    }
    let rows = [Constraint::Length(2), Constraint::Min(1), Constraint::Length(chrome::footer_rows(state))];
    let [top, body, bottom] = Layout::vertical(rows).areas(area);
    chrome::header(state, frame, top);
    view(state, frame, body);
    chrome::footer(state, frame, bottom);
    overlay::draw(state, frame, area, bottom);
}

fn view(state: &State, frame: &mut Frame, area: Rect) {
    match state.view {
        View::Attempts if state.zoomed => log::draw(state, frame, area),
        View::Attempts => {
            // The list gets two fifths and the log the rest.
            let rows = [Constraint::Ratio(2, 5), Constraint::Min(1)];
            let [list, below] = Layout::vertical(rows).areas(area);
            grid::draw(state, &table(state), frame, list);
            log::draw(state, frame, below);
        }
        View::Overview => {
            let rows = [Constraint::Length(FIGURES), Constraint::Min(1)];
            let [figures, list] = Layout::vertical(rows).areas(area);
            overview::draw(state, frame, figures);
            grid::draw(state, &table(state), frame, list);
        }
        View::Costs => {
            let [list, sum] = Layout::vertical([Constraint::Min(1), Constraint::Length(1)]).areas(area);
            grid::draw(state, &table(state), frame, list);
            overview::total(state, frame, sum);
        }
        View::Tasks | View::Beads | View::Workers | View::Routing | View::Alerts => {
            detail::draw(state, frame, area);
        }
    }
}

/// What is wrong, and below it what to do about it.
fn error_lines(error: &Error) -> Vec<String> {
    let hint = error.hint.as_ref().map(|hint| format!("hint: {hint}"));
    [clean(&error.message)].into_iter().chain(hint.map(|hint| clean(&hint))).collect()
}

/// Wraps a text at `width` columns.
fn fold(text: &str, width: usize) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    for word in clean(text).split_whitespace() {
        match rows.last_mut() {
            Some(row) if row.width() + 1 + word.width() <= width => {
                row.push(' ');
                row.push_str(word);
            }
            _ => rows.push(grid::fit(word, width)),
        }
    }
    rows
}

#[cfg(test)]
mod tests;
