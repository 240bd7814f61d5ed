//! Pull requests that open by themselves once an agent succeeded with changes.
//!
//! Invariant: nothing is published that would not land, such as work whose cleanup script failed. What became of the wish
//! stands in the attempt; a server that was cut off in between looks again at its next start. A failure is shown, and
//! tried again when the agent succeeds once more.

use forge_types::{AttemptId, AttemptStatus, AutoPr, CreatePullRequest, Millis, Run, RunOwner, RunReason};

use crate::attempt::verdict::Verdict;
use crate::publish::pull_request::Opened;
use crate::worktree::workplace::Workplace;
use crate::{Error, Forge, Result};

impl Forge {
    /// Called when a chain of runs has come to its end.
    pub(crate) fn publish_later(&self, run: &Run, workplace: &Workplace) {
        let wanted = workplace.attempt.as_ref().is_some_and(|attempt| attempt.auto_pr.is_some());
        if let (true, RunOwner::Attempt(id)) = (wanted && run.reason != RunReason::DevServer, run.owner) {
            self.publish_in_background(id);
        }
    }

    /// Picks up what a server that was cut off did not get to.
    pub(crate) async fn publish_waiting(&self) {
        match self.0.store.attempts_to_publish().await {
            Ok(attempts) => {
                for attempt in attempts.iter().filter(|attempt| attempt.status == AttemptStatus::Completed) {
                    self.publish_in_background(attempt.id);
                }
            }
            Err(error) => tracing::warn!(%error, "cannot look for pull requests that are to be opened"),
        }
    }

    fn publish_in_background(&self, id: AttemptId) {
        let forge = self.clone();
        self.0.background.spawn(async move {
            let Ok(_turn) = forge.0.contacts.publishers.acquire().await else { return };
            let publish = forge.publish(id);
            tokio::select! {
                () = forge.0.background.closing() => {}
                result = publish => if let Err(error) = result {
                    tracing::warn!(attempt = %id, %error, "no pull request was opened");
                    forge.note_failure(id, &error.to_string()).await;
                }
            }
        });
    }

    async fn publish(&self, id: AttemptId) -> Result<()> {
        let work = self.work(id).await?;
        if work.attempt.status != AttemptStatus::Completed {
            return Ok(());
        }
        match self.judge_attempt(&work.attempt).await? {
            Verdict::AtWork | Verdict::Left(_) => return Ok(()),
            Verdict::Failed(why) => return Err(Error::conflict(why)),
            Verdict::Succeeded => {}
        }
        if let Some(why) = self.open_conflict(&work.attempt).await? {
            return Err(Error::conflict(why));
        }
        if !self.has_change(&work.attempt).await? {
            return Ok(());
        }
        let upstream = self.upstream(&work.workplace.project, &work.attempt.target_branch).await?;
        if self.commits_ahead(&work, &upstream, &work.attempt.target_branch).await? == Some(0) {
            return Ok(());
        }
        let request = CreatePullRequest {
            title: work.task.title.clone(),
            body: work.task.description.clone(),
            target_branch: None,
        };
        match self.open_pull_request(&work, &request).await? {
            Opened::Url(url) => tracing::info!(attempt = %id, %url, "pull request opened"),
            Opened::Refused(refusal) => {
                tracing::warn!(attempt = %id, reason = refusal.explain(), "no pull request was opened");
                self.note_failure(id, refusal.explain()).await;
            }
        }
        Ok(())
    }

    async fn note_failure(&self, id: AttemptId, message: &str) {
        let write = async {
            let mut tx = self.0.store.begin().await?;
            if let Some(mut attempt) = tx.attempt(id).await? {
                attempt.auto_pr = Some(AutoPr::Failed { message: message.to_owned() });
                attempt.updated_at = Millis::now();
                tx.update_attempt(&attempt).await?;
                tx.commit().await?;
            }
            Ok::<_, crate::Error>(())
        };
        if let Err(error) = write.await {
            tracing::error!(attempt = %id, %error, "cannot record why no pull request was opened");
        }
    }
}
