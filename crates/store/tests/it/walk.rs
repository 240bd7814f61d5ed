//! Events equal state: a long random life, folded from the log, is what the tables say.

use std::collections::HashMap;

use forge_store::{Dropped, Page, Store, TaskBlock, Tx};
use forge_types::*;
use futures_util::TryStreamExt;
use pretty_assertions::assert_eq;

use crate::fixture::*;

/// A small generator, so that a failing walk can be walked again.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> Option<T> {
        (!from.is_empty()).then(|| from[self.roll(from.len())].clone())
    }
}

/// What a follower knows from the log alone.
#[derive(Default)]
struct Known {
    projects: HashMap<ProjectId, Project>,
    tasks: HashMap<TaskId, (TaskSummary, bool)>,
    attempts: HashMap<AttemptId, (TaskId, ProjectId)>,
    runs: HashMap<RunId, Run>,
    drafts: HashMap<(AttemptId, DraftKind), Draft>,
}

impl Known {
    /// Panics when something is created twice, or changed or removed without being known.
    fn fold(&mut self, event: Event) {
        match event {
            Event::Project { change, project } => {
                let old = self.projects.insert(project.id, project);
                assert_eq!(old.is_none(), change == Change::Created);
            }
            Event::ProjectRemoved { id } => assert!(self.projects.remove(&id).is_some()),
            Event::Task { change, task, hidden } => {
                let old = self.tasks.insert(task.task.id, (task, hidden));
                assert_eq!(old.is_none(), change == Change::Created);
            }
            Event::TaskRemoved { id, project_id } => {
                assert_eq!(self.tasks.remove(&id).unwrap().0.task.project_id, project_id);
            }
            Event::AttemptCreated { id, task_id, project_id, .. } => {
                assert_eq!(self.attempts.insert(id, (task_id, project_id)), None);
            }
            Event::AttemptRemoved { id, task_id, project_id } => {
                assert_eq!(self.attempts.remove(&id), Some((task_id, project_id)));
                self.drafts.retain(|(attempt, _), _| *attempt != id);
            }
            Event::Run { change, run } => {
                let old = self.runs.insert(run.id, run);
                assert_eq!(old.is_none(), change == Change::Created);
            }
            Event::RunRemoved { id, attempt_id } => {
                assert_eq!(self.runs.remove(&id).unwrap().owner.attempt(), attempt_id);
            }
            Event::Draft { attempt_id, kind, draft, .. } => match draft {
                Some(draft) => drop(self.drafts.insert((attempt_id, kind), draft)),
                None => drop(self.drafts.remove(&(attempt_id, kind))),
            },
            Event::Approval { .. } => panic!("the walker asks nothing"),
            Event::Worker { .. }
            | Event::WorkerRemoved { .. }
            | Event::Alert { .. }
            | Event::Routing { .. } => panic!("the walker has no fleet"),
        }
    }
}

/// What the walker has made; rows may be gone, which the transaction reports.
#[derive(Clone, Default)]
struct Made {
    projects: Vec<Project>,
    tasks: Vec<Task>,
    attempts: Vec<Attempt>,
    errands: Vec<Errand>,
    runs: Vec<Run>,
}

async fn change(tx: &mut Tx, made: &mut Made, dice: &mut Dice, at: i64) {
    let statuses = [RunStatus::Completed, RunStatus::Failed, RunStatus::Killed];
    let contexts = [ScriptContext::SetupScript, ScriptContext::CleanupScript, ScriptContext::DevServer];
    match dice.roll(24) {
        0 => {
            let project = project(at);
            tx.insert_project(&project).await.unwrap();
            made.projects.push(project);
        }
        1 => {
            if let Some(project) = dice.pick(&made.projects) {
                tx.update_project(&Project { updated_at: Millis(at), ..project }).await.ok();
            }
        }
        2..=5 => {
            let Some(project) = dice.pick(&made.projects) else { return };
            let parent = if dice.roll(2) == 0 { dice.pick(&made.attempts) } else { None };
            let task = Task { parent_task_attempt: parent.map(|a| a.id), ..task(project.id, at) };
            if tx.insert_task(&task, dice.roll(4) == 0).await.is_ok() {
                made.tasks.push(task);
            }
        }
        6 | 7 => {
            if let Some(task) = dice.pick(&made.tasks) {
                let status = TaskStatus::Done;
                tx.update_task(&Task { updated_at: Millis(at), status, parent_task_attempt: None, ..task })
                    .await
                    .ok();
            }
        }
        8..=11 => {
            let Some(task) = dice.pick(&made.tasks) else { return };
            let attempt = attempt(&task, at);
            if tx.insert_attempt(&attempt).await.is_ok() {
                made.attempts.push(attempt);
            }
        }
        12..=15 => {
            let Some(attempt) = dice.pick(&made.attempts) else { return };
            let owner = RunOwner::Attempt(attempt.id);
            let run = match dice.roll(4) {
                script @ 0..3 => script_run(owner, contexts[script], at),
                _ => agent_run(owner, at),
            };
            if tx.insert_run(&run).await.is_ok() {
                made.runs.push(run);
            }
        }
        16..=18 => {
            let Some(run) = dice.pick(&made.runs) else { return };
            let dropped = dice.roll(5) == 0;
            tx.update_run(&Run { dropped, ..ended(&run, statuses[dice.roll(3)], at) }).await.ok();
        }
        19 => {
            let Some(attempt) = dice.pick(&made.attempts) else { return };
            let merge = match dice.roll(3) {
                0 => direct_merge(attempt.id, at),
                1 => pull_request(attempt.id, PrStatus::Open, at),
                _ => pull_request(attempt.id, PrStatus::Merged, at),
            };
            tx.insert_merge(&merge).await.ok();
        }
        20 => {
            let Some(attempt) = dice.pick(&made.attempts) else { return };
            match dice.roll(3) {
                0 => drop(tx.delete_draft(attempt.id, DraftKind::FollowUp).await.unwrap()),
                _ => drop(tx.put_draft(&draft(attempt.id, at)).await),
            }
        }
        21 => {
            let Some(project) = dice.pick(&made.projects) else { return };
            let errand = errand(project.id, at);
            if tx.insert_errand(&errand).await.is_ok() {
                let run = agent_run(RunOwner::Errand(errand.id), at);
                tx.insert_run(&run).await.unwrap();
                made.runs.push(run);
                made.errands.push(errand);
            }
        }
        22 => {
            if let Some(task) = dice.pick(&made.tasks) {
                tx.delete_task(task.id).await.unwrap();
            }
        }
        _ => {
            if dice.roll(12) == 0
                && let Some(project) = dice.pick(&made.projects)
            {
                tx.delete_project(project.id).await.unwrap();
            }
        }
    }
}

async fn compare(store: &Store, known: &Known, made: &Made) {
    let projects = store.projects().await.unwrap();
    assert_eq!(projects.len(), known.projects.len());
    let mut visible = 0;
    for project in projects {
        assert_eq!(known.projects.get(&project.id), Some(&project));
        let tasks = store.tasks_snapshot(project.id).await.unwrap().1;
        let blocks: Vec<TaskBlock> =
            store.stream_tasks(project.id, Page::default()).try_collect().await.unwrap();
        let documents = blocks.iter().flat_map(TaskBlock::rows);
        let listed = documents.map(|(_, json)| serde_json::from_str(json).unwrap());
        assert_eq!(tasks, listed.collect::<Vec<TaskSummary>>(), "a document lags behind its task");
        for task in tasks {
            assert_eq!(known.tasks.get(&task.task.id), Some(&(task.clone(), false)));
            visible += 1;
        }
        for (attempt, drafts) in store.drafts_snapshot(project.id).await.unwrap().1 {
            assert_eq!(known.attempts[&attempt].1, project.id);
            let of_log = known.drafts.iter().filter(|((of, _), _)| *of == attempt);
            assert_eq!(drafts, of_log.map(|(_, draft)| draft.clone()).collect::<Vec<_>>());
        }
    }
    assert_eq!(visible, known.tasks.values().filter(|(_, hidden)| !hidden).count());
    for (id, (summary, _)) in &known.tasks {
        assert_eq!(store.task_summary(*id).await.unwrap().as_ref(), Some(summary));
        assert_eq!(*summary, derive(store, summary).await, "the summary columns are what the rows say");
    }
    for task in made.tasks.iter().filter(|task| !known.tasks.contains_key(&task.id)) {
        assert_eq!(store.task(task.id).await.unwrap(), None);
    }
    for attempt in &made.attempts {
        assert_eq!(
            store.attempt(attempt.id).await.unwrap().is_some(),
            known.attempts.contains_key(&attempt.id)
        );
    }
    for run in &made.runs {
        assert_eq!(store.run(run.id).await.unwrap().as_ref(), known.runs.get(&run.id));
    }
    let open = known.runs.values().filter(|run| run.phase != RunPhase::Ended).count();
    assert_eq!(store.open_runs().await.unwrap().len(), open);
}

/// The flags of a task computed in the simplest way.
async fn derive(store: &Store, summary: &TaskSummary) -> TaskSummary {
    let attempts = store.attempts(Some(summary.task.id), Default::default()).await.unwrap();
    let (mut runs, mut merges) = (Vec::new(), Vec::new());
    for attempt in &attempts {
        runs.extend(store.runs(attempt.id, Dropped::Hidden).await.unwrap());
        merges.extend(store.merges(attempt.id).await.unwrap());
    }
    runs.retain(|run| run.reason != RunReason::DevServer);
    runs.sort_by_key(|run| (run.created_at, run.id.to_string()));
    let failed = |run: &Run| matches!(run.status, RunStatus::Failed | RunStatus::Killed);
    TaskSummary {
        task: summary.task.clone(),
        has_in_progress_attempt: runs.iter().any(|run| run.status == RunStatus::Running),
        has_merged_attempt: merges.iter().any(|merge| match merge {
            Merge::Direct { .. } => true,
            Merge::Pr { pr_info, .. } => pr_info.status == PrStatus::Merged,
        }),
        last_attempt_failed: runs.last().is_some_and(failed),
        executor: attempts.first().map(|attempt| attempt.executor.clone()).unwrap_or_default(),
        attempt_count: attempts.len() as i64,
    }
}

#[tokio::test]
async fn the_log_folded_is_the_state() {
    for seed in [1, 22, 333] {
        let (store, _dir) = store().await;
        let (mut dice, mut made, mut known) = (Dice(seed), Made::default(), Known::default());
        let mut seen = 0;
        for step in 0..250 {
            let mut tx = store.begin().await.unwrap();
            let before = made.clone();
            for part in 0..=dice.roll(6) {
                change(&mut tx, &mut made, &mut dice, step * 10 + part as i64).await;
            }
            if dice.roll(8) == 0 {
                drop(tx);
                made = before;
            } else {
                tx.commit().await.unwrap();
            }
            for record in store.events_after(seen, usize::MAX).await.unwrap() {
                assert_eq!(record.seq, seen + 1);
                seen = record.seq;
                known.fold(record.event.clone());
            }
            if step % 50 == 49 {
                compare(&store, &known, &made).await;
            }
        }
        assert!(seen > 500, "the walk did something: {seen}");
        store.close().await;
    }
}
