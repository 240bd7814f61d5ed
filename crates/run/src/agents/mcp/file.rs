//! Where an agent's program keeps its configuration.
//!
//! Invariant: paths follow the server's environment (`HOME`, `XDG_CONFIG_HOME`) at the moment of the call.

use std::path::PathBuf;

pub(in crate::agents) enum ConfigFile {
    /// Relative to the home directory.
    Home(&'static str),
    /// Relative to the configuration folder; the commented file where only that one exists.
    Config { plain: &'static str, commented: &'static str },
}

impl ConfigFile {
    /// `None` where the home directory is unknown.
    pub fn path(&self) -> Option<PathBuf> {
        let home = PathBuf::from(std::env::var_os("HOME").filter(|home| !home.is_empty())?);
        Some(match self {
            ConfigFile::Home(file) => home.join(file),
            ConfigFile::Config { plain, commented } => {
                let folder = match std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from) {
                    Some(folder) if folder.is_absolute() => folder,
                    _ => home.join(".config"),
                };
                let (plain, commented) = (folder.join(plain), folder.join(commented));
                if commented.exists() && !plain.exists() { commented } else { plain }
            }
        })
    }
}
