//! The key table: every command with its keys, its name and the views it works in.
//!
//! Invariant: the handler, the footer, the palette and the help are all built from this table, so they always agree.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::state::View;

/// What a key or the palette can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Down,
    Up,
    PageDown,
    PageUp,
    First,
    Last,
    LogDown,
    LogUp,
    Zoom,
    Back,
    Show(View),
    NextView,
    LastView,
    Filter,
    Sort,
    Reverse,
    Palette,
    Help,
    Reload,
    Repaint,
    Quit,
    Approve,
    Deny,
    FollowUp,
    Stop,
    Merge,
    Open,
    Attach,
    Diff,
    Peek,
    Send,
    Restart,
    Pause,
    Kill,
    Interrupt,
    Adopt,
    Reassign,
    Forget,
    Claim,
    Release,
    Close,
    Raise,
    Lower,
    New,
    Acknowledge,
    AcknowledgeAll,
    Group,
}

/// A key with or without Ctrl.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Press {
    code: KeyCode,
    ctrl: bool,
}

const fn key(code: KeyCode) -> Press {
    Press { code, ctrl: false }
}

const fn letter(c: char) -> Press {
    key(KeyCode::Char(c))
}

const fn ctrl(c: char) -> Press {
    Press { code: KeyCode::Char(c), ctrl: true }
}

impl Press {
    fn is(self, event: &KeyEvent) -> bool {
        // Shift is already part of the letter.
        self.code == event.code && self.ctrl == event.modifiers.contains(KeyModifiers::CONTROL)
    }

    pub(crate) fn name(self) -> String {
        let name = match self.code {
            KeyCode::Char(c) => c.to_string(),
            KeyCode::Enter => "Enter".to_owned(),
            KeyCode::Esc => "Esc".to_owned(),
            KeyCode::Tab => "Tab".to_owned(),
            KeyCode::BackTab => "Shift-Tab".to_owned(),
            KeyCode::Up => "Up".to_owned(),
            KeyCode::Down => "Down".to_owned(),
            KeyCode::Left => "Left".to_owned(),
            KeyCode::Right => "Right".to_owned(),
            KeyCode::PageUp => "PgUp".to_owned(),
            KeyCode::PageDown => "PgDn".to_owned(),
            KeyCode::Home => "Home".to_owned(),
            KeyCode::End => "End".to_owned(),
            other => format!("{other:?}"),
        };
        if self.ctrl { format!("Ctrl-{name}") } else { name }
    }
}

/// The views in which a key works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Everywhere,
    In(&'static [View]),
}

#[derive(Debug)]
pub(crate) struct Binding {
    pub command: Command,
    pub keys: &'static [Press],
    /// One or two words, shown in the footer and searched by the palette.
    pub name: &'static str,
    pub help: &'static str,
    pub place: Place,
}

impl Binding {
    pub(crate) fn holds_in(&self, view: View) -> bool {
        match self.place {
            Place::Everywhere => true,
            Place::In(views) => views.contains(&view),
        }
    }

    pub(crate) fn keys(&self) -> String {
        self.keys.iter().map(|press| press.name()).collect::<Vec<_>>().join(" ")
    }
}

macro_rules! table {
    ($($command:expr, [$($press:expr),*], $name:literal, $help:literal, $place:expr;)*) => {
        &[$(Binding { command: $command, keys: &[$($press),*], name: $name, help: $help, place: $place },)*]
    };
}

const ATTEMPTS: Place = Place::In(&[View::Overview, View::Attempts]);
const WORK: Place = Place::In(&[View::Overview, View::Attempts, View::Tasks]);
const BEADS: Place = Place::In(&[View::Beads]);
/// Views that show a log or details below the list.
const DETAILED: Place =
    Place::In(&[View::Attempts, View::Tasks, View::Beads, View::Workers, View::Routing, View::Alerts]);
const RUNNING: Place = Place::In(&[View::Overview, View::Attempts, View::Workers]);
const WORKERS: Place = Place::In(&[View::Workers]);
const ALERTS: Place = Place::In(&[View::Overview, View::Alerts]);
use Place::Everywhere;

pub(crate) static TABLE: &[Binding] = table! {
    Command::Approve, [letter('a')], "approve", "Allow what the agent asks for", ATTEMPTS;
    Command::Deny, [letter('d')], "deny", "Refuse what the agent asks for", ATTEMPTS;
    Command::FollowUp, [letter('f')], "follow up", "Send the agent a follow-up message", ATTEMPTS;
    Command::Stop, [letter('s')], "stop", "Stop the agent; its changes are kept", RUNNING;
    Command::Merge, [letter('m')], "merge", "Merge the attempt into its target branch", ATTEMPTS;
    Command::Peek, [letter('p')], "peek", "Look at the worker's screen", WORKERS;
    Command::Send, [letter('i')], "send", "Type a line into the worker's session", WORKERS;
    Command::Restart, [letter('r')], "restart", "Restart the worker as it was", WORKERS;
    Command::Pause, [letter('z')], "pause", "Accept no new work, or resume", WORKERS;
    Command::Reassign, [letter('b')], "reassign", "Give the worker another bead", WORKERS;
    Command::Adopt, [letter('a')], "adopt", "Let Forge manage this session", WORKERS;
    Command::Interrupt, [letter('c')], "interrupt", "Press Ctrl-C in the worker's session", WORKERS;
    Command::Kill, [letter('X')], "kill", "End the worker at once", WORKERS;
    Command::Forget, [letter('d')], "forget", "Remove an ended worker from the list", WORKERS;
    Command::Claim, [letter('c')], "claim", "Take the bead, so that nobody else can", BEADS;
    Command::Release, [letter('r')], "release", "Give it back, or allow another try", BEADS;
    Command::Close, [letter('x')], "close", "Close the bead, with a reason", BEADS;
    Command::Raise, [letter('+'), letter('=')], "more urgent", "Raise its priority", BEADS;
    Command::Lower, [letter('-')], "less urgent", "Lower its priority", BEADS;
    Command::Attach, [letter('t')], "attach", "Attach this terminal to it", RUNNING;
    Command::Diff, [letter('v')], "diff", "Show what the attempt changed", ATTEMPTS;
    Command::New, [letter('n')], "new", "New task, bead or worker",
        Place::In(&[View::Overview, View::Attempts, View::Tasks, View::Beads, View::Workers]);
    Command::Open, [letter('o')], "open", "Open it in the browser", WORK;
    Command::Acknowledge, [letter('x')], "acknowledge", "Mark the alert as seen", ALERTS;
    Command::AcknowledgeAll, [letter('X')], "acknowledge all", "Mark all alerts as seen", ALERTS;
    Command::Group, [letter('b')], "group by", "Sum costs by day, model or worker", Place::In(&[View::Costs]);
    Command::Zoom, [key(KeyCode::Enter)], "zoom", "Show log or details on the whole screen", DETAILED;
    Command::LogDown, [letter('J'), key(KeyCode::Right)], "scroll down", "Scroll log or details down", DETAILED;
    Command::LogUp, [letter('K'), key(KeyCode::Left)], "scroll up", "Scroll log or details up", DETAILED;
    Command::Help, [letter('?')], "help", "This list", Everywhere;
    Command::Palette, [letter(':')], "commands", "Find a command by name", Everywhere;
    Command::Filter, [letter('/')], "filter", "Show only rows with these words", Everywhere;
    Command::Quit, [letter('q'), ctrl('c')], "quit", "Quit; agents and workers keep running", Everywhere;
    Command::Down, [letter('j'), key(KeyCode::Down)], "down", "Next row", Everywhere;
    Command::Up, [letter('k'), key(KeyCode::Up)], "up", "Previous row", Everywhere;
    Command::PageDown, [ctrl('d'), key(KeyCode::PageDown)], "page down", "Ten rows down", Everywhere;
    Command::PageUp, [ctrl('u'), key(KeyCode::PageUp)], "page up", "Ten rows up", Everywhere;
    Command::First, [letter('g'), key(KeyCode::Home)], "first", "First row", Everywhere;
    Command::Last, [letter('G'), key(KeyCode::End)], "last", "Last row", Everywhere;
    Command::Sort, [letter('S')], "sort", "Sort by the next column, then by none", Everywhere;
    Command::Reverse, [letter('R')], "reverse", "Reverse the order", Everywhere;
    Command::Back, [key(KeyCode::Esc)], "back", "Leave log or details, clear the filter", Everywhere;
    Command::NextView, [key(KeyCode::Tab), letter('l')], "next view", "Next view", Everywhere;
    Command::LastView, [key(KeyCode::BackTab), letter('h')], "previous view", "Previous view", Everywhere;
    Command::Show(View::Overview), [letter('1')], "overview", "What is running and what needs you", Everywhere;
    Command::Show(View::Attempts), [letter('2')], "attempts", "Every attempt, its log and its changes", Everywhere;
    Command::Show(View::Tasks), [letter('3')], "tasks", "Tasks of the board", Everywhere;
    Command::Show(View::Beads), [letter('4')], "beads", "Issues of all projects", Everywhere;
    Command::Show(View::Workers), [letter('5')], "workers", "Long-lived workers and their health", Everywhere;
    Command::Show(View::Costs), [letter('6')], "costs", "Token use and cost", Everywhere;
    Command::Show(View::Routing), [letter('7')], "routing", "Which work went to which model, and why", Everywhere;
    Command::Show(View::Alerts), [letter('8')], "alerts", "Problems that need attention", Everywhere;
    Command::Reload, [ctrl('r')], "reload", "Read everything from the server again", Everywhere;
    Command::Repaint, [ctrl('l')], "repaint", "Redraw the screen", Everywhere;
};

/// The command of a key in a view.
pub(crate) fn find(view: View, event: &KeyEvent) -> Option<Command> {
    let fits =
        |binding: &&Binding| binding.holds_in(view) && binding.keys.iter().any(|press| press.is(event));
    TABLE.iter().find(fits).map(|binding| binding.command)
}

/// Commands whose names contain the words; those that start with them come first.
pub(crate) fn search(view: View, words: &str) -> Vec<&'static Binding> {
    let words = words.trim().to_lowercase();
    let mut found: Vec<&Binding> =
        TABLE.iter().filter(|binding| binding.holds_in(view) && binding.name.contains(&words)).collect();
    found.sort_by_key(|binding| !binding.name.starts_with(&words));
    found
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn no_key_has_two_commands_in_a_view() {
        for view in View::ALL {
            let here: Vec<&Binding> = TABLE.iter().filter(|binding| binding.holds_in(view)).collect();
            for (at, binding) in here.iter().enumerate() {
                for other in &here[at + 1..] {
                    let shared = binding.keys.iter().find(|press| other.keys.contains(press));
                    assert!(shared.is_none(), "{shared:?} in {view:?}: {} and {}", binding.name, other.name);
                    assert_ne!(binding.name, other.name, "{view:?}");
                }
            }
        }
    }

    const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/dashboard.md");
    const BEGIN: &str = "<!-- keys: made by a test, see below -->\n";
    const END: &str = "<!-- keys end -->";

    fn where_it_holds(place: Place) -> String {
        match place {
            Place::Everywhere => "everywhere".to_owned(),
            Place::In(views) => views.iter().map(|view| view.title()).collect::<Vec<_>>().join(", "),
        }
    }

    #[test]
    fn the_page_has_every_key() {
        let rows = TABLE.iter().map(|binding| {
            let keys: Vec<String> = binding.keys.iter().map(|press| format!("`{}`", press.name())).collect();
            let (keys, place) = (keys.join(" "), where_it_holds(binding.place));
            format!("| {keys} | {} | {} | {place} |\n", binding.name, binding.help)
        });
        let table: String = rows.collect();
        let table = format!("| key | name | what it does | where |\n| --- | --- | --- | --- |\n{table}");
        let page = std::fs::read_to_string(PAGE).expect("the page");
        let (head, rest) = page.split_once(BEGIN).expect("where the keys begin");
        let (shown, tail) = rest.split_once(END).expect("where the keys end");
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(PAGE, format!("{head}{BEGIN}{table}{END}{tail}")).expect("the page");
            return;
        }
        assert_eq!(shown, table, "UPDATE=1 cargo test -p forge-tui the_page_has_every_key writes it");
    }

    #[test]
    fn the_help_fits_on_the_smallest_screen() {
        for binding in TABLE {
            assert!(binding.keys().len() < 13 && binding.name.len() < 16, "{}", binding.name);
            assert!(binding.help.len() <= 43, "{}", binding.help);
        }
    }

    #[test]
    fn the_palette_finds_by_name_and_only_what_can_be_done_here() {
        let names = |view, words| search(view, words).iter().map(|found| found.name).collect::<Vec<_>>();
        assert_eq!(
            names(View::Workers, "re"),
            ["restart", "reassign", "reverse", "reload", "repaint", "previous view"]
        );
        assert!(names(View::Costs, "merge").is_empty());
        assert_eq!(names(View::Costs, " Wor"), ["workers"]);
    }
}
