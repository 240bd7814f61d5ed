//! The sending side of a conversation: what its agent receives after the first lines, and when.
//!
//! Owns the state of a two-way conversation. It is a fold over the journal, which contains both directions, so a
//! server that starts later knows what was sent and what is still due. Invariants: a line is due until the journal
//! shows that it was sent; a question from the agent is open until the journal shows its answer; no input panics.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod acp;
mod claude;
mod codex;
mod file_request;

use forge_types::ApprovalStatus;
use serde_json::Value;

use crate::journal::{Kind, Record};
use crate::lines::{Line, Lines};
pub use file_request::FileRequest;

pub(crate) use claude::Hooks;
pub use codex::Opening;
pub(crate) use codex::{FEEDBACK, FEEDBACK_ID};

/// The denial that means "nobody answered in time".
pub(crate) const TIMED_OUT: &str = "Approval request timed out";

/// The denial without a reason.
pub(crate) const NO_REASON: &str = "The user does not allow this tool use.";

/// What is needed for a conversation: made when a run is planned, and again for the same run after a restart.
#[derive(Clone, Debug, PartialEq)]
pub enum ConversationPlan {
    Claude,
    Codex(Opening),
    Acp(acp::Opening),
}

/// A line for the agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Due {
    pub key: String,
    pub line: String,
}

/// A question from the agent that a person must answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The agent's own id of the question.
    pub key: String,
    pub tool_name: String,
    pub tool_input: Value,
    /// The agent's own id of this use of the tool.
    pub call_id: Option<String>,
    pub at_ms: i64,
}

/// One protocol. Lines to send go to [`Pending`].
trait Driver: Send {
    /// Reads a line that the agent printed.
    fn read(&mut self, line: &[u8], at_ms: i64, pending: &mut Pending);

    /// The key of a line to the agent, sent or due; `None` for lines that are never due.
    fn key_of(&self, line: &[u8]) -> Option<String>;

    /// Notes a line that was sent.
    fn note_sent(&mut self, line: &[u8]);

    /// A line to send before the answer, where the answer itself has no field for a reason.
    fn explain(&self, _ask: &Question, _answer: &ApprovalStatus) -> Option<Due> {
        None
    }

    /// The line that answers a question.
    fn reply(&self, ask: &Question, answer: &ApprovalStatus) -> Value;

    /// The line with a message to the agent while it works, where the protocol has one.
    fn message(&self, text: &str) -> Option<Value>;

    /// The line that asks the agent to stop.
    fn interrupt(&self) -> Option<Value>;
}

/// What is still to be sent and decided.
#[derive(Default)]
struct Pending {
    due: Vec<Due>,
    asks: Vec<Question>,
    acts: Vec<FileRequest>,
    over: bool,
}

pub struct Talk {
    driver: Box<dyn Driver>,
    output: Lines,
    input: Lines,
    pending: Pending,
}

impl Talk {
    pub fn new(script: ConversationPlan) -> Talk {
        let driver: Box<dyn Driver> = match script {
            ConversationPlan::Claude => Box::new(claude::Claude::default()),
            ConversationPlan::Codex(opening) => Box::new(codex::Codex::new(opening)),
            ConversationPlan::Acp(opening) => Box::new(acp::Acp::new(opening)),
        };
        Talk { driver, output: Lines::default(), input: Lines::default(), pending: Pending::default() }
    }

    /// Reads the next record of the run's journal.
    pub fn push(&mut self, record: &Record) {
        let Talk { driver, output, input, pending } = self;
        match record.kind {
            Kind::Stdout => output.push(&record.bytes, |line| {
                if let Line::Whole(line) = line {
                    driver.read(line, record.at_ms, pending);
                }
            }),
            Kind::Stdin => input.push(&record.bytes, |line| {
                if let Line::Whole(line) = line {
                    driver.note_sent(line);
                    if let Some(key) = driver.key_of(line) {
                        pending.due.retain(|due| due.key != key);
                        pending.asks.retain(|ask| ask.key != key);
                        pending.acts.retain(|act| act.key != key);
                    }
                }
            }),
            Kind::Stderr | Kind::Note | Kind::End => {}
        }
    }

    /// The lines that the agent waits for, in order.
    pub fn due(&self) -> &[Due] {
        &self.pending.due
    }

    /// The questions that nobody has answered yet.
    pub fn asks(&self) -> &[Question] {
        &self.pending.asks
    }

    /// Makes the answer to a question due. An answer to a question that is not open is dropped.
    pub fn answer(&mut self, key: &str, answer: &ApprovalStatus) {
        let Some(at) = self.pending.asks.iter().position(|ask| ask.key == key) else { return };
        let ask = self.pending.asks.remove(at);
        self.pending.due.extend(self.driver.explain(&ask, answer));
        let line = self.driver.reply(&ask, answer).to_string();
        self.pending.due.push(Due { key: ask.key, line });
    }

    /// The requests of the agent that are still to be carried out.
    pub fn acts(&self) -> &[FileRequest] {
        &self.pending.acts
    }

    /// Makes the line due that reports the result of a request.
    pub fn acted(&mut self, key: &str, line: String) {
        let Some(at) = self.pending.acts.iter().position(|act| act.key == key) else { return };
        let FileRequest { key, .. } = self.pending.acts.remove(at);
        self.pending.due.push(Due { key, line });
    }

    /// Whether the conversation is over, so that the agent's stdin may be closed.
    pub fn is_over(&self) -> bool {
        self.pending.over
    }

    pub fn message(&self, text: &str) -> Option<String> {
        self.driver.message(text).map(|line| line.to_string())
    }

    pub fn interrupt(&self) -> Option<String> {
        self.driver.interrupt().map(|line| line.to_string())
    }
}

impl Pending {
    fn send(&mut self, key: impl Into<String>, line: &Value) {
        self.due.push(Due { key: key.into(), line: line.to_string() });
    }

    fn ask(&mut self, ask: Question) {
        self.asks.push(ask);
    }

    fn act(&mut self, act: FileRequest) {
        self.acts.push(act);
    }

    /// The agent no longer needs an answer.
    fn withdraw(&mut self, key: &str) {
        self.asks.retain(|ask| ask.key != key);
    }
}
