//! Tags and templates of a source.
//!
//! Invariant: what Forge has under the same id or the same name is left as it is.

use forge_types::{OldTag, OldTemplate, ProjectId, Skipped, Tag, TagId, Template, TemplateId};

use super::plan::skip;
use crate::task::tag::{check_tag, check_template};

/// Why something of a source is not written.
pub(super) enum Unread {
    Known,
    Skipped(Skipped),
}

pub(super) fn read_tag(known: &[Tag], old: OldTag) -> Result<Tag, Unread> {
    if known.iter().any(|tag| Some(tag.id) == old.id || tag.tag_name == old.name) {
        return Err(Unread::Known);
    }
    let tag = Tag {
        id: old.id.unwrap_or_else(TagId::random),
        tag_name: old.name,
        content: old.content,
        created_at: old.created_at,
        updated_at: old.updated_at,
    };
    match check_tag(&tag) {
        Ok(()) => Ok(tag),
        Err(error) => {
            Err(Unread::Skipped(skip("tag", &tag.id.to_string(), &tag.tag_name, error.to_string())))
        }
    }
}

pub(super) fn read_template(
    known: &[Template],
    project_id: Option<ProjectId>,
    old: OldTemplate,
) -> Result<Template, Unread> {
    let is_known = |template: &Template| {
        Some(template.id) == old.id
            || (template.project_id == project_id && template.template_name == old.name)
    };
    if known.iter().any(is_known) {
        return Err(Unread::Known);
    }
    let template = Template {
        id: old.id.unwrap_or_else(TemplateId::random),
        project_id,
        title: old.title,
        description: old.description,
        template_name: old.name,
        created_at: old.created_at,
        updated_at: old.updated_at,
    };
    match check_template(&template) {
        Ok(()) => Ok(template),
        Err(error) => Err(Unread::Skipped(skip(
            "template",
            &template.id.to_string(),
            &template.title,
            error.to_string(),
        ))),
    }
}
