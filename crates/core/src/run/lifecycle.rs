//! The life of a run: launched, followed while it lives, settled when it ends, and what comes after it.
//!
//! Invariant: a run's row says `Ended` only after its work is committed and its end is recorded; every step before
//! that can be repeated, so a server that dies at any point is picked up by the next one (see `recovery`).

use std::path::PathBuf;
use std::time::Duration;

use forge_git::{Committed, GitError};
use forge_run::fold::{Dialect, Fold, FoldContext, RunOutcome};
use forge_run::talk::ConversationPlan;
use forge_run::{Exit, ExitReason, Found, Live, Progress, Secrets, Spec, Tail, View};
use forge_store::Why;
use forge_types::{
    Action, AttemptId, Changes, Millis, ModelUsage, Run, RunId, RunOwner, RunPhase, RunReason, RunStatus,
    TaskStatus,
};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::background::Bell;
use crate::notify::notifier::Queued;
use crate::run::commit::forget_commit_errors;
use crate::run::conversation::Conversation;
use crate::run::meter::Meter;
use crate::run::new_run;
use crate::run::outcome::{judge, next_action, unsaid_action};
use crate::worktree::host::{Directory, Head, Host};
use crate::worktree::queue::Entry;
use crate::worktree::workplace::Workplace;
use crate::{Error, Forge, Kind, Result};

/// How long to wait before a step that the disk or the database refused is tried again.
const PAUSE: Duration = Duration::from_secs(5);

/// A run this server is attached to.
pub(crate) struct Attended {
    pub(crate) live: Live,
    pub(crate) conversation: Option<Conversation>,
    /// Cancelled once the run's end is in the database.
    pub(crate) settled: CancellationToken,
}

impl Forge {
    pub(crate) fn run_dir(&self, id: RunId) -> PathBuf {
        self.0.config.home.join("runs").join(id.to_string())
    }

    /// Launches a run whose row exists and attends to it. A failure is settled in the row before it is returned.
    pub(crate) async fn launch_run(&self, run: Run, workplace: &Workplace) -> Result<()> {
        let failure = match self.launch(&run, workplace).await {
            Ok((live, script)) => {
                self.attend(run, workplace.clone(), live, script);
                return Ok(());
            }
            Err(failure) => failure,
        };
        self.fail_start(&run, workplace, failure).await
    }

    /// The same in a directory that others have worked in.
    async fn launch_run_when_free(&self, run: Run, workplace: &Workplace) -> Result<()> {
        match self.refuse_leftovers(workplace).await {
            Ok(()) => self.launch_run(run, workplace).await,
            Err(failure) => self.fail_start(&run, workplace, failure).await,
        }
    }

    /// Settles a run that does not get a process, and answers why.
    async fn fail_start(&self, run: &Run, workplace: &Workplace, failure: Error) -> Result<()> {
        let not_found = failure.kind() == Kind::Invalid;
        let reason = ExitReason::NeverStarted { message: failure.to_string(), not_found };
        let exit = Exit { code: None, signal: None, reason, at_ms: Millis::now().0 };
        self.0.worktrees.host().record_failed_start(run.id, &exit).await;
        if let Err(error) = self.settle(run.id, workplace, &exit, RunOutcome::default()).await {
            if run.phase == RunPhase::Queued {
                // Whoever let it go is the one who tries again.
                return Err(error);
            }
            tracing::error!(run = %run.id, %error, "cannot record that a run did not start; trying again");
            let (forge, run, workplace) = (self.clone(), run.clone(), workplace.clone());
            self.0.background.spawn(async move {
                forge.settle_surely(&run, &workplace, &exit, RunOutcome::default()).await;
            });
        }
        Err(failure)
    }

    async fn launch(&self, run: &Run, workplace: &Workplace) -> Result<(Live, Option<ConversationPlan>)> {
        if run.reason == RunReason::CodingAgent {
            self.check_budget(run.owner.attempt(), workplace.project.id).await?;
        }
        let plan = self.plan(&run.action, workplace).await?;
        if let Some(task) = workplace.task.as_ref().filter(|_| workplace.is_forges())
            && run.reason == RunReason::CodingAgent
        {
            self.lay_out_images(task.id, &workplace.directory).await;
        }
        let limits = &self.0.config;
        let dev_server = run.reason == RunReason::DevServer;
        let ms = |limit: Option<u64>| limit.filter(|_| !dev_server).map(|seconds| seconds * 1000);
        let mut env = plan.env;
        env.push(("FORGE_RUN_ID".to_owned(), run.id.to_string()));
        env.push(("FORGE_BACKEND_URL".to_owned(), limits.backend_url.clone()));
        if let Some(attempt) = &workplace.attempt {
            env.push(("FORGE_ATTEMPT_ID".to_owned(), attempt.id.to_string()));
            env.push(("FORGE_TASK_ID".to_owned(), attempt.task_id.to_string()));
            env.extend(self.bead_env(attempt.task_id).await?);
        }
        let spec = Spec {
            program: plan.program,
            args: plan.args,
            cwd: workplace.directory.local_path().to_owned(),
            env,
            env_remove: self.settings().withheld(),
            stdin: plan.stdin,
            time_limit_ms: ms(limits.time_limit_s),
            silence_limit_ms: ms(limits.silence_limit_s),
        };
        let live = self.0.worktrees.host().launch(run.id, &spec).await?;
        Ok((live, plan.script))
    }

    /// For the log of a run that has begun: only then its secrets are known.
    pub(crate) async fn fold_context(&self, run: RunId, workplace: &Workplace) -> Result<FoldContext> {
        let (secrets, dir) = (self.secrets_of(run).await?, self.run_dir(run));
        let adopted = tokio::task::spawn_blocking(move || forge_run::adopted_worktree(&dir)).await;
        let worktree = adopted.ok().flatten().unwrap_or_else(|| workplace.directory.local_path().to_owned());
        Ok(FoldContext { run, worktree, answer_ms: self.answer_ms(), secrets })
    }

    pub(crate) async fn secrets_of(&self, run: RunId) -> Result<Secrets> {
        let dir = self.run_dir(run);
        let read = tokio::task::spawn_blocking(move || Secrets::read(&dir)).await;
        let read = read.unwrap_or_else(|cause| Err(std::io::Error::other(cause)));
        read.map_err(|cause| Error::internal(format!("the secrets of run {run} cannot be read"), cause))
    }

    /// Follows a living run to its end in the background.
    pub(crate) fn attend(
        &self,
        run: Run,
        workplace: Workplace,
        live: Live,
        script: Option<ConversationPlan>,
    ) {
        let settled = CancellationToken::new();
        let conversation = script.map(|script| Conversation::new(run.id, script, live.clone()));
        let attended =
            Attended { live: live.clone(), conversation: conversation.clone(), settled: settled.clone() };
        self.attended().insert(run.id, attended);
        self.0.runs.changed.notify_waiters();
        let forge = self.clone();
        self.0.background.spawn(async move {
            let dir = forge.run_dir(run.id);
            let tail = Tail::new(&dir, View::Exact, Some(live.progress()));
            let end = async {
                let outcome = forge.follow(&run, &workplace, tail, conversation.as_ref()).await;
                (outcome, reported_exit(forge.0.worktrees.host(), run.id, live.progress()).await)
            };
            let (outcome, exit) = tokio::select! {
                () = forge.0.background.closing() => return,
                end = end => end,
            };
            forge.settle_surely(&run, &workplace, &exit, outcome).await;
            settled.cancel();
        });
    }

    /// Reads a run's log to its end for what the agent said about itself.
    /// While it lives, the agent receives what it waits for.
    pub(crate) async fn follow(
        &self,
        run: &Run,
        workplace: &Workplace,
        mut tail: Tail,
        conversation: Option<&Conversation>,
    ) -> RunOutcome {
        let executor = run.action.profile().map(|profile| profile.executor);
        let context = match self.fold_context(run.id, workplace).await {
            Ok(context) => context,
            Err(error) => {
                tracing::error!(run = %run.id, %error, "the run's log is not read");
                return RunOutcome::default();
            }
        };
        let mut fold = Fold::new(Dialect::of(executor, run.reason), &context);
        let mut patches = Vec::new();
        let mut meter = Meter::default();
        let is_whole = loop {
            let next = tokio::select! {
                next = tail.next() => next,
                () = meter.wait() => {
                    self.read_meter(run, workplace, &mut meter, fold.outcome()).await;
                    continue;
                }
            };
            match next {
                Ok(Some(records)) => {
                    for record in &records {
                        fold.push(record, &mut patches);
                        meter.see(record, &patches);
                        patches.clear();
                    }
                    if let Some(executor) = executor {
                        self.0.costs.quotas().note(executor, &fold.outcome().windows);
                    }
                    if tail.has_caught_up() {
                        self.read_meter(run, workplace, &mut meter, fold.outcome()).await;
                    }
                    if let Some(conversation) = conversation {
                        conversation.push(&records);
                        // What an earlier server said stands further on in the log; only then it is known what is due.
                        if tail.has_caught_up() {
                            self.service_conversation(conversation).await;
                        }
                    }
                }
                Ok(None) => break true,
                Err(error) => {
                    tracing::error!(run = %run.id, %error, "cannot read the run's log");
                    break false;
                }
            }
        };
        fold.finish(&mut patches);
        if is_whole && let Err(error) = context.secrets.forget_unseen(&self.run_dir(run.id)) {
            tracing::warn!(run = %run.id, %error, "secrets stay beside a log that does not show them");
        }
        fold.outcome().clone()
    }

    /// Settles a run, again and again while the disk is full or the database is unavailable.
    pub(crate) async fn settle_surely(
        &self,
        run: &Run,
        workplace: &Workplace,
        exit: &Exit,
        outcome: RunOutcome,
    ) {
        while let Err(error) = self.settle(run.id, workplace, exit, outcome.clone()).await {
            if error.kind() == Kind::NotFound {
                // The task was deleted while its run was ending: there is no row left to settle.
                self.release(run.id, &workplace.directory);
                break;
            }
            tracing::error!(run = %run.id, %error, "cannot record the end of a run; trying again");
            tokio::select! {
                () = self.0.background.closing() => break,
                () = tokio::time::sleep(PAUSE) => {}
            }
        }
    }

    pub(crate) fn release(&self, run: RunId, at: &Directory) -> Option<RunId> {
        self.attended().remove(&run);
        self.0.runs.changed.notify_waiters();
        self.leave(at, run)
    }

    /// Records how a run ended, commits its work, and starts what follows.
    pub(crate) async fn settle(
        &self,
        id: RunId,
        workplace: &Workplace,
        exit: &Exit,
        outcome: RunOutcome,
    ) -> Result<()> {
        let mut run = self.run(id).await?;
        if run.phase == RunPhase::Ended {
            self.release(id, &workplace.directory);
            return Ok(());
        }
        judge(&mut run, exit, &outcome);
        if let Some(until) = self.parking_time(&run, exit, &outcome).await? {
            return self.park(run, workplace, until, outcome).await;
        }
        let committed = self.commit_end(&mut run, workplace).await;
        self.notice_rebase(workplace).await;
        run.after_head = self.head(workplace, &committed).await;
        let next = unsaid_action(&run, &outcome).or_else(|| next_action(&run, &committed));
        let next = next
            .map(|action| new_run(RunId::random(), run.owner, action, run.after_head.clone(), Entry::Now));
        let changes = self.changes_after(&run, workplace).await;
        let next = self.write_end(&run, workplace, next, &outcome.usage, changes, &committed).await?;
        self.0.background.ring(Bell::Branches);
        self.keep_output(&run, outcome.transcript_tail).await;
        match next {
            Some(next) => {
                self.hand_over(&workplace.directory, id, next.id);
                self.release(id, &workplace.directory);
                self.start_later(next, workplace.clone());
            }
            None => {
                match (self.release(id, &workplace.directory), run.owner) {
                    (Some(waiting), _) => self.start_waiting(waiting),
                    (None, RunOwner::Attempt(attempt)) if run.reason != RunReason::DevServer => {
                        (self.0.runs.after.send_draft)(self, attempt);
                    }
                    (None, _) => {}
                }
                (self.0.runs.after.publish)(self, &run, workplace);
            }
        }
        self.seal_later(id);
        Ok(())
    }

    /// One transaction: the end, the next step or the task's way to review. Returns the step that was written.
    async fn write_end(
        &self,
        run: &Run,
        workplace: &Workplace,
        next: Option<Run>,
        usage: &ModelUsage,
        changes: Option<(AttemptId, Option<Changes>)>,
        committed: &Option<Committed>,
    ) -> Result<Option<Run>> {
        let mut tx = self.0.store.begin().await?;
        let stored = tx.run(run.id).await?;
        let stored = stored.ok_or_else(|| Error::no_run(run.id))?;
        let mut run = Run { dropped: stored.dropped, ..run.clone() };
        if stored.status == RunStatus::Killed {
            // A stop was recorded before the process died of it; its exit does not overwrite that.
            (run.status, run.exit_code) = (RunStatus::Killed, None);
        }
        let next = next.filter(|_| run.status == RunStatus::Completed);
        tx.update_run(&run).await?;
        self.put_usage(
            &mut tx,
            &run,
            workplace.project.id,
            run.completed_at.unwrap_or(run.updated_at),
            usage,
        )
        .await?;
        crate::run::approval::close_all_of(&mut tx, run.id).await?;
        if let (Some(Committed::Commit(_)), Some(attempt)) = (committed, run.owner.attempt()) {
            forget_commit_errors(&mut tx, attempt).await?;
        }
        if let Some((attempt, changes)) = changes {
            tx.put_changes(attempt, changes).await?;
        }
        let queued = self
            .queue_notification(&mut tx, &run, workplace.task.as_ref(), workplace.attempt.as_ref())
            .await?;
        if let Some(attempt) = &workplace.attempt
            && let Some(mut attempt) = tx.attempt(attempt.id).await?
        {
            let before = attempt.clone();
            if run.reason == RunReason::SetupScript && run.status == RunStatus::Completed {
                attempt.setup_completed_at = run.completed_at;
            }
            attempt.tokens = tx.attempt_tokens(attempt.id).await?;
            if attempt != before {
                attempt.updated_at = Millis::now();
                tx.update_attempt(&attempt).await?;
            }
        }
        match &next {
            Some(next) => tx.insert_run(next).await?,
            None => {
                if let Some(task) = &workplace.task {
                    tx.move_task(task.id, TaskStatus::InReview, Why::Run(run.reason)).await?;
                }
            }
        }
        tx.commit().await?;
        if queued == Queued::Yes {
            self.0.background.ring(Bell::Notification);
        }
        Ok(next)
    }

    /// The run may have brought a rebase to its end, or given it up.
    async fn notice_rebase(&self, workplace: &Workplace) {
        if let Err(error) = self.settle_rebase(workplace).await {
            tracing::warn!(directory = %workplace.directory, %error, "cannot see how a rebase ended");
        }
    }

    pub(crate) async fn head(&self, workplace: &Workplace, committed: &Option<Committed>) -> Option<String> {
        if let Some(Committed::Commit(commit)) = committed {
            return Some(commit.clone());
        }
        self.ask(Head { at: workplace.directory.clone() }).await.ok()
    }

    /// The commit that is checked out; none where there is none yet. A repository that is gone is an error.
    pub(crate) async fn checked_out(&self, workplace: &Workplace) -> Result<Option<String>> {
        match self.ask(Head { at: workplace.directory.clone() }).await {
            Ok(head) => Ok(Some(head)),
            Err(error @ GitError::NoRepository(_)) => Err(error.into()),
            Err(_) => Ok(None),
        }
    }

    /// The plain transcript of an ended run, kept beside its journal so that showing it costs no replay.
    pub(crate) async fn keep_output(&self, run: &Run, text: Option<String>) {
        let Some(text) = text else { return };
        let path = self.run_dir(run.id).join("output.txt");
        if let Err(error) = tokio::fs::write(&path, text).await {
            tracing::warn!(run = %run.id, %error, "cannot keep the run's transcript");
        }
    }

    pub(crate) fn start_later(&self, run: Run, workplace: Workplace) {
        let forge = self.clone();
        self.0.background.spawn(async move {
            let id = run.id;
            if let Err(error) = forge.launch_run_when_free(run, &workplace).await {
                tracing::warn!(run = %id, %error, "a run did not start");
            }
        });
    }

    /// Starts a run that waited for its directory, with what became known in the meantime.
    pub(crate) fn start_waiting(&self, id: RunId) {
        let forge = self.clone();
        self.0.background.spawn(async move {
            while let Err(error) = forge.promote(id).await {
                tracing::warn!(run = %id, %error, "a waiting run did not start");
                // It was settled, or its task is gone. A full disk or a database that is away leave it waiting.
                if !matches!(
                    forge.0.store.run(id).await,
                    Ok(Some(Run { phase: RunPhase::Queued, .. })) | Err(_)
                ) {
                    return;
                }
                tokio::select! {
                    () = forge.0.background.closing() => return,
                    () = tokio::time::sleep(PAUSE) => {}
                }
            }
        });
    }

    async fn promote(&self, id: RunId) -> Result<()> {
        let mut run = self.written_run(id).await?;
        let mut workplace = self.workplace(run.owner).await?;
        if run.phase == RunPhase::Ended {
            self.pass_turn(id, &workplace);
            return Ok(());
        }
        // The worktree may have been put away while the run waited.
        if let Err(failure) = self.ensure_directory(&mut workplace).await {
            return self.fail_start(&run, &workplace, failure).await;
        }
        run.before_head = self.head(&workplace, &None).await;
        run.phase = RunPhase::Live;
        run.started_at = Millis::now();
        run.updated_at = run.started_at;
        let next = run.action.next_action.take().map(|next| *next);
        run.action = match (run.action.prompt(), run.action.profile()) {
            (Some(prompt), Some(profile)) => {
                let session = self.session_of(run.owner, Some(profile.executor)).await?;
                Action::agent(prompt.to_owned(), profile.clone(), session)
            }
            _ => run.action,
        }
        .then(next);
        let mut tx = self.0.store.begin().await?;
        // A stop that came since it was looked at has ended it.
        if tx.run(id).await?.is_none_or(|stored| stored.phase == RunPhase::Ended) {
            drop(tx);
            self.pass_turn(id, &workplace);
            return Ok(());
        }
        tx.update_run(&run).await?;
        if let Some(task) = &workplace.task {
            tx.move_task(task.id, TaskStatus::InProgress, Why::Run(run.reason)).await?;
        }
        tx.commit().await?;
        self.launch_run_when_free(run, &workplace).await
    }

    /// A run that ended while it waited leaves the directory to the next one.
    fn pass_turn(&self, id: RunId, workplace: &Workplace) {
        if let Some(next) = self.release(id, &workplace.directory) {
            self.start_waiting(next);
        }
    }

    /// A run takes its place in the lane before its row is written, and its turn may come in between.
    async fn written_run(&self, id: RunId) -> Result<Run> {
        const TRIES: u32 = 100;
        for _ in 0..TRIES {
            if let Some(run) = self.0.store.run(id).await? {
                return Ok(run);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        self.run(id).await
    }

    pub(crate) fn seal_later(&self, id: RunId) {
        let dir = self.run_dir(id);
        self.0.background.spawn(async move {
            if let Err(error) = forge_run::seal(&dir).await {
                tracing::warn!(run = %id, %error, "cannot seal the run's log");
            }
        });
    }
}

/// The exit as the keeper reports it, however long after the log's end: one that hangs is not gone.
async fn reported_exit(host: &Host, run: RunId, mut progress: watch::Receiver<Progress>) -> Exit {
    loop {
        if let Ok(seen) = progress.wait_for(|progress| progress.exit.is_some()).await
            && let Some(exit) = &seen.exit
        {
            return exit.clone();
        }
        // Nobody listens to the keeper any more.
        match host.find_run(run).await {
            Found::Live(live) => progress = live.progress(),
            Found::Ended(exit) => return exit,
            Found::NeverLaunched => return vanished(),
        }
    }
}

/// The end of a run of which nobody knows how it ended.
pub(crate) fn vanished() -> Exit {
    Exit { code: None, signal: None, reason: ExitReason::Vanished, at_ms: Millis::now().0 }
}
