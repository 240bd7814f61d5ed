//! A living run as the server sees it.
//!
//! Owns: one connection to the keeper, served by one task for as long as anybody holds the [`Live`] or its
//! progress. Invariant: progress never goes back and ends with an exit: the one the keeper reported, the one it
//! recorded, or *vanished* if it died without recording one; then nothing of the run is left. A keeper that lives
//! but is silent is waited for. Dropping everything affects neither keeper nor agent.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;

use crate::gone::{RunProcesses, end_and_record};
use crate::link::{KeeperMessage, MAX_LINE_BYTES, Op, Order, encode_line};
use crate::state::State;
use crate::{Exit, socket};

const STOP_TIMEOUT_MS: u64 = 10_000;
const REPLY_TIMEOUT_MS: u64 = 10_000;
const RECONNECT_PAUSE: Duration = Duration::from_millis(20);

/// The progress of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// Bytes in the journal.
    pub len: u64,
    pub exit: Option<Exit>,
}

/// Why an order to a run failed.
#[derive(Debug, thiserror::Error)]
pub enum OrderError {
    #[error("the run has ended; nothing more can be sent to it")]
    Ended,
    #[error("the agent does not accept input: {message}")]
    Refused { message: String },
    #[error("the keeper did not reply within {timeout_ms} ms")]
    Timeout { timeout_ms: u64 },
}

/// A run whose keeper is connected.
#[derive(Clone, Debug)]
pub struct Live {
    pid: u32,
    orders: mpsc::Sender<PendingOrder>,
    progress: watch::Receiver<Progress>,
    /// Becomes true when the keeper is gone, and with it the last of the agent's descendants.
    quiet: watch::Receiver<bool>,
}

#[derive(Debug)]
struct PendingOrder {
    op: Op,
    reply: oneshot::Sender<Result<(), String>>,
}

impl Live {
    /// Must be called within a tokio runtime. Without a stream it first connects.
    pub(crate) fn new(dir: &Path, processes: RunProcesses, stream: Option<UnixStream>) -> Live {
        let (orders, received) = mpsc::channel(16);
        let (progress_out, progress) = watch::channel(Progress::default());
        let (quiet_out, quiet) = watch::channel(false);
        let connection = KeeperConnection {
            dir: dir.to_owned(),
            processes,
            orders: received,
            progress: progress_out,
            quiet: quiet_out,
        };
        tokio::spawn(connection.run(stream));
        let pid = processes.agent.unwrap_or(processes.keeper).pid;
        Live { pid, orders, progress, quiet }
    }

    pub fn progress(&self) -> watch::Receiver<Progress> {
        self.progress.clone()
    }

    /// The agent's process id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Writes a line to the agent's stdin; the newline is added. `Ok` means that the line is recorded and queued.
    pub async fn send(&self, line: &str) -> Result<(), OrderError> {
        self.order(Op::Stdin { data: format!("{line}\n") }).await
    }

    /// The agent waits for a person, so its silence does not count until something is sent to it.
    pub async fn hold(&self) -> Result<(), OrderError> {
        self.order(Op::Hold).await
    }

    /// Closes the agent's stdin after everything sent so far.
    pub async fn close_stdin(&self) -> Result<(), OrderError> {
        self.order(Op::CloseStdin).await
    }

    /// Writes a remark into the log.
    pub async fn note(&self, text: &str) -> Result<(), OrderError> {
        self.order(Op::Note { text: text.to_owned() }).await
    }

    /// Ends the run and all its processes with the stop ladder, and waits for that. `interrupt` is the line by
    /// which the agent's own protocol asks it to stop. For a run that has already ended, returns how it ended.
    pub async fn stop(&self, interrupt: Option<&str>) -> Result<Exit, OrderError> {
        self.stop_because(interrupt, None).await
    }

    /// Like [`Live::stop`], with a reason that the log shows.
    pub async fn stop_because(
        &self,
        interrupt: Option<&str>,
        note: Option<&str>,
    ) -> Result<Exit, OrderError> {
        let (interrupt, note) = (interrupt.map(str::to_owned), note.map(str::to_owned));
        let stopped = async {
            match self.order(Op::Stop { interrupt, note }).await {
                Ok(()) | Err(OrderError::Ended) => {}
                Err(e) => return Err(e),
            }
            let mut progress = self.progress.clone();
            let ended = progress.wait_for(|progress| progress.exit.is_some()).await;
            let exit = ended.ok().and_then(|progress| progress.exit.clone()).ok_or(OrderError::Ended)?;
            // An error means that the task is gone, and the connection with it.
            let _ = self.quiet.clone().wait_for(|quiet| *quiet).await;
            Ok(exit)
        };
        let outcome = timeout(Duration::from_millis(STOP_TIMEOUT_MS), stopped).await;
        outcome.unwrap_or(Err(OrderError::Timeout { timeout_ms: STOP_TIMEOUT_MS }))
    }

    async fn order(&self, op: Op) -> Result<(), OrderError> {
        let (reply, replied) = oneshot::channel();
        let sent = async {
            self.orders.send(PendingOrder { op, reply }).await.map_err(|_| OrderError::Ended)?;
            replied.await.map_err(|_| OrderError::Ended)
        };
        match timeout(Duration::from_millis(REPLY_TIMEOUT_MS), sent).await {
            Ok(Ok(Ok(()))) => Ok(()),
            Ok(Ok(Err(message))) => Err(OrderError::Refused { message }),
            Ok(Err(e)) => Err(e),
            Err(_) => Err(OrderError::Timeout { timeout_ms: REPLY_TIMEOUT_MS }),
        }
    }
}

struct KeeperConnection {
    dir: PathBuf,
    processes: RunProcesses,
    orders: mpsc::Receiver<PendingOrder>,
    progress: watch::Sender<Progress>,
    quiet: watch::Sender<bool>,
}

/// Why a connection has ended.
enum Disconnect {
    /// The other side closed it, or it failed.
    Lost,
    /// Nobody uses the run any more.
    Unneeded,
}

impl KeeperConnection {
    async fn run(mut self, first: Option<UnixStream>) {
        let mut stream = first;
        loop {
            let connected = match stream.take() {
                Some(stream) => Ok(stream),
                None => self.reconnect().await,
            };
            match connected {
                Ok(stream) => {
                    if let Disconnect::Unneeded = self.serve(stream).await {
                        return;
                    }
                }
                Err(exit) => self.progress.send_modify(|progress| progress.exit = Some(exit)),
            }
            if self.progress.borrow().exit.is_some() {
                let _ = self.quiet.send(true);
                return;
            }
        }
    }

    async fn serve(&mut self, stream: UnixStream) -> Disconnect {
        let (from, mut to) = stream.into_split();
        let mut from = BufReader::new(from);
        let mut bytes = Vec::new();
        let mut open: HashMap<u64, oneshot::Sender<Result<(), String>>> = HashMap::new();
        let mut next_id = 1;
        let mut orders_open = true;
        loop {
            tokio::select! {
                // Safe to cancel: what was read stays in `bytes`.
                read = read_line(&mut from, &mut bytes) => {
                    let Ok(Some(message)) = read else { return Disconnect::Lost };
                    self.handle(message, &mut open);
                }
                order = self.orders.recv(), if orders_open => match order {
                    Some(order) => {
                        open.retain(|_, reply| !reply.is_closed());
                        open.insert(next_id, order.reply);
                        if send_order(&mut to, next_id, order.op).await.is_err() {
                            return Disconnect::Lost;
                        }
                        next_id += 1;
                    }
                    None => orders_open = false,
                },
                () = self.progress.closed() => return Disconnect::Unneeded,
            }
        }
    }

    fn handle(&self, message: KeeperMessage, open: &mut HashMap<u64, oneshot::Sender<Result<(), String>>>) {
        match message {
            KeeperMessage::Len(len) => {
                self.progress.send_modify(|progress| progress.len = progress.len.max(len))
            }
            KeeperMessage::Exit(exit) => self.progress.send_modify(|progress| progress.exit = Some(exit)),
            KeeperMessage::Reply { id, error } => {
                if let Some(reply) = open.remove(&id) {
                    let _ = reply.send(error.map_or(Ok(()), Err));
                }
            }
        }
    }

    /// Finds out what a lost connection means: returns a new one, or the end of the run.
    async fn reconnect(&self) -> Result<UnixStream, Exit> {
        while self.processes.keeper.is_alive() {
            if let Ok(Some(State { exit: Some(exit), .. })) = State::read(&self.dir) {
                return Err(exit);
            }
            match socket::connect(&self.dir).await {
                Ok(stream) => return Ok(stream),
                // It is about to end, or has too many clients. The loop ends with the keeper at the latest.
                Err(_) => tokio::time::sleep(RECONNECT_PAUSE).await,
            }
        }
        Err(end_and_record(&self.dir, Some(self.processes)).await)
    }
}

async fn send_order(to: &mut OwnedWriteHalf, id: u64, op: Op) -> io::Result<()> {
    let bytes = encode_line(&Order { id: Some(id), op });
    let written = timeout(Duration::from_millis(REPLY_TIMEOUT_MS), to.write_all(&bytes)).await;
    written.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

/// The message on the next line; `None` at the end.
async fn read_line(
    from: &mut BufReader<OwnedReadHalf>,
    bytes: &mut Vec<u8>,
) -> io::Result<Option<KeeperMessage>> {
    let room = (MAX_LINE_BYTES - bytes.len()) as u64;
    from.take(room).read_until(b'\n', bytes).await?;
    if bytes.last() != Some(&b'\n') {
        return Ok(None);
    }
    let message = serde_json::from_slice(bytes)?;
    bytes.clear();
    Ok(Some(message))
}
