//! Bringing a backup back.
//!
//! Invariant: the home changes by renames alone, and only after the backup was proven. They are written down first: a
//! restore that is killed among them is finished by whoever opens the home next, before anything is read from it. What
//! was there is moved to `before-restore-<time>` and never deleted.

use std::fs::File;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use forge_types::{ErrorCode, Millis};
use serde::{Deserialize, Serialize};

use super::content::{BESIDE, Content};
use super::{DATABASE, archive, blocking, folder_of, moment, real, sync_folder};
use crate::home::file;
use crate::home::remains;
use crate::{Config, Error, Kind, Result};

/// The renames that are under way.
pub(super) const PLAN: &str = "restore.json";
/// How the folder's name begins that a backup is unpacked to.
pub(super) const STAGING: &str = "restore-unpacked-";
/// How every database of SQLite begins.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// What was brought back.
#[derive(Clone, Debug, Serialize)]
pub struct RestoreReport {
    pub home: PathBuf,
    pub files: usize,
    /// When the backup was made; a bare copy of a database does not say.
    pub made_at: Option<Millis>,
    pub schema: Option<i64>,
    /// Where the things are now that were there before: in the home, and beside a database that lies elsewhere.
    pub moved_aside: Vec<PathBuf>,
    /// The home that the backup was made of, when it is there too: this one is another installation then.
    pub other_home: Option<PathBuf>,
}

/// Renames, in order. What `aside` leads to does not exist when the plan is made, nor what `bring` leads to when `aside`
/// is done: so it can be seen of each whether it has been carried out.
#[derive(Serialize, Deserialize)]
struct Plan {
    staging: PathBuf,
    aside: Vec<(PathBuf, PathBuf)>,
    bring: Vec<(PathBuf, PathBuf)>,
}

/// Brings a backup back, or a bare copy of the database. The caller holds the home: no server runs on it.
pub async fn restore_backup(config: &Config, file: &Path, replace: bool) -> Result<RestoreReport> {
    let content = Content::of(config);
    finish_restore(&config.home)?;
    let present = present(config, &content);
    if !present.is_empty() && !replace {
        return Err(Error::conflict(format!(
            "{} has data already ({}). With --replace it is moved aside to a folder there, and the backup takes its place",
            config.home.display(),
            present.join(", ")
        )));
    }
    refuse_at_work(&config.home.join("runs"))?;
    let staging = Staging::below(&config.home)?;
    let (from, to) = (file.to_owned(), staging.0.clone());
    let unpacked = blocking(move || unpack(&from, &to)).await?;
    let schema = examine(&staging.0.join(DATABASE), file).await?;
    refuse_at_work(&staging.0.join("runs"))?;
    let other_home = find_other_home(config, &staging.0, &unpacked).await?;
    let (config, file_count) = (config.clone(), unpacked.files);
    blocking(move || {
        let name = free_name(&config);
        let places = [&*config.home, folder_of(&config.database)].map(|folder| folder.join(&name));
        let plan = plan(&config, &content, &staging.0, &places, unpacked.whole)?;
        let failed = unchanged(&config.home);
        let text =
            serde_json::to_vec(&plan).map_err(|cause| Error::internal("cannot write the plan", cause))?;
        file::replace(&config.home.join(PLAN), &text, file::PRIVATE).map_err(failed)?;
        // From here on the staging folder is the plan's.
        std::mem::forget(staging);
        finish_restore(&config.home)?;
        Ok(RestoreReport {
            moved_aside: moved_to(places),
            home: config.home,
            files: file_count,
            made_at: unpacked.made_at,
            schema,
            other_home,
        })
    })
    .await
}

/// Finishes a restore that was cut off. Each step is done, or can be done, whatever happened before.
pub(crate) fn finish_restore(home: &Path) -> Result<()> {
    let path = home.join(PLAN);
    let text = match std::fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(cause) => return Err(half_done(&path)(cause)),
    };
    let plan: Plan = serde_json::from_slice(&text).map_err(|cause| half_done(&path)(cause.into()))?;
    for (from, to) in &plan.aside {
        if std::fs::symlink_metadata(to).is_err() {
            carry_out(from, to).map_err(half_done(&path))?;
        }
    }
    for (from, to) in &plan.bring {
        carry_out(from, to).map_err(half_done(&path))?;
    }
    std::fs::remove_file(&path).map_err(half_done(&path))?;
    sync_folder(home).map_err(half_done(&path))?;
    // Folders that are empty now.
    let _ = std::fs::remove_dir_all(&plan.staging);
    Ok(())
}

fn carry_out(from: &Path, to: &Path) -> std::io::Result<()> {
    if std::fs::symlink_metadata(from).is_err() {
        return Ok(());
    }
    if std::fs::symlink_metadata(to).is_ok() {
        let message = format!("{} and {} both exist; move one of them away", from.display(), to.display());
        return Err(std::io::Error::other(message));
    }
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder_of(to))?;
    std::fs::rename(from, to)?;
    sync_folder(folder_of(to))
}

/// What has to go, the database's log before the database, and what comes.
fn plan(
    config: &Config,
    content: &Content,
    staging: &Path,
    [place, place_of_database]: &[PathBuf; 2],
    whole: bool,
) -> Result<Plan> {
    let database = &config.database;
    let failed = unchanged(&config.home);
    let name = database.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut staged = staging.join(DATABASE);
    if !database.starts_with(&config.home) || disk_of(folder_of(database)) != disk_of(staging) {
        // A rename does not reach another disk, so the copy is made before anything moves.
        let near = folder_of(database).join(format!("{name}.restored"));
        std::fs::create_dir_all(folder_of(database)).map_err(&failed)?;
        std::fs::copy(&staged, &near).and_then(|_| File::open(&near)?.sync_all()).map_err(&failed)?;
        staged = near;
    }
    let beside = BESIDE.iter().copied().chain([""]).map(|ending| format!("{name}{ending}"));
    let of_database = beside.map(|name| (folder_of(database).join(&name), place_of_database.join(name)));
    let mut aside: Vec<_> = of_database.filter(|(from, _)| std::fs::symlink_metadata(from).is_ok()).collect();
    let mut bring = vec![(staged, database.clone())];
    let mut odd = Vec::new();
    let mut new = content.entries_like(staging, &mut odd);
    let has_own_id = new.iter().any(|(name, _)| name == remains::FILE);
    let is_replaced = |name: &str| whole || (has_own_id && name == remains::FILE);
    new.retain(|(name, _)| is_replaced(name));
    let folders = new.iter().filter_map(|(name, _)| Some(config.home.join(name.rsplit_once('/')?.0)));
    odd.extend(
        folders.filter(|folder| folder.is_symlink()).map(|link| format!("{}: it is a link", link.display())),
    );
    if let Some(odd) = odd.first() {
        let message = "a folder of the home cannot be put together with that of the backup";
        return Err(Error::conflict(format!("{message}: {odd}. Nothing was changed")));
    }
    let old = content.entries(&mut Vec::new()).into_iter().filter(|(name, _)| is_replaced(name));
    aside.extend(old.map(|(name, path)| (path, place.join(name))));
    bring.extend(new.into_iter().map(|(name, path)| (path, config.home.join(name))));
    Ok(Plan { staging: staging.to_owned(), aside, bring })
}

/// The disk that a folder is on, or will be.
fn disk_of(folder: &Path) -> Option<u64> {
    folder.ancestors().find_map(|folder| std::fs::metadata(folder).ok()).map(|found| found.dev())
}

/// Two homes that are one installation clear each other's worktrees away. So what comes from a home that is still there
/// becomes another one, and a bare database becomes part of the home it comes to. Says which home is there too.
async fn find_other_home(config: &Config, staging: &Path, unpacked: &Unpacked) -> Result<Option<PathBuf>> {
    let database = staging.join(DATABASE);
    let Some(theirs) = forge_store::read_meta(&database, remains::KEY).await? else { return Ok(None) };
    let is_there =
        |home: &&PathBuf| real(home) != real(&config.home) && remains::recall(home).as_ref() == Some(&theirs);
    let other = unpacked.home.as_ref().filter(is_there);
    let ours = remains::recall(&config.home).filter(|ours| *ours != theirs);
    let id = match (ours, other) {
        (Some(ours), other) if other.is_some() || !unpacked.whole => ours,
        (None, Some(_)) => uuid::Uuid::new_v4().to_string(),
        _ => return Ok(None),
    };
    forge_store::replace_meta(&database, remains::KEY, &id).await?;
    remains::remember(staging, &id)?;
    Ok(other.cloned())
}

/// A folder's name for what was there; of two restores in one second the later one gets a number.
fn free_name(config: &Config) -> String {
    let folders = [&*config.home, folder_of(&config.database)];
    let is_taken =
        |name: &str| folders.iter().any(|folder| std::fs::symlink_metadata(folder.join(name)).is_ok());
    let name = format!("before-restore-{}", moment());
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let mut names = std::iter::once(name.clone()).chain(numbered);
    names.find(|name| !is_taken(name)).unwrap_or(name)
}

fn moved_to([home, database]: [PathBuf; 2]) -> Vec<PathBuf> {
    let mut places = vec![home];
    places.extend(Some(database).filter(|place| *place != places[0]));
    places.retain(|place| place.exists());
    places
}

/// What a restore would have to move aside, as far as it is somebody's work.
fn present(config: &Config, content: &Content) -> Vec<String> {
    let mut found = Vec::new();
    if std::fs::metadata(&config.database).is_ok_and(|file| file.len() > 0) {
        found.push(config.database.display().to_string());
    }
    let entries = content.entries(&mut Vec::new()).into_iter();
    let is_full = |path: &Path| match std::fs::read_dir(path) {
        Ok(mut entries) => entries.next().is_some(),
        Err(_) => true,
    };
    found.extend(entries.filter(|(_, path)| is_full(path)).map(|(name, _)| name));
    found
}

struct Unpacked {
    files: usize,
    made_at: Option<Millis>,
    /// Everything of a home, not a bare database.
    whole: bool,
    /// Where it was made.
    home: Option<PathBuf>,
}

fn unpack(file: &Path, to: &Path) -> Result<Unpacked> {
    use std::io::Read;
    let unread = |cause: std::io::Error| Error::not_found(format!("cannot read {}: {cause}", file.display()));
    let mut head = Vec::new();
    File::open(file).map_err(unread)?.take(MAGIC.len() as u64).read_to_end(&mut head).map_err(unread)?;
    if head == MAGIC {
        let target = to.join(DATABASE);
        let failed = |cause: std::io::Error| unchanged(to)(cause);
        std::fs::copy(file, &target).and_then(|_| File::open(&target)?.sync_all()).map_err(failed)?;
        // Forge's own copies are in a folder beside the database.
        let home = file.parent().and_then(Path::parent).map(Path::to_owned);
        return Ok(Unpacked { files: 1, made_at: None, whole: false, home });
    }
    let header = archive::unpack(file, to)?;
    let (files, made_at, home) = (header.files.len(), Some(header.made_at), Some(header.home));
    Ok(Unpacked { files, made_at, whole: true, home })
}

/// Opens the database that is to come.
async fn examine(database: &Path, file: &Path) -> Result<Option<i64>> {
    if !database.exists() {
        let message = format!("{} has no database in it. Nothing was changed", file.display());
        return Err(Error::invalid(message).code(ErrorCode::Refused));
    }
    let examined = forge_store::examine_database(database).await;
    let refused = |why: String| {
        let message = format!("the database in {} is refused: {why}. Nothing was changed", file.display());
        Error::invalid(message).code(ErrorCode::Refused)
    };
    match examined.map_err(|error| refused(error.to_string()))?.schema {
        None => Err(refused("it is not one of Forge's".to_owned())),
        schema => Ok(schema),
    }
}

/// Agents outlive the server, and their logs would be moved away below them.
fn refuse_at_work(runs: &Path) -> Result<()> {
    let entries = std::fs::read_dir(runs).into_iter().flatten().flatten();
    let kept: Vec<_> = entries.map(|entry| entry.path()).filter(|dir| forge_run::is_kept(dir)).collect();
    let Some(dir) = kept.first() else { return Ok(()) };
    let run = dir.file_name().unwrap_or_default().to_string_lossy();
    let (who, them) = match kept.len() {
        1 => (format!("an agent is still running, as run {run}"), "it"),
        count => (format!("{count} agents are still running, one of them as run {run}"), "them"),
    };
    Err(Error::conflict(format!(
        "{who}: start the server, `forge stop` {them}, stop the server and try again. Nothing was changed"
    )))
}

/// A folder below the home that goes again when the restore is refused.
struct Staging(PathBuf);

impl Staging {
    fn below(home: &Path) -> Result<Self> {
        for entry in std::fs::read_dir(home).map_err(unchanged(home))?.flatten() {
            // Of one that was killed before it had a plan.
            if entry.file_name().to_string_lossy().starts_with(STAGING) {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
        let dir = home.join(format!("{STAGING}{}", uuid::Uuid::new_v4().simple()));
        crate::make_private_dir(&dir)?;
        Ok(Self(dir))
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn unchanged(place: &Path) -> impl Fn(std::io::Error) -> Error + use<> {
    let place = place.display().to_string();
    move |cause| {
        Error::new(Kind::Unavailable, format!("cannot write below {place}: {cause}. Nothing was changed"))
    }
}

fn half_done(plan: &Path) -> impl Fn(std::io::Error) -> Error + use<> {
    let plan = plan.display().to_string();
    move |cause| {
        let message = format!(
            "a restore is half done and cannot be finished ({plan}): {cause}; nothing is lost, try again"
        );
        Error::new(Kind::Unavailable, message)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::fs;

    use super::*;

    pub(in crate::home::backup) fn config(dir: &Path) -> Config {
        let home = dir.join("home");
        Config {
            worktree_base: dir.join("trees"),
            database: home.join("db.sqlite"),
            home,
            exe: PathBuf::new(),
            branch_prefix: None,
            public_url: String::new(),
            backend_url: String::new(),
            workspaces: Vec::new(),
            spares: 0,
            time_limit_s: None,
            silence_limit_s: None,
            approval_limit_s: 1,
            expiry_h: 1,
            online: crate::Online::default(),
        }
    }

    /// What a backup brings, beside the database.
    const FILES: [&str; 4] = ["config.json", "runs/a/journal", "data/note", "data/deep/note"];

    /// A home with old things, what a backup brought, and the renames between them.
    fn stage(dir: &Path, database: &str) -> Plan {
        let mut config = config(dir);
        let home = config.home.clone();
        config.database = home.join(database);
        let staging = home.join(format!("{STAGING}x"));
        for (folder, word) in [(&home, "old"), (&staging, "new")] {
            for name in FILES.iter().chain(&[DATABASE]) {
                fs::create_dir_all(folder_of(&folder.join(name))).unwrap();
                fs::write(folder.join(name), word).unwrap();
            }
            // Earlier versions took the database along as a file when it was in a folder.
            fs::write(folder.join(database), "old").unwrap();
            fs::write(folder.join(format!("{database}-wal")), "old").unwrap();
        }
        fs::write(staging.join(DATABASE), "new").unwrap();
        fs::write(home.join("token"), "old").unwrap();
        fs::create_dir_all(home.join("data/backups")).unwrap();
        let places = [&*home, folder_of(&config.database)].map(|folder| folder.join("before-restore-x"));
        plan(&config, &Content::of(&config), &staging, &places, true).unwrap()
    }

    #[test]
    fn a_restore_that_is_killed_between_any_two_steps_is_finished_by_the_next_start() {
        for database in [DATABASE, "data/forge.db"] {
            let plan = stage(tempfile::tempdir().unwrap().path(), database);
            let steps = plan.aside.len() + plan.bring.len();
            for done in 0..=steps {
                let dir = tempfile::tempdir().unwrap();
                let plan = stage(dir.path(), database);
                let home = dir.path().join("home");
                fs::write(home.join(PLAN), serde_json::to_vec(&plan).unwrap()).unwrap();
                for (from, to) in plan.aside.iter().chain(&plan.bring).take(done) {
                    carry_out(from, to).unwrap();
                }
                finish_restore(&home).unwrap();
                let read = |path: PathBuf| fs::read_to_string(path).unwrap();
                for name in FILES {
                    assert_eq!(read(home.join(name)), "new", "{done} {name}");
                    assert_eq!(read(home.join("before-restore-x").join(name)), "old", "{done} {name}");
                }
                assert_eq!(read(home.join(database)), "new", "{done}");
                let log = home.join(format!("{database}-wal"));
                assert!(!log.exists(), "no log stays beside another database");
                let aside = folder_of(&log).join("before-restore-x");
                assert_eq!(read(aside.join(log.file_name().unwrap())), "old", "{done}");
                assert!(home.join("token").exists() && !home.join(PLAN).exists() && !plan.staging.exists());
            }
        }
    }

    #[test]
    fn a_backup_whose_file_stands_where_the_folder_of_the_database_is_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let config = Config { database: dir.path().join("home/data/forge.db"), ..config(dir.path()) };
        let staging = config.home.join(format!("{STAGING}x"));
        fs::create_dir_all(config.home.join("data")).unwrap();
        fs::create_dir_all(&staging).unwrap();
        for name in [DATABASE, "data"] {
            fs::write(staging.join(name), "new").unwrap();
        }
        let places = [config.home.join("a"), config.home.join("b")];
        let refused = plan(&config, &Content::of(&config), &staging, &places, true).err().unwrap();
        assert!(refused.message().contains("Nothing was changed"), "{}", refused.message());
    }

    #[test]
    fn a_restore_that_is_killed_before_its_first_step_has_changed_nothing() {
        let dir = tempfile::tempdir().unwrap();
        stage(dir.path(), DATABASE);
        let home = dir.path().join("home");
        finish_restore(&home).unwrap();
        assert_eq!(fs::read_to_string(home.join("db.sqlite")).unwrap(), "old");
        let _staging = Staging::below(&home).unwrap();
        assert!(
            !home.join(format!("{STAGING}x")).exists(),
            "what it had unpacked is removed by the next one"
        );
    }
}
