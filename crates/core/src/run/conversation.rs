//! The server's side of a conversation with an agent: saying what is due, and fetching the answers of people.
//!
//! Invariant: a line is handed to the keeper once by this server; what an earlier one said is in the log. A question is
//! put to a person once, under an id that follows from the log, so a restart finds the question where it was.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use forge_run::talk::{ConversationPlan, FileRequest, Question, Talk};
use forge_run::{Live, OrderError, Record};
use forge_types::{ApprovalId, RunId};

use crate::{Forge, Kind};

#[derive(Clone)]
pub(crate) struct Conversation(Arc<Inner>);

struct Inner {
    run: RunId,
    live: Live,
    state: Mutex<State>,
}

struct State {
    talk: Talk,
    /// Keys of the lines that were handed over.
    handed: HashSet<String>,
    /// Keys of the questions that were put.
    put: HashSet<String>,
    /// The questions that were open when it was last looked.
    open: HashSet<ApprovalId>,
    /// Keys of the acts that were taken on.
    taken: HashSet<String>,
    closed: bool,
}

impl Conversation {
    pub(crate) fn new(run: RunId, script: ConversationPlan, live: Live) -> Self {
        let state = State {
            talk: Talk::new(script),
            handed: HashSet::new(),
            put: HashSet::new(),
            open: HashSet::new(),
            taken: HashSet::new(),
            closed: false,
        };
        Self(Arc::new(Inner { run, live, state: Mutex::new(state) }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn push(&self, records: &[Record]) {
        let mut state = self.state();
        records.iter().for_each(|record| state.talk.push(record));
    }

    /// The line that asks the agent to stop.
    pub(crate) fn interrupt(&self) -> Option<String> {
        self.state().talk.interrupt()
    }

    /// The line that gives the agent a message while it works, when its protocol and its state allow that.
    pub(crate) fn message(&self, text: &str) -> Option<String> {
        self.state().talk.message(text)
    }

    /// Gives the agent a line of [`Self::message`]. False when it takes nothing more.
    pub(crate) async fn send(&self, line: &str) -> Result<bool, OrderError> {
        match self.0.live.send(line).await {
            Ok(()) => Ok(true),
            Err(OrderError::Ended | OrderError::Refused { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Hands over what is due.
    async fn say_due(&self) {
        let lines: Vec<(String, String)> = {
            let State { talk, handed, .. } = &mut *self.state();
            // What the log shows as said is not due any more and need not be remembered.
            handed.retain(|key| talk.due().iter().any(|due| due.key == *key));
            let due = talk.due().iter().filter(|due| handed.insert(due.key.clone()));
            due.map(|due| (due.key.clone(), due.line.clone())).collect()
        };
        for (key, line) in lines {
            match self.0.live.send(&line).await {
                Ok(()) => {}
                // It takes nothing more: its end is near, and the log will show it.
                Err(OrderError::Ended | OrderError::Refused { .. }) => return,
                Err(error) => {
                    tracing::warn!(run = %self.0.run, %error, "cannot send the agent what it waits for");
                    self.state().handed.remove(&key);
                }
            }
        }
        let close = {
            let state = &mut *self.state();
            state.talk.is_over() && !std::mem::replace(&mut state.closed, true)
        };
        if close && let Err(error) = self.0.live.close_stdin().await {
            tracing::debug!(run = %self.0.run, %error, "the agent's input was closed already");
        }
    }

    /// Questions that were not put to anybody yet.
    fn new_asks(&self) -> Vec<Question> {
        let State { talk, put, .. } = &mut *self.state();
        put.retain(|key| talk.asks().iter().any(|ask| ask.key == *key));
        talk.asks().iter().filter(|ask| put.insert(ask.key.clone())).cloned().collect()
    }

    /// The questions that are open now, when one of those that were is not any more.
    fn fewer_asks(&self) -> Option<HashSet<ApprovalId>> {
        let state = &mut *self.state();
        let now: HashSet<ApprovalId> =
            state.talk.asks().iter().map(|ask| ApprovalId::of(self.0.run, &ask.key)).collect();
        let before = std::mem::replace(&mut state.open, now.clone());
        (!before.is_subset(&now)).then_some(now)
    }

    /// What nobody has taken on yet.
    fn new_acts(&self) -> Vec<FileRequest> {
        let State { talk, taken, .. } = &mut *self.state();
        taken.retain(|key| talk.acts().iter().any(|act| act.key == *key));
        talk.acts().iter().filter(|act| taken.insert(act.key.clone())).cloned().collect()
    }

    /// Does what the agent wants done, one after the other, and reports back how that went.
    async fn carry_out(&self, acts: Vec<FileRequest>) {
        for act in acts {
            let key = act.key.clone();
            match tokio::task::spawn_blocking(move || act.carry_out()).await {
                Ok(line) => self.state().talk.acted(&key, line),
                Err(error) => {
                    tracing::error!(run = %self.0.run, %error, "cannot do what the agent wants done");
                    self.state().taken.remove(&key);
                }
            }
            self.say_due().await;
        }
    }
}

impl Forge {
    /// Sends the agent what it waits for, and puts its questions to a person.
    pub(crate) async fn service_conversation(&self, conversation: &Conversation) {
        conversation.say_due().await;
        if let Some(open) = conversation.fewer_asks()
            && let Err(error) = self.close_withdrawn(conversation.0.run, &open).await
        {
            tracing::warn!(run = %conversation.0.run, %error, "cannot take back what the agent no longer asks");
        }
        let acts = conversation.new_acts();
        if !acts.is_empty() {
            let conversation = conversation.clone();
            self.0.background.spawn(async move { conversation.carry_out(acts).await });
        }
        for ask in conversation.new_asks() {
            let (forge, conversation) = (self.clone(), conversation.clone());
            self.0.background.spawn(async move {
                tokio::select! {
                    () = forge.0.background.closing() => {}
                    () = forge.fetch_answer(&conversation, ask) => {}
                }
            });
        }
    }

    async fn fetch_answer(&self, conversation: &Conversation, ask: Question) {
        let run = conversation.0.run;
        let id = ApprovalId::of(run, &ask.key);
        if let Err(error) = conversation.0.live.hold().await {
            tracing::debug!(%run, %error, "the agent that asks is about to end");
        }
        let asked = self.ask_approval(id, run, &ask).await;
        let answer = match asked {
            Ok(()) => self.await_approval(id).await,
            Err(error) => Err(error),
        };
        match answer {
            Ok(answer) => {
                conversation.state().talk.answer(&ask.key, &answer);
                conversation.say_due().await;
            }
            // The run ended, or was deleted, with its question.
            Err(error) if matches!(error.kind(), Kind::NotFound | Kind::Conflict) => {}
            Err(error) => {
                tracing::error!(%run, %error, "cannot put the agent's question to anybody");
                conversation.state().put.remove(&ask.key);
            }
        }
    }
}
