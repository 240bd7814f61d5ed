//! The beads of every project that the server knows, and of the folders in FORGE_WORKSPACES.

use forge_types::Project;
use std::path::{Path, PathBuf};
use std::time::Duration;

use forge_core::{BeadsSurvey, survey_beads};
use serde_json::json;

use super::check::{Check, Status};
use crate::client::Client;

/// A tracker that hangs does not block the doctor.
const PATIENCE: Duration = Duration::from_secs(5);

/// One line for each folder that has beads.
pub async fn checks(workspaces: &[PathBuf]) -> Vec<Check> {
    let mut folders: Vec<PathBuf> = projects().await;
    folders.extend(workspaces.iter().filter(|folder| !folders.contains(folder)).cloned().collect::<Vec<_>>());
    let looks = folders.iter().map(|folder| check(folder));
    futures_util::future::join_all(looks).await.into_iter().flatten().collect()
}

/// Without a server no projects are known; another check reports that.
async fn projects() -> Vec<PathBuf> {
    let Ok(client) = Client::find() else { return Vec::new() };
    let asked = tokio::time::timeout(PATIENCE, client.get::<Vec<Project>>("/api/projects")).await;
    let projects = asked.ok().and_then(Result::ok).unwrap_or_default();
    projects.into_iter().map(|project| PathBuf::from(project.git_repo_path)).collect()
}

async fn check(folder: &Path) -> Option<Check> {
    let name = folder.display().to_string();
    let found = match tokio::time::timeout(PATIENCE, survey_beads(folder)).await {
        Ok(Ok(found)) => found?,
        Ok(Err(why)) => return Some(Check::new(&name, Status::Warning, why)),
        Err(_) => {
            let detail = format!("its tracker did not answer within {} s", PATIENCE.as_secs());
            return Some(Check::new(&name, Status::Warning, detail));
        }
    };
    Some(describe(&name, &found))
}

fn describe(name: &str, found: &BeadsSurvey) -> Check {
    let program = found.program.as_deref().unwrap_or("no program");
    let facts = json!({
        "flavour": found.flavour,
        "program": found.program,
        "readable": found.ready.is_ok(),
        "ready": found.ready.as_ref().ok(),
    });
    let check = match &found.ready {
        Ok(ready) => Check::new(name, Status::Ok, format!("{}, {program}, {ready} ready", found.flavour)),
        Err(why) => Check::new(name, Status::Warning, format!("{}, {program}: {why}", found.flavour)),
    };
    check.facts(facts)
}
