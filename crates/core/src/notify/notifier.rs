//! Notifications to a messenger when an attempt ends.
//!
//! Owns: when a notification is queued, and the worker that sends what is queued. Invariant: queueing is part of the
//! transaction that ends the run; sending happens elsewhere and never keeps a run waiting. A notification ends as sent,
//! skipped or failed, also across restarts.

use std::time::Duration;

use forge_remote::RemoteError;
use forge_store::{Due, Tx};
use forge_types::{
    Attempt, Millis, Notification, NotificationId, NotificationStatus, RecipientType, Run, RunReason,
    RunStatus, Task,
};
use serde_json::json;

use crate::background::Bell;
use crate::notify::omni::without;
use crate::{Forge, Result};

/// How long the worker sleeps when nothing is due; a new notification wakes it.
const IDLE: Duration = Duration::from_secs(10);
/// How long it leaves a database alone that answered with an error.
const AFTER_ERROR: Duration = Duration::from_secs(15);
/// The pause after a failed try doubles from the first to the longest.
const FIRST_PAUSE_MS: i64 = 1_000;
const LONGEST_PAUSE_MS: i64 = 300_000;
const MAX_TRIES: u32 = 10;

/// Whether a transaction holds a new notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Queued {
    Yes,
    No,
}

/// What became of a try.
#[derive(Debug, PartialEq)]
enum Outcome {
    Sent,
    Skipped(String),
    /// Trying again would not help.
    Failed(String),
    Later(String),
}

impl Forge {
    /// Queues word of an ended run, if it is the first of its attempt that says something about it.
    /// Whoever commits wakes the worker then: before, it would find nothing.
    pub(crate) async fn queue_notification(
        &self,
        tx: &mut Tx,
        run: &Run,
        task: Option<&Task>,
        attempt: Option<&Attempt>,
    ) -> Result<Queued> {
        let (Some(task), Some(attempt)) = (task, attempt) else { return Ok(Queued::No) };
        // A setup script that went well is followed by the agent; a dev server is no work.
        let says_something = match run.reason {
            RunReason::DevServer => false,
            RunReason::CodingAgent => true,
            RunReason::SetupScript | RunReason::CleanupScript => run.status != RunStatus::Completed,
        };
        if !says_something {
            return Ok(Queued::No);
        }
        let is_first = tx.queue_notification(attempt.id, &self.notification_of(run, task, attempt)).await?;
        Ok(if is_first { Queued::Yes } else { Queued::No })
    }

    fn notification_of(&self, run: &Run, task: &Task, attempt: &Attempt) -> Notification {
        let link = format!(
            "{}/projects/{}/tasks/{}",
            self.0.config.public_url.trim_end_matches('/'),
            task.project_id,
            task.id
        );
        let status = run.status.as_str();
        Notification {
            id: NotificationId::random(),
            task_id: task.id,
            notification_type: "task_completed".to_owned(),
            status: NotificationStatus::Pending,
            message: format!("{}: {status}\nBranch: {}\n{link}", task.title, attempt.branch),
            error_message: None,
            sent_at: None,
            created_at: Millis::now(),
            metadata: json!({
                "task_attempt_id": attempt.id.hex(),
                "status": status,
                "executor": attempt.executor,
                "branch": attempt.branch,
                "project_id": task.project_id.hex(),
                "exit_code": run.exit_code,
            }),
        }
    }

    /// Sends what is queued, for as long as it is polled.
    pub(crate) async fn send_notifications(&self) {
        let mut reopened = false;
        loop {
            let pause = match self.send_due(&mut reopened).await {
                Ok(pause) => pause,
                Err(error) => {
                    tracing::warn!(%error, "notifications cannot be sent now");
                    AFTER_ERROR
                }
            };
            // Woken early or not, it looks again; running into the pause is the usual case.
            let _ = tokio::time::timeout(pause, self.0.background.rung(Bell::Notification)).await;
        }
    }

    /// Sends everything that is due and says how long there is nothing more to do.
    async fn send_due(&self, reopened: &mut bool) -> Result<Duration> {
        if !*reopened {
            let mut tx = self.0.store.begin().await?;
            tx.reopen_notifications().await?;
            tx.commit().await?;
            *reopened = true;
        }
        loop {
            let now = Millis::now();
            let next = self.0.store.next_notification_due().await?;
            match next {
                Some(due) if due <= now => {}
                Some(due) => return Ok(IDLE.min(Duration::from_millis((due.0 - now.0).unsigned_abs()))),
                None => return Ok(IDLE),
            }
            let mut tx = self.0.store.begin().await?;
            let claimed = tx.claim_notification(now).await?;
            tx.commit().await?;
            if let Some(due) = claimed {
                let outcome = self.deliver(&due).await?;
                self.record(&due, outcome).await?;
            }
        }
    }

    async fn deliver(&self, due: &Due) -> Result<Outcome> {
        let project = self.0.store.project_settings(due.project_id).await?;
        let settings = self.general_settings().await?.overridden_by(project.as_ref());
        let Some(config) = settings.active() else {
            return Ok(Outcome::Skipped("Omni is not enabled".to_owned()));
        };
        let (Some(host), Some(key), Some(instance), Some(recipient)) =
            (&config.host, &config.api_key, &config.instance, &config.recipient)
        else {
            let needed = "omni_config: host, api_key, instance and recipient must all be set";
            return Ok(Outcome::Skipped(needed.to_owned()));
        };
        let to = (config.recipient_type.unwrap_or(RecipientType::PhoneNumber), recipient.as_str());
        let sent = self.0.http.omni_send(host, key, instance, to, &due.message).await;
        Ok(match sent {
            Ok(()) => Outcome::Sent,
            Err(error) => judge(&error, without(key, &error), due.tries),
        })
    }

    async fn record(&self, due: &Due, outcome: Outcome) -> Result<()> {
        let now = Millis::now();
        let (status, error, at) = match &outcome {
            Outcome::Sent => (NotificationStatus::Sent, None, now),
            Outcome::Skipped(why) => (NotificationStatus::Skipped, Some(why), now),
            Outcome::Failed(why) => (NotificationStatus::Failed, Some(why), now),
            Outcome::Later(why) => {
                (NotificationStatus::Pending, Some(why), Millis(now.0 + pause_ms(due.tries)))
            }
        };
        if let Some(error) = error.filter(|_| !matches!(outcome, Outcome::Skipped(_))) {
            tracing::warn!(notification = %due.id, tries = due.tries, %error, "notification was not sent");
        }
        let mut tx = self.0.store.begin().await?;
        tx.settle_notification(due.id, status, error.map(String::as_str), at).await?;
        tx.commit().await?;
        Ok(())
    }
}

fn judge(error: &RemoteError, words: String, tries: u32) -> Outcome {
    if error.may_pass() && tries < MAX_TRIES { Outcome::Later(words) } else { Outcome::Failed(words) }
}

fn pause_ms(tries: u32) -> i64 {
    (FIRST_PAUSE_MS << tries.saturating_sub(1).min(20)).min(LONGEST_PAUSE_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_pass_is_tried_again_and_not_for_ever() {
        let refused = |status| RemoteError::Refused { host: "h".into(), status, message: "m".into() };
        let judged =
            |error: &RemoteError, tries| matches!(judge(error, "w".into(), tries), Outcome::Later(_));
        assert!(judged(&refused(503), 1) && judged(&refused(429), 9));
        assert!(!judged(&refused(401), 1) && !judged(&refused(503), MAX_TRIES));
        assert!(judged(&RemoteError::Unreachable { host: "h".into(), reason: "r".into() }, 1));
    }

    #[test]
    fn pauses_grow_and_end_at_the_longest() {
        assert_eq!([1, 2, 3, 10, 40].map(pause_ms), [1_000, 2_000, 4_000, 300_000, 300_000]);
    }
}
