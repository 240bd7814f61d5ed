//! Applies a message to the state and returns the effects. Pure.

mod action;
mod key;
mod news;

use forge_client::{Error, Kind};
use forge_types::{AttemptId, WorkerId};

use crate::draw::row_width;
use crate::message::{Call, Effect, LogNews, Message, Outcome, Topic};
use crate::model::List;
use crate::rows::{Thing, detail, table};
use crate::state::{Link, Overlay, State, Subject, View};
use crate::{figures, text::clean};

pub(crate) fn update(state: &mut State, message: Message) -> Outcome {
    let mut outcome = match message {
        Message::Key(event) => key::press(state, &event),
        Message::Paste(text) => key::paste(state, &text),
        Message::Resize(columns, rows) => {
            state.size = (columns, rows);
            Outcome::redraw()
        }
        Message::Tick(now) => tick(state, now),
        Message::Up => {
            if matches!(state.link, Link::Away { .. }) {
                state.say("the server is back");
            }
            state.link = Link::Up;
            let effects = Topic::ALL.map(Effect::Load).into();
            // The log may have grown in the meantime.
            let outcome = Outcome { effects, redraw: true };
            match state.log.attempt {
                Some(attempt) => outcome.with(Effect::Follow(Some(attempt))),
                None => outcome,
            }
        }
        Message::Away(why) => {
            if !matches!(state.link, Link::Away { .. }) {
                state.link = Link::Away { since: state.now, why };
            }
            Outcome::redraw()
        }
        Message::Event(event) => news::take(state, event),
        Message::Loaded(loaded) => news::put(state, *loaded),
        Message::Failed(topic, error) => failed(state, topic, error),
        Message::LeftOut(topic, count) => {
            let items = figures::count(count, "item");
            state.complain(format!("{topic:?}: left out {items} that only a newer Forge can show"));
            Outcome::redraw()
        }
        Message::Log(attempt, news) => take_log(state, attempt, news),
        Message::Done(call, result) => done(state, call, result),
        Message::Peeked { worker, screen } => peeked(state, &worker, screen),
        Message::Returned(result) => {
            if let Err(why) = result {
                state.complain(why);
            }
            Outcome::redraw().with(Effect::Repaint)
        }
        Message::Leave => Outcome::nothing().with(Effect::Quit),
    };
    if let Some(effect) = follow_selection(state) {
        outcome = outcome.with(effect);
    }
    outcome
}

/// Redraws only when a visible age reads differently now.
fn tick(state: &mut State, now: forge_types::Millis) -> Outcome {
    let before = std::mem::replace(&mut state.now, now);
    let differs = |at| figures::elapsed(at, before) != figures::elapsed(at, now);
    let away = match state.link {
        Link::Away { since, .. } => differs(since),
        Link::Connecting | Link::Up => false,
    };
    let table = table(state);
    let facts = |now| table.thing().map(|thing| detail(thing, &state.data, now));
    let detail_differs = || state.view.has_detail() && facts(before) != facts(now);
    match away || table.rows.iter().filter_map(Thing::at).any(differs) || detail_differs() {
        true => Outcome::redraw(),
        false => Outcome::nothing(),
    }
}

/// Follows the log of the selected attempt.
fn follow_selection(state: &mut State) -> Option<Effect> {
    if state.view != View::Attempts {
        return None;
    }
    let wanted = match table(state).subject() {
        Some(Subject::Attempt(id)) => Some(id),
        _ => None,
    };
    if state.log.attempt == wanted {
        return None;
    }
    state.log.turn_to(wanted);
    Some(Effect::Follow(wanted))
}

fn failed(state: &mut State, topic: Topic, error: Error) -> Outcome {
    match (topic, error.kind) {
        // The link says so already.
        (_, kind) if kind.is_away() => return Outcome::nothing(),
        (Topic::Beads, Kind::NotServed) => state.data.beads = List::NotServed,
        (Topic::Workers, Kind::NotServed) => state.data.workers = List::NotServed,
        (Topic::Alerts, Kind::NotServed) => state.data.alerts = List::NotServed,
        (Topic::Routing, Kind::NotServed) => state.data.routing = List::NotServed,
        // Everything can be typed.
        (Topic::Means, Kind::NotServed) => return Outcome::nothing(),
        (topic, _) => state.complain_of(&format!("{topic:?} cannot be read: "), error),
    }
    Outcome::redraw()
}

fn take_log(state: &mut State, attempt: AttemptId, news: LogNews) -> Outcome {
    // It was on its way when another attempt was selected.
    if state.log.attempt != Some(attempt) {
        return Outcome::nothing();
    }
    let (width, log) = (row_width(state.size.0), &mut state.log);
    match news {
        LogNews::Begun(run) => log.begin(run),
        LogNews::Entries(entries) => {
            entries.into_iter().for_each(|(place, entry)| log.put(place, entry, width));
        }
        LogNews::Ended => log.ended = true,
        LogNews::Changes(files) => {
            for (path, change) in files {
                match change {
                    Some(change) => log.changes.insert(path, change),
                    None => log.changes.remove(&path),
                };
            }
        }
        LogNews::Failed(error) => log.failure = Some(error),
    }
    if state.view == View::Attempts { Outcome::redraw() } else { Outcome::nothing() }
}

fn done(state: &mut State, call: Call, result: Result<(), Error>) -> Outcome {
    state.pending = state.pending.saturating_sub(1);
    match result {
        Ok(()) => state.say(call.done),
        Err(error) => state.complain_of("", error),
    }
    Outcome { effects: call.reload.into_iter().map(Effect::Load).collect(), redraw: true }
}

fn peeked(state: &mut State, of: &WorkerId, screen: Result<String, Error>) -> Outcome {
    let Some(Overlay::Peek { worker, text }) = &mut state.overlay else { return Outcome::nothing() };
    if worker != of {
        return Outcome::nothing();
    }
    let new = Some(screen.map(|screen| clean(&screen)));
    if *text == new {
        return Outcome::nothing();
    }
    *text = new;
    Outcome::redraw()
}

#[cfg(test)]
mod tests;
