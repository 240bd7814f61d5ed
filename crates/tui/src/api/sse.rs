//! Server-sent events, read line by line.
//!
//! Invariant: a message is handed out once and whole, however the network cuts it.

use std::collections::VecDeque;
use std::time::Duration;

use super::Fault;

/// The server says something every 15 seconds.
const QUIET_LIMIT: Duration = Duration::from_secs(50);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    pub id: Option<i64>,
    /// Empty for messages without a name.
    pub event: String,
    pub data: String,
}

pub struct Sse {
    answer: reqwest::Response,
    parser: Parser,
}

impl Sse {
    pub(super) fn new(answer: reqwest::Response) -> Self {
        Self { answer, parser: Parser::default() }
    }

    /// The next message; `None` when the server ended the stream. May be dropped and called again.
    pub async fn next(&mut self) -> Result<Option<Message>, Fault> {
        loop {
            if let Some(message) = self.parser.ready.pop_front() {
                return Ok(Some(message));
            }
            let chunk = tokio::time::timeout(QUIET_LIMIT, self.answer.chunk()).await;
            let chunk = chunk.map_err(|_| Fault::Away("the stream went silent".to_owned()))?;
            match chunk.map_err(|error| Fault::Away(error.to_string()))? {
                Some(bytes) => self.parser.take(&bytes),
                None => return Ok(None),
            }
        }
    }

    /// What has come already, without waiting.
    pub fn ready(&mut self) -> Option<Message> {
        self.parser.ready.pop_front()
    }
}

#[derive(Default)]
struct Parser {
    /// The line that is not complete yet.
    rest: Vec<u8>,
    message: Message,
    ready: VecDeque<Message>,
}

impl Parser {
    fn take(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match byte {
                b'\n' => {
                    let line = std::mem::take(&mut self.rest);
                    self.line(&String::from_utf8_lossy(&line));
                }
                byte => self.rest.push(*byte),
            }
        }
    }

    fn line(&mut self, line: &str) {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.is_empty() {
            let message = std::mem::take(&mut self.message);
            if !message.data.is_empty() {
                self.ready.push_back(message);
            }
            return;
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "id" => self.message.id = value.parse().ok(),
            "event" => self.message.event = value.to_owned(),
            "data" => {
                if !self.message.data.is_empty() {
                    self.message.data.push('\n');
                }
                self.message.data.push_str(value);
            }
            // A comment, or something newer than this.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_whole_however_they_are_cut() {
        let text = ": open\n\nid: 7\nevent: worker\ndata: {\"a\":\ndata: \"ä\"}\r\n\r\n: keep\n\ndata:x\n\n";
        let want = [
            Message { id: Some(7), event: "worker".into(), data: "{\"a\":\n\"ä\"}".into() },
            Message { id: None, event: String::new(), data: "x".into() },
        ];
        for size in 1..text.len() {
            let mut parser = Parser::default();
            text.as_bytes().chunks(size).for_each(|chunk| parser.take(chunk));
            assert_eq!(Vec::from(parser.ready), want, "in pieces of {size}");
        }
    }
}
