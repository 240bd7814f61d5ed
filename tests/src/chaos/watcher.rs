//! A client that follows all events with a cursor, over every death of the server.
//!
//! Invariant: it comes back with the number of the last event it has seen, as every client does; in the end it has seen
//! what a new client gets, each event once.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::time::Duration;

use serde_json::Value;

use super::table::Promise;
use super::world::Server;
use crate::{PATIENCE, Socket};

#[derive(Default)]
pub struct Watcher {
    /// Where the era began.
    first: i64,
    /// Number and content of each event.
    seen: Vec<(i64, u64)>,
}

impl Watcher {
    /// Begins at what is newest now.
    pub async fn begin(server: &Server) -> Watcher {
        Watcher { first: newest(server).await, seen: Vec::new() }
    }

    fn last(&self) -> i64 {
        self.seen.last().map_or(self.first, |(seq, _)| *seq)
    }

    /// Follows until an event speaks of `mark`, or without one until the tale is over.
    async fn follow(&mut self, server: &Server, mark: Option<&str>) -> Result<(), ()> {
        while mark.is_some() || !server.is_over() {
            let client = server.client().await.ok_or(())?;
            let path = format!("/api/events/ws?after={}", self.last());
            let Ok(mut socket) = Socket::open(&client, &path).await else {
                tokio::time::sleep(Duration::from_millis(5)).await;
                continue;
            };
            let Some(hello) = socket.next().await else { continue };
            if hello["seq"] != self.last() {
                let what =
                    format!("events after {} were asked for; the stream begins at {hello}", self.last());
                server.broke(Promise::Lost, what);
            }
            loop {
                let frame = tokio::select! {
                    frame = socket.next() => frame,
                    () = server.until_over(), if mark.is_none() => return Ok(()),
                    () = tokio::time::sleep(PATIENCE / 2) => return Err(()),
                };
                let Some(frame) = frame else { break };
                self.take(server, &frame);
                if mark.is_some_and(|mark| frame.to_string().contains(mark)) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn take(&mut self, server: &Server, frame: &Value) {
        let seq = frame["seq"].as_i64().unwrap_or_default();
        if seq <= self.last() {
            server.broke(Promise::Doubled, format!("event {seq} came after event {}", self.last()));
        }
        let mut hash = DefaultHasher::new();
        frame.to_string().hash(&mut hash);
        self.seen.push((seq, hash.finish()));
    }

    /// Follows while the tale goes on.
    pub async fn watch(&mut self, server: &Server) {
        // Without a mark it ends when the tale does, or when there is no server any more, which is noted elsewhere.
        let _ = self.follow(server, None).await;
    }

    /// Catches up to the event that speaks of `mark`, reads all of it again as a new client, and compares.
    pub async fn compare(mut self, server: &Server, mark: &str) {
        let mut again = Watcher { first: self.first, seen: Vec::new() };
        let ends = (self.follow(server, Some(mark)).await, again.follow(server, Some(mark)).await);
        server.tally().events += self.seen.len();
        if ends == (Ok(()), Ok(())) && self.seen == again.seen {
            return;
        }
        let differs = self.seen.iter().zip(&again.seen).find(|(one, other)| one != other);
        let what = match differs {
            Some((one, other)) => format!("event {} was seen live where {} is now", one.0, other.0),
            None => format!("{} events were seen live, {} are there", self.seen.len(), again.seen.len()),
        };
        server.broke(Promise::Lost, what);
    }
}

async fn newest(server: &Server) -> i64 {
    loop {
        let Some(client) = server.client().await else { return 0 };
        if let Ok(mut socket) = Socket::open(&client, "/api/events/ws").await
            && let Some(hello) = socket.next().await
        {
            return hello["seq"].as_i64().unwrap_or_default();
        }
    }
}
