//! A stream that outlives the server it comes from, and gets through where WebSockets do not.
//!
//! Owns the position in the stream and the choice of its way. Invariant: no change is lost or repeated over a
//! reconnection, whatever the way; a way is given up only while plain requests reach the server; and a server that stays
//! away longer than [`PATIENCE`] ends the waiting.

use std::time::{Duration, Instant};

use forge_types::wire::{PatchFrame, PatchOp, StreamFrame};

use crate::client::Client;
use crate::error::{Error, Kind};
use crate::pipe::{Pipe, Until, Way};

const PATIENCE: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(500);
const NO_STREAM: &str = "neither WebSockets nor server-sent events get through, and this cannot be followed without; \
     leave out --follow";
/// One failure may be a server that is just restarting.
const STRIKES: u8 = 2;

pub struct Feed {
    client: Client,
    path: String,
    query: String,
    until: Until,
    /// Whether the stream can be had a page at a time.
    has_pages: bool,
    seen: i64,
    pipe: Option<Pipe>,
    /// The current pipe has brought something.
    has_spoken: bool,
    strikes: u8,
    away_since: Option<Instant>,
}

pub enum Step {
    /// Changes, in order.
    Changes(Vec<PatchOp>),
    /// The server went away; the agent did not.
    Lost,
    Back,
    Finished,
}

impl Feed {
    /// The stream at a path that has `/ws` and its other ways below it; it may have a query.
    pub fn new(client: &Client, path: String) -> Self {
        let (path, query) = match path.split_once('?') {
            Some((path, query)) => (path.to_owned(), format!("{query}&")),
            None => (path, String::new()),
        };
        Self {
            client: client.clone(),
            path,
            query,
            until: Until::End,
            has_pages: true,
            seen: 0,
            pipe: None,
            has_spoken: false,
            strikes: 0,
            away_since: None,
        }
    }

    /// The stream as far as it goes at this moment.
    pub fn so_far(client: &Client, path: String) -> Self {
        Self { until: Until::Now, ..Self::new(client, path) }
    }

    /// A stream that has no pages, because its messages have no lasting numbers.
    pub fn without_pages(client: &Client, path: String) -> Self {
        Self { has_pages: false, ..Self::new(client, path) }
    }

    /// What happens next. May be dropped and called again at any time.
    pub async fn next(&mut self) -> Result<Step, Error> {
        loop {
            let Some(pipe) = &mut self.pipe else {
                match self.open().await {
                    Ok(pipe) => {
                        (self.pipe, self.has_spoken) = (Some(pipe), false);
                        if self.away_since.take().is_some() {
                            return Ok(Step::Back);
                        }
                    }
                    Err(error) => self.bear(error).await?,
                }
                continue;
            };
            let frame = match pipe.next().await {
                Ok(Some(frame)) => frame,
                Ok(None) => return Ok(Step::Finished),
                Err(_) => {
                    self.pipe = None;
                    if !self.has_spoken && self.suspect(1).await {
                        continue;
                    }
                    self.away_since = Some(Instant::now());
                    return Ok(Step::Lost);
                }
            };
            (self.has_spoken, self.strikes) = (true, 0);
            self.seen = frame.seq().unwrap_or(self.seen);
            match frame {
                StreamFrame::End(_) => return Ok(Step::Finished),
                StreamFrame::Patch(PatchFrame { patch, .. }) if !patch.is_empty() => {
                    return Ok(Step::Changes(patch));
                }
                StreamFrame::Patch(_) => {}
            }
        }
    }

    async fn open(&self) -> Result<Pipe, Error> {
        if self.until == Until::End && !self.has_pages && self.client.way() == Way::Pages {
            return Err(Error::new(Kind::NoStream, NO_STREAM));
        }
        Pipe::open(&self.client, &self.path, &self.query, self.seen, self.until).await
    }

    /// A way led nowhere. Returns whether that is the way's fault and not the server's.
    async fn suspect(&mut self, strikes: u8) -> bool {
        let way = self.client.way();
        if way == Way::Pages || self.until == Until::Now || self.client.ready().await.is_none() {
            return false;
        }
        self.strikes += strikes;
        if self.strikes >= STRIKES {
            self.strikes = 0;
            let (blocked, next) = match self.client.give_up(way) {
                Way::Pages => ("server-sent events", "asking for news again and again"),
                _ => ("WebSockets", "using server-sent events"),
            };
            self.client.remark(&format!("{blocked} do not get through; {next}"));
        }
        true
    }

    async fn bear(&mut self, error: Error) -> Result<(), Error> {
        let is_refusal = error.kind.is_refusal();
        if (is_refusal && error.kind != Kind::Failed) || error.kind == Kind::NoStream {
            return Err(error);
        }
        // Silence on the way is not what a restart looks like.
        let strikes = if error.kind == Kind::TimedOut { STRIKES } else { 1 };
        if !is_refusal && self.suspect(strikes).await {
            return Ok(());
        }
        let since = *self.away_since.get_or_insert_with(Instant::now);
        if since.elapsed() > PATIENCE {
            let base = self.client.base();
            let message = format!("the server at {base} did not come back; the agent may still be at work");
            return Err(Error::new(Kind::Gone, message));
        }
        tokio::time::sleep(PAUSE).await;
        Ok(())
    }
}
