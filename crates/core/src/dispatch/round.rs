//! One round: which beads start now, in which order, with which agent.
//!
//! Invariant: whatever would refuse a start is asked before a bead is taken, so that a bead is taken only to be worked on.

use std::collections::HashMap;
use std::path::PathBuf;

use forge_fleet::beads;
use forge_fleet::complexity::Complexity;
use forge_fleet::route::{NoRoute, Rules, route, tier_of};
use forge_fleet::score::{TaskScorer, order};
use forge_fleet::work::Work;
use forge_types::{
    Attempt, AttemptId, BeadsOf, CreateAttemptOptions, CreateTask, DispatchLanding, DispatchMode,
    DispatchReport, DispatchRule, DispatchedBead, FleetSettings, Lease, Millis, ProfileId, Project, Routing,
    RoutingId, ScoreComponents, StartTask, UpdateTask, WaitingBead, WorkerTier,
};

use super::catalogue::Catalogue;
use super::queue::{Job, Queue};
use crate::attempt::start::Begin;
use crate::beads::{attempt_of, worker_of};
use crate::{Error, Forge, Kind, Result};

/// Whether a round only says what it would do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum DryRun {
    Yes,
    No,
}

/// How many more may be started.
struct Capacity {
    all: usize,
    tiers: Vec<(WorkerTier, usize)>,
}

impl Capacity {
    fn rules(&self, fleet: &FleetSettings) -> Rules {
        let left = |(tier, room): &(WorkerTier, usize)| (*tier, (*room).min(self.all));
        Rules {
            room: self.tiers.iter().map(left).collect(),
            tiers: fleet.priority_tiers,
            fallback: fleet.fallback,
            ..Rules::default()
        }
    }

    fn take(&mut self, tier: WorkerTier) {
        self.all = self.all.saturating_sub(1);
        for (_, room) in self.tiers.iter_mut().filter(|(of, _)| *of == tier) {
            *room = room.saturating_sub(1);
        }
    }
}

/// A piece of work with what is thought of it.
struct Candidate {
    queue: Queue,
    work: Work,
    complexity: Complexity,
    score: ScoreComponents,
}

/// What a round knows while it goes on.
struct Round<'a> {
    forge: &'a Forge,
    project: &'a Project,
    rule: &'a DispatchRule,
    catalogue: Catalogue,
    fleet: FleetSettings,
    dry_run: DryRun,
}

impl Forge {
    /// The caller has the dispatcher's turn.
    pub(super) async fn round(
        &self,
        project: &Project,
        rule: &DispatchRule,
        dry_run: DryRun,
    ) -> Result<DispatchReport> {
        let queues = self.queues(project, rule).await?;
        let (mut started, mut waiting) = (Vec::new(), Vec::new());
        let mut open = Vec::new();
        for queue in &queues {
            let work = self.open_work(project, queue, &mut waiting).await?;
            open.extend(work.into_iter().map(|work| (queue.clone(), work)));
        }
        if !open.is_empty() {
            let catalogue = self.catalogue(project, rule).await?;
            let fleet = self.settings().fleet.clone();
            let mut room = self.room(&queues, rule, &fleet).await?;
            let round = Round { forge: self, project, rule, catalogue, fleet, dry_run };
            let candidates = rank(open, TaskScorer::new().with_room(room.all));
            for candidate in candidates.into_iter().take_while(|_| !self.0.background.is_closing()) {
                let (bead, title) = (candidate.work.id.clone(), candidate.work.title.clone());
                match round.give(candidate, &mut room).await {
                    Ok(given) => started.push(given),
                    Err(error) => {
                        let reason = error.to_string();
                        waiting.push(WaitingBead { bead, title, reason });
                    }
                }
            }
        }
        Ok(DispatchReport {
            project_id: project.id,
            workspace: queues.first().map(|queue| queue.root().to_owned()).unwrap_or_default(),
            dry_run: dry_run == DryRun::Yes,
            started,
            waiting,
        })
    }

    /// Where a project's work comes from.
    async fn queues(&self, project: &Project, rule: &DispatchRule) -> Result<Vec<Queue>> {
        let repo = PathBuf::from(&project.git_repo_path);
        let board = rule.tasks.then(|| Queue::Board(repo.clone()));
        let of = BeadsOf { project_id: Some(project.id), workspace: None };
        let beads = match self.tracker(&of).await {
            Ok(tracker) => Some(Queue::Beads(tracker)),
            Err(error) if error.kind() == Kind::NotFound && rule.tasks => None,
            Err(error) => return Err(error),
        };
        Ok(beads.into_iter().chain(board).collect())
    }

    /// What the limits leave, after everything that is at work.
    async fn room(&self, queues: &[Queue], rule: &DispatchRule, fleet: &FleetSettings) -> Result<Capacity> {
        let (mut all, mut here, mut tiers) = (0, 0, HashMap::<WorkerTier, usize>::new());
        for routing in self.0.store.open_routings().await? {
            let at_work = match routing.worker.as_ref().and_then(attempt_of) {
                Some(attempt) => self.is_at_work(attempt).await?,
                None => true,
            };
            if at_work {
                all += 1;
                here += usize::from(queues.iter().any(|queue| queue.root() == routing.workspace));
                *tiers.entry(routing.decision.tier).or_default() += 1;
            }
        }
        let left = |most: Option<u32>, used: usize| {
            most.map_or(usize::MAX, |most| (most as usize).saturating_sub(used))
        };
        let of_tier =
            |tier: WorkerTier| (tier, left(*fleet.caps.of(tier), tiers.get(&tier).copied().unwrap_or(0)));
        if rule.mode == DispatchMode::Worker {
            // Workers that people started count too.
            let kept = self.0.store.workers().await?;
            all = all.max(kept.iter().filter(|worker| worker.phase.is_kept()).count());
        }
        Ok(Capacity {
            all: left(Some(fleet.max_workers), all).min(left(rule.max_workers, here)),
            tiers: WorkerTier::ALL.map(of_tier).to_vec(),
        })
    }
}

/// The most valuable first. Each gets an agent of its own, so that no worker is a candidate.
fn rank(open: Vec<(Queue, Work)>, scorer: TaskScorer) -> Vec<Candidate> {
    let (mut ranked, mut known) = (Vec::new(), HashMap::new());
    for (queue, work) in open {
        let scored = scorer.score_bead(&work, &[]);
        known.insert(work.id.clone(), (queue, scored.complexity));
        ranked.push((work, scored.components));
    }
    order(&mut ranked);
    let candidate = |(work, score): (Work, ScoreComponents)| {
        let (queue, complexity) = known.remove(&work.id)?;
        Some(Candidate { queue, work, complexity, score })
    };
    ranked.into_iter().filter_map(candidate).collect()
}

impl Round<'_> {
    /// Gives a bead to an agent; an error says why it waits.
    async fn give(&self, candidate: Candidate, room: &mut Capacity) -> Result<DispatchedBead> {
        let Candidate { queue, work, complexity, score } = candidate;
        if let Some(shortage) = self.forge.shortage(&self.fleet) {
            return Err(Error::conflict(shortage.words()));
        }
        self.forge.check_fleet_budget().await?;
        let rules = room.rules(&self.fleet);
        let wanted = tier_of(&work, &complexity, &rules);
        let decision = route(&work, &complexity, &self.catalogue.models, &[], &rules);
        let decision = decision.map_err(|why| match why {
            NoRoute::NoModel => Error::conflict(format!("{why}: {}", self.catalogue.list_passed_over())),
            NoRoute::NoRoom => Error::conflict(why.to_string()),
        })?;
        let choice = self.catalogue.choice(decision.tier, &decision.model);
        let choice = choice.ok_or_else(|| Error::conflict("no model of an allowed tier can be used"))?;
        let options = self.options(&choice.profile);
        self.forge.check_start(self.project.id, &options).await?;
        room.take(decision.tier);
        // At most 100, so nothing is lost.
        let complexity = complexity.total().round() as u8;
        let mut given = DispatchedBead {
            bead: work.id,
            title: work.title,
            score,
            complexity,
            decision,
            worker: None,
            task_id: None,
            attempt_id: None,
        };
        if self.dry_run == DryRun::No {
            self.start(&queue, &mut given, wanted, options, choice.by.clone()).await?;
        }
        Ok(given)
    }

    async fn start(
        &self,
        queue: &Queue,
        given: &mut DispatchedBead,
        wanted: WorkerTier,
        options: CreateAttemptOptions,
        by: Option<String>,
    ) -> Result<()> {
        let id = AttemptId::random();
        let (worker, actor) = match self.rule.mode {
            DispatchMode::Attempt => (worker_of(id)?, beads::actor("attempt", id.0)),
            DispatchMode::Worker => {
                let worker = self.forge.free_worker(self.project).await?;
                given.worker = Some(worker.clone());
                let actor = beads::actor(worker.as_str(), id.0);
                (worker, actor)
            }
        };
        let routing = Routing {
            id: RoutingId::random(),
            workspace: queue.root().to_owned(),
            work: given.bead.clone(),
            title: given.title.clone(),
            score: given.score,
            complexity: given.complexity,
            decision: given.decision.clone(),
            wanted: Some(wanted),
            passed_over: self.catalogue.passed_over.clone(),
            worker: Some(worker.clone()),
            attempt_id: Some(id),
            by,
            landing: self.rule.landing,
            close_on: self.rule.close_on,
            outcome: None,
            actual_cost: None,
            decided_at: Millis::now(),
            ended_at: None,
        };
        let lease = queue.lease(&given.bead, worker, actor);
        let job = self.forge.take_work(queue, &lease, &routing).await?;
        match self.begin(job, options, id, &lease).await {
            Ok(attempt) => {
                tracing::info!(bead = %given.bead, attempt = %id, model = %given.decision.model, "bead given out");
                (given.task_id, given.attempt_id) = (Some(attempt.task_id), Some(id));
                match self.rule.mode {
                    DispatchMode::Attempt => Ok(()),
                    DispatchMode::Worker => {
                        self.forge.start_worker_of(queue, &lease, &routing, &attempt).await
                    }
                }
            }
            Err(error) => {
                let why = format!("it could not be started: {error}");
                self.forge.record_bead_failure(queue, &lease, &why, None).await?;
                Err(error)
            }
        }
    }

    /// A bead is one task, however often it is tried.
    async fn begin(
        &self,
        job: Job,
        start: CreateAttemptOptions,
        id: AttemptId,
        lease: &Lease,
    ) -> Result<Attempt> {
        let Job { title, description, task: known, .. } = job;
        let known = match known {
            Some(task) => {
                // A bead may have been rewritten since it was tried.
                let now = UpdateTask {
                    title: Some(title.clone()),
                    description: description.clone(),
                    ..UpdateTask::default()
                };
                Some(self.forge.update_task(task.id, now).await?)
            }
            None => None,
        };
        let task = CreateTask { description, ..CreateTask::new(self.project.id, title) };
        let begin = match self.rule.mode {
            DispatchMode::Attempt => Begin::Agent,
            DispatchMode::Worker => Begin::Setup,
        };
        let started = self.forge.start_bead(StartTask { task, start }, id, lease, known, begin).await?;
        if let Some(warning) = started.warning {
            tracing::warn!(bead = %lease.bead, attempt = %id, "the agent did not live: {warning}");
        }
        Ok(started.attempt)
    }

    fn options(&self, profile: &ProfileId) -> CreateAttemptOptions {
        CreateAttemptOptions {
            executor_profile_id: profile.clone(),
            base_branch: None,
            use_worktree: Some(true),
            auto_pr: (self.rule.landing == DispatchLanding::Pr).then_some(true),
            max_cost_usd: None,
        }
    }
}
