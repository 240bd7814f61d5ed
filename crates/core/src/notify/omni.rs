//! Settings of the forge group and the gateway they configure.
//!
//! Invariant: a key is only ever sent to the host it was stored with, and never handed out.

use forge_types::wire::{OmniProbe, OmniProbed, OmniStatus};
use forge_types::{
    ForgeSettings, ForgeSettingsChange, Notification, OmniConfig, OmniInstance, ProjectId, SECRET_MASK,
};

use crate::{Error, Forge, Result};

const KEY: &str = "forge_settings";
const SHOWN_NOTIFICATIONS: u32 = 50;

impl Forge {
    /// Settings for all projects, with the key in clear.
    pub(crate) async fn general_settings(&self) -> Result<ForgeSettings> {
        let Some(text) = self.0.store.meta(KEY).await? else { return Ok(ForgeSettings::default()) };
        serde_json::from_str(&text)
            .map_err(|cause| Error::internal("the stored forge settings are damaged", cause))
    }

    pub async fn shown_general_settings(&self) -> Result<ForgeSettings> {
        Ok(self.general_settings().await?.shown())
    }

    /// Changes the settings for all projects; they are in force for the next notification.
    pub async fn change_general_settings(&self, change: ForgeSettingsChange) -> Result<ForgeSettings> {
        check(&change)?;
        let mut tx = self.0.store.begin().await?;
        // The transaction holds the writer, so nobody changes them in between.
        let mut settings = self.general_settings().await?;
        change.apply(&mut settings);
        let text = serde_json::to_string(&settings);
        let text = text.map_err(|cause| Error::internal("the forge settings cannot be written", cause))?;
        tx.put_meta(KEY, &text).await?;
        tx.commit().await?;
        Ok(settings.shown())
    }

    /// An unknown project has the defaults, as one that has set nothing.
    pub async fn shown_project_settings(&self, project: ProjectId) -> Result<ForgeSettings> {
        Ok(self.0.store.project_settings(project).await?.unwrap_or_default().shown())
    }

    pub async fn change_project_settings(
        &self,
        project: ProjectId,
        change: ForgeSettingsChange,
    ) -> Result<ForgeSettings> {
        check(&change)?;
        let mut tx = self.0.store.begin().await?;
        let mut settings = self.0.store.project_settings(project).await?.unwrap_or_default();
        change.apply(&mut settings);
        tx.put_project_settings(project, &settings).await.map_err(|error| match error {
            forge_store::StoreError::Missing => Error::no_project(project),
            other => other.into(),
        })?;
        tx.commit().await?;
        Ok(settings.shown())
    }

    pub async fn omni_status(&self) -> Result<OmniStatus> {
        let settings = self.general_settings().await?;
        let config = settings.active().map(OmniConfig::shown);
        Ok(OmniStatus { enabled: config.is_some(), config })
    }

    /// The gateway's accounts; none when it cannot be reached or is not configured.
    pub async fn omni_instances(&self) -> Result<Option<Vec<OmniInstance>>> {
        let config = self.general_settings().await?.omni_config.unwrap_or_default();
        let (Some(host), Some(key)) = (config.host, config.api_key) else { return Ok(None) };
        match self.0.http.omni_instances(&host, &key).await {
            Ok(instances) => Ok(Some(instances)),
            Err(error) => {
                tracing::warn!(error = %without(&key, &error), "Omni cannot be asked for its instances");
                Ok(None)
            }
        }
    }

    /// Tries an address and a key without storing them.
    pub async fn probe_omni(&self, probe: OmniProbe) -> Result<OmniProbed> {
        let refused = |error: String| OmniProbed { valid: false, instances: Vec::new(), error: Some(error) };
        if let Err(problem) = forge_remote::check_host(&probe.host) {
            return Ok(refused(format!("host: {problem}")));
        }
        let key = match probe.api_key == SECRET_MASK {
            false => Some(probe.api_key),
            true => {
                let stored = self.general_settings().await?.omni_config.unwrap_or_default();
                stored.api_key.filter(|_| stored.host.as_deref() == Some(&probe.host))
            }
        };
        let Some(key) = key else {
            return Ok(refused("api_key: the stored key belongs to another host; enter the key".to_owned()));
        };
        Ok(match self.0.http.omni_instances(&probe.host, &key).await {
            Ok(instances) => OmniProbed { valid: true, instances, error: None },
            Err(error) => refused(without(&key, &error)),
        })
    }

    /// Newest first.
    pub async fn notifications(&self) -> Result<Vec<Notification>> {
        Ok(self.0.store.notifications(SHOWN_NOTIFICATIONS).await?)
    }
}

/// The words of an error, in which a gateway may have repeated the key.
pub(crate) fn without(key: &str, error: &forge_remote::RemoteError) -> String {
    match key.is_empty() {
        true => error.to_string(),
        false => error.to_string().replace(key, SECRET_MASK),
    }
}

fn check(change: &ForgeSettingsChange) -> Result<()> {
    let Some(Some(config)) = &change.omni_config else { return Ok(()) };
    match &config.host {
        Some(Some(host)) if !host.trim().is_empty() => forge_remote::check_host(host)
            .map_err(|problem| Error::invalid(problem.to_string()).of_field("omni_config.host")),
        _ => Ok(()),
    }
}
