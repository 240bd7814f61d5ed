//! Images: kept once per content in Forge's home.
//!
//! Owns `<home>/images`. Invariant: the name of a file follows from its content and its type, never from what a client
//! calls it; a row exists only after its file does.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use forge_types::{Image, ImageId, Millis, TaskId};
use sha2::{Digest, Sha256};
use tokio::io::AsyncWriteExt;

use crate::{Error, Forge, Result};

/// The largest image that is taken.
pub const IMAGE_MAX_BYTES: u64 = 20 << 20;
/// How many images one request may name.
const MAX_NAMED: usize = 200;
/// An image is often uploaded before the task that shows it is made, so a young one may yet be wanted.
const LOOSE_AGE: Duration = Duration::from_secs(24 * 3600);
const UPLOAD_PREFIX: &str = ".upload-";

/// Extension, the one it is stored with, and the type it is served as.
const TYPES: [(&str, &str, &str); 7] = [
    ("png", "png", "image/png"),
    ("jpg", "jpg", "image/jpeg"),
    ("jpeg", "jpg", "image/jpeg"),
    ("gif", "gif", "image/gif"),
    ("webp", "webp", "image/webp"),
    ("bmp", "bmp", "image/bmp"),
    ("svg", "svg", "image/svg+xml"),
];

/// An image on its way in. Dropped before it is kept, it leaves nothing behind.
pub struct ImageUpload {
    id: ImageId,
    original_name: String,
    extension: &'static str,
    mime_type: &'static str,
    path: PathBuf,
    file: tokio::fs::File,
    hash: Sha256,
    size_bytes: u64,
}

impl ImageUpload {
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Keeps the id that the image had elsewhere.
    pub(crate) fn set_id(&mut self, id: ImageId) {
        self.id = id;
    }

    pub async fn write(&mut self, chunk: &[u8]) -> Result<()> {
        self.hash.update(chunk);
        self.size_bytes += chunk.len() as u64;
        self.file.write_all(chunk).await.map_err(unprocessed)
    }
}

impl Drop for ImageUpload {
    fn drop(&mut self) {
        let path = std::mem::take(&mut self.path);
        // Without a runtime the next start removes it.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn_blocking(move || std::fs::remove_file(path));
        }
    }
}

impl Forge {
    pub(crate) fn images_dir(&self) -> PathBuf {
        self.0.config.home.join("images")
    }

    /// Begins to take an image. The extension of its name decides the type.
    pub async fn begin_image(&self, name: &str) -> Result<ImageUpload> {
        let name = name.rsplit(['/', '\\']).next().filter(|name| !name.is_empty()).unwrap_or("image.png");
        let Some((_, extension, mime_type)) = type_of(name) else {
            return Err(Error::invalid(
                "This file type is not supported. Please upload an image file (PNG, JPG, GIF, WebP, or BMP).",
            ));
        };
        let path = self.images_dir().join(format!("{UPLOAD_PREFIX}{}", uuid::Uuid::new_v4()));
        let file = tokio::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).await;
        Ok(ImageUpload {
            id: ImageId::random(),
            original_name: name.chars().take(255).collect(),
            extension,
            mime_type,
            path,
            file: file.map_err(unprocessed)?,
            hash: Sha256::new(),
            size_bytes: 0,
        })
    }

    /// Keeps an image, or returns the one with the same content, and attaches it to a task when one is named.
    pub(crate) async fn store_image(&self, mut upload: ImageUpload, task: Option<TaskId>) -> Result<Image> {
        if let Some(task) = task {
            self.task(task).await?;
        }
        upload.file.flush().await.map_err(unprocessed)?;
        upload.file.sync_all().await.map_err(unprocessed)?;
        let digest = std::mem::take(&mut upload.hash).finalize();
        let hash: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut tx = self.0.store.begin().await?;
        let image = match tx.image_by_hash(&hash).await? {
            Some(image) => image,
            None => {
                let image = new_image(&upload, hash);
                tx.insert_image(&image).await?;
                image
            }
        };
        // Also when it is known: the same bytes again, should the file have been lost.
        let stored = self.images_dir().join(image.stored_name());
        tokio::fs::rename(&upload.path, &stored).await.map_err(unprocessed)?;
        if let Some(task) = task {
            tx.attach_images(task, &[image.id]).await?;
        }
        tx.commit().await?;
        Ok(image)
    }

    pub async fn image(&self, id: ImageId) -> Result<(Image, tokio::fs::File)> {
        let missing = || Error::not_found("Image not found.");
        let image = self.0.store.image(id).await?.ok_or_else(missing)?;
        match tokio::fs::File::open(self.images_dir().join(image.stored_name())).await {
            Ok(file) => Ok((image, file)),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Err(missing()),
            Err(cause) => Err(unprocessed(cause)),
        }
    }

    pub async fn task_images(&self, task: TaskId) -> Result<Vec<Image>> {
        self.task(task).await?;
        Ok(self.0.store.task_images(task).await?)
    }

    /// Removes the record and the file; one that is not there is as good as removed.
    pub async fn delete_image(&self, id: ImageId) -> Result<()> {
        let mut tx = self.0.store.begin().await?;
        // Before the commit: until then nobody can bring the same content back.
        if let Some(image) = tx.delete_image(id).await? {
            self.remove_image_file(image.stored_name()).await;
        }
        tx.commit().await?;
        Ok(())
    }

    async fn remove_image_file(&self, name: &str) {
        let path = self.images_dir().join(name);
        if let Err(error) = tokio::fs::remove_file(&path).await
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(path = %path.display(), %error, "the file of a deleted image stays");
        }
    }

    /// Images that requests name must exist.
    pub(crate) async fn check_images(&self, asked: &[ImageId]) -> Result<()> {
        if asked.len() > MAX_NAMED {
            let count = asked.len();
            return Err(Error::invalid(format!("{count} images are too many; allowed: up to {MAX_NAMED}"))
                .of_field("image_ids"));
        }
        match self.0.store.missing_image(asked).await? {
            Some(id) => Err(Error::not_found(format!("Image not found: {id}")).of_field("image_ids")),
            None => Ok(()),
        }
    }

    /// Removes images that no task has come to show within a day, and files that no row names.
    pub(crate) async fn remove_loose_images(&self) -> Result<()> {
        let before = Millis(Millis::now().0 - LOOSE_AGE.as_millis() as i64);
        let mut tx = self.0.store.begin().await?;
        for image in tx.delete_loose_images(before).await? {
            self.remove_image_file(image.stored_name()).await;
        }
        tx.commit().await?;
        let known = self.0.store.image_names().await?;
        let dir = self.images_dir();
        let removed = tokio::task::spawn_blocking(move || remove_strays(&dir, &known)).await;
        removed.unwrap_or_else(|cause| Err(io::Error::other(cause))).map_err(unprocessed)
    }
}

/// The type that a file's name implies; without an extension it is taken for a PNG.
fn type_of(name: &str) -> Option<&'static (&'static str, &'static str, &'static str)> {
    let extension = Path::new(name).extension().map(|extension| extension.to_string_lossy());
    let extension = extension.as_deref().unwrap_or("png").to_ascii_lowercase();
    TYPES.iter().find(|(known, ..)| *known == extension)
}

/// Whether a file of this name would be taken.
pub(crate) fn is_image_name(name: &str) -> bool {
    type_of(name).is_some()
}

fn new_image(upload: &ImageUpload, hash: String) -> Image {
    let now = Millis::now();
    Image {
        id: upload.id,
        file_path: format!("{}/{hash}.{}", Image::FOLDER, upload.extension),
        original_name: upload.original_name.clone(),
        mime_type: Some(upload.mime_type.to_owned()),
        size_bytes: upload.size_bytes as i64,
        hash,
        created_at: now,
        updated_at: now,
    }
}

pub(crate) fn unprocessed(cause: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::internal("Failed to process image. Please try again.", cause)
}

fn remove_strays(dir: &Path, known: &[String]) -> io::Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let age = entry.metadata()?.modified().ok().and_then(|at| at.elapsed().ok());
        let stray = !known.iter().any(|name| entry.file_name() == name.as_str());
        if stray && age.is_some_and(|age| age > LOOSE_AGE) {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Turns `![…](.forge-images/name)` into the place where the agent finds that file.
pub(crate) fn show_images(prompt: &str, folder: &Path) -> String {
    let mark = format!("]({}/", Image::FOLDER);
    let mut text = String::with_capacity(prompt.len());
    let mut rest = prompt;
    while let Some(at) = rest.find(&mark) {
        let (before, found) = rest.split_at(at);
        let name = found[mark.len()..].split(')').next().unwrap_or_default();
        let is_name = !name.is_empty() && !name.contains(['/', '\\', '\n', ' ']) && !name.starts_with('.');
        let is_image = before.rfind('[').is_some_and(|open| before[..open].ends_with('!'));
        text.push_str(before);
        if is_name && is_image {
            text.push_str("](");
            text.push_str(&folder.join(name).to_string_lossy());
        } else {
            text.push_str(&mark);
            text.push_str(name);
        }
        rest = &found[mark.len() + name.len()..];
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_in_a_prompt_get_an_absolute_path_and_nothing_else_does() {
        let shown = |prompt: &str| show_images(prompt, Path::new("/w/.forge-images"));
        assert_eq!(shown("a ![x](.forge-images/1.png) b"), "a ![x](/w/.forge-images/1.png) b");
        assert_eq!(
            shown("![](.forge-images/1.png)![é](.forge-images/2.gif)"),
            "![](/w/.forge-images/1.png)![é](/w/.forge-images/2.gif)"
        );
        for same in [
            "no picture",
            "[x](.forge-images/1.png)",
            "![x](.forge-images/../../etc/passwd)",
            "![x](.forge-images/",
            "![x](other/1.png)",
        ] {
            assert_eq!(shown(same), same);
        }
    }
}
