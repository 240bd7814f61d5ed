//! An attempt's work under review: its diff, its files, its way to the target branch.

mod diffs;
mod files;
mod landing;
