//! Images and which tasks show them: every statement about them.
//!
//! Invariant: one row per content, found by its hash. A task lists its images in the order in which they were attached.

use forge_types::{Image, ImageId, Millis, TaskId};

use crate::cell::{Reads, Writes};
use crate::entity::{entity, select, sql};
use crate::error::Result;
use crate::sql::{Query, Row, ToCell, Value, bind};
use crate::store::Store;
use crate::tx::Tx;

entity! {
    images: Image {
        key id,
        fixed file_path = "name": InFolder,
        fixed original_name,
        fixed mime_type,
        fixed size_bytes,
        fixed hash,
        fixed created_at = "created_ms",
        fixed updated_at = "updated_ms",
    }
}

/// The name of a file, without the folder that all of them are in.
struct InFolder;

impl Reads<String> for InFolder {
    fn read(row: &Row<'_>, column: &str) -> sqlx::Result<String> {
        Ok(format!("{}/{}", Image::FOLDER, row.cell(column)?.text()?))
    }
}

impl Writes<String> for InFolder {
    fn write(path: &String) -> sqlx::Result<Value<'_>> {
        Ok(path.rsplit('/').next().unwrap_or_default().to_cell())
    }
}

const OF_TASK: &str = select!(
    Image,
    "FROM task_images JOIN images ON images.id = task_images.image_id \
     WHERE task_images.task_id = $1 ORDER BY task_images.position"
);
const DELETE: &str = sql!(Text::EMPTY.add("DELETE FROM images WHERE id = $1").returning::<Image>());
const DELETE_LOOSE: &str = sql!(
    Text::EMPTY
        .add("DELETE FROM images WHERE created_ms < $1 ")
        .add("AND NOT EXISTS (SELECT 1 FROM task_images WHERE task_images.image_id = images.id)")
        .returning::<Image>()
);

impl Store {
    pub async fn image(&self, id: ImageId) -> Result<Option<Image>> {
        bind!(select!(Image, "FROM images WHERE id = $1"), id).find(&mut *self.reader().await?).await
    }

    /// In the order in which they were attached.
    pub async fn task_images(&self, task: TaskId) -> Result<Vec<Image>> {
        bind!(OF_TASK, task).list(&mut *self.reader().await?).await
    }

    /// The stored names of all images.
    pub async fn image_names(&self) -> Result<Vec<String>> {
        bind!("SELECT name FROM images").values(&mut *self.reader().await?).await
    }

    /// The first of these ids that no image has.
    pub async fn missing_image(&self, ids: &[ImageId]) -> Result<Option<ImageId>> {
        if ids.is_empty() {
            return Ok(None);
        }
        let mut query = Query::new("SELECT id FROM images WHERE id IN (");
        query.push_list(ids).push(")");
        let known: Vec<ImageId> = query.values(&mut *self.reader().await?).await?;
        Ok(ids.iter().find(|id| !known.contains(id)).copied())
    }
}

impl Tx {
    pub async fn image_by_hash(&mut self, hash: &str) -> Result<Option<Image>> {
        bind!(select!(Image, "FROM images WHERE hash = $1"), hash).find(self.conn()?).await
    }

    pub async fn insert_image(&mut self, image: &Image) -> Result<()> {
        self.insert(image).await
    }

    /// Returns the image that was deleted.
    pub async fn delete_image(&mut self, id: ImageId) -> Result<Option<Image>> {
        bind!(DELETE, id).find(self.conn()?).await
    }

    /// Deletes and returns the images that no task shows and that are older than `before`.
    pub async fn delete_loose_images(&mut self, before: Millis) -> Result<Vec<Image>> {
        bind!(DELETE_LOOSE, before).list(self.conn()?).await
    }

    /// Attaches what is not attached yet, after what is.
    pub async fn attach_images(&mut self, task: TaskId, ids: &[ImageId]) -> Result<()> {
        if ids.is_empty() {
            return Ok(());
        }
        let last = "SELECT COALESCE(MAX(position), 0) FROM task_images WHERE task_id = $1";
        let last: i64 = bind!(last, task).value(self.conn()?).await?;
        let mut insert = Query::new("INSERT INTO task_images (task_id, image_id, position) VALUES ");
        for (position, id) in (last + 1..).zip(ids) {
            insert.push(if position == last + 1 { "(" } else { ", (" }).push_bind(&task).push(", ");
            insert.push_bind(id).push(", ").push_bind(&position).push(")");
        }
        insert.push(" ON CONFLICT (task_id, image_id) DO NOTHING");
        insert.run(self.conn()?).await.map(drop)
    }

    /// From now on the task shows these images and no others.
    pub async fn replace_images(&mut self, task: TaskId, ids: &[ImageId]) -> Result<()> {
        bind!("DELETE FROM task_images WHERE task_id = $1", task).run(self.conn()?).await?;
        self.attach_images(task, ids).await
    }
}
