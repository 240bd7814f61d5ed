//! A great many lines at once: time until the client has them all, what is lost, memory and bytes written.
//!
//! Three readers: live from the start, live with pauses, and one that comes after the end; then the normalised log.
//! A line counts as lost when its number never appears, however it was cut into chunks. The normalised log is read
//! without being parsed, and its time is judged for each line that came: the peer skips most of them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::client::Socket;
use crate::fake::now_ns;
use crate::figures::Figures;
use crate::flow::{create_project, start, wait_ended};
use crate::processes::{self, Keepers};
use crate::report::{Goal, Line};
use crate::server::Server;
use crate::work::Work;

const SIZE: usize = 100;
const READ_LIMIT: Duration = Duration::from_secs(60);
const END_LIMIT: Duration = Duration::from_secs(600);
const PAUSE: Duration = Duration::from_millis(50);
const PAUSES: usize = 100;
const MB: f64 = 1024.0 * 1024.0;

pub const LINES: &[Line] = &[
    Line::lower("live_s", "100-byte lines, live", "s", Goal::Times(10.0)),
    Line::lower("lost_live", "lines lost live", "", Goal::Exactly(0.0)),
    Line::lower("lost_slow", "lost for a slow reader", "", Goal::Exactly(0.0)),
    Line::lower("lost_late", "lost for a late reader", "", Goal::Exactly(0.0)),
    Line::lower("lost_normalised", "lost in the normalised log", "", Goal::Exactly(0.0)),
    Line::lower("replay_s", "normalised replay", "s", Goal::Shown),
    Line::lower("replay_us", "… for each line that came", "µs", Goal::Times(5.0)),
    Line::lower("peak_mb", "server peak memory", "MB", Goal::AtMost(100.0)),
    Line::lower("keeper_mb", "keepers' peak memory", "MB", Goal::Shown),
    Line::lower("written_mb", "written to disk", "MB", Goal::Shown),
    Line::lower("written_ratio", "written / bytes of log", "×", Goal::AtMost(1.5)),
];

pub async fn measure(work: &Work, server: &Server, lines: usize) -> Result<Figures> {
    let project = create_project(&server.client, &work.repository(10).await?).await?;
    processes::reset_peak(server.pid());
    let written_before = processes::written_bytes(server.pid());
    let directives = format!("presleep=1000 lines={lines} size={SIZE} sleep=1000");
    let started = start(&server.client, &project, "Flood", &directives).await?;
    let keepers = watch_keepers(server);
    let raw = format!("/api/execution-processes/{}/raw-logs/ws", started.process);
    let live = tokio::spawn(read(server.client.socket(&raw).await?, lines, Pace::Full));
    let slow = tokio::spawn(read(server.client.socket(&raw).await?, lines, Pace::Pausing));
    let live = live.await?;
    let slow = slow.await?;
    wait_ended(&server.client, &started.process, END_LIMIT).await?;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let (keeper_mb, keeper_bytes) = keepers.finish();
    let written = processes::written_bytes(server.pid()).saturating_sub(written_before) + keeper_bytes;
    let late = read(server.client.socket(&raw).await?, lines, Pace::Full).await;
    let normalised = format!("/api/execution-processes/{}/normalized-logs/ws", started.process);
    let begin_ns = now_ns();
    let normalised = scan(server.client.socket(&normalised).await?, lines).await;
    let replay_s = normalised.last_ns.saturating_sub(begin_ns) as f64 / 1e9;
    let live_s = live.last_ns.checked_sub(live.begin_ns).context("no line arrived live")? as f64 / 1e9;
    let mut figures = Figures::from([
        ("live_s", live_s),
        ("lost_live", live.lost() as f64),
        ("lost_slow", slow.lost() as f64),
        ("lost_late", late.lost() as f64),
        ("lost_normalised", normalised.lost() as f64),
        ("peak_mb", processes::peak_mb(server.pid())),
        ("keeper_mb", keeper_mb),
        ("written_ratio", written as f64 / (lines * SIZE) as f64),
        ("written_mb", written as f64 / MB),
    ]);
    let came = lines - normalised.lost();
    if came > 0 {
        figures.extend([("replay_s", replay_s), ("replay_us", replay_s * 1e6 / came as f64)]);
    }
    Ok(figures)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Pace {
    Full,
    Pausing,
}

struct Seen {
    numbers: Vec<bool>,
    carry: String,
    begin_ns: u128,
    last_ns: u128,
}

impl Seen {
    fn new(lines: usize) -> Seen {
        Seen { numbers: vec![false; lines], carry: String::new(), begin_ns: u128::MAX, last_ns: 0 }
    }

    fn lost(&self) -> usize {
        self.numbers.iter().filter(|seen| !**seen).count()
    }

    /// Notes the line numbers (`"L` and seven digits) and the time stamp of the begin (`"B` and nineteen).
    fn note(&mut self, content: &str, arrived_ns: u128) {
        let text = std::mem::take(&mut self.carry) + content;
        for (at, _) in text.match_indices("\"L") {
            if let Some(number) = text.get(at + 2..at + 9).and_then(|digits| digits.parse::<usize>().ok())
                && let Some(seen) = self.numbers.get_mut(number)
            {
                *seen = true;
                self.last_ns = arrived_ns;
            }
        }
        if self.begin_ns == u128::MAX
            && let Some(at) = text.find("\"B")
            && let Some(begin) = text.get(at + 2..at + 21).and_then(|digits| digits.parse().ok())
        {
            self.begin_ns = begin;
        }
        // Only the unfinished last line is carried: a finished one has been searched whole.
        let tail = text.rfind('\n').map_or(0, |at| at + 1);
        self.carry = text[tail..].to_owned();
    }
}

async fn read(mut socket: Socket, lines: usize, pace: Pace) -> Seen {
    let mut seen = Seen::new(lines);
    let mut frames = 0;
    while let Some(frame) = socket.next(READ_LIMIT).await {
        let arrived = now_ns();
        for change in &frame.patch {
            if let Some(text) = change.value["content"].as_str().filter(|_| change.value["type"] == "STDOUT")
            {
                seen.note(text, arrived);
            }
        }
        if frame.finished {
            break;
        }
        frames += 1;
        if pace == Pace::Pausing && frames <= PAUSES {
            tokio::time::sleep(PAUSE).await;
        }
    }
    seen
}

/// Reads entries to their end. They are whole, so each frame is searched as the text that it is.
async fn scan(mut socket: Socket, lines: usize) -> Seen {
    let mut seen = Seen::new(lines);
    while let Some(mut frame) = socket.next_text(READ_LIMIT).await {
        let arrived = now_ns();
        frame.push('\n');
        seen.note(&frame, arrived);
        if frame.contains("\"finished\":true") {
            break;
        }
    }
    seen
}

struct Watch {
    keepers: Arc<Mutex<Keepers>>,
    task: tokio::task::JoinHandle<()>,
}

impl Watch {
    fn finish(self) -> (f64, u64) {
        self.task.abort();
        let keepers = self.keepers.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        (keepers.peak_mb, keepers.written_bytes())
    }
}

fn watch_keepers(server: &Server) -> Watch {
    let keepers = Arc::new(Mutex::new(Keepers::default()));
    let (shared, run) = (keepers.clone(), server.launch.run.clone());
    let (pid, program) = (server.pid(), server.launch.program.clone());
    let task = tokio::spawn(async move {
        loop {
            shared.lock().unwrap_or_else(std::sync::PoisonError::into_inner).observe(&run, pid, &program);
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    });
    Watch { keepers, task }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_cut_by_a_chunk_border_is_found() {
        let mut seen = Seen::new(2);
        seen.note("{\"text\":\"L000", 1);
        assert_eq!(seen.lost(), 2);
        seen.note("0001\"}\n", 2);
        assert_eq!((seen.lost(), seen.last_ns), (1, 2));
    }
}
