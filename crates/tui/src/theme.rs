//! Styles. Only the terminal's sixteen colours are used, so its own palette decides.
//!
//! Invariant: colour never carries meaning alone; everything is distinguishable without it.

use ratatui::style::{Color, Modifier, Style};

use crate::text::Ink;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    #[default]
    Dark,
    Light,
    /// No colours at all.
    Plain,
}

/// What something means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tone {
    #[default]
    Plain,
    Dim,
    Strong,
    Accent,
    Busy,
    Good,
    Warn,
    Bad,
}

impl Theme {
    /// Chosen by the environment: `NO_COLOR`, a dumb terminal, or the background in `COLORFGBG`.
    pub fn of(no_color: Option<&str>, term: Option<&str>, colorfgbg: Option<&str>) -> Theme {
        if no_color.is_some_and(|value| !value.is_empty()) || term == Some("dumb") {
            return Theme::Plain;
        }
        let background = colorfgbg.and_then(|value| value.rsplit(';').next()?.parse::<u8>().ok());
        match background {
            Some(7 | 9..) => Theme::Light,
            _ => Theme::Dark,
        }
    }

    pub(crate) fn style(self, tone: Tone) -> Style {
        let plain = Style::default();
        let bold = plain.add_modifier(Modifier::BOLD);
        let (accent, busy, warn) = match self {
            Theme::Plain => {
                return match tone {
                    Tone::Plain | Tone::Busy | Tone::Good => plain,
                    Tone::Dim => plain.add_modifier(Modifier::DIM),
                    Tone::Strong | Tone::Accent | Tone::Warn | Tone::Bad => bold,
                };
            }
            Theme::Dark => (Color::Cyan, Color::Cyan, Color::Yellow),
            // Cyan and yellow are unreadable on white.
            Theme::Light => (Color::Blue, Color::Blue, Color::Magenta),
        };
        match tone {
            Tone::Plain => plain,
            Tone::Dim => plain.add_modifier(Modifier::DIM),
            Tone::Strong => bold,
            Tone::Accent => bold.fg(accent),
            Tone::Busy => plain.fg(busy),
            Tone::Good => plain.fg(Color::Green),
            Tone::Warn => plain.fg(warn),
            Tone::Bad => bold.fg(Color::Red),
        }
    }

    pub(crate) fn ink(self, ink: Ink) -> Style {
        self.style(match ink {
            Ink::Plain => Tone::Plain,
            Ink::Bold => Tone::Strong,
            Ink::Dim => Tone::Dim,
            Ink::Red => Tone::Bad,
            Ink::Green => Tone::Good,
            Ink::Yellow => Tone::Warn,
            Ink::Cyan => Tone::Busy,
        })
    }

    /// Reversed, so that it is visible whatever the colours are.
    pub(crate) fn selected(self, style: Style) -> Style {
        style.remove_modifier(Modifier::DIM).add_modifier(Modifier::REVERSED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_chooses_the_theme() {
        assert_eq!(Theme::of(None, Some("xterm"), None), Theme::Dark);
        assert_eq!(Theme::of(None, Some("xterm"), Some("0;15")), Theme::Light);
        assert_eq!(Theme::of(None, Some("xterm"), Some("15;default;0")), Theme::Dark);
        assert_eq!(Theme::of(Some("1"), Some("xterm"), Some("0;15")), Theme::Plain);
        assert_eq!(Theme::of(Some(""), Some("dumb"), None), Theme::Plain);
    }

    #[test]
    fn without_colours_there_is_none() {
        use Tone::*;
        for tone in [Plain, Dim, Strong, Accent, Busy, Good, Warn, Bad] {
            let style = Theme::Plain.style(tone);
            assert_eq!((style.fg, style.bg), (None, None), "{tone:?}");
        }
    }
}
