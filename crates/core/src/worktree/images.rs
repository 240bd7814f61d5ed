//! Images of a task where its agent finds them: copies in a folder of the worktree that git ignores.
//!
//! Invariant: the copies are there before an agent starts, and nothing is written through a link that an agent may have
//! put there. In the user's own checkout nothing is copied: the agent reads the originals.

use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use forge_types::{AttemptStatus, Image, TaskId};

use crate::task::image::{ImageUpload, unprocessed};
use crate::worktree::host::{Directory, PutImages};
use crate::worktree::workplace::Workplace;
use crate::{Forge, Result};

impl Forge {
    /// Keeps an image, or returns the one with the same content. Agents that work on its task get to see it.
    pub async fn keep_image(&self, upload: ImageUpload, task: Option<TaskId>) -> Result<Image> {
        let image = self.store_image(upload, task).await?;
        if let Some(task) = task {
            self.show_to_running(task).await?;
        }
        Ok(image)
    }

    /// The folder in which an agent of the workplace finds images.
    pub(crate) fn image_folder(&self, workplace: &Workplace) -> PathBuf {
        match workplace.is_forges() {
            true => workplace.directory.local_path().join(Image::FOLDER),
            false => self.images_dir(),
        }
    }

    /// Copies the task's images into the worktree. An agent without its pictures is better than none.
    pub(crate) async fn lay_out_images(&self, task: TaskId, at: &Directory) {
        let laid_out = async {
            let images = self.0.store.task_images(task).await?;
            self.put_images(images, at.clone()).await
        };
        if let Err(error) = laid_out.await {
            tracing::warn!(%task, %error, "the agent starts without the images of its task");
        }
    }

    async fn show_to_running(&self, task: TaskId) -> Result<()> {
        let images = self.0.store.task_images(task).await?;
        for attempt in self.0.store.attempts(Some(task), forge_store::Page::default()).await? {
            let has_worktree = attempt.use_worktree && !attempt.worktree_deleted;
            if has_worktree && attempt.status == AttemptStatus::Running {
                self.put_images(images.clone(), self.directory_of(&attempt).await?).await?;
            }
        }
        Ok(())
    }

    async fn put_images(&self, images: Vec<Image>, at: Directory) -> Result<()> {
        if images.is_empty() {
            return Ok(());
        }
        let put = self.ask(PutImages { at, from: self.images_dir(), images }).await;
        put.map_err(unprocessed)
    }
}

pub(super) fn copy_all(from: &Path, place: &Path, images: &[Image]) -> io::Result<()> {
    let folder = place.join(Image::FOLDER);
    match std::fs::symlink_metadata(&folder) {
        Ok(found) if found.is_dir() => {}
        Ok(_) => return Err(io::Error::other(format!("{} is not a folder", folder.display()))),
        Err(_) => std::fs::create_dir(&folder)?,
    }
    if let Ok(mut ignore) = std::fs::File::create_new(folder.join(".gitignore")) {
        ignore.write_all(b"*\n")?;
    }
    for image in images {
        let target = folder.join(image.stored_name());
        match std::fs::symlink_metadata(&target) {
            Ok(found) if found.is_file() && found.len() == image.size_bytes as u64 => continue,
            Ok(_) => std::fs::remove_file(&target)?,
            Err(_) => {}
        }
        let mut source = std::fs::File::open(from.join(image.stored_name()))?;
        // A new file, so that the bytes go into none that is already there.
        let mut copy = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&target)?;
        io::copy(&mut source, &mut copy)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use forge_types::{ImageId, Millis};

    use super::*;

    #[test]
    fn nothing_is_copied_through_a_link() {
        let dir = tempfile::tempdir().expect("a folder");
        let [home, place, outside] = ["home", "place", "outside"].map(|name| dir.path().join(name));
        for folder in [&home, &place, &outside] {
            std::fs::create_dir(folder).expect("mkdir");
        }
        std::fs::write(home.join("a.png"), "bytes").expect("write");
        let image = Image {
            id: ImageId::random(),
            file_path: ".forge-images/a.png".into(),
            original_name: "x".into(),
            mime_type: None,
            size_bytes: 5,
            hash: String::new(),
            created_at: Millis(0),
            updated_at: Millis(0),
        };
        let images = [image];
        std::os::unix::fs::symlink(&outside, place.join(Image::FOLDER)).expect("symlink");
        assert!(copy_all(&home, &place, &images).is_err());
        assert_eq!(std::fs::read_dir(&outside).expect("read").count(), 0);

        std::fs::remove_file(place.join(Image::FOLDER)).expect("remove");
        std::fs::create_dir(place.join(Image::FOLDER)).expect("mkdir");
        let victim = outside.join("victim");
        std::fs::write(&victim, "mine").expect("write");
        let target = place.join(Image::FOLDER).join("a.png");
        std::os::unix::fs::symlink(&victim, &target).expect("symlink");
        copy_all(&home, &place, &images).expect("copied");
        assert_eq!(std::fs::read_to_string(&victim).expect("read"), "mine");
        assert_eq!(std::fs::read_to_string(&target).expect("read"), "bytes");
    }
}
