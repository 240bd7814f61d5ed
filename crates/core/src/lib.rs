//! The engine: every verb of the product, once.
//!
//! Owns the rules: what is checked, in which order steps happen, what is undone when one fails, and what happens
//! after a restart. SQL, git and processes are libraries below it that do not know each other; HTTP and the command
//! line are skins above it that only translate.
//! Invariant: every change of state is a row in the event log, written in the same transaction as the state; no lock
//! is held over an await; every background task is tracked and stops when the engine is closed.

mod agents;
mod attempt;
mod beads;
mod clock;
mod cost;
mod error;
mod events;
mod home;
mod info;
mod legacy;
mod notify;
mod project;
mod publish;
mod review;
mod run;
mod settings;
mod task;
mod workers;
mod worktree;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use forge_git::{PREFIX_MAX_BYTES, Pool, Repo, WorktreeBase};
use forge_run::agents::{Profiles, Roster};
use forge_store::Store;
use forge_types::{ProjectId, RunId, Settings};
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use agents::survey::Surveys;
use attempt::once::Keys;
use beads::Trackers;
use beads::dispatch::Dispatcher;
pub use beads::dispatch::ProjectDispatch;
use cost::price::Prices;
use cost::quota::Quotas;
use publish::code_host::Contacts;
use review::radar::Radar;
use run::lifecycle::Attended;
use run::queue::Lanes;
use workers::Fleet;

pub use agents::mcp::McpAnswer;
pub use agents::survey::Freshness;
pub use attempt::follow_up::Replaced;
pub use attempt::once::{KeyedRequest, Once};
pub use attempt::report::AttemptReport;
pub use attempt::start::{Started, StartedAttempt, StartedErrand};
pub use attempt::transcript::Transcript;
pub use attempt::wait::Pause;
pub use beads::{BeadFilter, BeadLine, BeadsSurvey, survey_beads};
pub use error::{Error, Kind, Result};
pub use events::EventFeed;
pub use forge_fleet::launcher::{
    CallStyle, Check as LauncherCheck, Fault as LauncherFault, Findings as LauncherFindings,
    Severity as FaultSeverity,
};
pub use forge_git::{SearchHit, SearchScope};
pub use forge_remote::Release;
pub use forge_run::{Kind as RecordKind, Record};
pub use forge_store::{AttemptsOf, Dropped, Page, TaskBlock, TemplateScope};
pub use home::backup::{BackupReport, NOT_IN_BACKUPS, RestoreReport, make_backup, restore_backup};
pub use info::{Environment, SystemInfo};
pub use legacy::genie;
pub use notify::omni::{OmniProbe, OmniProbed, OmniStatus};
pub use project::checkout::Pulled;
pub use project::demo;
pub use project::folder::{FolderEntry, FolderListing};
pub use publish::code_host::{Online, Pages};
pub use publish::login::{DeviceStart, LoginAnswer, LoginCheck};
pub use publish::pull_request::{Attached, Opened, PrRefusal};
pub use review::diff::{DiffDetail, DiffFeed, DiffStep};
pub use review::file::Side;
pub use review::merge::RebaseOutcome;
pub use review::patch::{AttemptPatch, ChangeStat, PatchRequest};
pub use run::log::{EntryTail, LogStart, LogTail};
pub use task::image::{IMAGE_MAX_BYTES, ImageUpload};
pub use task::issue::IssueTask;
pub use workers::{
    LauncherFile, ListedWorker, WorkerDefinition, WorkerDefinitions, WorkerEnd, WorkerHealth, WorkersHealth,
    attach_command, list_launchers, read_worker_log,
};
pub use worktree::adoption::{AdoptedReport, ReleasedReport};
pub use worktree::upkeep::{
    GcReport, GcRequest, KeptReport, RestoredReport, Standing, WorktreeLine, WorktreeReport,
};

/// Spare worktrees are made only while this much stays free.
const SPARE_FREE_BYTES: u64 = 2 << 30;
/// More starts and commits at once only wait for each other.
const TURNS: usize = 4;
/// How long background work may take to stop.
const CLOSE_LIMIT: Duration = Duration::from_millis(1000);

/// Where things are and what the limits are; decided by the command line.
#[derive(Clone, Debug)]
pub struct Config {
    /// Database, run logs and settings.
    pub home: PathBuf,
    pub worktree_base: PathBuf,
    pub database: PathBuf,
    /// The `forge` program itself, which keepers are started from.
    pub exe: PathBuf,
    /// First part of new branches; without it the user's settings decide.
    pub branch_prefix: Option<String>,
    /// Where people reach the board; links in notifications begin with it.
    pub public_url: String,
    /// Where the programs that this server starts reach it.
    pub backend_url: String,
    /// Further folders whose beads may be looked at.
    pub workspaces: Vec<PathBuf>,
    /// Warm worktrees per project.
    pub spares: usize,
    /// A run is ended after this long.
    pub time_limit_s: Option<u64>,
    /// A run is ended after this long without a sign of life.
    pub silence_limit_s: Option<u64>,
    /// How long a person has to answer a question of an agent.
    pub approval_limit_s: u64,
    /// Worktrees unused for this long are retired.
    pub expiry_h: u64,
    pub online: Online,
}

/// What becomes of running agents when the server stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentsOnExit {
    /// They go on and are re-attached by the next start.
    Keep,
    Stop,
}

/// The engine. Cheap to clone.
#[derive(Clone)]
pub struct Forge(Arc<Inner>);

pub(crate) struct Inner {
    config: Config,
    store: Store,
    base: WorktreeBase,
    pool: Pool,
    repos: Mutex<HashMap<PathBuf, Repo>>,
    profiles: RwLock<Profiles>,
    roster: Roster,
    settings: RwLock<Arc<Settings>>,
    prices: Prices,
    /// Held, never over an await, while the file of settings or of profiles is replaced.
    settings_turn: Mutex<()>,
    http: forge_remote::Http,
    contacts: Contacts,
    lanes: Lanes,
    keys: Keys,
    radar: Radar,
    surveys: Surveys,
    fleet: Fleet,
    attended: Mutex<HashMap<RunId, Attended>>,
    /// Projects whose spare worktrees are about to be refilled.
    warming: Mutex<HashSet<ProjectId>>,
    /// Starts and commits are a handful of short processes each and take turns, first come first served: a crowd is
    /// answered sooner when a few are finished at a time than when all are begun at once.
    turns: Semaphore,
    /// One import at a time: two could take the same thing twice.
    importing: Semaphore,
    /// Rings when a notification is queued.
    notices: Notify,
    /// Rings when a run gets or loses its process.
    changed: Notify,
    /// Rings when an approval begins to wait.
    asked: Notify,
    /// A run was parked, or the user changed whether parked runs go on by themselves.
    parked: Notify,
    quotas: Quotas,
    trackers: Trackers,
    dispatcher: Dispatcher,
    tasks: TaskTracker,
    stop: CancellationToken,
}

/// Creates the database or brings it up to date, and does nothing else.
pub async fn prepare_database(config: &Config) -> Result<()> {
    open_store(config).await?.close().await;
    Ok(())
}

/// The store of a home that is whole.
async fn open_store(config: &Config) -> Result<Store> {
    home::backup::finish_restore(&config.home)?;
    home::remains::refuse_lost(config).await?;
    Ok(Store::open(&config.database).await?)
}

impl Forge {
    /// Opens the store, picks up what an earlier server left, and starts looking after worktrees.
    pub async fn open(config: Config) -> Result<Forge> {
        forge_git::check_git().await?;
        if let Some(prefix) = &config.branch_prefix
            && !Repo::valid_branch_prefix(prefix).await?
        {
            return Err(Error::invalid(format!(
                "branch prefix: '{prefix}' is not allowed; allowed: nothing, or the first part of a git branch name without a slash, of at most {PREFIX_MAX_BYTES} bytes"
            )));
        }
        make_private_dir(&config.home)?;
        let store = open_store(&config).await?;
        make_dir(&config.home.join("runs"))?;
        make_private_dir(&config.home.join("images"))?;
        let installation = installation_id(&store, &config.home).await?;
        home::remains::remember(&config.home, &installation)?;
        let base = WorktreeBase::new(config.worktree_base.clone(), installation);
        base.make()?;
        let pool = Pool::new(base.clone(), config.spares, SPARE_FREE_BYTES);
        let profiles = agents::profile::load(&config.home);
        let mut settings = settings::load(&config.home)?;
        settings::check_prefix(&mut settings).await?;
        let fleet = Fleet::new(&config.home, &settings);
        let settings = RwLock::new(Arc::new(settings));
        let prices = Prices::load(&config.home);
        let http = forge_remote::Http::new()
            .map_err(|cause| Error::internal("no HTTP client for code hosts", cause))?;
        let forge = Forge(Arc::new(Inner {
            config,
            store,
            base,
            pool,
            repos: Mutex::default(),
            profiles: RwLock::new(profiles),
            roster: Roster::default(),
            settings,
            prices,
            settings_turn: Mutex::default(),
            http,
            contacts: Contacts::default(),
            lanes: Lanes::default(),
            keys: Keys::default(),
            radar: Radar::default(),
            surveys: Surveys::default(),
            fleet,
            attended: Mutex::default(),
            warming: Mutex::default(),
            turns: Semaphore::new(TURNS),
            importing: Semaphore::new(1),
            notices: Notify::new(),
            changed: Notify::new(),
            asked: Notify::new(),
            parked: Notify::new(),
            quotas: Quotas::default(),
            trackers: Trackers::default(),
            dispatcher: Dispatcher::default(),
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
        }));
        forge.take_worker_places().await?;
        forge.recover().await?;
        let cut_off = forge.find_cut_off_starts().await?;
        forge.tidy_up_later(cut_off);
        forge.start_rounds();
        forge.commit_in_rounds();
        forge.time_out_approvals();
        forge.resume_parked();
        forge.watch_agents();
        forge.start_notifier();
        forge.watch_pull_requests();
        forge.watch_workers();
        forge.keep_ledger();
        forge.deliver_alerts();
        forge.keep_house();
        forge.start_dispatcher();
        Ok(forge)
    }

    /// Ends background work and closes the store. Agents go on unless they are to be stopped.
    pub async fn close(&self, agents: AgentsOnExit) {
        if agents == AgentsOnExit::Stop {
            let stopping = self.0.store.open_runs().await.unwrap_or_default();
            let stops = stopping.iter().map(|run| self.end_run(run));
            for result in futures_util::future::join_all(stops).await {
                if let Err(error) = result {
                    tracing::warn!(%error, "a run did not stop");
                }
            }
        }
        self.0.stop.cancel();
        self.0.tasks.close();
        if tokio::time::timeout(CLOSE_LIMIT, self.0.tasks.wait()).await.is_err() {
            tracing::warn!("background work was cut off; the next start picks it up");
        }
        self.0.store.close().await;
    }

    /// Whether what is answered as saved will be there at the next start.
    pub fn check_database(&self) -> Result<()> {
        Ok(self.0.store.check()?)
    }

    pub fn config(&self) -> &Config {
        &self.0.config
    }

    pub(crate) fn attended(&self) -> MutexGuard<'_, HashMap<RunId, Attended>> {
        self.0.attended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Undoes cut-off starts and warms up the projects, without keeping the door closed meanwhile.
    fn tidy_up_later(&self, cut_off: Vec<WorktreeLine>) {
        let forge = self.clone();
        self.0.tasks.spawn(async move {
            forge.undo_cut_off_starts(cut_off).await;
            if let Err(error) = forge.remove_loose_images().await {
                tracing::warn!(%error, "cannot remove images that no task shows");
            }
            forge.publish_waiting().await;
            for project in forge.projects().await.unwrap_or_default().iter().take(WARM_PROJECTS) {
                forge.warm_up(project);
            }
        });
    }
}

/// How many projects get warm worktrees at a start.
const WARM_PROJECTS: usize = 3;

async fn installation_id(store: &Store, home: &std::path::Path) -> Result<String> {
    if let Some(id) = store.meta(home::remains::KEY).await? {
        return Ok(id);
    }
    // A power cut at the first start can take it from the database, and leave the home's file.
    let id = home::remains::recall(home).unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
    let mut tx = store.begin().await?;
    tx.put_meta(home::remains::KEY, &id).await?;
    tx.commit().await?;
    Ok(id)
}

fn make_dir(path: &std::path::Path) -> Result<()> {
    std::fs::create_dir_all(path)
        .map_err(|cause| Error::internal(format!("cannot create {}: {cause}", path.display()), cause))
}

/// Logs and settings are nobody else's business.
fn make_private_dir(path: &std::path::Path) -> Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|cause| Error::internal(format!("cannot create {}: {cause}", path.display()), cause))
}
