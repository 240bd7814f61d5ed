//! Starting the tasks of a batch and following all of them at once.
//!
//! The stream of the project's tasks shows when something may have ended; the server is then asked once for the result.
//! Invariant: no more run than allowed, and each result is requested until it is known.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use forge_types::wire::{StartedTask, TaskAttemptDetail};
use forge_types::{AttemptStatus, MicroUsd, ProjectId, TaskId, TaskSummary};
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;

use super::board::Board;
use super::job::{Begun, End, Job, State};
use crate::client::{Client, Kind, kind_of};
use crate::command::diff;
use crate::watch::{Feed, Step};

/// How many starts are requested at a time; each creates a worktree.
const STARTS: usize = 8;
/// The pause between two attempts to reach a server that went away.
const PAUSE: Duration = Duration::from_millis(500);

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Over {
    AllEnded,
    Left,
}

pub struct Crew {
    client: Client,
    project: ProjectId,
    limit: usize,
    /// Whether a task has a running attempt, as last reported by the stream.
    at_work: HashMap<TaskId, bool>,
    starting: JoinSet<(usize, Result<Begun>)>,
    ending: JoinSet<(usize, Option<End>)>,
}

impl Crew {
    pub fn new(client: &Client, project: ProjectId, limit: usize) -> Self {
        Self {
            client: client.clone(),
            project,
            limit,
            at_work: HashMap::new(),
            starting: JoinSet::new(),
            ending: JoinSet::new(),
        }
    }

    pub async fn work(mut self, jobs: &mut [Job], board: &mut Board) -> Result<Over> {
        let mut interrupts = signal(SignalKind::interrupt()).context("cannot listen for Ctrl-C")?;
        let mut feed = Feed::new(&self.client, format!("/api/tasks/stream?project_id={}", self.project));
        let mut beat = tokio::time::interval(board.beat());
        while !jobs.iter().all(Job::is_over) {
            self.start(jobs);
            tokio::select! {
                step = feed.next() => self.take(step?, jobs),
                Some(started) = self.starting.join_next() => {
                    let (place, begun) = started?;
                    self.began(place, begun, jobs, board)?;
                }
                Some(ended) = self.ending.join_next() => {
                    if let (place, Some(end)) = ended? {
                        finish(&mut jobs[place], end, board)?;
                    }
                }
                _ = beat.tick() => board.paint(jobs)?,
                _ = interrupts.recv() => {
                    self.see_through(jobs, board).await?;
                    board.clear()?;
                    return Ok(Over::Left);
                }
            }
        }
        board.clear()?;
        Ok(Over::AllEnded)
    }

    fn start(&mut self, jobs: &mut [Job]) {
        let is_open = |job: &&mut Job| matches!(job.state, State::Starting | State::Working { .. });
        let mut open = jobs.iter_mut().filter(is_open).count();
        for (place, job) in jobs.iter_mut().enumerate() {
            if open >= self.limit || self.starting.len() >= STARTS {
                return;
            }
            if !matches!(job.state, State::Waiting) {
                continue;
            }
            (open, job.state) = (open + 1, State::Starting);
            let (client, request) = (self.client.clone(), job.request(self.project));
            self.starting.spawn(async move {
                let at = Instant::now();
                let started = client.post::<StartedTask>("/api/tasks/create-and-start", &request).await;
                let begun = started.map(|StartedTask { task, task_attempt, .. }| Begun {
                    task: task.id,
                    attempt: task_attempt.id,
                    at,
                });
                (place, begun)
            });
        }
    }

    fn began(
        &mut self,
        place: usize,
        begun: Result<Begun>,
        jobs: &mut [Job],
        board: &mut Board,
    ) -> Result<()> {
        match begun {
            Ok(begun) => {
                let may_be_over = self.at_work.get(&begun.task) == Some(&false);
                jobs[place].state = State::Working { begun };
                board.started(&jobs[place])?;
                if may_be_over {
                    self.look(place, &jobs[place]);
                }
            }
            Err(error) => {
                jobs[place].state = State::Refused { reason: format!("{error:#}") };
                board.ended(&jobs[place])?;
            }
        }
        Ok(())
    }

    fn take(&mut self, step: Step, jobs: &[Job]) {
        let Step::Changes(changes) = step else { return };
        for change in &changes {
            match change.path.as_str() {
                "/tasks" => {
                    let tasks: BTreeMap<TaskId, TaskSummary> = change.read().unwrap_or_default();
                    tasks.values().for_each(|task| self.note(task, jobs));
                }
                _ => change.read().iter().for_each(|task| self.note(task, jobs)),
            }
        }
    }

    fn note(&mut self, task: &TaskSummary, jobs: &[Job]) {
        let (id, works) = (task.task.id, task.has_in_progress_attempt);
        self.at_work.insert(id, works);
        let place = jobs.iter().position(|job| job.attempt().is_some_and(|begun| begun.task == id));
        if let Some(place) = place.filter(|place| !works && !jobs[*place].is_over()) {
            self.look(place, &jobs[place]);
        }
    }

    /// Requests its result. The stream may have reported a moment before the attempt began.
    fn look(&mut self, place: usize, job: &Job) {
        let Some(begun) = job.attempt().cloned() else { return };
        let client = self.client.clone();
        self.ending.spawn(async move { (place, how_it_ended(&client, &begun).await) });
    }

    /// Waits for starts that the server has already been asked for.
    async fn see_through(&mut self, jobs: &mut [Job], board: &mut Board) -> Result<()> {
        while let Some(started) = self.starting.join_next().await {
            let (place, begun) = started?;
            self.began(place, begun, jobs, board)?;
        }
        for job in jobs.iter_mut().filter(|job| matches!(job.state, State::Starting)) {
            job.state = State::Waiting;
        }
        Ok(())
    }
}

fn finish(job: &mut Job, end: End, board: &mut Board) -> Result<()> {
    if let State::Working { begun } = &job.state {
        job.state = State::Ended { begun: begun.clone(), end };
        board.ended(job)?;
    }
    Ok(())
}

/// `None` when it has not ended.
async fn how_it_ended(client: &Client, begun: &Begun) -> Option<End> {
    let took = begun.at.elapsed();
    let attempt = loop {
        match client.get::<TaskAttemptDetail>(&format!("/api/task-attempts/{}", begun.attempt)).await {
            Ok(detail) => break detail.attempt,
            Err(error) if kind_of(&error).is_some_and(Kind::is_away) => tokio::time::sleep(PAUSE).await,
            // It was deleted.
            Err(error) if kind_of(&error).is_some_and(Kind::is_refusal) => {
                return Some(End { status: None, took, change: None, cost_usd: None });
            }
            Err(_) => return None,
        }
    };
    if matches!(attempt.status, AttemptStatus::Running | AttemptStatus::Pending) {
        return None;
    }
    let change = diff::figures(client, begun.attempt).await.ok();
    let cost_usd = attempt.cost_usd.map(MicroUsd::usd);
    Some(End { status: Some(attempt.status), took, change, cost_usd })
}
