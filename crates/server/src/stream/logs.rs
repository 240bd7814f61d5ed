//! Raw logs: what a process wrote, chunk by chunk.
//!
//! Invariant: entry N is output record N of the log, on every connection and after any `?after=` or `?tail=`; nothing
//! is cut, joined or left out, and what is not text is available byte for byte. Forge's own remarks are shown as
//! stderr; input to the process is not shown.

use std::fmt::Write as _;

use axum::extract::State;
use axum::http::HeaderMap;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;
use forge_core::{Forge, LogStart, LogTail, Record, RecordKind, Result};
use forge_types::{ErrandId, RunId, RunReason};
use futures_util::{Stream, stream};

use crate::App;
use crate::envelope::{Answer, Fault};
use crate::extract::{Id, Params};
use crate::stream::delivery::Delivery;
use crate::stream::live::Numbering;
use crate::stream::monitor::Monitor;
use crate::stream::patch::{finished, open, push_quoted};
use crate::stream::settle::settle;
use crate::stream::socket::{Batch, Upgrade};

pub(crate) async fn watch_raw(
    State(app): State<App>,
    Id(run): Id<RunId>,
    headers: HeaderMap,
    params: Params,
    delivery: Delivery,
) -> Answer {
    let (start, numbering) = match tail(&params, &delivery)? {
        Some(count) => (LogStart::Last(count), Numbering::Numbered),
        None => (start(delivery.after()), Numbering::of(delivery.after())),
    };
    let log = Log::open(&app.forge, run, start, numbering, Form::Patches, Monitor::of(&headers)).await?;
    delivery.send(&app, log.frames()).await
}

/// How many entries from the end the client wants first. It applies to the first connection: a browser that reconnects
/// by itself sends the number after which to continue.
fn tail(params: &Params, delivery: &Delivery) -> std::result::Result<Option<u64>, Fault> {
    let tail = params.number("tail", 1, u64::MAX)?;
    if tail.is_some() && params.get("after").is_some() {
        return Err(Fault::bad_request(
            "tail: not together with 'after', which also says where to begin; send one of them",
        ));
    }
    Ok(tail.filter(|_| delivery.after().is_none_or(|after| after == 0)))
}

fn start(after: Option<i64>) -> LogStart {
    LogStart::After(after.unwrap_or(0).unsigned_abs())
}

/// The log of the errand's newest agent run, in the format for errands.
pub(crate) async fn watch_errand(
    State(app): State<App>,
    Id(errand): Id<ErrandId>,
    params: Params,
    upgrade: Upgrade,
) -> Answer {
    let after = params.after()?;
    let runs = app.forge.errand_runs(errand).await?;
    let Some(run) = runs.iter().rfind(|run| run.reason == RunReason::CodingAgent) else {
        let end = finished(Numbering::of(after).seq(1));
        return Ok(upgrade.send(&app, stream::iter([Ok(vec![end.into()])])));
    };
    let numbering = Numbering::of(after);
    let log = Log::open(&app.forge, run.id, start(after), numbering, Form::Plain, Monitor::Absent).await?;
    Ok(upgrade.send(&app, log.frames()))
}

/// The format of a chunk.
#[derive(Clone, Copy)]
enum Form {
    /// `{"JsonPatch":[{"op":"add","path":"/entries/N",…}]}`
    Patches,
    /// `{"Stdout":…}` and `{"Stderr":…}`
    Plain,
}

struct Log {
    forge: Forge,
    run: RunId,
    tail: LogTail,
    /// How many entries were written.
    written: i64,
    numbering: Numbering,
    form: Form,
    monitor: Monitor,
    /// The client has received everything that exists so far.
    idle: bool,
}

impl Log {
    async fn open(
        forge: &Forge,
        run: RunId,
        start: LogStart,
        numbering: Numbering,
        form: Form,
        monitor: Monitor,
    ) -> Result<Self> {
        let tail = forge.log(run, start).await?;
        Ok(Self { forge: forge.clone(), run, tail, written: 0, numbering, form, monitor, idle: false })
    }

    /// Number of the next entry, from 0; known once the log was read.
    fn next(&self) -> i64 {
        self.tail.first().cast_signed() + self.written
    }

    fn frames(self) -> impl Stream<Item = Result<Batch>> + Send + 'static {
        stream::try_unfold(Some(self), |log| async move {
            let Some(mut log) = log else { return Ok(None) };
            loop {
                let records = if log.idle { log.tail.next().await } else { log.tail.now().await };
                let Some(records) = records? else { return Ok(Some((log.end().await, None))) };
                log.idle = records.is_empty();
                let batch = log.write_all(&records);
                if log.idle || !batch.is_empty() {
                    return Ok(Some((batch, Some(log))));
                }
            }
        })
    }

    fn write_all(&mut self, records: &[Record]) -> Batch {
        let mut batch = Vec::with_capacity(records.len());
        for record in records {
            let stdout = match record.kind {
                RecordKind::Stdout => true,
                RecordKind::Stderr | RecordKind::Note => false,
                RecordKind::Stdin | RecordKind::End => continue,
            };
            let content = String::from_utf8_lossy(&record.bytes);
            batch.extend(self.monitor.log(&content).map(Into::into));
            batch.push(self.write(stdout, &content, &record.bytes).into());
            self.written += 1;
        }
        batch
    }

    /// `content` is `bytes` as text. Clients that want numbers also get the bytes where the text differs from them.
    fn write(&self, stdout: bool, content: &str, bytes: &[u8]) -> String {
        // Room for a few escapes: most chunks are lines of text.
        let mut text = open(self.numbering.seq(self.next() + 1), content.len() + content.len() / 16 + 64);
        match self.form {
            Form::Patches => {
                let kind = if stdout { "STDOUT" } else { "STDERR" };
                // Writing into a String cannot fail.
                let _ = write!(
                    text,
                    r#""JsonPatch":[{{"op":"add","path":"/entries/{}","value":{{"type":"{kind}","content":"#,
                    self.next()
                );
                push_quoted(&mut text, content);
                if matches!(self.numbering, Numbering::Numbered) && content.as_bytes() != bytes {
                    let _ = write!(text, r#","bytes":"{}""#, BASE64.encode(bytes));
                }
                text.push_str("}}]}");
            }
            Form::Plain => {
                text.push_str(if stdout { r#""Stdout":"# } else { r#""Stderr":"# });
                push_quoted(&mut text, content);
                text.push('}');
            }
        }
        text
    }

    async fn end(&mut self) -> Batch {
        let run = settle(&self.forge, self.run).await;
        let status = self.monitor.status(run.as_ref());
        let last = finished(self.numbering.seq(self.next() + 1));
        status.into_iter().chain(self.monitor.finished()).chain([last]).map(Into::into).collect()
    }
}
