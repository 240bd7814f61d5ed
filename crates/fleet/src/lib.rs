//! Long-lived workers: tmux sessions, launchers, status files, and the beads they are fed with.
//!
//! Owns everything Forge knows about tmux and beads. Invariants: decisions and loops belong to the engine, nothing that
//! Forge did not start is ended, and no user text becomes part of a shell string.
//!
//! A worker is started by a launcher, in a session of its own:
//!
//! ```no_run
//! # async fn spawn() -> Result<(), Box<dyn std::error::Error>> {
//! use forge_fleet::{LaunchConfig, LauncherError, SpawnRequest, WorkerLauncher, WorkerTier};
//!
//! let launcher = WorkerLauncher::new();
//! let config = LaunchConfig::new(
//!     "/home/coder/.forge/launchers/claude-launcher",
//!     "forge-worker-alpha",
//!     "/home/coder/project",
//!     "sonnet"
//! )
//! .with_tier(WorkerTier::Standard)
//! .with_bead("fg-123")
//! .with_timeout(60);
//!
//! let request = SpawnRequest::new("claude-code-sonnet-alpha", config);
//! match launcher.spawn(request).await {
//!     Ok(handle) => {
//!         println!("Worker spawned: {}", handle.id);
//!         println!("{}", launcher.check_status(&handle.id).await?);
//!         launcher.stop(&handle.id).await?;
//!     }
//!     Err(LauncherError::LauncherFailed { message }) => {
//!         eprintln!("Launcher failed: {}", message);
//!     }
//!     Err(LauncherError::Timeout { secs }) => {
//!         eprintln!("Spawn timeout after {}s", secs);
//!     }
//!     Err(LauncherError::SessionCreationFailed { session_name }) => {
//!         eprintln!("Tmux session creation failed: {}", session_name);
//!     }
//!     Err(error) => eprintln!("{error}"),
//! }
//! for worker in launcher.list_workers().await? {
//!     println!("{} in {}", worker.id, worker.session.name);
//! }
//! # Ok(()) }
//! ```
//!
//! Sessions that others made are found by their names, and left alone:
//!
//! ```no_run
//! # async fn discover() -> Result<(), Box<dyn std::error::Error>> {
//! use forge_fleet::{DiscoveredWorker, DiscoveryResult, discover_workers};
//!
//! let DiscoveryResult { workers } = discover_workers().await?;
//! for DiscoveredWorker { session_name, worker_id, worker_type, is_attached, created_at, .. } in workers {
//!     println!("{session_name} {worker_id} {worker_type:?} {is_attached} {created_at}");
//! }
//! # Ok(()) }
//! ```
//!
//! Beads are read, scored and routed, and workers examined:
//!
//! ```no_run
//! # fn rules(available_workers: &[forge_fleet::route::Candidate]) -> Result<(), Box<dyn std::error::Error>> {
//! use forge_fleet::{BeadQueueReader, HealthMonitor, HealthMonitorConfig, TaskScorer};
//!
//! let reader = BeadQueueReader::new("/workspace/path")?;
//! let ready_beads = reader.read_ready_beads()?;
//!
//! let scorer = TaskScorer::new();
//! for bead in &ready_beads {
//!     let scored = scorer.score_bead(&bead.into(), &available_workers);
//!     println!("{}: {} of 100", bead.id, scored.components.total());
//! }
//!
//! let config = HealthMonitorConfig {
//!     check_interval_secs: 30,
//!     stale_threshold_secs: 300,
//!     max_recovery_attempts: 3,
//!     memory_limit_mb: 4096,
//! };
//!
//! let monitor = HealthMonitor::new(config);
//! # let _ = monitor;
//! # Ok(()) }
//! ```

pub mod beads;
pub mod complexity;
pub mod definition;
pub mod discovery;
mod group;
pub mod health;
pub mod heartbeat;
pub mod hook;
pub mod launcher;
pub mod ledger;
pub mod pane;
pub mod process;
pub mod recovery;
pub mod route;
pub mod score;
pub mod status_file;
pub mod subscription;
pub mod tmux;
pub mod work;
pub mod worker;

pub use beads::BeadQueueReader;
pub use discovery::{DiscoveredWorker, DiscoveryError, DiscoveryResult, WorkerType, discover_workers};
pub use forge_types::{RoutingDecision, RoutingReason, ScoreComponents};
pub use health::{HealthMonitor, HealthMonitorConfig};
pub use launcher::{LaunchConfig, LauncherError, SpawnRequest, WorkerHandle, WorkerLauncher};
pub use score::TaskScorer;
pub use worker::{WorkerId, WorkerStatus, WorkerTier};
