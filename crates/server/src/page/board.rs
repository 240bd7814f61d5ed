//! The board's files as `build.rs` found them, or why there are none.
//!
//! Invariant: everything that can be served is in this table, so no request reaches the disk and no path leads out.

pub(super) struct Board {
    /// `index.html`, in which [`super::NONCE`] is a placeholder for the nonce of each response.
    pub index: &'static str,
    /// Every other file.
    pub files: &'static [File],
}

pub(super) struct File {
    /// Below the root of the page, without a slash in front.
    pub path: &'static str,
    pub kind: &'static str,
    /// The entity tag: a weak one, since it is the same with and without compression.
    pub tag: &'static str,
    pub bytes: &'static [u8],
    /// The same, compressed, where that is worth it.
    pub gzip: Option<&'static [u8]>,
}

/// A build without the board has the reason instead, in words for people.
pub(super) type Built = Result<Board, &'static str>;

pub(super) static BUILT: Built = include!(concat!(env!("OUT_DIR"), "/board.rs"));

impl Board {
    pub(crate) fn find(&self, path: &str) -> Option<&'static File> {
        self.files.iter().find(|file| file.path == path)
    }
}
