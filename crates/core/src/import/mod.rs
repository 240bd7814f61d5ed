//! Import: taking over what another system knew.
//!
//! Owns what of it is new here, and how it is written; `forge-legacy` finds and reads the sources. Invariants: the source
//! is only read. What was taken once is never taken again: it is noted by source and key, and follows
//! its source as [`follow`] says. A project is written in one transaction after its logs and images lie in place, so there is
//! never half a task; what an import that was cut off left behind has no row, and the next one replaces it. Nothing of an old
//! process is Forge's, and an old worktree only when the user said so.

mod desk;
mod follow;
mod genie;
mod identity;
mod log;
mod plan;
mod planner;
mod source;

use forge_store::{ImportKind, Noted};
use forge_types::{
    Bundle, Image, ImageId, ImportMode, ImportReport, ImportStanding, Millis, OldImage, OldTag, OldTemplate,
    OldWorktrees, Run, Skipped, Tag, Tally, Task, TaskId, TaskStatus, Template,
};

use self::desk::{Unread, read_tag, read_template};
use self::identity::Identities;
use self::plan::{Plan, PlannedRun, PlannedTask, ToNote, skip};
use self::planner::Planner;
use tokio::sync::Semaphore;

use crate::{Error, Forge, Result};

/// One import at a time: two could take the same thing twice.
static IMPORTING: Semaphore = Semaphore::const_new(1);

impl Forge {
    /// Takes what the bundle holds and Forge does not have. Once begun it goes on although its caller goes away.
    pub async fn import(
        &self,
        bundle: Bundle,
        mode: ImportMode,
        worktrees: OldWorktrees,
    ) -> Result<ImportReport> {
        let forge = self.clone();
        let work = self.0.background.spawn(async move {
            let _turn = IMPORTING.try_acquire().map_err(|_| {
                Error::conflict("another import is under way").hint("wait until it is done, then try again")
            })?;
            forge.take_over(bundle, mode, worktrees).await
        });
        work.await.unwrap_or_else(|cause| Err(Error::internal("the import broke off", cause)))
    }

    async fn take_over(
        &self,
        bundle: Bundle,
        mode: ImportMode,
        worktrees: OldWorktrees,
    ) -> Result<ImportReport> {
        let at = Millis::now();
        let imported = self.0.store.imported(&bundle.source).await?;
        let mut report = ImportReport {
            source: bundle.source.clone(),
            dry_run: mode == ImportMode::DryRun,
            notes: bundle.notes,
            ..ImportReport::default()
        };
        let identities = Identities::new(bundle.source.clone(), imported);
        let mut planner = Planner::new(self, identities, worktrees, at);
        for project in bundle.projects {
            let name = project.name.clone();
            let mut plan = planner.plan(project).await?;
            if mode == ImportMode::Apply && !plan.is_empty() {
                let done = self.carry_out(&bundle.source, &mut plan, at).await;
                done.map_err(|error| broken_off(error, &name))?;
                self.adopt_planned(&mut plan).await;
            }
            if !plan.adopted.is_empty() {
                let (count, source) = (plan.adopted.len(), &bundle.source);
                plan.notes.push(format!("{count} worktrees of {source} become Forge's"));
            }
            report.skipped.append(&mut plan.skipped);
            report.notes.append(&mut plan.notes);
            report.attempts.append(&mut plan.links);
            report.projects.push(plan.report);
        }
        self.take_desk(&mut report, bundle.tags, bundle.templates).await?;
        Ok(report)
    }

    /// Files first, then all rows at once.
    async fn carry_out(&self, source: &str, plan: &mut Plan, at: Millis) -> Result<()> {
        let shown = self.take_images(plan).await?;
        let runs = self.adopt_logs(plan).await?;
        let mut tx = self.0.store.begin().await?;
        if plan.report.standing == ImportStanding::New {
            tx.insert_project(&plan.project).await?;
        }
        for planned in &plan.tasks {
            if let Some(before) = &planned.before {
                let now = tx.task(before.id).await?;
                refuse_changed(&before.title, before.updated_at, now.as_ref().map(|task| task.updated_at))?;
                if planned.task != *before {
                    tx.update_task(&planned.task).await?;
                }
                continue;
            }
            // Its parent may be written only later.
            let task = Task { parent_task_attempt: None, ..planned.task.clone() };
            tx.insert_task(&task, task.status == TaskStatus::Agent).await?;
        }
        for attempt in &plan.attempts {
            tx.insert_attempt(attempt).await?;
        }
        for (before, attempt) in &plan.changed_attempts {
            let now = tx.attempt(before.id).await?;
            refuse_changed(&before.branch, before.updated_at, now.map(|attempt| attempt.updated_at))?;
            tx.update_attempt(attempt).await?;
        }
        let is_child =
            |planned: &&PlannedTask| planned.before.is_none() && planned.task.parent_task_attempt.is_some();
        for planned in plan.tasks.iter().filter(is_child) {
            tx.update_task(&planned.task).await?;
        }
        for (run, before) in &runs {
            let Some(before) = before else {
                tx.insert_run(run).await?;
                continue;
            };
            let now = tx.run(run.id).await?;
            refuse_changed(&run.id.to_string(), before.updated_at, now.map(|run| run.updated_at))?;
            tx.update_run(run).await?;
        }
        for merge in &plan.merges {
            tx.insert_merge(merge).await?;
        }
        for merge in &plan.changed_merges {
            tx.update_merge(merge).await?;
        }
        for draft in &plan.drafts {
            tx.put_draft(draft).await?;
        }
        for template in &plan.templates {
            tx.insert_template(template).await?;
        }
        for agent in &plan.agents {
            tx.insert_agent(agent).await?;
        }
        for (task, images) in shown {
            tx.attach_images(task, &images).await?;
        }
        for ToNote { kind, key, id, seen } in &plan.noted {
            let noted = Noted { id: id.clone(), seen: seen.clone(), at };
            tx.note_import(source, (*kind, key), &noted, plan.project.id).await?;
        }
        tx.commit().await?;
        Ok(())
    }

    /// Takes over the worktrees that the user wants. One that cannot be had stays where it is, and the attempt with it.
    async fn adopt_planned(&self, plan: &mut Plan) {
        for attempt in std::mem::take(&mut plan.adopted) {
            match self.adopt_worktree(attempt.id).await {
                Ok(_) => plan.adopted.push(attempt),
                Err(error) => plan.notes.push(format!("The worktree of '{}' stays: {error}", attempt.branch)),
            }
        }
    }

    /// Which images each task shows that it did not show before.
    async fn take_images(&self, plan: &mut Plan) -> Result<Vec<(TaskId, Vec<ImageId>)>> {
        let mut shown = Vec::new();
        for planned in &mut plan.tasks {
            let mut ids = Vec::new();
            for (key, image) in std::mem::take(&mut planned.images) {
                let kept = self.take_image(&image).await?;
                show_as(&mut planned.task.description, &image, &kept);
                ids.push(kept.id);
                let (kind, id) = (ImportKind::Image, kept.id.to_string());
                plan.noted.push(ToNote { kind, key, id, seen: None });
            }
            shown.push((planned.task.id, ids));
        }
        Ok(shown)
    }

    /// The runs as their logs have them, each with what it is now.
    async fn adopt_logs(&self, plan: &mut Plan) -> Result<Vec<(Run, Option<Run>)>> {
        let mut runs = Vec::new();
        for PlannedRun { mut run, before, log, root } in std::mem::take(&mut plan.runs) {
            if let Some(log) = log {
                let missing = self.adopt_log(&mut run, root.unwrap_or_default(), log).await?;
                let (key, name) = (run.id.to_string(), run.reason.as_str());
                plan.skipped.extend(missing.map(|reason| skip("log", &key, name, reason)));
            }
            runs.push((run, before));
        }
        Ok(runs)
    }

    async fn take_image(&self, old: &OldImage) -> Result<Image> {
        let unread = |cause: std::io::Error| {
            Error::internal(format!("cannot read the image {}: {cause}", old.file.display()), cause)
        };
        let mut upload = self.begin_image(&old.original_name).await?;
        if let Some(id) = old.id
            && self.0.store.image(id).await?.is_none()
        {
            upload.set_id(id);
        }
        // Bounded: the plan took no larger one.
        upload.write(&tokio::fs::read(&old.file).await.map_err(unread)?).await?;
        self.keep_image(upload, None).await
    }

    async fn take_desk(
        &self,
        report: &mut ImportReport,
        tags: Vec<OldTag>,
        templates: Vec<OldTemplate>,
    ) -> Result<()> {
        let known = self.0.store.tags().await?;
        let tags: Vec<_> = tags.into_iter().map(|old| read_tag(&known, old)).collect();
        let tags: Vec<Tag> = count(tags, &mut report.tags, &mut report.skipped);
        let known = self.0.store.templates(forge_store::TemplateScope::All).await?;
        let templates: Vec<_> = templates.into_iter().map(|old| read_template(&known, None, old)).collect();
        let templates: Vec<Template> = count(templates, &mut report.templates, &mut report.skipped);
        if report.dry_run || (tags.is_empty() && templates.is_empty()) {
            return Ok(());
        }
        let mut tx = self.0.store.begin().await?;
        for tag in &tags {
            tx.insert_tag(tag).await?;
        }
        for template in &templates {
            tx.insert_template(template).await?;
        }
        tx.commit().await?;
        Ok(())
    }
}

/// What is new, the rest counted.
fn count<T>(
    read: Vec<std::result::Result<T, Unread>>,
    tally: &mut Tally,
    skipped: &mut Vec<Skipped>,
) -> Vec<T> {
    let mut new = Vec::new();
    for item in read {
        match item {
            Ok(item) => {
                tally.new += 1;
                new.push(item);
            }
            Err(Unread::Known) => tally.known += 1,
            Err(Unread::Skipped(why)) => {
                tally.skipped += 1;
                skipped.push(why);
            }
        }
    }
    new
}

/// The description shows the image under the name it has here.
fn show_as(description: &mut Option<String>, old: &OldImage, kept: &Image) {
    if let Some(text) = description {
        for shown in &old.shown_as {
            *text = text.replace(shown, &kept.file_path);
        }
    }
}

/// What somebody changed while the import was being prepared is not overwritten.
fn refuse_changed(name: &str, before: Millis, now: Option<Millis>) -> Result<()> {
    match now == Some(before) {
        true => Ok(()),
        false => Err(Error::conflict(format!("'{name}' was changed meanwhile")).hint("import again")),
    }
}

fn broken_off(error: Error, project: &str) -> Error {
    let message = format!(
        "nothing of project '{project}' was imported: {error}; projects before it are complete, and importing again goes on here"
    );
    Error::internal(message, error)
}
