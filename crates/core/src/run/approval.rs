//! Approvals: an agent asks before it uses a tool, a person answers, the agent hears it.
//!
//! Invariant: a question is answered once. It waits for an hour unless configured otherwise; when that time ends is in its
//! row, so it ends then whatever servers came and went. While it waits the task is in review, and a run that ends takes its open
//! questions with it.

use std::collections::HashSet;
use std::time::Duration;

use forge_run::talk::Question;
use forge_store::{Tx, Why};
use forge_types::{
    Action, ActionKind, Answer, Approval, ApprovalId, ApprovalStatus, AskApproval, ErrorCode, Event, Millis,
    Run, RunId, RunReason, RunStatus, TaskStatus,
};
use serde_json::Value;

use crate::background::Bell;
use crate::{Error, Forge, Result};

/// An approval before it is written.
struct NewApproval {
    id: ApprovalId,
    at: Millis,
    run_id: Option<RunId>,
    tool_name: String,
    tool_input: Value,
    call_id: Option<String>,
    session_id: Option<String>,
}

impl Forge {
    /// How long a person has for an answer.
    pub(crate) fn answer_ms(&self) -> i64 {
        i64::try_from(self.0.config.approval_limit_s).unwrap_or(i64::MAX / 1000).saturating_mul(1000)
    }

    /// Puts a question of a run's agent; one that was put before, by an earlier server, stays as it is.
    /// [`Forge::await_approval`] returns the answer.
    pub(crate) async fn ask_approval(&self, id: ApprovalId, run: RunId, ask: &Question) -> Result<()> {
        if self.0.store.approval(id).await?.is_some() {
            return Ok(());
        }
        self.put_approval(NewApproval {
            id,
            at: Millis(ask.at_ms),
            run_id: Some(run),
            tool_name: ask.tool_name.clone(),
            tool_input: ask.tool_input.clone(),
            call_id: ask.call_id.clone(),
            session_id: None,
        })
        .await?;
        Ok(())
    }

    /// Asks on behalf of a conversation, or of the run of that id. One that nobody knows belongs to no run.
    pub async fn ask_for_session(&self, request: AskApproval) -> Result<Approval> {
        let open = self.0.store.open_runs().await?;
        let asks = |run: &&Run| {
            run.id.to_string() == request.session_id
                || run.session_id.as_ref() == Some(&request.session_id)
                || resumed_session(&run.action) == Some(&request.session_id)
        };
        let run_id = open.iter().rev().filter(|run| run.status == RunStatus::Running).find(asks);
        self.put_approval(NewApproval {
            id: ApprovalId::random(),
            at: Millis::now(),
            run_id: run_id.map(|run| run.id),
            tool_name: request.tool_name,
            tool_input: request.tool_input,
            call_id: None,
            session_id: Some(request.session_id),
        })
        .await
    }

    /// Secrets are masked for whoever reads the question; the conversation with the agent keeps what it asked.
    async fn put_approval(&self, mut question: NewApproval) -> Result<Approval> {
        if question.tool_name.trim().is_empty() {
            return Err(Error::invalid("is empty")
                .hint("name the tool that is to be used")
                .of_field("tool_name"));
        }
        if let Some(run) = question.run_id {
            self.secrets_of(run).await?.mask_value(&mut question.tool_input);
        }
        let approval = Approval {
            id: question.id,
            run_id: question.run_id,
            tool_name: question.tool_name,
            tool_input: question.tool_input,
            call_id: question.call_id,
            session_id: question.session_id,
            status: ApprovalStatus::Pending,
            created_at: question.at,
            timeout_at: Millis(question.at.0.saturating_add(self.answer_ms())),
            answered_at: None,
            attempt_id: None,
            task_id: None,
        };
        let mut tx = self.0.store.begin().await?;
        if let Some(id) = approval.run_id {
            // A run may have ended since it was found; what it asks now nobody waits for.
            let running = tx.run(id).await?.is_some_and(|run| run.status == RunStatus::Running);
            if !running {
                return Err(Error::conflict(format!("run {id} is not running and cannot ask anything")));
            }
        }
        let approval = tx.insert_approval(&approval).await?;
        if let Some(task) = approval.task_id {
            // Only agents ask.
            tx.move_task(task, TaskStatus::InReview, Why::Run(RunReason::CodingAgent)).await?;
        }
        tx.commit().await?;
        self.0.background.ring(Bell::Approval);
        Ok(approval)
    }

    /// Ends the wait of what the agent of `run` asked and no longer wants to know.
    pub(crate) async fn close_withdrawn(&self, run: RunId, open: &HashSet<ApprovalId>) -> Result<()> {
        let mut tx = self.0.store.begin().await?;
        for approval in tx.pending_approvals_of(run).await? {
            // What tools ask through the API has a session, and is theirs to take back.
            if approval.session_id.is_none() && !open.contains(&approval.id) {
                close(&mut tx, approval.id, &ApprovalStatus::TimedOut, Millis::now()).await?;
            }
        }
        tx.commit().await?;
        Ok(())
    }

    pub async fn approval(&self, id: ApprovalId) -> Result<Approval> {
        self.0.store.approval(id).await?.ok_or_else(|| not_found(id))
    }

    /// The first to time out first.
    pub async fn pending_approvals(&self) -> Result<Vec<Approval>> {
        Ok(self.0.store.pending_approvals().await?)
    }

    /// Answers a question. `run` is the run the caller takes it to be of.
    pub async fn answer_approval(
        &self,
        id: ApprovalId,
        run: Option<RunId>,
        answer: Answer,
    ) -> Result<Approval> {
        self.await_written(id).await?;
        let mut tx = self.0.store.begin().await?;
        let known = tx.approval(id).await?.ok_or_else(|| not_found(id))?;
        if let (Some(given), Some(own)) = (run, known.run_id)
            && given != own
        {
            return Err(Error::invalid(format!("{given} did not ask for approval {id}; {own} did"))
                .of_field("execution_process_id"));
        }
        let status = ApprovalStatus::from(answer);
        let Some(approval) = close(&mut tx, id, &status, Millis::now()).await? else {
            return Err(Error::conflict(format!(
                "approval {id} is no longer pending: it is {}",
                known.status.as_str()
            )));
        };
        tx.commit().await?;
        Ok(approval)
    }

    /// A run's log shows a question a moment before its row is written, and a quick client answers in between.
    async fn await_written(&self, id: ApprovalId) -> Result<()> {
        const TRIES: u32 = 50;
        const PAUSE: Duration = Duration::from_millis(20);
        for _ in 0..TRIES {
            let may_come = self.attended().values().any(|attended| attended.conversation.is_some());
            if !may_come || self.0.store.approval(id).await?.is_some() {
                break;
            }
            tokio::time::sleep(PAUSE).await;
        }
        Ok(())
    }

    /// Waits for the answer, at most until the question times out.
    pub async fn await_approval(&self, id: ApprovalId) -> Result<ApprovalStatus> {
        let mut feed = self.feed(self.latest_seq());
        let approval = self.approval(id).await?;
        if approval.status != ApprovalStatus::Pending {
            return Ok(approval.status);
        }
        loop {
            for record in feed.next().await? {
                match &record.event {
                    Event::Approval { approval, .. }
                        if approval.id == id && approval.status != ApprovalStatus::Pending =>
                    {
                        return Ok(approval.status.clone());
                    }
                    // Deleted with its task.
                    Event::RunRemoved { id: gone, .. } if Some(*gone) == approval.run_id => {
                        return Err(not_found(id));
                    }
                    _ => {}
                }
            }
        }
    }

    /// Where a question stands, once it is answered or `wait` has passed.
    pub async fn approval_status(&self, id: ApprovalId, wait: Duration) -> Result<ApprovalStatus> {
        match tokio::time::timeout(wait, self.await_approval(id)).await {
            Ok(status) => status,
            Err(_) => Ok(self.approval(id).await?.status),
        }
    }

    /// Ends the wait of every question whose time is over; returns when the next one is overdue.
    pub(crate) async fn time_out_approvals(&self) -> Result<Option<Millis>> {
        let now = Millis::now();
        let pending = self.0.store.pending_approvals().await?;
        for approval in pending.iter().take_while(|approval| approval.timeout_at <= now) {
            let mut tx = self.0.store.begin().await?;
            close(&mut tx, approval.id, &ApprovalStatus::TimedOut, now).await?;
            tx.commit().await?;
        }
        Ok(pending.into_iter().map(|approval| approval.timeout_at).find(|due| *due > now))
    }
}

/// Closes a pending question, and lets the task go on when it was the last one of a run that still runs.
async fn close(tx: &mut Tx, id: ApprovalId, status: &ApprovalStatus, at: Millis) -> Result<Option<Approval>> {
    let Some(approval) = tx.answer_approval(id, status, at).await? else { return Ok(None) };
    if let Some(run) = approval.run_id
        && tx.run(run).await?.is_some_and(|run| run.status == RunStatus::Running)
        && tx.pending_approvals_of(run).await?.is_empty()
        && let Some(task) = approval.task_id
    {
        tx.move_task(task, TaskStatus::InProgress, Why::Answered).await?;
    }
    Ok(Some(approval))
}

/// Nobody waits any more for what an ended run asked.
pub(crate) async fn close_all_of(tx: &mut Tx, run: RunId) -> Result<()> {
    let now = Millis::now();
    for approval in tx.pending_approvals_of(run).await? {
        tx.answer_approval(approval.id, &ApprovalStatus::TimedOut, now).await?;
    }
    Ok(())
}

fn resumed_session(action: &Action) -> Option<&String> {
    match &action.typ {
        ActionKind::CodingAgentFollowUpRequest { session_id, .. } => Some(session_id),
        _ => None,
    }
}

fn not_found(id: ApprovalId) -> Error {
    Error::not_found(format!("Approval not found: {id}")).code(ErrorCode::ApprovalNotFound)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{AgentsOnExit, Config};

    pub(crate) fn config(home: &std::path::Path) -> Config {
        Config {
            worktree_base: home.join("worktrees"),
            database: home.join("forge.db"),
            exe: "/no-such-program".into(),
            home: home.to_owned(),
            branch_prefix: None,
            public_url: "http://localhost".into(),
            backend_url: String::new(),
            online: crate::Online::default(),
            workspaces: Vec::new(),
            spares: 0,
            time_limit_s: None,
            silence_limit_s: None,
            approval_limit_s: 3600,
            expiry_h: 72,
        }
    }

    #[tokio::test]
    async fn a_question_whose_time_ended_while_no_server_ran_is_closed_by_the_next() {
        let dir = tempfile::tempdir().expect("a folder");
        let forge = Forge::open(config(dir.path())).await.expect("an engine");
        let asked = AskApproval { tool_name: "Bash".into(), tool_input: Value::Null, session_id: "s".into() };
        let young = forge.ask_for_session(asked).await.expect("a question");
        let old = Approval { id: ApprovalId::random(), timeout_at: Millis(1), ..young.clone() };
        let mut tx = forge.0.store.begin().await.expect("a transaction");
        tx.insert_approval(&old).await.expect("a row");
        tx.commit().await.expect("a commit");
        forge.close(AgentsOnExit::Keep).await;

        let forge = Forge::open(config(dir.path())).await.expect("an engine");
        let answer = tokio::time::timeout(Duration::from_secs(60), forge.await_approval(old.id)).await;
        assert_eq!(answer.expect("in time").expect("an answer"), ApprovalStatus::TimedOut);
        let pending = forge.pending_approvals().await.expect("a list");
        assert_eq!(pending.iter().map(|approval| approval.id).collect::<Vec<_>>(), [young.id]);
        forge.close(AgentsOnExit::Keep).await;
    }
}
