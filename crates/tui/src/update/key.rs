//! Handles keys: the overlay first, else the key table.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::action;
use crate::draw::row_width;
use crate::field::Field;
use crate::keys::{self, Command};
use crate::message::{Effect, Outcome, Topic};
use crate::rows::{Thing, detail, table};
use crate::state::{Form, Grouping, Overlay, Purpose, State, View};

const PAGE: isize = 10;
const SCROLL_STEP: usize = 5;

pub(crate) fn press(state: &mut State, event: &KeyEvent) -> Outcome {
    let leaves = event.code == KeyCode::Char('c') && event.modifiers.contains(KeyModifiers::CONTROL);
    match state.overlay.take() {
        Some(_) if leaves => closed(),
        Some(overlay) => press_in(state, overlay, event),
        None => match keys::find(state.view, event) {
            Some(command) => run(state, command),
            None => Outcome::nothing(),
        },
    }
}

pub(crate) fn paste(state: &mut State, text: &str) -> Outcome {
    let field = match &mut state.overlay {
        Some(Overlay::Palette { field, .. } | Overlay::Ask { field, .. }) => field,
        Some(Overlay::Form(Form { fields, focus, .. }))
            if fields[*focus].is_free || fields[*focus].choices.is_empty() =>
        {
            &mut fields[*focus].field
        }
        _ => return Outcome::nothing(),
    };
    field.paste(text);
    Outcome::redraw()
}

/// An overlay was closed; its background work ends.
fn closed() -> Outcome {
    Outcome::redraw().with(Effect::Peek(None))
}

pub(crate) fn run(state: &mut State, command: Command) -> Outcome {
    state.notice = None;
    match command {
        Command::Down => step(state, 1),
        Command::Up => step(state, -1),
        Command::PageDown => step(state, PAGE),
        Command::PageUp => step(state, -PAGE),
        Command::First => step(state, isize::MIN),
        Command::Last => step(state, isize::MAX),
        Command::LogDown => scroll(state, true),
        Command::LogUp => scroll(state, false),
        Command::Zoom => state.zoomed = !state.zoomed,
        Command::Back => back(state),
        Command::Show(view) => return show(state, view),
        Command::NextView => return show(state, state.view.step(1)),
        Command::LastView => return show(state, state.view.step(View::ALL.len() - 1)),
        Command::Filter => {
            let field = Field::new(&state.look().filter);
            state.overlay =
                Some(Overlay::Ask { label: "filter".to_owned(), purpose: Purpose::Filter, field });
        }
        Command::Sort => {
            let columns = table(state).columns;
            let after = state.look().sort.map_or(0, |column| column + 1);
            // The word beside a mark has the same meaning.
            let next = columns.iter().enumerate().skip(after).find(|(_, column)| !column.head.is_empty());
            state.look_mut().sort = next.map(|(at, _)| at);
        }
        Command::Reverse => state.look_mut().reversed = !state.look().reversed,
        Command::Palette => {
            state.overlay = Some(Overlay::Palette { field: Field::default(), chosen: 0 });
        }
        Command::Help => state.overlay = Some(Overlay::Help { scroll: 0 }),
        Command::Group => {
            state.grouping = match state.grouping {
                Grouping::Day => Grouping::Model,
                Grouping::Model => Grouping::Worker,
                Grouping::Worker => Grouping::Day,
            };
        }
        Command::Reload => {
            state.say("reading everything again");
            return Outcome { effects: Topic::ALL.map(Effect::Load).into(), redraw: true };
        }
        Command::Repaint => return Outcome::redraw().with(Effect::Repaint),
        Command::Quit => return Outcome::nothing().with(Effect::Quit),
        action => return action::act(state, action),
    }
    Outcome::redraw()
}

fn show(state: &mut State, view: View) -> Outcome {
    state.view = view;
    state.zoomed = false;
    match view {
        // Other programs change beads without the server noticing.
        View::Beads => Outcome::redraw().with(Effect::Load(Topic::Beads)),
        // Unmanaged sessions and definition files send no events.
        View::Workers => {
            Outcome::redraw().with(Effect::Load(Topic::Workers)).with(Effect::Load(Topic::Means))
        }
        _ => Outcome::redraw(),
    }
}

/// A log is read from its end, a detail from its beginning.
fn scroll(state: &mut State, is_down: bool) {
    let (at, most) = match state.view {
        View::Attempts => (state.log.scroll, state.log.height(row_width(state.size.0))),
        _ => {
            let rows = table(state).thing().map_or(0, |thing| detail(thing, &state.data, state.now).len());
            (state.look().scroll, rows)
        }
    };
    let to = match is_down == (state.view == View::Attempts) {
        true => at.saturating_sub(SCROLL_STEP),
        false => (at + SCROLL_STEP).min(most),
    };
    match state.view {
        View::Attempts => state.log.scroll = to,
        _ => state.look_mut().scroll = to,
    }
}

fn back(state: &mut State) {
    if state.zoomed {
        state.zoomed = false;
    } else {
        state.look_mut().filter.clear();
    }
}

fn step(state: &mut State, by: isize) {
    let table = table(state);
    let (Some(at), Some(last)) = (table.selected, table.rows.len().checked_sub(1)) else { return };
    let to = at.saturating_add_signed(by).min(last);
    let subject = table.rows.get(to).map(Thing::subject);
    let look = state.look_mut();
    (look.index, look.selected, look.scroll) = (to, subject, 0);
}

/// The overlay was taken out of the state and is put back if it stays open.
fn press_in(state: &mut State, overlay: Overlay, event: &KeyEvent) -> Outcome {
    let escapes = event.code == KeyCode::Esc;
    match overlay {
        Overlay::Ask { purpose: Purpose::Filter, .. } if escapes => {
            state.look_mut().filter.clear();
            return closed();
        }
        _ if escapes => return closed(),
        Overlay::Help { scroll } => {
            let scroll = match event.code {
                KeyCode::Char('j') | KeyCode::Down => scroll.saturating_add(1).min(keys::TABLE.len()),
                KeyCode::Char('k') | KeyCode::Up => scroll.saturating_sub(1),
                _ => return closed(),
            };
            state.overlay = Some(Overlay::Help { scroll });
        }
        Overlay::Palette { mut field, mut chosen } => {
            let found = keys::search(state.view, field.text());
            match event.code {
                KeyCode::Enter => {
                    return match found.get(chosen) {
                        Some(binding) => run(state, binding.command),
                        None => closed(),
                    };
                }
                KeyCode::Down | KeyCode::Tab => chosen = (chosen + 1).min(found.len().saturating_sub(1)),
                KeyCode::Up | KeyCode::BackTab => chosen = chosen.saturating_sub(1),
                _ => {
                    field.press(event);
                    chosen = 0;
                }
            }
            state.overlay = Some(Overlay::Palette { field, chosen });
        }
        Overlay::Ask { label, purpose, mut field } => {
            if event.code == KeyCode::Enter {
                return action::answer(state, purpose, field.text());
            }
            field.press(event);
            // A filter applies while it is typed.
            if purpose == Purpose::Filter {
                state.look_mut().filter = field.text().to_owned();
            }
            state.overlay = Some(Overlay::Ask { label, purpose, field });
        }
        Overlay::Confirm { question, call } => match event.code {
            KeyCode::Char('y' | 'Y') => return action::call(state, call),
            KeyCode::Char('n' | 'N' | 'q') => return closed(),
            _ => state.overlay = Some(Overlay::Confirm { question, call }),
        },
        Overlay::Form(form) => return press_form(state, form, event),
        Overlay::Peek { worker, text } => match event.code {
            KeyCode::Char('q' | 'p') => return closed(),
            _ => state.overlay = Some(Overlay::Peek { worker, text }),
        },
    }
    Outcome::redraw()
}

fn press_form(state: &mut State, mut form: Form, event: &KeyEvent) -> Outcome {
    let last = form.fields.len() - 1;
    let ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
    let input = &mut form.fields[form.focus];
    match event.code {
        KeyCode::Tab | KeyCode::Down => form.focus = if form.focus == last { 0 } else { form.focus + 1 },
        KeyCode::BackTab | KeyCode::Up => form.focus = form.focus.checked_sub(1).unwrap_or(last),
        KeyCode::Enter if form.focus < last => form.focus += 1,
        KeyCode::Enter => return action::submit(state, form),
        KeyCode::Char('n') if ctrl => input.choose(true),
        KeyCode::Char('p') if ctrl => input.choose(false),
        KeyCode::Left | KeyCode::Right if !input.is_free && !input.choices.is_empty() => {
            input.choose(event.code == KeyCode::Right);
        }
        _ if input.is_free || input.choices.is_empty() => {
            input.field.press(event);
        }
        _ => {}
    }
    state.overlay = Some(Overlay::Form(form));
    Outcome::redraw()
}
