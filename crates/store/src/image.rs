//! Images and which tasks show them: every statement about them.
//!
//! Invariant: one row per content, found by its hash. A task lists its images in the order in which they were attached.

use forge_types::{Image, ImageId, Millis, TaskId};
use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Sqlite};

use crate::error::Result;
use crate::query;
use crate::row::{self, Cells, Read};
use crate::store::Store;
use crate::tx::Tx;
use crate::write::bind;

macro_rules! image_columns {
    () => {
        "images.id, images.name, images.original_name, images.mime_type, images.size_bytes, images.hash, \
         images.created_ms, images.updated_ms"
    };
}

const IMAGE: &str = concat!("SELECT ", image_columns!(), " FROM images WHERE id = $1");
const BY_HASH: &str = concat!("SELECT ", image_columns!(), " FROM images WHERE hash = $1");
const OF_TASK: &str = concat!(
    "SELECT ",
    image_columns!(),
    " FROM task_images JOIN images ON images.id = task_images.image_id \
     WHERE task_images.task_id = $1 ORDER BY task_images.position"
);
const DELETE_LOOSE: &str = concat!(
    "DELETE FROM images WHERE created_ms < $1 \
     AND NOT EXISTS (SELECT 1 FROM task_images WHERE task_images.image_id = images.id) RETURNING ",
    image_columns!()
);

fn image(row: &SqliteRow) -> Read<Image> {
    let mut cells = Cells::of(row);
    let id = cells.parse()?;
    let name: &str = cells.take()?;
    Ok(Image {
        id,
        file_path: format!("{}/{name}", Image::FOLDER),
        original_name: cells.take()?,
        mime_type: cells.take()?,
        size_bytes: cells.take()?,
        hash: cells.take()?,
        created_at: cells.millis()?,
        updated_at: cells.millis()?,
    })
}

impl Store {
    pub async fn image(&self, id: ImageId) -> Result<Option<Image>> {
        query::one(&mut *self.reader().await?, IMAGE, id.to_string(), image).await
    }

    /// In the order in which they were attached.
    pub async fn task_images(&self, task: TaskId) -> Result<Vec<Image>> {
        query::many(&mut *self.reader().await?, OF_TASK, task.to_string(), image).await
    }

    /// The stored names of all images.
    pub async fn image_names(&self) -> Result<Vec<String>> {
        Ok(sqlx::query_scalar("SELECT name FROM images").fetch_all(&mut *self.reader().await?).await?)
    }

    /// The first of these ids that no image has.
    pub async fn missing_image(&self, ids: &[ImageId]) -> Result<Option<ImageId>> {
        if ids.is_empty() {
            return Ok(None);
        }
        let mut select = QueryBuilder::<Sqlite>::new("SELECT id FROM images WHERE id IN (");
        let mut list = select.separated(", ");
        for id in ids {
            list.push_bind(id.to_string());
        }
        select.push(")");
        let rows = select.build().fetch_all(&mut *self.reader().await?).await?;
        let known: Vec<ImageId> = rows.iter().map(row::id).collect::<sqlx::Result<_>>()?;
        Ok(ids.iter().find(|id| !known.contains(id)).copied())
    }
}

impl Tx {
    pub async fn image_by_hash(&mut self, hash: &str) -> Result<Option<Image>> {
        query::one(self.conn()?, BY_HASH, hash.to_owned(), image).await
    }

    pub async fn insert_image(&mut self, image: &Image) -> Result<()> {
        bind!(
            "INSERT INTO images (id, name, original_name, mime_type, size_bytes, hash, created_ms, updated_ms) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            image.id.to_string(),
            image.stored_name(),
            &image.original_name,
            &image.mime_type,
            image.size_bytes,
            &image.hash,
            image.created_at.0,
            image.updated_at.0,
        )
        .execute(self.conn()?)
        .await?;
        Ok(())
    }

    /// Returns the image that was deleted.
    pub async fn delete_image(&mut self, id: ImageId) -> Result<Option<Image>> {
        const SQL: &str = concat!("DELETE FROM images WHERE id = $1 RETURNING ", image_columns!());
        query::one(self.conn()?, SQL, id.to_string(), image).await
    }

    /// Deletes and returns the images that no task shows and that are older than `before`.
    pub async fn delete_loose_images(&mut self, before: Millis) -> Result<Vec<Image>> {
        let rows = sqlx::query(DELETE_LOOSE).bind(before.0).fetch_all(self.conn()?).await?;
        Ok(rows.iter().map(image).collect::<sqlx::Result<_>>()?)
    }

    /// Attaches what is not attached yet, after what is.
    pub async fn attach_images(&mut self, task: TaskId, ids: &[ImageId]) -> Result<()> {
        if ids.is_empty() {
            return Ok(());
        }
        let last = "SELECT COALESCE(MAX(position), 0) FROM task_images WHERE task_id = $1";
        let last: i64 = sqlx::query_scalar(last).bind(task.to_string()).fetch_one(self.conn()?).await?;
        let mut insert =
            QueryBuilder::<Sqlite>::new("INSERT INTO task_images (task_id, image_id, position) ");
        insert.push_values((last + 1..).zip(ids), |mut row, (position, id)| {
            row.push_bind(task.to_string()).push_bind(id.to_string()).push_bind(position);
        });
        insert.push(" ON CONFLICT (task_id, image_id) DO NOTHING");
        insert.build().execute(self.conn()?).await?;
        Ok(())
    }

    /// From now on the task shows these images and no others.
    pub async fn replace_images(&mut self, task: TaskId, ids: &[ImageId]) -> Result<()> {
        bind!("DELETE FROM task_images WHERE task_id = $1", task.to_string()).execute(self.conn()?).await?;
        self.attach_images(task, ids).await
    }
}
