//! What an import of one project will write.
//!
//! Invariant: everything that the report counts as new or changed is in the plan, and nothing else is.

use std::fmt::Display;
use std::path::PathBuf;

use forge_store::ImportKind;
use forge_types::{
    Attempt, AttemptLink, Draft, ForgeAgent, ImportStanding, ImportedProject, LogSource, Merge, OldImage,
    Project, Run, Skipped, Tally, Task, Template,
};

use super::identity::Identity;
use crate::task::image::{IMAGE_MAX_BYTES, is_image_name};

/// The rows of one project, in the order in which they are written.
pub(super) struct Plan {
    pub(super) report: ImportedProject,
    pub(super) skipped: Vec<Skipped>,
    pub(super) notes: Vec<String>,
    pub(super) links: Vec<AttemptLink>,
    pub(super) project: Project,
    pub(super) tasks: Vec<PlannedTask>,
    pub(super) attempts: Vec<Attempt>,
    /// What they are now and what they will be.
    pub(super) changed_attempts: Vec<(Attempt, Attempt)>,
    /// Those of which the user wants the worktree, which is the other system's.
    pub(super) adopted: Vec<Attempt>,
    pub(super) runs: Vec<PlannedRun>,
    pub(super) merges: Vec<Merge>,
    pub(super) changed_merges: Vec<Merge>,
    pub(super) drafts: Vec<Draft>,
    pub(super) templates: Vec<Template>,
    pub(super) agents: Vec<ForgeAgent>,
    /// What is to be noted as imported.
    pub(super) noted: Vec<ToNote>,
}

/// Something of the source, what it is here, and what the source says of it.
pub(super) struct ToNote {
    pub(super) kind: ImportKind,
    pub(super) key: String,
    pub(super) id: String,
    pub(super) seen: Option<String>,
}

pub(super) struct PlannedTask {
    pub(super) task: Task,
    /// What it is now, unless it is new.
    pub(super) before: Option<Task>,
    /// Each with the key by which it is noted.
    pub(super) images: Vec<(String, OldImage)>,
    pub(super) parent_key: Option<String>,
}

pub(super) struct PlannedRun {
    pub(super) run: Run,
    /// What it is now, unless it is new.
    pub(super) before: Option<Run>,
    pub(super) log: Option<LogSource>,
    /// The worktree that the log speaks of.
    pub(super) root: Option<PathBuf>,
}

impl Plan {
    pub(super) fn new(project: Project, standing: ImportStanding, notes: Vec<String>) -> Self {
        Self {
            report: uncounted(&project, standing),
            skipped: Vec::new(),
            notes,
            links: Vec::new(),
            project,
            tasks: Vec::new(),
            attempts: Vec::new(),
            changed_attempts: Vec::new(),
            adopted: Vec::new(),
            runs: Vec::new(),
            merges: Vec::new(),
            changed_merges: Vec::new(),
            drafts: Vec::new(),
            templates: Vec::new(),
            agents: Vec::new(),
            noted: Vec::new(),
        }
    }

    /// Whether carrying it out would change nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.noted.is_empty()
            && self.templates.is_empty()
            && self.tasks.is_empty()
            && self.changed_merges.is_empty()
            && self.agents.is_empty()
            && self.adopted.is_empty()
    }

    pub(super) fn note(&mut self, kind: ImportKind, key: &str, id: impl Display, seen: Option<&str>) {
        let (key, id, seen) = (key.to_owned(), id.to_string(), seen.map(str::to_owned));
        self.noted.push(ToNote { kind, key, id, seen });
    }

    /// A task that stays as it is, with images that are there only now.
    pub(super) fn show_late(&mut self, task: Task, images: Vec<(String, OldImage)>) {
        if !images.is_empty() {
            self.tasks.push(PlannedTask { task: task.clone(), before: Some(task), images, parent_key: None });
        }
    }

    /// Says something once.
    pub(super) fn remark(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Counts one thing and notes where it is; `None` when it is not taken.
    pub(super) fn take<T: Copy + Display>(
        &mut self,
        kind: ImportKind,
        key: &str,
        name: &str,
        (identity, seen): (Identity<T>, &str),
        tally: impl Fn(&mut ImportedProject) -> &mut Tally,
    ) -> Option<T> {
        let tally = tally(&mut self.report);
        let reason = match identity {
            Identity::New(id) => {
                tally.new += 1;
                self.note(kind, key, id, Some(seen));
                return Some(id);
            }
            Identity::Linked(id) => {
                tally.known += 1;
                self.note(kind, key, id, Some(""));
                return Some(id);
            }
            Identity::Known(id) => {
                tally.known += 1;
                return Some(id);
            }
            Identity::Deleted => "it was imported before and deleted here since",
            Identity::Repeated => "the source has it twice",
        };
        tally.skipped += 1;
        self.skipped.push(skip(kind.as_str(), key, name, reason));
        None
    }

    /// Counts an image that Forge does not have; whether it can be taken.
    pub(super) fn check_image(&mut self, title: &str, image: &OldImage) -> bool {
        let refused = refuse_image(image);
        match &refused {
            Some(reason) => {
                self.report.images.skipped += 1;
                let reason = format!("task '{title}': {reason}");
                self.skipped.push(skip("image", &image.key, &image.original_name, reason));
            }
            None => self.report.images.new += 1,
        }
        refused.is_none()
    }
}

pub(super) fn skip(kind: &str, key: &str, name: &str, reason: impl Into<String>) -> Skipped {
    Skipped { kind: kind.to_owned(), key: key.to_owned(), name: name.to_owned(), reason: reason.into() }
}

fn uncounted(project: &Project, standing: ImportStanding) -> ImportedProject {
    ImportedProject {
        id: project.id,
        name: project.name.clone(),
        git_repo_path: project.git_repo_path.clone(),
        standing,
        tasks: Tally::default(),
        attempts: Tally::default(),
        runs: Tally::default(),
        merges: Tally::default(),
        images: Tally::default(),
        templates: Tally::default(),
        agents: Tally::default(),
        log_bytes: 0,
    }
}

/// Why an image cannot be taken.
fn refuse_image(image: &OldImage) -> Option<String> {
    match std::fs::metadata(&image.file) {
        Err(error) => Some(format!("{} cannot be read: {error}", image.file.display())),
        Ok(meta) if meta.len() > IMAGE_MAX_BYTES => {
            Some(format!("{} bytes are more than the {IMAGE_MAX_BYTES} that are allowed", meta.len()))
        }
        Ok(_) if !is_image_name(&image.original_name) => {
            Some("only PNG, JPG, GIF, WebP, BMP and SVG images are taken".to_owned())
        }
        Ok(_) => None,
    }
}
