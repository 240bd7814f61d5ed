//! Which programs are installed on this machine, in which version, and whether agents can log in.
//!
//! Invariants: programs are asked for their version only, all at once and none longer than [`LIMIT`] after the
//! survey began; they run with a temporary home directory that is removed afterwards, because some write into it
//! even then. Of keys only the names are read, of logins only whether their files exist.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use forge_types::{AgentSource, Millis, WITHHELD};

use super::{ALL, Agent, LaunchContext, Software, program};

/// The longest duration of a survey.
const LIMIT: Duration = Duration::from_millis(5500);
const MAX_VERSION_BYTES: u64 = 4 << 10;
/// Variables that name the folders into which agent programs write.
const FOLDER_VARS: [&str; 6] =
    ["HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"];
/// Programs besides agents that Forge or its users need, and the argument that prints each one's version.
const TOOLS: [(&str, &str); 4] =
    [("tmux", "-V"), ("node", "--version"), ("npx", "--version"), ("bwrap", "--version")];
/// Package managers, and the command with which each installs.
const PACKAGERS: [(&str, &str); 6] = [
    ("apt-get", "sudo apt-get install"),
    ("dnf", "sudo dnf install"),
    ("pacman", "sudo pacman -S"),
    ("zypper", "sudo zypper install"),
    ("apk", "sudo apk add"),
    ("brew", "brew install"),
];

#[derive(Debug)]
pub struct Survey {
    pub tools: Vec<Tool>,
    /// One for each executor that has a program.
    pub agents: Vec<SurveyedAgent>,
    /// The command that installs packages here, without the package.
    pub packager: Option<&'static str>,
}

#[derive(Debug)]
pub struct Tool {
    pub name: &'static str,
    pub file: Option<PathBuf>,
    pub version: Option<String>,
}

#[derive(Debug)]
pub struct SurveyedAgent {
    pub about: &'static Agent,
    pub software: &'static Software,
    pub found: Option<(AgentSource, PathBuf)>,
    /// What the program printed; for `npx` the version that it would run.
    pub version: Option<String>,
    /// The variables with a key that are set.
    pub keys: Vec<&'static str>,
    /// A file that exists once somebody has logged in.
    pub login: Option<PathBuf>,
}

/// Checks everything at once. Takes up to [`LIMIT`], and blocks.
pub fn survey() -> Survey {
    survey_of(&ALL)
}

pub(super) fn survey_of(agents: &[&'static Agent]) -> Survey {
    let deadline = Instant::now() + LIMIT;
    let path_env = std::env::var_os("PATH").unwrap_or_default();
    let home = Home::make();
    let (path_env, home) = (path_env.as_os_str(), home.as_ref());
    std::thread::scope(|scope| {
        let tools = TOOLS
            .map(|(name, flag)| scope.spawn(move || look_for_tool(name, flag, path_env, home, deadline)));
        let agents = agents.iter().filter_map(|agent| Some((*agent, agent.software.as_ref()?)));
        let agents: Vec<_> = agents
            .map(|(agent, software)| {
                scope.spawn(move || look_for_agent(agent, software, path_env, home, deadline))
            })
            .collect();
        let packager = PACKAGERS
            .iter()
            .find(|(name, _)| program::find_in(name, path_env, Path::new("/")).is_some())
            .map(|(_, words)| *words);
        Survey {
            tools: tools.into_iter().filter_map(|looked| looked.join().ok()).collect(),
            agents: agents.into_iter().filter_map(|looked| looked.join().ok()).collect(),
            packager,
        }
    })
}

fn look_for_tool(
    name: &'static str,
    flag: &str,
    path_env: &OsStr,
    home: Option<&Home>,
    deadline: Instant,
) -> Tool {
    let file = program::find_in(name, path_env, Path::new("/"));
    let version = file.as_ref().and_then(|file| ask_version(file, flag, None, home, deadline));
    Tool { name, file, version }
}

fn look_for_agent(
    about: &'static Agent,
    software: &'static Software,
    path_env: &OsStr,
    home: Option<&Home>,
    deadline: Instant,
) -> SurveyedAgent {
    let place = LaunchContext { worktree: Path::new("/"), forge_exe: Path::new("/"), path_env };
    let variable = |key: &str| std::env::var_os(key).filter(|value| !value.is_empty());
    let mut sighting = SurveyedAgent {
        about,
        software,
        found: None,
        version: None,
        keys: software.keys.iter().copied().filter(|key| variable(key).is_some()).collect(),
        login: software
            .logins
            .iter()
            .filter_map(|file| login_file(file, &variable))
            .find(|file| file.exists()),
    };
    if let Some(program) = program::find(software.program, &place) {
        let whence = if program.path_env.is_some() { AgentSource::LoginPath } else { AgentSource::Path };
        let path = program.path_env.as_deref();
        let printed = ask_version(&program.file, "--version", path, home, deadline);
        // The version of a program that is slow, and not broken, is read from its package.
        let slow = || (Instant::now() >= deadline).then(|| packaged_version(&program.file)).flatten();
        sighting.version = printed.or_else(slow);
        sighting.found = Some((whence, program.file));
    } else if let Some(package) = software.package
        && let Some(npx) = program::find("npx", &place)
    {
        sighting.version = package.rsplit_once('@').map(|(_, version)| version.to_owned());
        sighting.found = Some((AgentSource::Npx, npx.file));
    }
    sighting
}

/// The folders of agents that variables can move.
fn movable_folders() -> impl Iterator<Item = (&'static str, &'static str)> {
    ALL.into_iter().filter_map(|agent| agent.software.as_ref()?.moved)
}

/// The path of a login file, in a folder that the user may have moved.
fn login_file(below_home: &str, variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let elsewhere =
        movable_folders().chain([(".local/share/", "XDG_DATA_HOME")]).find_map(|(folder, key)| {
            let rest = below_home.strip_prefix(folder)?;
            Some(PathBuf::from(variable(key)?).join(rest))
        });
    elsewhere.or_else(|| Some(PathBuf::from(variable("HOME")?).join(below_home)))
}

/// Without a temporary home directory a program is not started.
fn ask_version(
    file: &Path,
    flag: &str,
    path_env: Option<&OsStr>,
    home: Option<&Home>,
    deadline: Instant,
) -> Option<String> {
    let home = home?;
    let mut command = Command::new(file);
    for name in WITHHELD {
        command.env_remove(name);
    }
    let folders = FOLDER_VARS.into_iter().chain(movable_folders().map(|(_, key)| key));
    command.arg(flag).current_dir(&home.0).envs(folders.map(|key| (key, &home.0)));
    if let Some(path) = path_env {
        command.env("PATH", path);
    }
    let wait = deadline.saturating_duration_since(Instant::now());
    let printed = program::capture(command, wait, MAX_VERSION_BYTES)?;
    read_version(&String::from_utf8_lossy(&printed))
}

/// The version in the npm package that contains a program.
fn packaged_version(file: &Path) -> Option<String> {
    let real = std::fs::canonicalize(file).ok()?;
    let folders = real.ancestors().skip(1).take_while(|folder| !folder.ends_with("node_modules"));
    let texts = folders.filter_map(|folder| std::fs::read_to_string(folder.join("package.json")).ok());
    let packages = texts.filter_map(|text| serde_json::from_str::<serde_json::Value>(&text).ok());
    let mut versions = packages.filter_map(|package| read_version(package["version"].as_str()?));
    versions.next()
}

/// The first word with digits and dots, without the characters around it.
fn read_version(text: &str) -> Option<String> {
    let words = text.split(|c: char| c.is_whitespace() || matches!(c, ',' | '(' | ')' | '/'));
    let mut words = words.map(|word| word.trim_start_matches('v').trim_end_matches('.'));
    let version = words.find(|word| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.'))?;
    version.chars().all(|c| c.is_ascii_graphic()).then(|| version.to_owned())
}

/// A temporary home directory; removed when the value is dropped.
#[derive(Debug)]
struct Home(PathBuf);

impl Home {
    fn make() -> Option<Home> {
        use std::os::unix::fs::DirBuilderExt;
        // A server surveys repeatedly, and what a crash left behind must not be in its way.
        let name = format!("forge-survey-{}-{}", std::process::id(), Millis::now().0);
        let path = std::env::temp_dir().join(name);
        // One that already exists belongs to somebody else.
        std::fs::DirBuilder::new().mode(0o700).create(&path).ok()?;
        Some(Home(path))
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_programs_print() {
        for (printed, want) in [
            ("2.1.197 (Claude Code)\n", Some("2.1.197")),
            ("codex-cli 0.166.0\n", Some("0.166.0")),
            ("GitHub Copilot CLI 1.0.102.\nRun 'copilot update'", Some("1.0.102")),
            ("tmux 3.3a", Some("3.3a")),
            ("v20.20.2", Some("20.20.2")),
            ("qwen/0.15.10 linux", Some("0.15.10")),
            ("no idea", None),
            ("1.\u{1b}[2J", None),
        ] {
            assert_eq!(read_version(printed).as_deref(), want, "{printed:?}");
        }
    }

    #[test]
    fn a_package_has_the_version_of_its_program() {
        let dir = tempfile::tempdir().unwrap();
        let package = dir.path().join("node_modules/@a/b");
        std::fs::create_dir_all(package.join("bin")).unwrap();
        std::fs::write(package.join("package.json"), r#"{"name": "@a/b", "version": "1.2.3"}"#).unwrap();
        std::fs::write(package.join("bin/b.js"), "").unwrap();
        std::os::unix::fs::symlink("@a/b/bin/b.js", dir.path().join("node_modules/b")).unwrap();
        assert_eq!(packaged_version(&dir.path().join("node_modules/b")).as_deref(), Some("1.2.3"));
        assert_eq!(packaged_version(Path::new("/bin/sh")), None);
    }

    #[test]
    fn login_files_follow_moved_folders() {
        let plain = |key: &str| (key == "HOME").then(|| OsString::from("/home/user"));
        assert_eq!(login_file(".codex/auth.json", &plain), Some("/home/user/.codex/auth.json".into()));
        let moved = |key: &str| match key {
            "HOME" => Some(OsString::from("/home/user")),
            "CODEX_HOME" => Some(OsString::from("/keys")),
            _ => None,
        };
        assert_eq!(login_file(".codex/auth.json", &moved), Some("/keys/auth.json".into()));
        assert_eq!(login_file(".qwen/x", &moved), Some("/home/user/.qwen/x".into()));
        assert_eq!(login_file(".qwen/x", &|_| None), None);
    }

    #[test]
    fn a_program_is_asked_in_a_temporary_home_and_not_for_long() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let program = |name: &str, body: &str| {
            let file = dir.path().join(name);
            std::fs::write(&file, format!("#!/bin/sh\n{body}\n")).unwrap();
            std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).unwrap();
            file
        };
        let place = Home(dir.path().join("home"));
        std::fs::create_dir(&place.0).unwrap();
        let writes =
            program("writes", "echo trace > $HOME/trace; echo trace > $XDG_DATA_HOME/data; echo it 1.2.3");
        let soon = Instant::now() + Duration::from_secs(20);
        assert_eq!(ask_version(&writes, "--version", None, Some(&place), soon).as_deref(), Some("1.2.3"));
        assert!(place.0.join("trace").exists() && place.0.join("data").exists());
        let hangs = program("hangs", "sleep 600");
        let now = Instant::now() + Duration::from_millis(100);
        assert_eq!(ask_version(&hangs, "--version", None, Some(&place), now), None);
        let path = place.0.clone();
        drop(place);
        assert!(!path.exists());
    }
}
