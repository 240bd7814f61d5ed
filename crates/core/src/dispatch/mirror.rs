//! The board and the beads of a project as one queue.
//!
//! Owns the carrying over: every bead that is not closed is a task, every task that is still to be done is a bead, and
//! what changes on one side changes on the other. Invariants: a bead and its task have one link, the one that the
//! dispatcher uses; what both agreed on last is written together with the task, so each step can be repeated; a bead that
//! somebody has through Forge is moved by nobody else; whoever gives way leaves a comment.

mod pair;

use std::collections::{HashMap, HashSet};

use forge_fleet::beads::{self, Bead, Change, Close, NewBead, Snapshot, Status};
use forge_store::{BeadTask, Mirror};
use forge_types::{CreateTask, Millis, Project, Task, TaskId, TaskStatus};

use crate::beads::Tracker;
use crate::dispatch::DONE_IN;
use crate::task::new_task;
use crate::{Forge, Result};

use pair::{Circumstances, Side, Stage, StatusStep, Text, TextStep};

/// How a bead that was made from a task names it.
const REFERENCE: &str = "forge:";

/// What a pass over a project sees of it.
struct View<'a> {
    forge: &'a Forge,
    project: &'a Project,
    tracker: &'a Tracker,
    /// Under whose name beads are changed.
    actor: String,
    beads: &'a Snapshot,
    tasks: HashMap<TaskId, Task>,
    mirrors: Vec<Mirror>,
    leased: HashSet<String>,
}

impl Forge {
    /// Carries over what changed on either side. The caller has the dispatcher's turn.
    pub(crate) async fn mirror(&self, project: &Project, tracker: &Tracker) -> Result<()> {
        let leases = self.0.store.leases().await?;
        let leased = leases.into_iter().filter(|lease| lease.workspace == tracker.root());
        let beads = tracker.store.snapshot().await?;
        let (_, tasks) = self.0.store.tasks_snapshot(project.id).await?;
        let view = View {
            forge: self,
            project,
            tracker,
            actor: beads::actor("board", project.id.0),
            beads: &beads,
            tasks: tasks.into_iter().map(|summary| (summary.task.id, summary.task)).collect(),
            mirrors: self.0.store.mirrors(tracker.root()).await?,
            leased: leased.map(|lease| lease.bead).collect(),
        };
        view.carry_over(self.0.store.bead_tasks(tracker.root()).await?).await
    }
}

impl View<'_> {
    async fn carry_over(&self, links: Vec<BeadTask>) -> Result<()> {
        let mut linked: Vec<(String, TaskId)> = Vec::new();
        for link in links {
            match self.bead(&link.bead) {
                Some(_) => linked.push((link.bead, link.task_id)),
                None => self.part(&link).await?,
            }
        }
        for (bead, task) in self.found_again(&linked) {
            self.link(&bead, task).await?;
            linked.push((bead, task));
        }
        for (bead, task) in &linked {
            if let (Some(bead), Some(task)) = (self.bead(bead), self.tasks.get(task)) {
                self.try_to(&bead.id, self.agree(bead, task, self.met(&bead.id, task.id)).await);
            }
        }
        for bead in self.beads.beads().iter().filter(|bead| self.wants_task(bead)) {
            if !linked.iter().any(|(known, _)| *known == bead.id) {
                self.try_to(&bead.id, self.make_task(bead).await);
            }
        }
        let mut new: Vec<&Task> = self.tasks.values().filter(|task| self.wants_bead(task)).collect();
        new.retain(|task| linked.iter().all(|(_, known)| *known != task.id));
        new.sort_by_key(|task| (task.created_at, task.id));
        for task in new {
            self.try_to(&task.id.to_string(), self.make_bead(task).await);
        }
        Ok(())
    }

    /// One that cannot be carried over does not hold up the others; the next change or look tries again.
    fn try_to(&self, what: &str, done: Result<()>) {
        if let Err(error) = done {
            tracing::warn!(project = %self.project.name, what, %error, "board and beads differ for now");
        }
    }

    fn bead(&self, id: &str) -> Option<&Bead> {
        self.beads.get(id).filter(|bead| *bead.status() != Status::Tombstone)
    }

    fn met(&self, bead: &str, task: TaskId) -> Option<&Mirror> {
        self.mirrors.iter().find(|mirror| mirror.bead == bead && mirror.task_id == task)
    }

    fn wants_task(&self, bead: &Bead) -> bool {
        let is_work = bead.is_template != Some(true) && bead.ephemeral != Some(true);
        is_work && !bead.is_over() && self.mirrors.iter().all(|mirror| mirror.bead != bead.id)
    }

    fn wants_bead(&self, task: &Task) -> bool {
        let is_to_be_done = matches!(task.status, TaskStatus::Todo | TaskStatus::InProgress);
        is_to_be_done && self.mirrors.iter().all(|mirror| mirror.task_id != task.id)
    }

    /// Pairs without a link: the bead was away for a while, or was made from the task just before a crash.
    fn found_again(&self, linked: &[(String, TaskId)]) -> Vec<(String, TaskId)> {
        let is_free = |bead: &str, task: TaskId| {
            self.tasks.contains_key(&task) && linked.iter().all(|(known, of)| known != bead && *of != task)
        };
        let met = self.mirrors.iter().filter(|mirror| self.bead(&mirror.bead).is_some());
        let met = met.map(|mirror| (mirror.bead.clone(), mirror.task_id));
        let is_named = |mirrors: &[Mirror], id: &str| mirrors.iter().any(|mirror| mirror.bead == id);
        let made = self.beads.beads().iter().filter(|bead| !is_named(&self.mirrors, &bead.id));
        let made = made.filter_map(|bead| {
            let task = bead.external_ref.as_deref()?.strip_prefix(REFERENCE)?.parse().ok()?;
            (*bead.status() != Status::Tombstone).then(|| (bead.id.clone(), task))
        });
        met.chain(made).filter(|(bead, task)| is_free(bead, *task)).collect()
    }

    async fn link(&self, bead: &str, task_id: TaskId) -> Result<()> {
        let mut tx = self.forge.0.store.begin().await?;
        tx.link_bead(&self.link_of(bead, task_id)).await?;
        tx.commit().await?;
        Ok(())
    }

    fn link_of(&self, bead: &str, task_id: TaskId) -> BeadTask {
        BeadTask { workspace: self.tracker.root().to_owned(), bead: bead.to_owned(), task_id }
    }

    /// The bead was deleted. What both agreed on stays, so that the task does not become a bead again.
    async fn part(&self, link: &BeadTask) -> Result<()> {
        let mut tx = self.forge.0.store.begin().await?;
        if self.met(&link.bead, link.task_id).is_none() {
            let nothing = Mirror {
                workspace: link.workspace.clone(),
                bead: link.bead.clone(),
                project_id: self.project.id,
                task_id: link.task_id,
                bead_text: String::new(),
                task_text: String::new(),
                bead_status: String::new(),
                task_status: String::new(),
            };
            tx.put_mirror(&nothing).await?;
        }
        tx.unlink_bead(&link.workspace, &link.bead).await?;
        tx.commit().await?;
        Ok(())
    }

    async fn make_task(&self, bead: &Bead) -> Result<()> {
        let Text { title, description } = Text::of_bead(bead);
        let request = CreateTask { description, ..CreateTask::new(self.project.id, title) };
        let task = new_task(request, Stage::of(bead).task_status())?;
        let mut tx = self.forge.0.store.begin().await?;
        tx.insert_task(&task, false).await?;
        tx.link_bead(&self.link_of(&bead.id, task.id)).await?;
        tx.put_mirror(&self.agreement(bead, &task)).await?;
        tx.commit().await?;
        Ok(())
    }

    async fn make_bead(&self, task: &Task) -> Result<()> {
        let Text { title, description } = Text::of_task(task);
        let new = NewBead {
            description,
            external_ref: Some(format!("{REFERENCE}{}", task.id)),
            ..NewBead::new(pair::cut_title(&title))
        };
        let bead = self.tracker.store.create(&new, &self.actor).await?;
        let open = Task { status: TaskStatus::Todo, ..task.clone() };
        let agreed = self.agreement(&bead, &open);
        let mut tx = self.forge.0.store.begin().await?;
        tx.link_bead(&self.link_of(&bead.id, task.id)).await?;
        tx.put_mirror(&agreed).await?;
        tx.commit().await?;
        // A task that is at work already has its bead.
        self.agree(&bead, task, Some(&agreed)).await
    }

    fn agreement(&self, bead: &Bead, task: &Task) -> Mirror {
        Mirror {
            workspace: self.tracker.root().to_owned(),
            bead: bead.id.clone(),
            project_id: self.project.id,
            task_id: task.id,
            bead_text: Text::of_bead(bead).mark(),
            task_text: Text::of_task(task).mark(),
            bead_status: Stage::of(bead).as_str().to_owned(),
            task_status: task.status.as_str().to_owned(),
        }
    }

    /// Makes a bead and its task say the same, and notes that they do.
    async fn agree(&self, seen: &Bead, task: &Task, last: Option<&Mirror>) -> Result<()> {
        let gave_way =
            seen.comments.iter().any(|comment| comment.text == last_words(Side::Bead, &Text::of_bead(seen)));
        // A comment makes the bead the newer one, also the comment that says that it is not.
        let newer = if gave_way { Side::Task } else { pair::newer(seen, task) };
        let texts = last.map(|last| (last.bead_text.as_str(), last.task_text.as_str()));
        let text_step = pair::compare_texts(seen, task, texts, newer);
        let about = Circumstances {
            last: last.map(|last| (last.bead_status.as_str(), last.task_status.as_str())),
            newer,
            is_leased: self.leased.contains(&seen.id),
            is_settled: seen.close_reason.as_deref().is_some_and(|reason| reason.starts_with(DONE_IN)),
        };
        let status_step = pair::compare_statuses(Stage::of(seen), task.status, about);
        let (mut bead, mut new) = (seen.clone(), task.clone());
        let changes_bead = matches!(text_step, TextStep::Follow(Side::Bead) | TextStep::GiveWay(_))
            || matches!(status_step, StatusStep::Bead(_));
        if changes_bead {
            bead = self.tracker.one(&seen.id).await?;
            if Text::of_bead(&bead) != Text::of_bead(seen) || Stage::of(&bead) != Stage::of(seen) {
                // It changed meanwhile; its watch reports that.
                return Ok(());
            }
        }
        if let TextStep::GiveWay(side) = text_step {
            self.keep_words(&bead, side, task).await?;
        }
        match text_step {
            TextStep::Follow(Side::Bead) | TextStep::GiveWay(Side::Bead) => {
                bead = self.write_text(&bead, task).await?;
            }
            TextStep::Follow(Side::Task) | TextStep::GiveWay(Side::Task) => {
                Text { title: new.title, description: new.description } = Text::of_bead(&bead);
            }
            TextStep::None => {}
        }
        let mut is_moved = true;
        match status_step {
            StatusStep::Task(status) => new.status = status,
            StatusStep::Bead(stage) => {
                let moved = self.move_bead(bead, stage, task).await?;
                (bead, is_moved) = moved;
            }
            StatusStep::None => {
                is_moved =
                    !about.is_leased || pair::is_agreed(Stage::of(&bead), new.status, about.is_settled);
            }
        }
        let mut agreed = self.agreement(&bead, &new);
        if !is_moved {
            let before = last.map(|last| (last.bead_status.clone(), last.task_status.clone()));
            (agreed.bead_status, agreed.task_status) = before.unwrap_or_default();
        }
        if new == *task && last == Some(&agreed) {
            return Ok(());
        }
        self.write(task, new, &agreed).await
    }

    async fn write(&self, seen: &Task, mut new: Task, agreed: &Mirror) -> Result<()> {
        let mut tx = self.forge.0.store.begin().await?;
        if new != *seen {
            if tx.task(seen.id).await?.as_ref() != Some(seen) {
                // It changed meanwhile; an event reports that.
                return Ok(());
            }
            new.updated_at = Millis::now();
            tx.update_task(&new).await?;
        }
        tx.put_mirror(agreed).await?;
        tx.commit().await?;
        Ok(())
    }

    /// Leaves the text that gives way as a comment, once.
    async fn keep_words(&self, bead: &Bead, side: Side, task: &Task) -> Result<()> {
        let text = match side {
            Side::Bead => Text::of_bead(bead),
            Side::Task => Text::of_task(task),
        };
        let said = last_words(side, &text);
        if bead.comments.iter().all(|comment| comment.text != said) {
            self.tracker.store.comment(&bead.id, &self.actor, &said).await?;
        }
        Ok(())
    }

    async fn write_text(&self, bead: &Bead, task: &Task) -> Result<Bead> {
        let (title, description) = Text::of_task(task).for_bead(bead);
        let change = Change { title: Some(title), description: Some(description), ..Change::default() };
        Ok(self.tracker.store.update(&bead.id, &self.actor, &change).await?)
    }

    /// Returns the bead, and whether it is where its task wants it.
    async fn move_bead(&self, bead: Bead, to: Stage, task: &Task) -> Result<(Bead, bool)> {
        let (store, is_ours) = (&self.tracker.store, bead.assignee().is_some_and(beads::is_ours));
        let change = |status| Change { status: Some(status), unassigned: is_ours, ..Change::default() };
        let reason = match to {
            Stage::Open if !bead.is_over() && !is_ours && bead.assignee().is_some() => {
                // Whoever took it with another program keeps it.
                return Ok((bead, true));
            }
            Stage::Open => {
                return Ok((store.update(&bead.id, &self.actor, &change(Status::Open)).await?, true));
            }
            Stage::Taken => {
                return Ok((store.update(&bead.id, &self.actor, &change(Status::InProgress)).await?, true));
            }
            // bd reads a failure out of words like "failed" in a reason, so no words of others stand in it.
            Stage::Done => format!("Done on the board of Forge: task {}", task.id),
            Stage::Dropped => format!("Cancelled on the board of Forge: task {}", task.id),
        };
        match store.close(&bead.id, &self.actor, &reason).await? {
            Close::Closed(closed) => {
                self.forge.clear_failures(self.tracker, &bead.id, None, forge_types::Outcome::Closed).await?;
                Ok((closed, true))
            }
            Close::AlreadyClosed => Ok((self.tracker.one(&bead.id).await?, true)),
            Close::Refused(why) => {
                tracing::info!(bead = %bead.id, task = %task.id, "the bead of a task that is over stays open: {why}");
                Ok((bead, false))
            }
        }
    }
}

/// What remains of a text that was changed at the same time as the other.
fn last_words(side: Side, text: &Text) -> String {
    let whose = match side {
        Side::Bead => "bead",
        Side::Task => "task",
    };
    let head = format!(
        "The bead and its task were both changed, and the text of the {whose} gave way:\n\n{}",
        text.title
    );
    match &text.description {
        Some(description) => format!("{head}\n\n{description}"),
        None => head,
    }
}
