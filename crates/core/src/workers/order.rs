//! What is asked for when a worker is to be started, made complete.
//!
//! Invariant: a field that is wrong or missing is named together with where it could come from; nothing is started here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use forge_fleet::definition::{Resolved, Surroundings, WorkerKind, read_kinds, read_workers};
use forge_fleet::launcher::LaunchConfig;
use forge_types::{
    ErrorCode, FleetSettings, Health, Millis, SpawnWorker, Worker, WorkerId, WorkerPhase, WorkerTier,
};

use super::shipped;
use crate::{Error, Forge, Kind, Result};

/// What a definition says.
#[derive(Default)]
struct Said {
    id: Option<WorkerId>,
    launcher: Option<String>,
    model: Option<String>,
    tier: Option<WorkerTier>,
    workspace: Option<PathBuf>,
    /// Whose variables depend on the worker.
    kind: Option<WorkerKind>,
    /// Variables of a worker, and the file that has them.
    env: Option<(PathBuf, BTreeMap<String, String>)>,
}

impl Forge {
    /// Whether a worker or a type of workers has this name.
    pub(crate) async fn is_worker_defined(&self, name: &str) -> Result<bool> {
        let (home, name) = (self.0.config.home.clone(), name.to_owned());
        let found = tokio::task::spawn_blocking(move || find_definition(&home, &name)).await;
        match found.map_err(|cause| Error::internal("definitions cannot be read", cause))? {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == Kind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The row of a worker that is about to be started.
    pub(super) async fn read_order(&self, wanted: SpawnWorker) -> Result<Worker> {
        let forge = self.clone();
        let read =
            tokio::task::spawn_blocking(move || draft(&forge.0.config.home, &forge.settings().fleet, wanted))
                .await;
        read.map_err(|cause| Error::internal("the definition of a worker cannot be read", cause))?
    }
}

fn draft(home: &Path, fleet: &FleetSettings, wanted: SpawnWorker) -> Result<Worker> {
    let defined = match &wanted.definition {
        Some(name) => find_definition(home, name)?,
        None => Said::default(),
    };
    let launcher = wanted.launcher.or(defined.launcher).ok_or_else(|| missing("launcher"))?;
    let model = wanted.model.or(defined.model).unwrap_or_default();
    let workspace = wanted.workspace.or(defined.workspace).or(wanted.default_workspace);
    let workspace = workspace.ok_or_else(|| missing("workspace"))?;
    if !workspace.is_absolute() || !workspace.is_dir() {
        let given = workspace.display();
        return Err(Error::invalid(format!("'{given}' is no directory"))
            .hint("give a whole path to one")
            .of_field("workspace"));
    }
    let id = match wanted.id.or(defined.id) {
        Some(id) => id,
        None => new_id(wanted.definition.as_deref().unwrap_or(&launcher))?,
    };
    // tmux has no `.` in names.
    let session = format!("forge-worker-{}", id.as_str().replace('.', "_"));
    let tier = wanted.tier.or(defined.tier).unwrap_or_default();
    let launcher = find_launcher(home, fleet, &launcher)?;
    let mut config = LaunchConfig::new(launcher, &session, &workspace, &model).with_tier(tier);
    let worker = facts(&id, &config);
    let resolved = with_surroundings(|around| match (&defined.kind, &defined.env) {
        (Some(kind), _) => kind.resolve(&worker, around),
        (None, Some((file, env))) => {
            let environment = around.resolve(file, env, &worker)?;
            Ok(Resolved { environment, ..Resolved::default() })
        }
        (None, None) => Ok(Resolved::default()),
    });
    let resolved = resolved.map_err(|error| Error::invalid(format!("{error}")).of_field("definition"))?;
    (config.env, config.arguments) = (resolved.environment, resolved.spawn_args);
    config.env.extend(wanted.env);
    config.bead_id = wanted.bead;
    if let Some(secs) = wanted.timeout_secs {
        config.timeout_secs = secs.clamp(1, 3600);
    }
    if let Some(style) = wanted.style {
        config.style = style;
    }
    let now = Millis::now();
    Ok(Worker {
        id,
        session,
        model,
        tier,
        workspace,
        phase: WorkerPhase::Starting,
        config: serde_json::to_value(config)
            .map_err(|cause| Error::internal("a launch cannot be stored", cause))?,
        process: None,
        pane: None,
        bead: None,
        answer: None,
        tmux: None,
        paused_by_file: false,
        health: Health::default(),
        status: None,
        restarts: Vec::new(),
        parked_until: None,
        started_at: None,
        note: None,
        created_at: now,
        updated_at: now,
    })
}

fn missing(field: &str) -> Error {
    Error::invalid(format!("{field}: missing")).hint("give it, or the name of a definition that has it")
}

/// A worker of `workers.yaml`, else a type of `workers/`.
fn find_definition(home: &Path, name: &str) -> Result<Said> {
    let file = home.join("workers.yaml");
    let read = with_surroundings(|around| read_workers(&file, around));
    let read = read.map_err(|error| Error::invalid(format!("{error}")).of_field("definition"))?;
    for note in &read.notes {
        tracing::warn!("{note}");
    }
    if let Some(found) = read.workers.iter().find(|worker| worker.id.as_str() == name) {
        return Ok(Said {
            id: Some(found.id.clone()),
            launcher: Some(found.launcher.display().to_string()),
            model: Some(found.model.clone()),
            tier: Some(found.tier),
            workspace: found.workspace.clone(),
            kind: None,
            env: Some((file, found.env.clone())),
        });
    }
    let dir = home.join("workers");
    let kinds = with_surroundings(|around| read_kinds(&dir, around));
    for note in &kinds.notes {
        tracing::warn!("{note}");
    }
    let Some(kind) = kinds.kinds.iter().find(|kind| kind.name == name) else {
        let broken = kinds.errors.first().map(|error| format!("; {error}")).unwrap_or_default();
        let (file, dir) = (file.display(), dir.display());
        return Err(Error::not_found(format!("neither {file} nor {dir} has a worker '{name}'{broken}"))
            .of_field("definition"));
    };
    Ok(Said {
        id: None,
        launcher: Some(kind.launcher.clone()),
        model: Some(kind.model.clone()),
        tier: Some(kind.tier),
        workspace: None,
        kind: Some(kind.clone()),
        env: None,
    })
}

/// What a definition may call by `${NAME}`.
fn facts(id: &WorkerId, config: &LaunchConfig) -> BTreeMap<&'static str, String> {
    BTreeMap::from([
        ("worker_id", id.to_string()),
        ("session_name", config.session_name.clone()),
        ("workspace", config.workspace.display().to_string()),
        ("model", config.model.clone()),
    ])
}

/// What `~` and `${NAME}` mean to this server.
pub(super) fn with_surroundings<T>(read: impl FnOnce(Surroundings<'_>) -> T) -> T {
    let home = std::env::home_dir().unwrap_or_default();
    read(Surroundings { home: &home, variable: &|name| std::env::var(name).ok() })
}

/// A path as it is, a name among the launchers of the home.
fn find_launcher(home: &Path, fleet: &FleetSettings, named: &str) -> Result<PathBuf> {
    if named.contains('/') {
        let path = PathBuf::from(named);
        return match path.is_absolute() {
            true => Ok(path),
            false => Err(Error::invalid(format!("'{named}' is no whole path"))
                .hint("give one, or a name")
                .of_field("launcher")),
        };
    }
    let dir = shipped::launcher_dir(home, fleet);
    shipped::provide(&dir).map_err(|cause| {
        Error::internal(format!("launchers cannot be written to {}: {cause}", dir.display()), cause)
    })?;
    let path = dir.join(named);
    match path.is_file() {
        true => Ok(path),
        false => Err(Error::invalid(format!("'{named}' is not in {}", dir.display()))
            .code(ErrorCode::NotFound)
            .of_field("launcher")
            .hint("`forge launcher list` shows which are there")),
    }
}

/// A name that nobody has: what it is, and four digits.
fn new_id(from: &str) -> Result<WorkerId> {
    let name = from.rsplit('/').next().unwrap_or_default();
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let digits = uuid::Uuid::new_v4().simple().to_string();
    let id = format!("{}-{}", name.trim_matches('-'), &digits[..4]);
    WorkerId::new(id.trim_start_matches('-'))
        .map_err(|error| Error::invalid(format!("{error}")).of_field("id"))
}
