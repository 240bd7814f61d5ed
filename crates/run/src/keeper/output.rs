//! The agent's output.
//!
//! Owns: one [`Stream`] for each of stdout and stderr, and the [`Trigger`] that looks for the line after which
//! stdin is closed. Invariant: bytes are passed on in order and none are lost; only the beginning of an incomplete
//! character waits.

use std::os::fd::OwnedFd;

use rustix::buffer::spare_capacity;
use rustix::io::{Errno, read};
use serde::Deserialize;
use serde_json::Value;

use crate::Cue;
use crate::journal::{Kind, unfinished};
use crate::link::MAX_LINE_BYTES;

const READ_BYTES: usize = 64 * 1024;

pub(super) struct Stream {
    pub(super) kind: Kind,
    pipe: Option<OwnedFd>,
    held: Vec<u8>,
}

impl Stream {
    pub(super) fn new(kind: Kind, pipe: Option<OwnedFd>) -> Stream {
        Stream { kind, pipe, held: Vec::new() }
    }

    pub(super) fn pipe(&self) -> Option<&OwnedFd> {
        self.pipe.as_ref()
    }

    /// Reads once and puts into `buffer` what can be recorded now, which may be nothing. Closes the pipe at its
    /// end.
    pub(super) fn read(&mut self, buffer: &mut Vec<u8>) {
        buffer.clear();
        buffer.append(&mut self.held);
        let Some(pipe) = &self.pipe else { return };
        buffer.reserve(READ_BYTES);
        match read(pipe, spare_capacity(buffer)) {
            Ok(n) if n > 0 => {}
            Err(Errno::AGAIN | Errno::INTR) => {}
            Ok(_) | Err(_) => {
                self.pipe = None;
                return;
            }
        }
        self.held = buffer.split_off(buffer.len() - unfinished(buffer));
    }

    /// Closes the pipe, even if another process still holds its other end; puts what was held back into `buffer`.
    pub(super) fn close(&mut self, buffer: &mut Vec<u8>) {
        self.pipe = None;
        buffer.clear();
        buffer.append(&mut self.held);
    }
}

/// Waits for the line by which an agent reports that it is done.
pub(super) struct Trigger {
    wanted: Cue,
    /// The thread whose end counts, once it is known.
    subject: Option<Value>,
    line: Vec<u8>,
    /// The line is too long to be checked.
    overlong: bool,
}

/// The fields that identify such a line.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    r#type: Value,
    #[serde(default)]
    method: Value,
    #[serde(default)]
    id: Value,
}

impl Trigger {
    pub(super) fn new(wanted: Cue) -> Trigger {
        Trigger { wanted, subject: None, line: Vec::new(), overlong: false }
    }

    /// Whether these bytes complete such a line.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> bool {
        let mut seen = false;
        for part in bytes.split_inclusive(|&byte| byte == b'\n') {
            let ends = part.last() == Some(&b'\n');
            if ends && self.line.is_empty() && !self.overlong {
                seen |= self.matches(part);
                continue;
            }
            if self.line.len() + part.len() > MAX_LINE_BYTES {
                self.overlong = true;
                self.line = Vec::new();
            }
            if !self.overlong {
                self.line.extend_from_slice(part);
            }
            if ends {
                let line = std::mem::take(&mut self.line);
                seen |= self.matches(&line);
                self.overlong = false;
            }
        }
        seen
    }

    fn matches(&mut self, line: &[u8]) -> bool {
        if line.trim_ascii_start().first() != Some(&b'{') {
            return false;
        }
        let Ok(head) = serde_json::from_slice::<Head>(line) else { return false };
        match &self.wanted {
            Cue::Type(wanted) => head.r#type == wanted.as_str(),
            Cue::Method { method, named_at, subject_at } => {
                let ends = head.method == method.as_str();
                if !ends && self.subject.is_some() {
                    return false;
                }
                let Ok(message) = serde_json::from_slice::<Value>(line) else { return false };
                if self.subject.is_none() {
                    self.subject = message.pointer(named_at).cloned();
                }
                ends && (self.subject.is_none() || message.pointer(subject_at) == self.subject.as_ref())
            }
            // Each side numbers its own requests, so a request of the agent may have the same id.
            Cue::Reply(wanted) => head.id == *wanted && head.method.is_null(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_object_of_that_type_is_a_trigger() {
        let sees = |text: &str| Trigger::new(Cue::Type("result".into())).feed(text.as_bytes());
        assert!(sees("noise\n{\"a\":{\"type\":\"x\"},\"type\":\"result\"}\n"));
        assert!(!sees("{\"type\":\"assistant\",\"text\":\"result\"}\n"));
        assert!(!sees("{\"inner\":{\"type\":\"result\"}}\n"));
        assert!(!sees("\"type\":\"result\"\n"));
        assert!(!sees("{\"type\":\"result\"}"), "the line is not finished");
    }

    #[test]
    fn each_protocol_has_its_last_line() {
        let sees = |cue: Cue, text: &str| Trigger::new(cue).feed(text.as_bytes());
        let turn_end = || {
            let (named_at, subject_at) = ("/result/id".into(), "/params/id".into());
            Cue::Method { method: "end".into(), named_at, subject_at }
        };
        let end = |id: &str| format!("{{\"method\":\"end\",\"params\":{{\"id\":\"{id}\"}}}}\n");
        let named = "{\"id\":1,\"result\":{\"id\":\"a\"}}\n{\"id\":2,\"result\":{\"id\":\"b\"}}\n";
        assert!(sees(turn_end(), &end("a")), "of one that was never named");
        assert!(!sees(turn_end(), "{\"method\":\"begin\"}\n"));
        assert!(sees(turn_end(), &format!("{named}{}", end("a"))));
        assert!(!sees(turn_end(), &format!("{named}{}", end("b"))), "another's end");
        assert!(sees(Cue::Reply(9), "{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}\n"));
        assert!(sees(Cue::Reply(9), "{\"id\":9,\"error\":{}}\n"));
        assert!(!sees(Cue::Reply(9), "{\"id\":9,\"method\":\"session/request_permission\"}\n"));
        assert!(!sees(Cue::Reply(9), "{\"id\":\"9\",\"result\":{}}\n"));
    }

    #[test]
    fn a_line_in_pieces_is_seen() {
        let mut trigger = Trigger::new(Cue::Type("result".into()));
        let seen: Vec<bool> =
            "{\"type\":\"result\"}\n{".as_bytes().chunks(3).map(|piece| trigger.feed(piece)).collect();
        assert_eq!(seen.iter().filter(|&&seen| seen).count(), 1);
        assert!(!trigger.feed(b"}\n"));
    }
}
