//! The loop: messages in, frames and effects out.
//!
//! Owns the terminal and every task. Invariant: however it ends, the terminal is restored and no task is left.

mod feed;
mod follow;
mod load;
mod screen;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use crossterm::event::{Event as Input, EventStream, KeyEventKind};
use forge_client::Client;
use forge_types::wire::WorkerPane;
use forge_types::{AttemptId, Millis, WorkerId};
use futures_util::StreamExt;
use serde::de::IgnoredAny;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use crate::message::{Attach, Call, Effect, Message};
use crate::state::State;
use crate::theme::Theme;
use crate::update::update;
use load::Loader;
use screen::Screen;

/// A server that is there answers this fast, even when it is busy; a merge may take longer.
const READ_LIMIT: Duration = Duration::from_secs(15);
const WRITE_LIMIT: Duration = Duration::from_secs(120);
const TICK: Duration = Duration::from_secs(1);
const PEEK_PAUSE: Duration = Duration::from_millis(700);
/// Capacity of the message queue; a server that is faster than the screen waits.
const WAITING: usize = 1024;

pub struct Options {
    pub base: String,
    pub token: Option<String>,
    pub theme: Theme,
    /// Whether the terminal can draw emoji.
    pub emoji: bool,
    /// The `forge` program, for commands that take the whole terminal.
    pub program: PathBuf,
    /// Opens a page in the browser.
    pub browse: fn(&str),
}

/// What the loop holds besides the state.
struct Desk {
    api: Client,
    options: Options,
    messages: mpsc::Sender<Message>,
    loader: Loader,
    followed: watch::Sender<Option<AttemptId>>,
    peeked: watch::Sender<Option<WorkerId>>,
    tasks: JoinSet<()>,
}

enum Next {
    GoOn,
    Attach(Attach),
    Repaint,
    Quit,
}

/// Shows the dashboard until the person leaves it.
pub async fn run(options: Options) -> Result<()> {
    let (messages, mut inbox) = mpsc::channel(WAITING);
    let api = Client::new(&options.base, options.token.clone()).within(READ_LIMIT, WRITE_LIMIT);
    let mut state = State::new(api.base(), options.theme, Millis::now());
    state.emoji = options.emoji;
    let mut screen = Screen::enter()?;
    state.size = screen.size();
    screen.draw(&state)?;
    let mut desk = Desk::open(api, options, messages);
    let mut keys = EventStream::new();
    let mut ticks = tokio::time::interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut interrupts = signal(SignalKind::interrupt()).context("cannot wait for signals")?;
    let mut ends = signal(SignalKind::terminate()).context("cannot wait for signals")?;
    let mut hangs_up = signal(SignalKind::hangup()).context("cannot wait for signals")?;
    loop {
        let message = tokio::select! {
            key = keys.next() => match key {
                Some(Ok(input)) => read(input),
                // The terminal is gone.
                Some(Err(_)) | None => Some(Message::Leave),
            },
            message = inbox.recv() => message,
            _ = ticks.tick() => Some(Message::Tick(Millis::now())),
            _ = interrupts.recv() => Some(Message::Leave),
            _ = ends.recv() => Some(Message::Leave),
            _ = hangs_up.recv() => Some(Message::Leave),
        };
        let (mut redraw, mut next) = (false, Next::GoOn);
        // Handles all waiting messages before drawing one frame.
        let mut waiting = message;
        while let Some(message) = waiting {
            let outcome = update(&mut state, message);
            redraw |= outcome.redraw;
            for effect in outcome.effects {
                match desk.perform(effect) {
                    Next::GoOn => {}
                    other => next = other,
                }
            }
            waiting = if matches!(next, Next::GoOn) { inbox.try_recv().ok() } else { None };
        }
        match next {
            Next::Quit => break,
            Next::Attach(attach) => {
                // Another reader of the keyboard would take the command's keys.
                drop(keys);
                let result = screen.lend(&desk.options.program, &attach).await?;
                keys = EventStream::new();
                // Ctrl-C was meant for the command.
                interrupts = signal(SignalKind::interrupt()).context("cannot wait for signals")?;
                let outcome = update(&mut state, Message::Returned(result));
                outcome.effects.into_iter().for_each(|effect| {
                    desk.perform(effect);
                });
                state.size = screen.size();
                screen.repaint(&state)?;
            }
            Next::Repaint => screen.repaint(&state)?,
            Next::GoOn if redraw => screen.draw(&state)?,
            Next::GoOn => {}
        }
    }
    desk.tasks.shutdown().await;
    Ok(())
}

fn read(input: Input) -> Option<Message> {
    match input {
        Input::Key(event) if event.kind != KeyEventKind::Release => Some(Message::Key(event)),
        Input::Paste(text) => Some(Message::Paste(text)),
        Input::Resize(columns, rows) => Some(Message::Resize(columns, rows)),
        _ => None,
    }
}

impl Desk {
    fn open(api: Client, options: Options, messages: mpsc::Sender<Message>) -> Self {
        let mut tasks = JoinSet::new();
        let (followed, wanted) = watch::channel(None);
        let (peeked, screen) = watch::channel(None);
        tasks.spawn(feed::listen(api.clone(), messages.clone()));
        tasks.spawn(follow::follow(api.clone(), wanted, messages.clone()));
        tasks.spawn(peek(api.clone(), screen, messages.clone()));
        let loader = Loader::start(&api, &messages, &mut tasks);
        Self { api, options, messages, loader, followed, peeked, tasks }
    }

    fn perform(&mut self, effect: Effect) -> Next {
        match effect {
            Effect::Load(topic) => self.loader.load(topic),
            Effect::Follow(attempt) => {
                // Also the same again: its log has gone on.
                self.followed.send_replace(attempt);
            }
            Effect::Peek(worker) => {
                self.peeked.send_if_modified(|known| std::mem::replace(known, worker.clone()) != worker);
            }
            Effect::Call(call) => {
                // Drops finished tasks.
                while self.tasks.try_join_next().is_some() {}
                self.tasks.spawn(perform(self.api.clone(), call, self.messages.clone()));
            }
            Effect::Browse(url) => (self.options.browse)(&url),
            Effect::Attach(attach) => return Next::Attach(attach),
            Effect::Repaint => return Next::Repaint,
            Effect::Ring => screen::ring(),
            Effect::Quit => return Next::Quit,
        }
        Next::GoOn
    }
}

async fn perform(api: Client, call: Call, messages: mpsc::Sender<Message>) {
    let body = Some(&call.body).filter(|body| !body.is_null());
    let result = api.call::<IgnoredAny>(call.method.clone(), &call.path, body).await;
    if let Err(error) = &result {
        tracing::warn!(path = %call.path, %error, "a request was refused");
    }
    // The loop that would hear it has ended.
    let _ = messages.send(Message::Done(call, result.map(|_| ()))).await;
}

/// Reads the screen of the viewed worker repeatedly.
async fn peek(api: Client, mut wanted: watch::Receiver<Option<WorkerId>>, messages: mpsc::Sender<Message>) {
    loop {
        let Some(worker) = wanted.borrow_and_update().clone() else {
            if wanted.changed().await.is_err() {
                return;
            }
            continue;
        };
        let pane = api.get::<WorkerPane>(&format!("/api/workers/{worker}/peek")).await;
        let screen = pane.map(|pane| pane.text);
        if messages.send(Message::Peeked { worker, screen }).await.is_err() {
            return;
        }
        // Switches to another worker without a pause.
        let _ = tokio::time::timeout(PEEK_PAUSE, wanted.changed()).await;
    }
}
