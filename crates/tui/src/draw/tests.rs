use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use forge_client::Kind;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Color;

use super::*;
use crate::fixture::{RUNNING, busy, empty, fill_log};
use crate::message::{LogNews, Message, Topic};
use crate::theme::Theme;
use crate::update::update;

fn screen(state: &State, (columns, rows): (u16, u16)) -> TestBackend {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).expect("a terminal");
    terminal.draw(|frame| draw(state, frame)).expect("a frame");
    terminal.backend().clone()
}

fn press(state: &mut State, keys: &str) {
    for c in keys.chars() {
        update(state, Message::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE)));
    }
}

/// All views, one below the other.
fn views(size: (u16, u16)) -> String {
    let mut state = busy();
    let mut out = String::new();
    for view in View::ALL {
        press(&mut state, &(view as usize + 1).to_string());
        if view == View::Attempts {
            fill_log(&mut state, RUNNING);
        }
        out += &screen(&state, size).to_string();
        out.push('\n');
    }
    out
}

#[test]
fn every_view_at_80x24() {
    insta::assert_snapshot!(views((80, 24)));
}

#[test]
fn every_view_at_120x40() {
    insta::assert_snapshot!(views((120, 40)));
}

#[test]
fn every_view_at_200x50() {
    insta::assert_snapshot!(views((200, 50)));
}

#[test]
fn every_overlay() {
    let mut out = String::new();
    for keys in ["2?", "2:st", "2ffix", "2s", "3n", "4n", "4x", "5n", "5p", "5b", "5X"] {
        let mut state = busy();
        press(&mut state, keys);
        out += &format!("{keys}\n{}\n", screen(&state, (80, 24)));
    }
    insta::assert_snapshot!(out);
}

#[test]
fn a_server_without_anything_is_shown_with_what_helps() {
    let mut state = empty();
    update(&mut state, Message::Away("connection refused".to_owned()));
    insta::assert_snapshot!(screen(&state, (80, 24)));
}

#[test]
fn any_size_can_be_drawn() {
    for keys in ["1", "2", "4", "5", "6", "2?", "2:", "2f", "2s", "3n", "4n", "5n", "5p"] {
        let mut state = busy();
        press(&mut state, keys);
        fill_log(&mut state, RUNNING);
        state.log.scroll = 1000;
        for columns in [1, 2, 10, 40, 79, 80, 81, 110, 300] {
            for rows in [1, 2, 10, 23, 24, 25, 60] {
                screen(&state, (columns, rows));
            }
        }
    }
}

#[test]
fn a_screen_that_is_too_small_says_so_and_nothing_else() {
    let shown = screen(&busy(), (79, 24)).to_string();
    assert!(shown.contains("79x24 is too small") && !shown.contains("Overview"), "{shown}");
    assert!(!screen(&busy(), (80, 24)).to_string().contains("too small"));
}

#[test]
fn details_fill_the_whole_screen() {
    let mut state = busy();
    press(&mut state, "4jjj");
    update(&mut state, Message::Key(KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE)));
    let mut out = screen(&state, (80, 24)).to_string();
    press(&mut state, "5jjj");
    out += &screen(&state, (80, 24)).to_string();
    press(&mut state, "7j");
    out += &screen(&state, (80, 24)).to_string();
    insta::assert_snapshot!(out);
}

#[test]
fn costs_are_summed_up_by_day_by_model_and_by_worker() {
    let mut state = busy();
    press(&mut state, "6b");
    let mut out = screen(&state, (80, 24)).to_string();
    press(&mut state, "b");
    out += &screen(&state, (80, 24)).to_string();
    insta::assert_snapshot!(out);
}

#[test]
fn every_mark_has_the_width_of_one_column() {
    let mut state = busy();
    for view in View::ALL {
        press(&mut state, &(view as usize + 1).to_string());
        for row in table(&state).rows.into_iter().filter(|_| view != View::Costs) {
            let mark = &row.cells(&state)[0].text;
            assert!(mark.is_ascii() && mark.len() == 1, "{mark}");
        }
    }
}

#[test]
fn without_colours_nothing_is_coloured_and_the_selection_is_still_seen() {
    let mut state = State { theme: Theme::Plain, ..busy() };
    press(&mut state, "5");
    let screen = screen(&state, (80, 24));
    let cells = &screen.buffer().content;
    assert!(cells.iter().all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset));
    assert!(cells.iter().any(|cell| cell.modifier.contains(ratatui::style::Modifier::REVERSED)));
}

#[test]
fn the_selected_row_is_in_sight_however_long_the_list_is() {
    let mut state = busy();
    let one = state.data.workers.rows()[0].clone();
    let many = (0..500).map(|at| {
        let mut worker = one.clone();
        worker.worker.id = format!("w-{at:03}").parse().expect("an id");
        worker
    });
    state.data.workers = crate::model::List::Read(many.collect());
    press(&mut state, "5");
    for (keys, id) in [("", "w-000"), ("G", "w-499"), ("k", "w-498"), ("g", "w-000")] {
        press(&mut state, keys);
        let screen = screen(&state, (80, 24)).to_string();
        assert!(screen.contains(id), "{id} after {keys:?}:\n{screen}");
    }
}

#[test]
fn workers_have_emoji_where_the_terminal_draws_them_and_columns_stay_aligned() {
    let columns = |state: &State| {
        let shown = screen(state, (120, 40));
        let buffer = shown.buffer();
        let find = |text: &str| {
            let at = |y: u16| (0..buffer.area.width).map(move |x| (x, y));
            let fits = |(x, y): (u16, u16)| {
                text.chars().enumerate().all(|(n, c)| {
                    let place = (x + n as u16, y);
                    buffer.cell(place).is_some_and(|cell| cell.symbol() == c.to_string())
                })
            };
            (0..buffer.area.height).flat_map(at).find(|place| fits(*place)).map(|(x, _)| x)
        };
        (["opus-1", "haiku-1", "claude-code-sonnet-bravo"].map(find), shown.to_string())
    };
    let mut state = busy();
    press(&mut state, "5");
    let (plain, text) = columns(&state);
    assert!(plain.iter().all(|x| x.is_some() && *x == plain[0]), "{text}");
    state.emoji = true;
    let (signed, text) = columns(&state);
    assert!(signed.iter().all(|x| x.is_some() && *x == signed[0]), "{text}");
    for sign in ["❌", "✅", "⏸️"] {
        assert!(text.contains(sign), "{sign} is missing:\n{text}");
    }
}

#[test]
fn a_hint_has_a_row_of_its_own_below_the_error() {
    let error = Error::new(Kind::Refused, "a.rs has uncommitted changes").hint("commit or stash them");
    let shows = |state: &State| {
        let shown = screen(state, (80, 24)).to_string();
        let row = |text: &str| shown.lines().position(|line| line.contains(text));
        let (message, hint) = (row("a.rs has uncommitted changes"), row("hint: commit or stash them"));
        assert!(message.is_some() && hint == message.map(|row| row + 1), "{shown}");
    };
    let mut state = busy();
    update(&mut state, Message::Failed(Topic::Projects, error.clone()));
    shows(&state);
    let keys = |state: &State| screen(state, (80, 24)).to_string().lines().last().map(str::to_owned);
    assert_eq!(keys(&state), keys(&busy()), "the keys stay in the last row");
    let mut state = busy();
    press(&mut state, "5p");
    update(&mut state, Message::Peeked { worker: "opus-1".parse().unwrap(), screen: Err(error.clone()) });
    shows(&state);
    let mut state = busy();
    press(&mut state, "2");
    update(&mut state, Message::Log(RUNNING.parse().unwrap(), LogNews::Failed(error)));
    shows(&state);
}
