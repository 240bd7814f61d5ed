//! Tags and templates: text that people reuse.
//!
//! Invariant: a tag's name is one word, since it is written as one in a prompt, and neither a tag nor a template is
//! without a name.

use forge_store::{StoreError, TemplateScope};
use forge_types::{
    CreateTag, CreateTemplate, Millis, Tag, TagId, Template, TemplateId, UpdateTag, UpdateTemplate,
};

use crate::{Error, Forge, Result};

impl Forge {
    /// By name; `search` keeps those whose name has it in it, in capitals or not.
    pub async fn tags(&self, search: Option<&str>) -> Result<Vec<Tag>> {
        let mut tags = self.0.store.tags().await?;
        if let Some(search) = search.map(str::to_lowercase) {
            tags.retain(|tag| tag.tag_name.to_lowercase().contains(&search));
        }
        Ok(tags)
    }

    pub async fn tag(&self, id: TagId) -> Result<Tag> {
        self.0.store.tag(id).await?.ok_or_else(|| tag_not_found(id))
    }

    pub async fn create_tag(&self, request: CreateTag) -> Result<Tag> {
        let now = Millis::now();
        let CreateTag { tag_name, content } = request;
        let tag = Tag { id: TagId::random(), tag_name, content, created_at: now, updated_at: now };
        check_tag(&tag)?;
        let mut tx = self.0.store.begin().await?;
        tx.insert_tag(&tag).await?;
        tx.commit().await?;
        Ok(tag)
    }

    pub async fn update_tag(&self, id: TagId, request: UpdateTag) -> Result<Tag> {
        let mut tx = self.0.store.begin().await?;
        let mut tag = tx.tag(id).await?.ok_or_else(|| tag_not_found(id))?;
        tag.tag_name = request.tag_name.unwrap_or(tag.tag_name);
        tag.content = request.content.unwrap_or(tag.content);
        tag.updated_at = Millis::now();
        check_tag(&tag)?;
        tx.update_tag(&tag).await?;
        tx.commit().await?;
        Ok(tag)
    }

    pub async fn delete_tag(&self, id: TagId) -> Result<()> {
        let mut tx = self.0.store.begin().await?;
        if !tx.delete_tag(id).await? {
            return Err(tag_not_found(id));
        }
        tx.commit().await?;
        Ok(())
    }

    pub async fn templates(&self, scope: TemplateScope) -> Result<Vec<Template>> {
        Ok(self.0.store.templates(scope).await?)
    }

    pub async fn template(&self, id: TemplateId) -> Result<Template> {
        self.0.store.template(id).await?.ok_or_else(|| template_not_found(id))
    }

    pub async fn create_template(&self, request: CreateTemplate) -> Result<Template> {
        let now = Millis::now();
        let template = Template {
            id: TemplateId::random(),
            project_id: request.project_id,
            title: request.title,
            description: request.description,
            template_name: request.template_name,
            created_at: now,
            updated_at: now,
        };
        check_template(&template)?;
        let mut tx = self.0.store.begin().await?;
        tx.insert_template(&template).await.map_err(|error| match (error, template.project_id) {
            (StoreError::Missing, Some(project)) => Error::no_project(project).of_field("project_id"),
            (other, _) => other.into(),
        })?;
        tx.commit().await?;
        Ok(template)
    }

    pub async fn update_template(&self, id: TemplateId, request: UpdateTemplate) -> Result<Template> {
        let mut tx = self.0.store.begin().await?;
        let mut template = tx.template(id).await?.ok_or_else(|| template_not_found(id))?;
        template.title = request.title.unwrap_or(template.title);
        template.description = request.description.unwrap_or(template.description);
        template.template_name = request.template_name.unwrap_or(template.template_name);
        template.updated_at = Millis::now();
        check_template(&template)?;
        tx.update_template(&template).await?;
        tx.commit().await?;
        Ok(template)
    }

    pub async fn delete_template(&self, id: TemplateId) -> Result<()> {
        let mut tx = self.0.store.begin().await?;
        if !tx.delete_template(id).await? {
            return Err(template_not_found(id));
        }
        tx.commit().await?;
        Ok(())
    }
}

pub(crate) fn check_tag(tag: &Tag) -> Result<()> {
    if tag.tag_name.is_empty() || tag.tag_name.contains(char::is_whitespace) {
        return Err(Error::invalid(format!(
            "'{}' is not allowed; allowed: one word without spaces, such as bug_report",
            tag.tag_name
        ))
        .of_field("tag_name"));
    }
    if tag.content.trim().is_empty() {
        return Err(Error::invalid("is empty")
            .hint("give the text that the tag stands for")
            .of_field("content"));
    }
    Ok(())
}

pub(crate) fn check_template(template: &Template) -> Result<()> {
    if template.template_name.trim().is_empty() {
        return Err(Error::invalid("is empty").hint("give the template a name").of_field("template_name"));
    }
    Ok(())
}

fn tag_not_found(id: TagId) -> Error {
    Error::not_found(format!("Tag not found: {id}"))
}

fn template_not_found(id: TemplateId) -> Error {
    Error::not_found(format!("Template not found: {id}"))
}
