//! Tags and templates: every statement about them.
//!
//! Invariant: both are listed by name. They belong to no stream, so their changes make no events.

use forge_types::{ProjectId, Tag, TagId, Template, TemplateId};

use crate::entity::{Entity, entity, select};
use crate::error::Result;
use crate::sql::{Query, bind};
use crate::store::Store;
use crate::tx::Tx;

entity! {
    tags: Tag {
        key id,
        set tag_name = "name",
        set content,
        fixed created_at = "created_ms",
        set updated_at = "updated_ms",
    }
}

entity! {
    templates: Template {
        key id,
        fixed project_id,
        set title,
        set description,
        set template_name = "name",
        fixed created_at = "created_ms",
        set updated_at = "updated_ms",
    }
}

const TAG: &str = select!(Tag, "FROM tags WHERE id = $1");
const TEMPLATE: &str = select!(Template, "FROM templates WHERE id = $1");

/// Which templates are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplateScope {
    All,
    /// Those that belong to no project.
    Global,
    Project(ProjectId),
}

impl Store {
    pub async fn tags(&self) -> Result<Vec<Tag>> {
        bind!(select!(Tag, "FROM tags ORDER BY name, id")).list(&mut *self.reader().await?).await
    }

    pub async fn tag(&self, id: TagId) -> Result<Option<Tag>> {
        bind!(TAG, id).find(&mut *self.reader().await?).await
    }

    pub async fn templates(&self, scope: TemplateScope) -> Result<Vec<Template>> {
        let query = match scope {
            TemplateScope::All => bind!(select!(Template, "FROM templates ORDER BY name, id")),
            TemplateScope::Global => {
                bind!(select!(Template, "FROM templates WHERE project_id IS NULL ORDER BY name, id"))
            }
            TemplateScope::Project(id) => {
                bind!(select!(Template, "FROM templates WHERE project_id = $1 ORDER BY name, id"), id)
            }
        };
        query.list(&mut *self.reader().await?).await
    }

    pub async fn template(&self, id: TemplateId) -> Result<Option<Template>> {
        bind!(TEMPLATE, id).find(&mut *self.reader().await?).await
    }
}

impl Tx {
    pub async fn tag(&mut self, id: TagId) -> Result<Option<Tag>> {
        bind!(TAG, id).find(self.conn()?).await
    }

    pub async fn insert_tag(&mut self, tag: &Tag) -> Result<()> {
        self.insert(tag).await
    }

    pub async fn update_tag(&mut self, tag: &Tag) -> Result<()> {
        Query::of(Tag::UPDATE, tag)?.change(self.conn()?).await
    }

    /// Returns whether there was one.
    pub async fn delete_tag(&mut self, id: TagId) -> Result<bool> {
        Ok(bind!("DELETE FROM tags WHERE id = $1", id).run(self.conn()?).await? > 0)
    }

    pub async fn template(&mut self, id: TemplateId) -> Result<Option<Template>> {
        bind!(TEMPLATE, id).find(self.conn()?).await
    }

    pub async fn insert_template(&mut self, template: &Template) -> Result<()> {
        self.insert(template).await
    }

    pub async fn update_template(&mut self, template: &Template) -> Result<()> {
        Query::of(Template::UPDATE, template)?.change(self.conn()?).await
    }

    /// Returns whether there was one.
    pub async fn delete_template(&mut self, id: TemplateId) -> Result<bool> {
        Ok(bind!("DELETE FROM templates WHERE id = $1", id).run(self.conn()?).await? > 0)
    }
}
