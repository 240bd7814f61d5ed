//! The frames of one stream, over whatever gets through.
//!
//! Invariant: frames come out whole and in order, also when a call of `next` is dropped half way.

use std::collections::VecDeque;
use std::time::Duration;

use forge_types::wire::{FramePage, PatchFrame, StreamFrame};
use reqwest::Method;
use tokio::time::timeout;

use crate::client::Client;
use crate::error::{Error, Kind};
use crate::socket::Socket;
use crate::sse::Events;

/// An event stream begins with a comment. What comes later than this is held back on its way.
const FIRST_SIGN: Duration = Duration::from_secs(5);
/// How long the server holds a request for a page back while nothing happens.
const PAGE_WAIT_MS: u64 = 20_000;
const PAGE_LIMIT: Duration = Duration::from_secs(60);
/// Between two pages when there is no more at the moment.
const PAGE_PAUSE: Duration = Duration::from_millis(100);

/// How streams get through, from the best way to the one that always does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Way {
    #[default]
    Socket,
    Events,
    Pages,
}

/// How far a stream is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Until {
    End,
    /// As far as it goes at this moment; only pages have such an end.
    Now,
}

pub enum Pipe {
    Socket(Box<Socket>),
    Events(Box<Events>),
    Pages(Pages),
}

impl Pipe {
    /// The frames after `seen`. A query ends with `&`.
    pub async fn open(
        client: &Client,
        path: &str,
        query: &str,
        seen: i64,
        until: Until,
    ) -> Result<Self, Error> {
        let way = if until == Until::Now { Way::Pages } else { client.way() };
        Ok(match way {
            Way::Socket => {
                Self::Socket(Box::new(client.socket(&format!("{path}/ws?{query}after={seen}")).await?))
            }
            Way::Events => {
                Self::Events(Box::new(open_events(client, &format!("{path}/sse?{query}after={seen}")).await?))
            }
            Way::Pages => {
                let address = format!("{path}?{query}");
                let page = ask(client, &address, seen, 0).await?;
                Self::Pages(Pages { client: client.clone(), address, seen, until, page })
            }
        })
    }

    /// The next frame; `None` when there are no more, and an error when they do not come this way any more.
    pub async fn next(&mut self) -> Result<Option<StreamFrame>, Error> {
        let text = match self {
            Self::Pages(pages) => return pages.next().await,
            Self::Events(events) => events.next().await?.map(|message| message.data),
            Self::Socket(socket) => socket.next().await?,
        };
        let text = text.ok_or_else(|| Error::cut("the stream has ended"))?;
        // A frame of a kind that this client does not know brings no change.
        let unknown = |_| StreamFrame::Patch(PatchFrame { patch: Vec::new(), seq: None });
        Ok(Some(serde_json::from_str(&text).unwrap_or_else(unknown)))
    }
}

async fn open_events(client: &Client, path: &str) -> Result<Events, Error> {
    let opening = async {
        let mut events = client.events(path).await?;
        match events.read().await? {
            true => Ok(events),
            false => Err(Error::cut("the stream has ended")),
        }
    };
    let late = |_| Error::away(Kind::TimedOut, client.base());
    timeout(FIRST_SIGN, opening).await.map_err(late)?
}

/// One request after another.
pub struct Pages {
    client: Client,
    address: String,
    seen: i64,
    until: Until,
    page: Page,
}

/// A page, of which some frames may have been taken.
struct Page {
    frames: VecDeque<StreamFrame>,
    finished: bool,
    more: bool,
}

impl Pages {
    async fn next(&mut self) -> Result<Option<StreamFrame>, Error> {
        loop {
            if let Some(frame) = self.page.frames.pop_front() {
                self.seen = frame.seq().unwrap_or(self.seen);
                return Ok(Some(frame));
            }
            if self.page.finished || (self.until == Until::Now && !self.page.more) {
                return Ok(None);
            }
            let wait_ms = if self.page.more { 0 } else { PAGE_WAIT_MS };
            if !self.page.more {
                tokio::time::sleep(PAGE_PAUSE).await;
            }
            self.page = ask(&self.client, &self.address, self.seen, wait_ms).await?;
        }
    }
}

async fn ask(client: &Client, address: &str, seen: i64, wait_ms: u64) -> Result<Page, Error> {
    // The server holds it back longer than other requests may take.
    let request = client.request(Method::GET, &format!("{address}after={seen}&wait_ms={wait_ms}"));
    let late = |_| Error::away(Kind::TimedOut, client.base());
    let FramePage { frames, finished, more } =
        timeout(PAGE_LIMIT, client.send(request)).await.map_err(late)??;
    Ok(Page { frames: frames.into(), finished, more })
}
