//! Images, tags, templates and agents.

use std::collections::HashMap;

use forge_types::{OldAgent, OldImage, OldTag, OldTemplate};

use super::super::Database;
use super::super::cell::Record;
use super::super::table::Tables;
use super::{born, changed};

/// The folders in a worktree under which images were shown.
const FOLDERS: [&str; 3] = [".vibe-images", ".vibe-attachments", ".forge-images"];

pub(super) struct Shelf<'t> {
    foreign: &'t Database,
    tables: &'t Tables,
    shown: HashMap<String, Vec<&'t Record>>,
    images: HashMap<String, Vec<&'t Record>>,
}

impl<'t> Shelf<'t> {
    pub(super) fn new(foreign: &'t Database, tables: &'t Tables) -> Self {
        let shown = tables.by("task_attachments", &["task_id"]);
        Self { foreign, tables, shown, images: tables.by("attachments", &["id"]) }
    }

    pub(super) fn images(&self, task: &str) -> Vec<OldImage> {
        let links = self.shown.get(task).into_iter().flatten();
        let images =
            links.filter_map(|link| self.images.get(&link.key(&["attachment_id", "image_id"])?)?.first());
        images.filter_map(|record| self.image(record)).collect()
    }

    fn image(&self, record: &Record) -> Option<OldImage> {
        let path = record.words(&["file_path"])?;
        // Only the name counts: an import reads no file outside the folders of images.
        let name = path.rsplit(['/', '\\']).next()?.to_owned();
        let places = || self.foreign.images.iter().map(|folder| folder.join(&name));
        let file = places().find(|file| file.is_file()).or_else(|| places().next())?;
        Some(OldImage {
            id: record.id(),
            key: record.key(&["id"])?,
            original_name: record.words(&["original_name"]).unwrap_or_else(|| name.clone()),
            file,
            shown_as: FOLDERS.iter().map(|folder| format!("{folder}/{name}")).collect(),
        })
    }

    pub(super) fn tags(&self) -> Vec<OldTag> {
        let tags = self.tables.rows("tags").iter().filter_map(|record| {
            Some(OldTag {
                id: record.id(),
                name: record.words(&["tag_name"])?,
                content: record.text(&["content"]).unwrap_or_default(),
                created_at: born(record),
                updated_at: changed(record),
            })
        });
        tags.collect()
    }

    pub(super) fn agents(&self, project: &str) -> Vec<OldAgent> {
        let rows = self.tables.rows("forge_agents").iter();
        let own = rows.filter(|record| record.key(&["project_id"]).as_deref() == Some(project));
        own.filter_map(|record| {
            Some(OldAgent {
                id: record.id(),
                agent_type: record.words(&["agent_type"])?,
                task_key: record.key(&["task_id"])?,
                created_at: born(record),
                updated_at: changed(record),
            })
        })
        .collect()
    }

    /// Templates of a project, or those of none.
    pub(super) fn templates(&self, project: Option<&str>) -> Vec<OldTemplate> {
        let rows = self.tables.rows("task_templates").iter();
        let own = rows.filter(|record| record.key(&["project_id"]).as_deref() == project);
        own.map(|record| {
            let title = record.text(&["title"]).unwrap_or_default();
            OldTemplate {
                id: record.id(),
                name: record.words(&["template_name"]).unwrap_or_else(|| title.clone()),
                title,
                description: record.words(&["description"]),
                created_at: born(record),
                updated_at: changed(record),
            }
        })
        .collect()
    }
}
