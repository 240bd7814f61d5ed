//! The last row of a terminal while an agent runs: time, tokens and cost.
//!
//! Invariant: the numbers are requested independently of the transcript, one round at a time and [`PAUSE`] apart, until
//! the status ends. Unknown values are left out.

use std::time::{Duration, Instant};

use forge_types::{Attempt, MicroUsd, UsageReport};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Interval, MissedTickBehavior, interval};

use crate::client::Client;
use crate::figures;
use crate::tally::{Changes, Tokens};
use crate::transcript::{Ink, Line};

const PAUSE: Duration = Duration::from_secs(3);
const BEAT: Duration = Duration::from_secs(1);
const WHEEL: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

pub struct Status {
    begun: Instant,
    beat: Interval,
    turn: usize,
    known: watch::Receiver<Known>,
    asking: JoinHandle<()>,
}

#[derive(Clone, Copy, Default)]
struct Known {
    tokens: Tokens,
    cost_usd: Option<f64>,
    changes: Option<Changes>,
}

impl Status {
    pub fn of(client: &Client, attempt: &Attempt, begun: Instant) -> Self {
        let (sender, known) = watch::channel(Known::default());
        let asking = tokio::spawn(ask(client.clone(), attempt.clone(), sender));
        let mut beat = interval(BEAT);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { begun, beat, turn: 0, known, asking }
    }

    /// The row, every second.
    pub async fn next(&mut self) -> Line {
        self.beat.tick().await;
        self.turn = (self.turn + 1) % WHEEL.len();
        let known = *self.known.borrow();
        row(WHEEL[self.turn], self.begun.elapsed(), &known)
    }
}

impl Drop for Status {
    fn drop(&mut self) {
        self.asking.abort();
    }
}

async fn ask(client: Client, attempt: Attempt, sender: watch::Sender<Known>) {
    let path = format!("/api/usage?task_attempt_id={}", attempt.id);
    loop {
        let mut known = *sender.borrow();
        if let Ok(UsageReport { total, .. }) = client.get(&path).await {
            known.tokens = Tokens::from(&total);
            known.cost_usd = total.cost_usd.map(MicroUsd::usd).filter(|usd| *usd > 0.0);
        }
        known.changes = Changes::count(&attempt).await.or(known.changes);
        if sender.send(known).is_err() {
            return;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

fn row(wheel: char, time: Duration, known: &Known) -> Line {
    let mut facts = vec![figures::clock(time)];
    if !known.tokens.is_zero() {
        let Tokens { input, output } = known.tokens;
        facts.push(format!("{} in {} out", figures::tokens(input), figures::tokens(output)));
    }
    facts.extend(known.cost_usd.map(figures::money));
    facts.extend(known.changes.filter(|changes| changes.files > 0).map(Changes::words));
    facts.push("Ctrl-C leaves it running".to_owned());
    Line::new(Ink::Cyan, &wheel.to_string()).and(Ink::Dim, " ").and(Ink::Dim, &facts.join(" · "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::{Colours, Page};

    fn shown(time_s: u64, known: Known) -> String {
        let mut out = String::new();
        let page = Page { width: 100, colours: Colours::Off };
        row('⠋', Duration::from_secs(time_s), &known).put(page, &mut out);
        out
    }

    #[test]
    fn the_row_shows_what_is_known() {
        let changes = Some(Changes { files: 4, added: 120, removed: 8 });
        let known = Known { tokens: Tokens { input: 12_300, output: 3_100 }, cost_usd: Some(0.12), changes };
        let row = "⠋ 1:23 · 12k in 3.1k out · $0.12 · 4 files +120 -8 · Ctrl-C leaves it running\n";
        assert_eq!(shown(83, known), row);
        assert_eq!(shown(3723, Known::default()), "⠋ 1:02:03 · Ctrl-C leaves it running\n");
    }
}
