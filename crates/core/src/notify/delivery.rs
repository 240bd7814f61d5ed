//! Alerts on their way to people: desktop, webhook, command. The dashboard rings by itself.
//!
//! Owns the loop that sends what is queued, and the rise of warnings that nobody acknowledges. Invariants: an alert leaves
//! once for each severity that it had, also across restarts, because it is taken out of the queue before it is sent; no
//! delivery keeps another waiting for longer than its limit; a webhook's address is in no log.

use std::time::Duration;

use forge_fleet::hook::Hook;
use forge_store::Delivery;
use forge_types::{Alert, AlertSettings, Event, Millis, Severity};
use futures_util::future::join_all;
use serde::Serialize;

use crate::events::EventFeed;
use crate::{Error, Forge, Result};

/// Deliveries at the same time.
const AT_ONCE: u32 = 4;
/// More than this waits only when something is very wrong; then the newest count.
const WAITING_MAX: u32 = 256;
const MAX_TRIES: u32 = 3;
const FIRST_PAUSE_MS: i64 = 1_000;
const COMMAND_LIMIT: Duration = Duration::from_secs(30);
const DESKTOP_LIMIT: Duration = Duration::from_secs(10);
/// A setting that was changed counts after this at the latest.
const LOOK_AGAIN: Duration = Duration::from_secs(60);

impl Forge {
    /// Sends what is queued, for as long as it is polled.
    pub(crate) async fn deliver_alerts(&self, mut feed: EventFeed) {
        loop {
            let due = self.deliver_due().await.unwrap_or_else(|error| {
                tracing::warn!(%error, "alerts cannot be delivered now");
                None
            });
            let pause = due.map_or(LOOK_AGAIN, |due| {
                Duration::from_millis(due.0.saturating_sub(Millis::now().0).max(0).unsigned_abs())
            });
            // Woken early or not, it looks again.
            let _ = tokio::time::timeout(pause.min(LOOK_AGAIN), next_alert(&mut feed)).await;
        }
    }

    /// Sends everything that is due and returns when there is more to do.
    async fn deliver_due(&self) -> Result<Option<Millis>> {
        let rise = self.escalate_alerts().await?;
        loop {
            let next = self.0.store.next_delivery_due().await?;
            let now = Millis::now();
            if next.is_none_or(|due| due > now) {
                return Ok(next.into_iter().chain(rise).min());
            }
            let mut tx = self.0.store.begin().await?;
            let dropped = tx.drop_deliveries(WAITING_MAX, "too many waited").await?;
            let claimed = tx.claim_deliveries(now, AT_ONCE).await?;
            tx.commit().await?;
            if dropped > 0 {
                tracing::warn!(dropped, "too many alerts wait to be delivered; the oldest are not");
            }
            let settings = self.settings();
            let sent = claimed.iter().map(|delivery| self.deliver_alert(delivery, &settings.fleet.alerts));
            for result in join_all(sent).await {
                result?;
            }
        }
    }

    /// Makes warnings critical that nobody acknowledged in time, and returns when the next one is due.
    async fn escalate_alerts(&self) -> Result<Option<Millis>> {
        let patience = self.settings().fleet.alerts.escalate_after_mins;
        if patience == 0 {
            return Ok(None);
        }
        let patience = i64::try_from(patience.saturating_mul(60_000)).unwrap_or(i64::MAX);
        let (now, mut next) = (Millis::now(), None);
        for alert in self.0.store.open_alerts().await?.into_iter().filter(Alert::can_escalate) {
            let due = Millis(alert.first_at.0.saturating_add(patience));
            if due > now {
                next = next.into_iter().chain([due]).min();
                continue;
            }
            let mut tx = self.0.store.begin().await?;
            if tx.escalate_alert(alert.id, now).await?.is_some() {
                tx.commit().await?;
                tracing::info!(alert = %alert.id, "nobody acknowledged a warning, it is critical now");
            }
        }
        Ok(next)
    }

    /// Sends one alert in every way that is set. Only the webhook is tried again: a program that fails, fails.
    async fn deliver_alert(&self, delivery: &Delivery, settings: &AlertSettings) -> Result<()> {
        let alert = &delivery.alert;
        if alert.severity < settings.min_severity {
            return Ok(());
        }
        let text = serde_json::to_value(alert)
            .map_err(|cause| Error::internal("an alert cannot be written as JSON", cause))?;
        let is_first = delivery.tries == 1;
        let desktop = async {
            if settings.desktop && is_first {
                warn_of(alert, "desktop", run(&desktop_command(alert), "", alert, DESKTOP_LIMIT).await);
            }
        };
        let command = async {
            if !settings.command.is_empty() && is_first {
                let input = text.to_string();
                warn_of(alert, "command", run(&settings.command, &input, alert, COMMAND_LIMIT).await);
            }
        };
        let webhook = async {
            match &settings.webhook {
                Some(url) => self.0.http.post_webhook(url, &text).await,
                None => Ok(()),
            }
        };
        let ((), (), posted) = tokio::join!(desktop, command, webhook);
        let Err(error) = posted else { return Ok(()) };
        let again = (error.may_pass() && delivery.tries < MAX_TRIES)
            .then(|| Millis(Millis::now().0 + (FIRST_PAUSE_MS << delivery.tries.min(8))));
        warn_of(alert, "webhook", Err(error.to_string()));
        let mut tx = self.0.store.begin().await?;
        tx.fail_delivery(alert.id, alert.severity, &error.to_string(), again).await?;
        tx.commit().await?;
        Ok(())
    }
}

async fn next_alert(feed: &mut EventFeed) {
    loop {
        match feed.next().await {
            Ok(events) if events.iter().any(|record| matches!(record.event, Event::Alert { .. })) => return,
            Ok(_) => {}
            // The log is closed: the server stops, or the next look shows why.
            Err(_) => std::future::pending().await,
        }
    }
}

async fn run(
    command: &[String],
    input: &str,
    alert: &Alert,
    limit: Duration,
) -> std::result::Result<(), String> {
    let variables = [
        ("FORGE_ALERT_KIND", word(&alert.kind)),
        ("FORGE_ALERT_SEVERITY", word(&alert.severity)),
        ("FORGE_ALERT_SUBJECT", plain(&alert.subject)),
        ("FORGE_ALERT_MESSAGE", plain(&alert.message)),
    ];
    let hook = Hook { command, variables: &variables, input, limit };
    hook.run().await.map_err(|error| error.to_string())
}

fn warn_of(alert: &Alert, way: &str, result: std::result::Result<(), String>) {
    if let Err(error) = result {
        tracing::warn!(alert = %alert.id, way, %error, "an alert was not delivered");
    }
}

/// What the machine has to show a notification with.
fn desktop_command(alert: &Alert) -> Vec<String> {
    let title = format!("Forge: {}", word(&alert.kind).replace('_', " "));
    let message = plain(&alert.message);
    let words: &[&str] = match cfg!(target_os = "macos") {
        true => &[
            "osascript",
            "-e",
            "on run argv",
            "-e",
            "display notification (item 2 of argv) with title (item 1 of argv)",
            "-e",
            "end run",
            &title,
            &message,
        ],
        false => &["notify-send", "--app-name=Forge", urgency(alert.severity), "--", &title, &message],
    };
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn urgency(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "--urgency=low",
        Severity::Warning => "--urgency=normal",
        Severity::Critical => "--urgency=critical",
    }
}

fn word(value: &impl Serialize) -> String {
    let word = serde_json::to_value(value).ok().and_then(|word| word.as_str().map(str::to_owned));
    word.unwrap_or_default()
}

/// Neither arguments nor variables can have a NUL, and a notification shows no control characters.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
