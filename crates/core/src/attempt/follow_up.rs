//! Saying more to an agent: follow-ups, retries and replacements.
//!
//! Invariant: there is never a second agent in a worktree. A follow-up to a busy attempt reaches the agent at work, where
//! its protocol allows that; else it waits for its turn as a run of its own. Going back in history keeps what it discards under `refs/forge/keep`.

use forge_git::Owner;
use forge_store::{Dropped, Why};
use forge_types::wire::ReplaceProcessResult;
use forge_types::{
    Action, AttemptId, ErrandId, FollowUp, FollowUpErrand, ImageId, Millis, ProfileId, ReplaceRun, Run,
    RunId, RunOwner, RunReason, RunStatus, ScriptContext, SetUpAgent, TaskStatus,
};

use crate::attempt::history::recall;
use crate::attempt::start::cleanup_action;
use crate::once::{self, Effect};
use crate::run::new_run;
use crate::run::parking;
use crate::task::draft::{self, Typed, process_not_found};
use crate::task::image::show_images;
use crate::worktree::host::{self, IsDirty};
use crate::worktree::queue::Entry;
use crate::worktree::workplace::Workplace;
use crate::{Error, Forge, Once, Result};

/// What is written together with a run.
struct RunExtras<'a> {
    typed: Typed,
    images: Vec<ImageId>,
    once: Option<&'a Once>,
    /// Whether somebody asked for it.
    why: fn(RunReason) -> Why,
}

impl RunExtras<'_> {
    fn nothing() -> Self {
        Self { typed: Typed::Elsewhere, images: Vec::new(), once: None, why: Why::Asked }
    }
}

/// How far a retry may go to bring the tree back.
struct Reset {
    wanted: bool,
    even_when_dirty: bool,
}

/// What going back did.
struct Rewound {
    dropped: u64,
    needed: bool,
    applied: bool,
    target: Option<String>,
}

impl Forge {
    pub async fn follow_up(&self, id: AttemptId, request: FollowUp, once: Option<&Once>) -> Result<Run> {
        if let Some(run) = self.said(once).await? {
            return Ok(run);
        }
        let typed = match request.retry_process_id {
            Some(_) => Typed::Elsewhere,
            None => Typed::ByHand(request.prompt.clone()),
        };
        let run = self.send_message(id, request, typed, once).await?;
        self.keep_answer(once, &run).await;
        Ok(run)
    }

    /// The run that carries what an earlier request under the same key said.
    async fn said(&self, once: Option<&Once>) -> Result<Option<Run>> {
        let Some((once, effect)) = once.and_then(|once| Some((once, once.effect()?))) else {
            return Ok(None);
        };
        let id = match effect {
            Effect::Run(id) => *id,
            // The server ended while it sent the message.
            Effect::Sending { run, line } if self.was_sent(*run, line, once.at()).await? => *run,
            _ => return Ok(None),
        };
        let run = match once.answer() {
            Some(run) => run,
            None => self.run(id).await?,
        };
        Ok(Some(once.replay(run)))
    }

    /// Everything is checked before the worktree is touched.
    pub(crate) async fn send_message(
        &self,
        id: AttemptId,
        request: FollowUp,
        typed: Typed,
        once: Option<&Once>,
    ) -> Result<Run> {
        let mut workplace = self.workplace(RunOwner::Attempt(id)).await?;
        self.check_budget(Some(id), workplace.project.id).await?;
        let profile = self.follow_up_profile(&workplace, id, request.variant.as_ref()).await?;
        let images = request.image_ids.unwrap_or_default();
        self.check_images(&images).await?;
        if let Some(run) = request.retry_process_id {
            self.check_retried(id, run).await?;
        }
        if let Some(run) = request.retry_process_id {
            let reset = Reset {
                wanted: request.perform_git_reset.unwrap_or(true),
                even_when_dirty: request.force_when_dirty.unwrap_or(false),
            };
            self.rewind(&mut workplace, id, run, &reset).await?;
        }
        let prompt = show_images(&request.prompt, &self.image_folder(&workplace));
        let fresh = request.fresh.unwrap_or(false);
        let extras = RunExtras { typed, images, once, why: Why::Asked };
        if request.retry_process_id.is_none()
            && !fresh
            && let Some(run) = self.message_running(id, &profile, &prompt, once).await?
        {
            self.record_message(&workplace, &run, &extras).await?;
            return Ok(run);
        }
        let (session, prompt) = match fresh {
            false => (self.session_of(RunOwner::Attempt(id), Some(profile.executor)).await?, prompt),
            true => (None, recall(&self.0.store.runs(id, Dropped::Hidden).await?, &prompt)),
        };
        let cleanup = cleanup_action(&workplace.project);
        let action = Action::agent(prompt, profile, session).then(cleanup);
        self.add_run(RunOwner::Attempt(id), &workplace, action, extras).await
    }

    /// Gives the message to the attempt's agent while it works, when it is the same agent and takes messages; returns its run.
    async fn message_running(
        &self,
        id: AttemptId,
        profile: &ProfileId,
        prompt: &str,
        once: Option<&Once>,
    ) -> Result<Option<Run>> {
        let runs = self.0.store.runs(id, Dropped::Hidden).await?;
        // Behind a run that waits there is an order to keep.
        let mut open = runs.into_iter().filter(|run| !run.phase.is_over());
        let (Some(run), None) = (open.find(|run| run.reason != RunReason::DevServer), open.next()) else {
            return Ok(None);
        };
        if run.status != RunStatus::Running || run.action.profile() != Some(profile) {
            return Ok(None);
        }
        let conversation = self.attended().get(&run.id).and_then(|attended| attended.conversation.clone());
        let Some(conversation) = conversation else { return Ok(None) };
        let Some(line) = conversation.message(prompt) else { return Ok(None) };
        if once.is_some() {
            // Before it is sent, so that a server that dies in between knows what to look for.
            let mut tx = self.0.store.begin().await?;
            let sending = || Effect::Sending { run: run.id, line: line.clone() };
            once::note(&mut tx, once, sending, None::<&()>).await?;
            tx.commit().await?;
        }
        Ok(conversation.send(&line).await?.then_some(run))
    }

    /// What is written when a message needed no run of its own.
    async fn record_message(&self, workplace: &Workplace, run: &Run, extras: &RunExtras<'_>) -> Result<()> {
        let Some(attempt) = &workplace.attempt else { return Ok(()) };
        let mut tx = self.0.store.begin().await?;
        draft::clear(&mut tx, attempt.id, &extras.typed).await?;
        tx.attach_images(attempt.task_id, &extras.images).await?;
        once::note(&mut tx, extras.once, || Effect::Run(run.id), None::<&()>).await?;
        tx.commit().await?;
        Ok(())
    }

    /// Installs and logs in the program of an agent that has a script for it, then lets the attempt's last agent go on.
    pub async fn set_up_agent(&self, id: AttemptId, request: SetUpAgent) -> Result<()> {
        let workplace = self.workplace(RunOwner::Attempt(id)).await?;
        self.check_budget(Some(id), workplace.project.id).await?;
        let Some(setup) = forge_run::agents::agent(request.executor_profile_id.executor).setup else {
            return Err(Error::invalid("Setup helper not supported"));
        };
        let runs = self.0.store.runs(id, Dropped::Hidden).await?;
        let last = runs.into_iter().rev().find(|run| run.reason == RunReason::CodingAgent);
        let script = Action::script(setup, ScriptContext::SetupScript);
        let action = script.then(last.map(|run| run.action));
        self.add_run(RunOwner::Attempt(id), &workplace, action, RunExtras::nothing()).await?;
        Ok(())
    }

    pub async fn replace_run(&self, id: AttemptId, request: ReplaceRun) -> Result<ReplaceProcessResult> {
        let mut workplace = self.workplace(RunOwner::Attempt(id)).await?;
        self.check_budget(Some(id), workplace.project.id).await?;
        let runs = self.0.store.runs(id, Dropped::Hidden).await?;
        let replaced = match request.process_id {
            Some(run) => runs.iter().find(|known| known.id == run),
            None => runs.iter().rev().find(|run| run.reason == RunReason::CodingAgent),
        };
        let replaced = replaced.ok_or_else(process_not_found)?;
        let mut profile = match (&request.executor_profile_id, replaced.action.profile()) {
            (Some(profile), _) => profile.clone(),
            (None, Some(profile)) => profile.clone(),
            (None, None) => self.follow_up_profile(&workplace, id, None).await?,
        };
        if let Some(variant) = request.variant {
            profile.variant = variant;
        }
        let profile = self.check_profile(&profile, &workplace.project, &workplace.directory).await?;
        let reset = Reset {
            wanted: request.perform_git_reset.unwrap_or(true),
            even_when_dirty: request.force_when_dirty.unwrap_or(false),
        };
        let rewound = self.rewind(&mut workplace, id, replaced.id, &reset).await?;
        let session = self.session_of(RunOwner::Attempt(id), Some(profile.executor)).await?;
        let prompt = show_images(&request.prompt, &self.image_folder(&workplace));
        let action = Action::agent(prompt, profile, session);
        let run = self.add_run(RunOwner::Attempt(id), &workplace, action, RunExtras::nothing()).await?;
        Ok(ReplaceProcessResult {
            deleted_count: rewound.dropped,
            git_reset_needed: rewound.needed,
            git_reset_applied: rewound.applied,
            target_before_oid: rewound.target,
            new_execution_id: Some(run.id),
        })
    }

    pub async fn follow_up_errand(&self, id: ErrandId, request: FollowUpErrand) -> Result<Run> {
        let owner = RunOwner::Errand(id);
        let workplace = self.workplace(owner).await?;
        self.check_budget(None, workplace.project.id).await?;
        let errand = self.errand(id).await?;
        let mut profile: ProfileId = errand
            .executor
            .parse()
            .map_err(|error| Error::invalid(format!("{error}")).of_field("executor"))?;
        profile.variant = request.variant.unwrap_or(errand.variant);
        let profile = self.check_profile(&profile, &workplace.project, &workplace.directory).await?;
        let session = self.session_of(owner, Some(profile.executor)).await?;
        let action = Action::agent(request.prompt, profile, session);
        self.add_run(owner, &workplace, action, RunExtras::nothing()).await
    }

    /// The next turn of a run that could not go on: the same agent, its own conversation, or its first prompt again where
    /// it had none.
    pub(crate) async fn carry_on(&self, run: &Run, workplace: &Workplace, prompt: &str) -> Result<()> {
        let Some(profile) = run.action.profile().cloned() else { return Ok(()) };
        let session = self.session_of(run.owner, Some(profile.executor)).await?;
        let prompt = match (&session, run.action.prompt()) {
            (None, Some(first)) => first,
            _ => prompt,
        };
        let next = run.action.next_action.as_deref().cloned();
        let action = Action::agent(prompt.to_owned(), profile, session).then(next);
        let extras = RunExtras { why: Why::Run, ..RunExtras::nothing() };
        self.add_run(run.owner, workplace, action, extras).await?;
        Ok(())
    }

    /// The profile of the last agent run with the variant asked for, else the attempt's own.
    async fn follow_up_profile(
        &self,
        workplace: &Workplace,
        id: AttemptId,
        variant: Option<&Option<String>>,
    ) -> Result<ProfileId> {
        let runs = self.0.store.runs(id, Dropped::Hidden).await?;
        let last = runs.iter().rev().find_map(|run| run.action.profile().cloned());
        let own = workplace.attempt.as_ref().map(|attempt| attempt.executor_profile_id.clone());
        let mut profile = last.or(own).ok_or_else(|| Error::no_attempt(id))?;
        if let Some(variant) = variant {
            profile.variant = variant.clone();
        }
        self.check_profile(&profile, &workplace.project, &workplace.directory).await
    }

    /// Writes a run and starts it, now or when its directory is free.
    async fn add_run(
        &self,
        owner: RunOwner,
        workplace: &Workplace,
        action: Action,
        extras: RunExtras<'_>,
    ) -> Result<Run> {
        let id = RunId::random();
        let entry = self.enter(&workplace.directory, id);
        let mut workplace = workplace.clone();
        let written = async {
            let head = match entry {
                Entry::Now => {
                    self.ensure_directory(&mut workplace).await?;
                    self.refuse_leftovers(&workplace).await?;
                    self.checked_out(&workplace).await?
                }
                Entry::Later => None,
            };
            let run = new_run(id, owner, action, head, entry);
            self.write_run(&run, &workplace, &extras).await.map(|()| run)
        };
        let run = written.await.inspect_err(|_| {
            if let Some(next) = self.leave(&workplace.directory, id) {
                self.start_waiting(next);
            }
        })?;
        if entry == Entry::Now {
            self.launch_run(run, &workplace).await.map_err(|error| match error.kind() {
                crate::Kind::Invalid | crate::Kind::Conflict => error,
                _ => error.of_kind(crate::Kind::Internal),
            })?;
        }
        self.run(id).await
    }

    async fn write_run(&self, run: &Run, workplace: &Workplace, extras: &RunExtras<'_>) -> Result<()> {
        let mut tx = self.0.store.begin().await?;
        parking::end_parked(&mut tx, run.owner).await?;
        tx.insert_run(run).await?;
        if let Some(attempt) = &workplace.attempt {
            draft::clear(&mut tx, attempt.id, &extras.typed).await?;
            tx.attach_images(attempt.task_id, &extras.images).await?;
        }
        if let Some(task) = &workplace.task {
            tx.move_task(task.id, TaskStatus::InProgress, (extras.why)(run.reason)).await?;
        }
        once::note(&mut tx, extras.once, || Effect::Run(run.id), None::<&()>).await?;
        tx.commit().await?;
        Ok(())
    }

    /// Stops what runs, brings the tree back to where `run` began and drops it with everything after it.
    async fn rewind(
        &self,
        workplace: &mut Workplace,
        id: AttemptId,
        run: RunId,
        reset: &Reset,
    ) -> Result<Rewound> {
        self.refuse_leftovers(workplace).await?;
        self.stop_attempt(id).await?;
        let _hold = self.hold(id, &workplace.directory).await?;
        self.ensure_directory(workplace).await?;
        // Read after the stop: it recorded where the stopped runs left the tree, and none can be added after it.
        let runs = self.0.store.runs(id, Dropped::Shown).await?;
        let at = runs.iter().position(|known| known.id == run).ok_or_else(process_not_found)?;
        let previous = runs[..at].iter().rev().find(|run| !run.dropped);
        let target = runs[at].before_head.clone().or_else(|| previous.and_then(|run| run.after_head.clone()));
        let (needed, applied) = self.reset_directory(workplace, id, target.as_deref(), reset).await;
        let later: Vec<RunId> = runs[at..].iter().filter(|run| !run.dropped).map(|run| run.id).collect();
        let mut tx = self.0.store.begin().await?;
        for id in &later {
            if let Some(run) = tx.run(*id).await? {
                tx.update_run(&Run { dropped: true, updated_at: Millis::now(), ..run }).await?;
            }
        }
        tx.delete_draft(id, forge_types::DraftKind::Retry).await?;
        tx.commit().await?;
        Ok(Rewound { dropped: later.len() as u64, needed, applied, target })
    }

    async fn reset_directory(
        &self,
        workplace: &Workplace,
        id: AttemptId,
        target: Option<&str>,
        reset: &Reset,
    ) -> (bool, bool) {
        let Some((target, attempt)) = target.zip(workplace.attempt.as_ref()).filter(|_| workplace.commits())
        else {
            return (false, false);
        };
        let at = || workplace.directory.clone();
        let dirty = self.ask(IsDirty { at: at() }).await.unwrap_or(true);
        let needed = dirty || self.head(workplace, &None).await.as_deref() != Some(target);
        if !needed || !reset.wanted || (dirty && !reset.even_when_dirty) {
            return (needed, false);
        }
        let (owner, branch, commit) = (Owner::Attempt(id), attempt.branch.clone(), target.to_owned());
        match self.ask(host::Reset { at: at(), owner, branch, commit }).await {
            Ok(_kept) => (true, true),
            Err(error) => {
                tracing::warn!(attempt = %id, %error, "cannot reset the worktree");
                (true, false)
            }
        }
    }
}
