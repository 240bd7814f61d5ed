//! The floor: what the libraries need from the operating system and none of them owns.
//!
//! Invariant: this crate knows no other crate of Forge, and every crate may use it.

pub mod file;
pub mod private;
pub mod process;
mod rename;
mod replace;
mod space;

pub use rename::rename_new;
pub use replace::{Mode, folder_of, replace, replace_linked, sync_folder, with_suffix};
pub use space::free_bytes;
