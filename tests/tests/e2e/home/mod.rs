//! The home on disk: its folders, its database, its backups.

mod backup;
mod database;
mod folders;
