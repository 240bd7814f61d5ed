//! The launchers that come with Forge, as files that people can read and change.
//!
//! Invariant: a file that is there is never overwritten.

use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use forge_types::FleetSettings;
use forge_types::wire::LauncherFile;

use crate::settings;
use crate::{Error, Result};

const PROGRAM: u32 = 0o755;
const TEXT: u32 = 0o644;

macro_rules! shipped {
    ($($name:literal $mode:ident),* $(,)?) => {
        &[$(($name, $mode, include_str!(concat!("../../../../launchers/", $name)))),*]
    };
}

const SHIPPED: &[(&str, u32, &str)] = shipped![
    "README.md" TEXT,
    "lib/launch.sh" TEXT,
    "lib/work.sh" TEXT,
    "claude-code" PROGRAM,
    "codex" PROGRAM,
    "glm" PROGRAM,
    "opencode" PROGRAM,
    "scripted" PROGRAM,
];

/// The launchers of a home, with those that come with Forge; needs no server.
pub fn list_launchers(home: &Path) -> Result<Vec<LauncherFile>> {
    let dir = launcher_dir(home, &settings::read(home).fleet);
    let failed = |cause: io::Error| {
        Error::internal(format!("the launchers in {} cannot be read: {cause}", dir.display()), cause)
    };
    provide(&dir).map_err(failed)?;
    let mut found = Vec::new();
    for entry in std::fs::read_dir(&dir).map_err(failed)?.flatten() {
        let path = entry.path();
        let is_program =
            path.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0);
        let name = entry.file_name().to_string_lossy().into_owned();
        if is_program && !name.starts_with('.') {
            let text = SHIPPED.iter().find(|(known, ..)| *known == name).map(|(.., text)| *text);
            let shipped =
                text.is_some_and(|text| std::fs::read(&path).is_ok_and(|now| now == text.as_bytes()));
            found.push(LauncherFile { name, path, shipped });
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

pub(super) fn launcher_dir(home: &Path, fleet: &FleetSettings) -> PathBuf {
    fleet.launcher_dir.clone().unwrap_or_else(|| home.join("launchers"))
}

/// Writes what comes with Forge where nothing stands.
pub(super) fn provide(dir: &Path) -> io::Result<()> {
    std::fs::create_dir_all(dir.join("lib"))?;
    for (name, mode, text) in SHIPPED {
        let path = dir.join(name);
        if path.exists() {
            continue;
        }
        // Under another name at first: whoever comes at the same time must not find half of it.
        let draft = dir.join(format!(".{}.{}", name.replace('/', "-"), uuid::Uuid::new_v4().simple()));
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(*mode).open(&draft)?;
        file.write_all(text.as_bytes())?;
        drop(file);
        // A link fails where a rename would overwrite.
        let linked = std::fs::hard_link(&draft, &path);
        std::fs::remove_file(&draft)?;
        match linked {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_with_forge_is_written_once_and_what_people_changed_stays() {
        let home = tempfile::tempdir().unwrap();
        let names = |found: &[LauncherFile]| found.iter().map(|one| one.name.clone()).collect::<Vec<_>>();
        let found = list_launchers(home.path()).unwrap();
        assert_eq!(names(&found), ["claude-code", "codex", "glm", "opencode", "scripted"]);
        assert!(found.iter().all(|one| one.shipped));
        let mine = home.path().join("launchers/codex");
        std::fs::write(&mine, "#!/bin/sh\n").unwrap();
        let again = list_launchers(home.path()).unwrap();
        assert_eq!(std::fs::read_to_string(&mine).unwrap(), "#!/bin/sh\n");
        assert_eq!(
            again.iter().filter(|one| !one.shipped).map(|one| one.name.as_str()).collect::<Vec<_>>(),
            ["codex"]
        );
    }
}
