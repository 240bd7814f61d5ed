//! Tags and templates: every statement about them.
//!
//! Invariant: both are listed by name. They belong to no stream, so their changes make no events.

use forge_types::{ProjectId, Tag, TagId, Template, TemplateId};
use sqlx::sqlite::SqliteRow;

use crate::error::Result;
use crate::query;
use crate::row::{Cells, Read};
use crate::store::Store;
use crate::tx::Tx;
use crate::write::{bind, changed};

const TAG: &str = "SELECT id, name, content, created_ms, updated_ms FROM tags WHERE id = $1";
const TAGS: &str = "SELECT id, name, content, created_ms, updated_ms FROM tags ORDER BY name, id";

macro_rules! templates {
    ($rest:literal) => {
        concat!(
            "SELECT id, project_id, title, description, name, created_ms, updated_ms FROM templates ",
            $rest
        )
    };
}

/// Which templates are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplateScope {
    All,
    /// Those that belong to no project.
    Global,
    Project(ProjectId),
}

fn tag(row: &SqliteRow) -> Read<Tag> {
    let mut cells = Cells::of(row);
    Ok(Tag {
        id: cells.parse()?,
        tag_name: cells.take()?,
        content: cells.take()?,
        created_at: cells.millis()?,
        updated_at: cells.millis()?,
    })
}

fn template(row: &SqliteRow) -> Read<Template> {
    let mut cells = Cells::of(row);
    Ok(Template {
        id: cells.parse()?,
        project_id: cells.parse_opt()?,
        title: cells.take()?,
        description: cells.take()?,
        template_name: cells.take()?,
        created_at: cells.millis()?,
        updated_at: cells.millis()?,
    })
}

impl Store {
    pub async fn tags(&self) -> Result<Vec<Tag>> {
        query::all(&mut *self.reader().await?, TAGS, tag).await
    }

    pub async fn tag(&self, id: TagId) -> Result<Option<Tag>> {
        query::one(&mut *self.reader().await?, TAG, id.to_string(), tag).await
    }

    pub async fn templates(&self, scope: TemplateScope) -> Result<Vec<Template>> {
        let conn = &mut *self.reader().await?;
        match scope {
            TemplateScope::All => query::all(conn, templates!("ORDER BY name, id"), template).await,
            TemplateScope::Global => {
                query::all(conn, templates!("WHERE project_id IS NULL ORDER BY name, id"), template).await
            }
            TemplateScope::Project(id) => {
                let sql = templates!("WHERE project_id = $1 ORDER BY name, id");
                query::many(conn, sql, id.to_string(), template).await
            }
        }
    }

    pub async fn template(&self, id: TemplateId) -> Result<Option<Template>> {
        query::one(&mut *self.reader().await?, templates!("WHERE id = $1"), id.to_string(), template).await
    }
}

impl Tx {
    pub async fn tag(&mut self, id: TagId) -> Result<Option<Tag>> {
        query::one(self.conn()?, TAG, id.to_string(), tag).await
    }

    pub async fn insert_tag(&mut self, tag: &Tag) -> Result<()> {
        let sql = "INSERT INTO tags (id, name, content, created_ms, updated_ms) VALUES ($1, $2, $3, $4, $5)";
        bind!(sql, tag.id.to_string(), &tag.tag_name, &tag.content, tag.created_at.0, tag.updated_at.0)
            .execute(self.conn()?)
            .await?;
        Ok(())
    }

    pub async fn update_tag(&mut self, tag: &Tag) -> Result<()> {
        let sql = "UPDATE tags SET name = $2, content = $3, updated_ms = $4 WHERE id = $1";
        let update = bind!(sql, tag.id.to_string(), &tag.tag_name, &tag.content, tag.updated_at.0);
        changed(update.execute(self.conn()?).await?)
    }

    /// Returns whether there was one.
    pub async fn delete_tag(&mut self, id: TagId) -> Result<bool> {
        let done = bind!("DELETE FROM tags WHERE id = $1", id.to_string()).execute(self.conn()?).await?;
        Ok(done.rows_affected() > 0)
    }

    pub async fn template(&mut self, id: TemplateId) -> Result<Option<Template>> {
        query::one(self.conn()?, templates!("WHERE id = $1"), id.to_string(), template).await
    }

    pub async fn insert_template(&mut self, template: &Template) -> Result<()> {
        bind!(
            "INSERT INTO templates (id, project_id, title, description, name, created_ms, updated_ms) \
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
            template.id.to_string(),
            template.project_id.map(|id| id.to_string()),
            &template.title,
            &template.description,
            &template.template_name,
            template.created_at.0,
            template.updated_at.0,
        )
        .execute(self.conn()?)
        .await?;
        Ok(())
    }

    pub async fn update_template(&mut self, template: &Template) -> Result<()> {
        let done = bind!(
            "UPDATE templates SET title = $2, description = $3, name = $4, updated_ms = $5 WHERE id = $1",
            template.id.to_string(),
            &template.title,
            &template.description,
            &template.template_name,
            template.updated_at.0,
        )
        .execute(self.conn()?)
        .await?;
        changed(done)
    }

    /// Returns whether there was one.
    pub async fn delete_template(&mut self, id: TemplateId) -> Result<bool> {
        let done = bind!("DELETE FROM templates WHERE id = $1", id.to_string()).execute(self.conn()?).await?;
        Ok(done.rows_affected() > 0)
    }
}
