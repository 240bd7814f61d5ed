//! What covers the view: help, palette, questions, forms, a worker's screen.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear};
use unicode_width::UnicodeWidthStr;

use super::grid::fit;
use super::{error_lines, fold};
use crate::field::Field;
use crate::keys::{self, TABLE};
use crate::state::{Form, Overlay, State};
use crate::theme::Tone;

const PALETTE_ROWS: usize = 10;
/// Width of the labels of forms.
const LABEL: usize = 12;

pub(crate) fn draw(state: &State, frame: &mut Frame, area: Rect, bottom: Rect) {
    let theme = state.theme;
    let plain = |text: String| Line::styled(text, theme.style(Tone::Plain));
    match &state.overlay {
        None => {}
        Some(Overlay::Help { scroll }) => {
            let lines = TABLE.iter().filter(|binding| binding.holds_in(state.view)).map(|binding| {
                Line::from(vec![
                    Span::styled(format!("{:<13}", binding.keys()), theme.style(Tone::Accent)),
                    Span::styled(format!("{:<16}", binding.name), theme.style(Tone::Strong)),
                    Span::styled(binding.help, theme.style(Tone::Plain)),
                ])
            });
            let lines: Vec<Line> = lines.collect();
            let most = lines.len().saturating_sub(usize::from(area.height.saturating_sub(4)));
            let lines = lines.into_iter().skip((*scroll).min(most)).collect();
            let title = format!("{}: keys (j and k scroll, any other key closes)", state.view.title());
            window(state, frame, area, &title, lines, area.width.saturating_sub(4).min(90));
        }
        Some(Overlay::Palette { field, chosen }) => {
            let found = keys::search(state.view, field.text());
            let first = chosen.saturating_sub(PALETTE_ROWS - 1);
            let mut lines = vec![plain(format!(":{}", field.text()))];
            for (at, binding) in found.iter().enumerate().skip(first).take(PALETTE_ROWS) {
                let style = theme.style(Tone::Plain);
                let style = if at == *chosen { theme.selected(style) } else { style };
                let text = format!("{:<16}{:<12}{}", binding.name, binding.keys[0].name(), binding.help);
                lines.push(Line::styled(text, style));
            }
            if found.is_empty() {
                lines.push(Line::styled("no command here matches", theme.style(Tone::Dim)));
            }
            let inner = window(state, frame, area, "Commands", lines, 74);
            cursor(frame, inner, 0, 1 + field.column());
        }
        Some(Overlay::Ask { label, field, .. }) => ask(state, frame, bottom, label, field),
        Some(Overlay::Confirm { question, .. }) => {
            let width = area.width.saturating_sub(8).min(72);
            let mut lines: Vec<Line> =
                fold(question, usize::from(width).saturating_sub(4)).into_iter().map(plain).collect();
            lines.push(Line::default());
            lines.push(Line::styled("y yes   n no", theme.style(Tone::Accent)));
            window(state, frame, area, "Sure?", lines, width);
        }
        Some(Overlay::Form(form)) => draw_form(state, frame, area, form),
        Some(Overlay::Peek { worker, text }) => {
            let text = match text {
                None => "reading its screen …",
                Some(Ok(screen)) => screen,
                Some(Err(error)) => &error_lines(error).join("\n"),
            };
            let rows = usize::from(area.height.saturating_sub(4));
            let all: Vec<&str> = text.trim_end().lines().collect();
            // The end of the screen is the interesting part.
            let lines = all[all.len().saturating_sub(rows)..].iter().map(|line| plain((*line).to_owned()));
            let title = format!("{worker} (q closes)");
            window(state, frame, area, &title, lines.collect(), area.width.saturating_sub(2));
        }
    }
}

/// Draws a box in the middle, as high as its lines; returns the area inside it.
fn window(state: &State, frame: &mut Frame, area: Rect, title: &str, lines: Vec<Line>, width: u16) -> Rect {
    let height = (lines.len() as u16 + 2).min(area.height);
    let width = width.min(area.width);
    let x = area.x + (area.width - width) / 2;
    let y = area.y + (area.height - height) / 2;
    let place = Rect { x, y, width, height };
    frame.render_widget(Clear, place);
    let block = Block::bordered().title(format!(" {title} ")).border_style(state.theme.style(Tone::Accent));
    let inner = block.inner(place);
    frame.render_widget(block, place);
    let inner = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
    for (at, line) in lines.into_iter().take(usize::from(inner.height)).enumerate() {
        frame.render_widget(line, Rect { y: inner.y + at as u16, height: 1, ..inner });
    }
    inner
}

fn cursor(frame: &mut Frame, inner: Rect, row: u16, column: usize) {
    let column = (column as u16).min(inner.width.saturating_sub(1));
    frame.set_cursor_position((inner.x + column, inner.y + row));
}

/// The line being typed, with its end visible.
fn ask(state: &State, frame: &mut Frame, area: Rect, label: &str, field: &Field) {
    let area = Rect { height: 1, ..area };
    let head = format!(" {label}: ");
    let room = usize::from(area.width).saturating_sub(head.width() + 1);
    frame.render_widget(Clear, area);
    let mut text = field.text();
    let mut before = field.column();
    while before > room {
        let mut chars = text.chars();
        chars.next();
        let cut = text.width() - chars.as_str().width();
        text = chars.as_str();
        before = before.saturating_sub(cut.max(1));
    }
    let spans = vec![
        Span::styled(head.clone(), state.theme.style(Tone::Accent)),
        Span::styled(fit(text, room.max(1)), state.theme.style(Tone::Plain)),
    ];
    frame.render_widget(Line::from(spans), area);
    cursor(frame, area, 0, head.width() + before);
}

fn draw_form(state: &State, frame: &mut Frame, area: Rect, form: &Form) {
    let theme = state.theme;
    let mut lines = Vec::new();
    for (at, input) in form.fields.iter().enumerate() {
        let focused = at == form.focus;
        let label = format!("{:<LABEL$}", input.label);
        let tone = if focused { Tone::Accent } else { Tone::Plain };
        let text = match (input.field.text(), focused) {
            ("", _) => Span::styled(input.hint, theme.style(Tone::Dim)),
            (text, true) => Span::styled(text.to_owned(), theme.style(Tone::Strong)),
            (text, false) => Span::styled(text.to_owned(), theme.style(Tone::Plain)),
        };
        lines.push(Line::from(vec![Span::styled(label, theme.style(tone)), text]));
    }
    lines.push(match &form.complaint {
        Some(why) => Line::styled(format!("! {why}"), theme.style(Tone::Bad)),
        None => Line::default(),
    });
    let focused = &form.fields[form.focus];
    let names = focused.choices.iter().map(String::as_str).filter(|name| !name.is_empty());
    let names = names.collect::<Vec<_>>().join(", ");
    let choices = if names.is_empty() { String::new() } else { format!("Ctrl-N: {names}") };
    let width = 74;
    lines.push(Line::styled(fit(&choices, width - 4), theme.style(Tone::Dim)));
    lines.push(Line::styled(
        "Tab: next field   Enter: next field / submit   Esc: cancel",
        theme.style(Tone::Dim),
    ));
    let inner = window(state, frame, area, form.title, lines, width as u16);
    cursor(frame, inner, form.focus as u16, LABEL + form.fields[form.focus].field.column());
}
