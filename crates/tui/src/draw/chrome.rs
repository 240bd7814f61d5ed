//! The frame around every view: tabs and server address at the top, notices and keys at the bottom.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use crate::figures;
use crate::keys::{Command, Place, TABLE};
use crate::rows::is_open;
use crate::state::{Link, Overlay, State, View};
use crate::text::{beginning, clean};
use crate::theme::Tone;

/// Commands that the footer shows in every view.
const ALWAYS: [Command; 4] = [Command::Help, Command::Palette, Command::Filter, Command::Quit];

pub(crate) fn header(state: &State, frame: &mut Frame, area: Rect) {
    let theme = state.theme;
    let mut views = Vec::new();
    for (at, view) in View::ALL.into_iter().enumerate() {
        let style = match view == state.view {
            true => theme.selected(theme.style(Tone::Accent)),
            false => theme.style(Tone::Plain),
        };
        let waiting = match view {
            View::Alerts => state.data.alerts.rows().iter().filter(|alert| is_open(alert)).count(),
            _ => 0,
        };
        let badge = if waiting == 0 { String::new() } else { format!("({waiting})") };
        views.push(Span::styled(format!(" {} {}{badge}", at + 1, view.title()), style));
    }
    frame.render_widget(Line::from(views), Rect { height: 1, ..area });
    let below = Rect { y: area.y + 1, height: 1, ..area };
    let (tone, text) = match &state.link {
        Link::Connecting => (Tone::Dim, format!(" connecting to {} …", state.base)),
        Link::Up => (Tone::Dim, format!(" {}", state.base)),
        Link::Away { since, why } => {
            let age = figures::age(*since, state.now);
            (Tone::Bad, format!(" {} disconnected for {age}; data is stale. {}", state.base, clean(why)))
        }
    };
    let text = beginning(&text, usize::from(area.width));
    frame.render_widget(Line::styled(text, theme.style(tone)), below);
    let look = state.look();
    if !look.filter.is_empty() {
        let filter = format!(" /{} ", clean(&look.filter));
        frame.render_widget(
            Line::styled(filter, theme.selected(theme.style(Tone::Warn))).right_aligned(),
            below,
        );
    }
}

/// A notice and the keys; a hint has a row of its own.
pub(crate) fn footer_rows(state: &State) -> u16 {
    let has_hint = state.notice.as_ref().is_some_and(|notice| notice.hint.is_some());
    // A line that is typed covers the notice.
    let is_covered = matches!(state.overlay, Some(Overlay::Ask { .. }));
    if has_hint && !is_covered { 3 } else { 2 }
}

pub(crate) fn footer(state: &State, frame: &mut Frame, area: Rect) {
    let theme = state.theme;
    let above = Rect { height: 1, ..area };
    if let Some(notice) = &state.notice {
        let (tone, mark) = if notice.is_bad { (Tone::Bad, " ! ") } else { (Tone::Good, " ") };
        let message = (tone, format!("{mark}{}", notice.text));
        let hint = notice.hint.as_ref().map(|hint| (Tone::Plain, format!("   hint: {hint}")));
        for ((tone, text), y) in std::iter::once(message).chain(hint).zip(area.y..area.bottom() - 1) {
            let text = clean(&text).replace('\n', " ");
            let line = Line::styled(beginning(&text, usize::from(area.width)), theme.style(tone));
            frame.render_widget(line, Rect { y, ..above });
        }
    } else if state.pending > 0 {
        frame.render_widget(Line::styled(" waiting for the server …", theme.style(Tone::Dim)), above);
    }
    let own =
        TABLE.iter().filter(|binding| binding.place != Place::Everywhere && binding.holds_in(state.view));
    let common = TABLE.iter().filter(|binding| ALWAYS.contains(&binding.command));
    let mut room = usize::from(area.width);
    let mut spans = Vec::new();
    // The common keys always have room.
    let common: Vec<(String, &str)> = common.map(|binding| (binding.keys[0].name(), binding.name)).collect();
    let width = |(key, name): &(String, &str)| key.width() + name.width() + 3;
    room = room.saturating_sub(common.iter().map(width).sum());
    let mut shown = Vec::new();
    for item in own.map(|binding| (binding.keys[0].name(), binding.name)) {
        let needed = width(&item);
        if needed > room {
            break;
        }
        room -= needed;
        shown.push(item);
    }
    for (key, name) in shown.into_iter().chain(common) {
        spans.push(Span::styled(format!(" {key}"), theme.style(Tone::Accent)));
        spans.push(Span::styled(format!(" {name} "), theme.style(Tone::Dim)));
    }
    frame.render_widget(Line::from(spans), Rect { y: area.bottom() - 1, height: 1, ..area });
}
