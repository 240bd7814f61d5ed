//! A table with one selected row.
//!
//! Invariant: no cell is wider than its column, measured in terminal columns rather than characters; only visible rows
//! are drawn.

use std::collections::HashMap;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use unicode_width::UnicodeWidthStr;

use crate::rows::{Cell, Column, Table};
use crate::state::State;
use crate::text::beginning;
use crate::theme::Tone;

const GAP: usize = 2;
/// Maximum width of a column that does not bend.
const WIDEST: usize = 28;
const LEAST: usize = 6;
/// Text needs this width to be readable.
const READABLE: usize = 20;

pub(crate) fn draw(state: &State, table: &Table<'_>, frame: &mut Frame, area: Rect) {
    let theme = state.theme;
    if table.rows.is_empty() {
        let line = Line::styled(format!(" {}", table.empty), theme.style(Tone::Dim));
        frame.render_widget(line, Rect { height: 1, ..area });
        return;
    }
    let height = usize::from(area.height.saturating_sub(1));
    let selected = table.selected.unwrap_or(0);
    let lines = lines(table);
    let middle = lines.iter().position(|line| *line == Shown::Row(selected)).unwrap_or(0);
    // Keeps the selected row in the middle where possible.
    let first = middle.saturating_sub(height / 2).min(lines.len().saturating_sub(height));
    let seen: Vec<Shown> = lines.iter().copied().skip(first).take(height).collect();
    let rows = seen.iter().filter_map(|line| match line {
        Shown::Row(at) => Some(*at),
        Shown::Head { .. } => None,
    });
    // Only visible rows are turned into cells, however long the list is.
    let cells: HashMap<usize, Vec<Cell>> = rows.map(|at| (at, table.rows[at].cells(state))).collect();
    let widths = widths(table.columns, usize::from(area.width).saturating_sub(2), &cells);
    let sort = state.look().sort;
    let heads = table.columns.iter().enumerate().map(|(at, column)| {
        let mark = match (sort == Some(at), state.look().reversed) {
            (true, true) => "v",
            (true, false) => "^",
            (false, _) => "",
        };
        Cell { text: format!("{}{mark}", column.head), tone: Tone::Dim, number: None }
    });
    let heads: Vec<Cell> = heads.collect();
    put(frame, area, 0, (table.columns, &widths, &heads), &|tone| theme.style(tone));
    for (line, shown) in seen.into_iter().enumerate() {
        let line = line as u16 + 1;
        match shown {
            Shown::Head { title, count } => {
                let head = Line::styled(format!(" {title} ({count})"), theme.style(Tone::Accent));
                frame.render_widget(head, Rect { y: area.y + line, height: 1, ..area });
            }
            Shown::Row(at) => {
                let paint = |tone| match at == selected {
                    true => theme.selected(theme.style(tone)),
                    false => theme.style(tone),
                };
                put(frame, area, line, (table.columns, &widths, &cells[&at]), &paint);
            }
        }
    }
    let more = lines.len().saturating_sub(height);
    if more > 0 || table.rows.len() != table.whole {
        let text = match table.rows.len() == table.whole {
            true => format!(" {} of {} ", selected + 1, table.whole),
            false => format!(" {} of {}, {} in all ", selected + 1, table.rows.len(), table.whole),
        };
        let line = Line::styled(text, theme.style(Tone::Dim)).right_aligned();
        frame.render_widget(line, Rect { height: 1, ..area });
    }
}

/// A line of the list.
#[derive(Clone, Copy, PartialEq)]
enum Shown {
    Head { title: &'static str, count: usize },
    Row(usize),
}

/// Row numbers, with a heading before each section.
fn lines(table: &Table<'_>) -> Vec<Shown> {
    let mut lines = Vec::with_capacity(table.rows.len());
    let mut before = None;
    for (at, row) in table.rows.iter().enumerate() {
        let section = row.section().filter(|_| table.has_sections);
        if let Some(title) = section.filter(|_| section != before) {
            let count = table.rows.iter().filter(|other| other.section() == section).count();
            lines.push(Shown::Head { title, count });
        }
        before = section;
        lines.push(Shown::Row(at));
    }
    lines
}

/// Each column is as wide as its visible cells need; columns that bend share the rest.
fn widths(columns: &[Column], room: usize, rows: &HashMap<usize, Vec<Cell>>) -> Vec<usize> {
    let mut widths: Vec<usize> = Vec::new();
    for (at, column) in columns.iter().enumerate() {
        let cells = rows.values().filter_map(|cells| cells.get(at)).map(|cell| cell.text.width());
        // Leaves room for the sort mark beside the heading.
        let head = if column.head.is_empty() { 1 } else { column.head.width() + 1 };
        let widest = cells.max().unwrap_or(0).max(head);
        widths.push(if column.bends { widest } else { widest.min(WIDEST) });
    }
    let over = |widths: &[usize]| {
        let shown = widths.iter().filter(|width| **width > 0);
        (shown.clone().sum::<usize>() + GAP * shown.count().saturating_sub(1)).saturating_sub(room)
    };
    let can_bend = |widths: &[usize]| -> usize {
        let bending = columns.iter().zip(widths).filter(|(column, _)| column.bends);
        bending.map(|(_, width)| width.saturating_sub(READABLE)).sum()
    };
    // Drops yielding columns from the right until the bending ones are readable.
    while over(&widths) > can_bend(&widths) {
        let yields = |at: &usize| columns[*at].yields && widths[*at] > 0;
        let Some(at) = (0..widths.len()).rev().find(yields) else { break };
        widths[at] = 0;
    }
    let mut over = over(&widths);
    // Shrinks the widest bending column first, then the others.
    while over > 0 {
        let gives = |bends: bool, least: usize| {
            let found = columns
                .iter()
                .enumerate()
                .filter(|(at, column)| column.bends == bends && widths[*at] > least);
            found.map(|(at, _)| at).max_by_key(|at| widths[*at])
        };
        let Some(at) = gives(true, LEAST).or_else(|| gives(false, LEAST)).or_else(|| gives(true, 0)) else {
            break;
        };
        widths[at] -= 1;
        over -= 1;
    }
    widths
}

type Cells<'a> = (&'a [Column], &'a [usize], &'a [Cell]);

fn put(
    frame: &mut Frame,
    area: Rect,
    line: u16,
    (columns, widths, cells): Cells<'_>,
    paint: &dyn Fn(Tone) -> Style,
) {
    let y = area.y + line;
    if y >= area.bottom() {
        return;
    }
    let buffer = frame.buffer_mut();
    buffer.set_style(Rect { y, height: 1, ..area }, paint(Tone::Plain));
    let mut x = usize::from(area.x) + 1;
    for ((column, width), cell) in columns.iter().zip(widths).zip(cells) {
        if *width == 0 {
            continue;
        }
        let text = fit(&cell.text, *width);
        let pad = if column.is_right { width.saturating_sub(text.width()) } else { 0 };
        let room = usize::from(area.right()).saturating_sub(x + pad);
        buffer.set_stringn((x + pad) as u16, y, &text, room, paint(cell.tone));
        x += width + GAP;
        if x >= usize::from(area.right()) {
            return;
        }
    }
}

/// The text, cut with an ellipsis if it is too wide.
pub(crate) fn fit(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    match width {
        0 => String::new(),
        width => format!("{}…", beginning(text, width - 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_as_wide_as_its_columns_and_never_cuts_a_wide_character_in_two() {
        assert_eq!(fit("漢字漢字", 8), "漢字漢字");
        assert_eq!(fit("漢字漢字", 6), "漢字…");
        assert_eq!(fit("abc", 0), "");
        for width in 0..12 {
            assert!(fit("a漢b字c漢d", width).width() <= width);
        }
    }
}
