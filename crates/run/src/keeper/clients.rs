//! The clients connected to the keeper's socket.
//!
//! Invariant: no client can block the keeper or make it grow: reads and writes do not block, a slow client gets
//! only the newest length later, and one that sends invalid lines or never reads its replies is dropped.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};

use crate::Exit;
use crate::link::{KeeperMessage, MAX_LINE_BYTES, Order, encode_line};

const MAX_CLIENTS: usize = 64;
const MAX_OUTBOX_BYTES: usize = 64 * 1024;
const READ_BYTES: usize = 16 * 1024;

pub(super) struct Clients {
    listener: UnixListener,
    clients: Vec<Client>,
}

struct Client {
    stream: UnixStream,
    inbox: Vec<u8>,
    outbox: Vec<u8>,
    sent_len: Option<u64>,
    sent_exit: bool,
    gone: bool,
}

impl Clients {
    pub(super) fn new(listener: UnixListener) -> Clients {
        Clients { listener, clients: Vec::new() }
    }

    pub(super) fn listener(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// The descriptor of every client, in the order of their numbers, and whether it has something to write.
    pub(super) fn descriptors(&self) -> impl Iterator<Item = (BorrowedFd<'_>, bool)> {
        self.clients.iter().map(|client| (client.stream.as_fd(), !client.outbox.is_empty()))
    }

    pub(super) fn accept(&mut self) {
        while let Ok((stream, _)) = self.listener.accept() {
            if self.clients.len() < MAX_CLIENTS && stream.set_nonblocking(true).is_ok() {
                self.clients.push(Client {
                    stream,
                    inbox: Vec::new(),
                    outbox: Vec::new(),
                    sent_len: None,
                    sent_exit: false,
                    gone: false,
                });
            }
        }
    }

    /// Reads once from a client; returns the complete orders.
    pub(super) fn read(&mut self, number: usize) -> Vec<Order> {
        let Some(client) = self.clients.get_mut(number) else { return Vec::new() };
        let orders = client.read();
        client.gone |= orders.is_none();
        orders.unwrap_or_default()
    }

    pub(super) fn reply(&mut self, number: usize, id: u64, outcome: Result<(), String>) {
        if let Some(client) = self.clients.get_mut(number) {
            client.outbox.extend(encode_line(&KeeperMessage::Reply { id, error: outcome.err() }));
        }
    }

    /// Sends what is new to every client that is ready for it, and drops those that are gone.
    pub(super) fn send_news(&mut self, len: u64, exit: Option<&Exit>) {
        for client in &mut self.clients {
            client.send_news(len, exit);
        }
        self.clients.retain(|client| !client.gone);
    }

    /// Whether every client has received the end of the run.
    pub(super) fn all_have_exit(&self) -> bool {
        self.clients.iter().all(|client| client.sent_exit && client.outbox.is_empty())
    }
}

impl Client {
    fn read(&mut self) -> Option<Vec<Order>> {
        let mut bytes = [0; READ_BYTES];
        match self.stream.read(&mut bytes) {
            Ok(0) => return None,
            Ok(n) => self.inbox.extend_from_slice(&bytes[..n]),
            Err(e) if would_block(&e) => return Some(Vec::new()),
            Err(_) => return None,
        }
        let whole = self.inbox.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let orders = self.inbox[..whole]
            .split(|&byte| byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line).ok())
            .collect();
        self.inbox.drain(..whole);
        if self.inbox.len() > MAX_LINE_BYTES { None } else { orders }
    }

    fn send_news(&mut self, len: u64, exit: Option<&Exit>) {
        self.flush();
        if self.outbox.is_empty() && self.sent_len != Some(len) {
            self.sent_len = Some(len);
            self.outbox = encode_line(&KeeperMessage::Len(len));
        }
        if let Some(exit) = exit
            && !self.sent_exit
        {
            self.sent_exit = true;
            // The end must arrive together with the length that includes it.
            if self.sent_len != Some(len) {
                self.sent_len = Some(len);
                self.outbox.extend(encode_line(&KeeperMessage::Len(len)));
            }
            self.outbox.extend(encode_line(&KeeperMessage::Exit(exit.clone())));
        }
        self.flush();
        self.gone |= self.outbox.len() > MAX_OUTBOX_BYTES;
    }

    fn flush(&mut self) {
        while !self.outbox.is_empty() && !self.gone {
            match self.stream.write(&self.outbox) {
                Ok(n) => drop(self.outbox.drain(..n)),
                Err(e) if would_block(&e) => return,
                Err(_) => self.gone = true,
            }
        }
    }
}

fn would_block(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
