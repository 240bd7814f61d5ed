//! The engine: every verb of the product, once.
//!
//! Owns the rules: what is checked, in which order steps happen, what is undone when one fails, and what happens
//! after a restart. SQL, git and processes are libraries below it that do not know each other; HTTP and the command
//! line are skins above it that only translate.
//! Invariant: every change of state is a row in the event log, written in the same transaction as the state; no lock
//! is held over an await; every background task is tracked and stops when the engine is closed.

mod agents;
mod attempt;
mod background;
mod beads;
mod cost;
mod dispatch;
mod error;
mod events;
mod home;
mod import;
mod info;
mod notify;
mod once;
mod project;
mod publish;
mod review;
mod run;
mod settings;
mod task;
mod workers;
mod worktree;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use forge_git::{PREFIX_MAX_BYTES, Repo};
use forge_store::Store;

use agents::Agents;
use background::{Background, Bell};
use beads::Beads;
use cost::Costs;
use once::Keys;
use project::Projects;
use publish::code_host::Contacts;
use run::{AfterRuns, Runs};
use settings::CurrentSettings;
use workers::Fleet;
use worktree::upkeep::FoundDirectory;
use worktree::{RunHooks, Worktrees};

pub use agents::survey::Freshness;
pub use attempt::demo;
pub use attempt::report::AttemptReport;
pub use attempt::start::{Started, StartedAttempt, StartedErrand};
pub use attempt::transcript::Transcript;
pub use attempt::wait::Pause;
pub use beads::{BeadFilter, BeadLine, BeadsSurvey, survey_beads};
pub use error::{Error, Kind, Result};
pub use events::{EventFeed, Sign};
pub use forge_fleet::launcher::{
    Check as LauncherCheck, Fault as LauncherFault, Findings as LauncherFindings, Severity as FaultSeverity,
};
pub use forge_git::SearchScope;
pub use forge_run::{Kind as RecordKind, Record};
pub use forge_store::{AttemptsOf, Dropped, Page, TaskBlock, TemplateScope};
pub use home::backup::{BackupReport, NOT_IN_BACKUPS, RestoreReport, make_backup, restore_backup};
pub use once::{KeyedRequest, Once};
pub use publish::checkout::Pulled;
pub use publish::code_host::{Online, Pages};
pub use publish::issue::IssueTask;
pub use publish::pull_request::{Opened, PrRefusal};
pub use review::diff::{DiffDetail, DiffFeed, DiffStep};
pub use review::file::Side;
pub use review::merge::RebaseOutcome;
pub use review::patch::{AttemptPatch, PatchRequest};
pub use run::log::{EntryTail, LogStart, LogTail};
pub use settings::read as read_settings;
pub use task::image::{IMAGE_MAX_BYTES, ImageUpload};
pub use workers::{WorkerEnd, attach_command, list_launchers, read_worker_log};
pub use worktree::changes::ChangeStat;

const MINUTE: Duration = Duration::from_secs(60);

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

/// What the engine holds: what every room needs, then the state of each room, which only that room can reach into.
pub(crate) struct Inner {
    config: Config,
    store: Store,
    background: Background,
    http: forge_remote::Http,
    keys: Keys,
    settings: CurrentSettings,
    agents: Agents,
    costs: Costs,
    projects: Projects,
    worktrees: Worktrees,
    runs: Runs,
    contacts: Contacts,
    workers: Fleet,
    beads: Beads,
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
        let tmux = workers::keep_socket_name(&store, &config.home, &installation).await?;
        let hooks = RunHooks { start_waiting: Forge::start_waiting, living: Forge::living_runs };
        let projects = Projects::default();
        let worktrees = Worktrees::open(&config, installation, projects.repositories(), hooks)?;
        let mut settings = settings::load(&config.home)?;
        settings::check_prefix(&mut settings).await?;
        let http = forge_remote::Http::new()
            .map_err(|cause| Error::internal("no HTTP client for code hosts", cause))?;
        let forge = Forge(Arc::new(Inner {
            background: Background::default(),
            http,
            keys: Keys::default(),
            agents: Agents::load(&config.home),
            costs: Costs::load(&config.home),
            projects,
            worktrees,
            runs: Runs::new(AfterRuns { send_draft: Forge::send_draft_later, publish: Forge::publish_later }),
            contacts: Contacts::default(),
            workers: Fleet::new(&config.home, &settings, tmux),
            beads: Beads::default(),
            settings: CurrentSettings::new(settings),
            config,
            store,
        }));
        forge.take_worker_places().await?;
        let drafts = forge.release_drafts().await?;
        forge.recover().await?;
        // Where something still runs, its end sends the draft.
        for attempt in drafts {
            forge.send_draft_later(attempt);
        }
        let cut_off = forge.find_cut_off_starts().await?;
        forge.0.background.spawn(forge.clone().tidy_up(cut_off));
        forge.start_background();
        Ok(forge)
    }

    /// Everything that happens beside the requests, for as long as the engine is open.
    fn start_background(&self) {
        self.repeat(30 * MINUTE, "cannot look after the worktrees", |forge| async move {
            forge.keep_up_worktrees().await
        });
        self.repeat(
            30 * MINUTE,
            "old idempotency keys stay",
            |forge| async move { forge.forget_keys().await },
        );
        self.repeat(30 * MINUTE, "old events stay", |forge| async move { forge.prune_events().await });
        self.repeat(MINUTE / 2, "cannot look for work that is not committed", |forge| async move {
            forge.commit_waiting().await
        });
        self.repeat(10 * MINUTE, "what workers left behind stays", |forge| async move {
            forge.tidy_workers().await
        });
        self.repeat(10 * MINUTE, "cannot look for beads that nobody works on", |forge| async move {
            forge.release_stale_beads().await
        });
        self.repeat_when_due(Bell::Approval, "cannot look for overdue approvals", |forge| async move {
            forge.time_out_approvals().await
        });
        self.repeat_when_due(Bell::Parked, "cannot look for runs that may continue", |forge| async move {
            forge.resume_parked().await
        });
        self.run_until_close(|forge| async move { forge.watch_agent_files().await });
        self.run_until_close(|forge| async move { forge.send_notifications().await });
        self.run_until_close(|forge| async move { forge.watch_pull_requests().await });
        self.run_until_close(|forge| async move { forge.monitor_workers().await });
        self.run_until_close(|forge| async move { forge.keep_ledger().await });
        self.run_until_close(|forge| async move { forge.watch_branches().await });
        self.run_until_close(|forge| async move { forge.watch_changes().await });
        let feed = self.feed(self.latest_seq());
        self.run_until_close(|forge| async move { forge.deliver_alerts(feed).await });
        // A round that has begun is brought to its end.
        let (forge, feed) = (self.clone(), self.feed(self.latest_seq()));
        self.0.background.spawn(async move { forge.dispatch_beads(feed).await });
        self.on_settings_change(|forge, before, after| {
            if after.disclaimer_acknowledged && !before.disclaimer_acknowledged {
                forge.add_first_projects();
            }
            if after.auto_resume && !before.auto_resume {
                forge.0.background.ring(Bell::Parked);
            }
            forge.0.background.ring(Bell::Spending);
        });
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
        self.0.background.close().await;
        self.0.store.close().await;
    }

    /// Whether what is answered as saved will be there at the next start.
    pub fn check_database(&self) -> Result<()> {
        Ok(self.0.store.check()?)
    }

    pub fn config(&self) -> &Config {
        &self.0.config
    }

    /// Undoes cut-off starts and warms up the projects, without keeping the door closed meanwhile.
    async fn tidy_up(self, cut_off: Vec<FoundDirectory>) {
        self.undo_cut_off_starts(cut_off).await;
        if let Err(error) = self.remove_loose_images().await {
            tracing::warn!(%error, "cannot remove images that no task shows");
        }
        self.publish_waiting().await;
        for project in self.projects().await.unwrap_or_default().iter().take(WARM_PROJECTS) {
            self.warm_up(project);
        }
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
