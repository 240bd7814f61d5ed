//! The user's settings as the engine uses them.
//!
//! Owns: `config.json` in Forge's home, read once at the start and replaced by every change. Invariant: what
//! [`Forge::settings`] answers is what the file holds; changes take turns, so none of two at once is lost.

mod stored;

use std::sync::{Arc, Mutex, PoisonError};

use forge_git::{PREFIX_MAX_BYTES, Repo};
use forge_types::{SECRET_MASK, Settings, SettingsChange};

use crate::home::file;
use crate::{Error, Forge, Result};
use tokio::sync::watch;

pub(crate) use stored::load;
pub use stored::read;

/// The prefix that older servers wrote into their file but did not use.
const UNUSED_PREFIX: &str = "af";
const DEFAULT_PREFIX: &str = "forge";

/// The settings that are in force.
pub(crate) struct CurrentSettings {
    current: watch::Sender<Arc<Settings>>,
    /// Held, never over an await, while the file is replaced.
    turn: Mutex<()>,
}

impl CurrentSettings {
    pub(crate) fn new(settings: Settings) -> Self {
        Self { current: watch::Sender::new(Arc::new(settings)), turn: Mutex::default() }
    }
}

impl Forge {
    /// The settings of this moment.
    pub fn settings(&self) -> Arc<Settings> {
        self.0.settings.current.borrow().clone()
    }

    /// The settings as callers may see them.
    pub fn shown_settings(&self) -> Settings {
        self.settings().shown()
    }

    /// The first part of new branches: from the server's own configuration, else the user's choice.
    pub(crate) fn branch_prefix(&self) -> String {
        match &self.0.config.branch_prefix {
            Some(prefix) => prefix.clone(),
            None => self.settings().git_branch_prefix.clone(),
        }
    }

    pub async fn change_settings(&self, mut change: SettingsChange) -> Result<Settings> {
        if let Some(prefix) = &mut change.git_branch_prefix {
            *prefix = used_prefix(prefix);
            if !Repo::valid_branch_prefix(prefix).await? {
                return Err(Error::refused(format!(
                    "Invalid git branch prefix '{prefix}'. Must be a valid git branch name component without slashes, of at most {PREFIX_MAX_BYTES} bytes."
                )));
            }
        }
        let percents = [
            ("budget_warning_percent", change.budget_warning_percent),
            ("budget_critical_percent", change.budget_critical_percent),
        ];
        if let Some((field, Some(percent))) = percents
            .into_iter()
            .find(|(_, percent)| percent.is_some_and(|percent| !(1..=100).contains(&percent)))
        {
            return Err(Error::invalid(format!("{field}: {percent} is not allowed; allowed: 1 to 100")));
        }
        let alerts = change.fleet.as_ref().and_then(|fleet| fleet.alerts.as_ref());
        if let Some(Some(url)) = alerts.and_then(|alerts| alerts.webhook.as_ref())
            && !url.is_empty()
            && url != SECRET_MASK
        {
            forge_remote::check_webhook(url)
                .map_err(|problem| Error::invalid(problem.to_string()).of_field("fleet.alerts.webhook"))?;
        }
        Ok(self.swap_settings(move |settings| change.apply(settings)).await?.shown())
    }

    /// Calls `work` with the settings as they were and as they are, after each change.
    pub(crate) fn on_settings_change(&self, work: fn(&Forge, &Settings, &Settings)) {
        let mut current = self.0.settings.current.subscribe();
        // Read here: a change that comes before the task is first polled is a change, too.
        let mut before = current.borrow_and_update().clone();
        self.run_until_close(|forge| async move {
            while current.changed().await.is_ok() {
                let after = current.borrow_and_update().clone();
                work(&forge, &before, &after);
                before = after;
            }
        });
    }

    /// Changes the settings and their file; returns them as they are now.
    pub(crate) async fn swap_settings(
        &self,
        change: impl FnOnce(&mut Settings) + Send + 'static,
    ) -> Result<Arc<Settings>> {
        let forge = self.clone();
        let swap = move || {
            let _turn = forge.0.settings.turn.lock().unwrap_or_else(PoisonError::into_inner);
            let mut after = (*forge.settings()).clone();
            change(&mut after);
            let after = Arc::new(after);
            save(&forge.0.config.home, &after)?;
            forge.0.settings.current.send_replace(Arc::clone(&after));
            Ok(after)
        };
        let swapped = tokio::task::spawn_blocking(swap).await;
        swapped.map_err(|cause| Error::internal("cannot change the settings", cause))?
    }
}

/// The prefix to use where the given one is stored.
fn used_prefix(stored: &str) -> String {
    if stored == UNUSED_PREFIX { DEFAULT_PREFIX.to_owned() } else { stored.to_owned() }
}

/// A prefix that git does not take, written into the file by hand, must not make every start fail.
pub(crate) async fn check_prefix(settings: &mut Settings) -> Result<()> {
    if !Repo::valid_branch_prefix(&settings.git_branch_prefix).await? {
        tracing::warn!(
            "config.json: git_branch_prefix '{}' is no part of a branch name; '{DEFAULT_PREFIX}' is used",
            settings.git_branch_prefix
        );
        settings.git_branch_prefix = DEFAULT_PREFIX.to_owned();
    }
    Ok(())
}

fn save(home: &std::path::Path, settings: &Settings) -> Result<()> {
    let path = home.join("config.json");
    let failed = |cause: &dyn std::fmt::Display| {
        Error::refused(format!("Failed to save config: cannot write {}: {cause}", path.display()))
    };
    let mut text = serde_json::to_vec_pretty(settings).map_err(|cause| failed(&cause))?;
    text.push(b'\n');
    file::replace(&path, &text, file::PRIVATE).map_err(|cause| failed(&cause))
}
