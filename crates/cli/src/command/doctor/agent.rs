//! The state of an agent on this machine, in words; [`SurveyedAgent::readiness`] determines it.

use forge_run::agents::{Readiness, SurveyedAgent};
use forge_types::AgentSource;
use serde_json::json;

use super::check::{Check, Status};

pub fn check(agent: &SurveyedAgent) -> Check {
    let name = agent.about.executor.as_str();
    let facts = json!({
        "executor": name,
        "protocol": agent.about.protocol().as_str(),
        "found": agent.found.as_ref().map(|(source, _)| source),
        "path": agent.found.as_ref().map(|(_, file)| file),
        "version": agent.version,
        "keys": agent.keys,
        "login_file": agent.login,
        "install": agent.software.install,
    });
    let protocol = agent.about.protocol().as_str();
    let place = match &agent.found {
        None => String::new(),
        Some((AgentSource::Path | AgentSource::BuiltIn, file)) => file.display().to_string(),
        Some((AgentSource::LoginPath, file)) => {
            format!("{} (only in the login shell's PATH)", file.display())
        }
        Some((AgentSource::Npx, _)) => "through npx, which fetches it at its first start".to_owned(),
    };
    let version = agent.version.as_deref().unwrap_or_default();
    let (status, detail) = match agent.readiness() {
        Readiness::Missing => (Status::Missing, format!("{} is not installed", agent.software.program)),
        Readiness::Broken => {
            (Status::Warning, format!("{place} does not report its version; it may be broken"))
        }
        Readiness::LoggedOut => {
            let key = agent.software.keys.first().copied().unwrap_or_default();
            let detail = format!("{version}, {protocol}, no login and no key ({key}) found, {place}");
            (Status::Warning, detail)
        }
        Readiness::Ready => {
            let access = match &agent.login {
                Some(_) => "logged in".to_owned(),
                None => format!("key in {}", agent.keys.join(" and ")),
            };
            (Status::Ok, format!("{version}, {protocol}, {access}, {place}"))
        }
    };
    let check = Check::new(name, status, detail).facts(facts);
    match agent.fix() {
        Some(command) => check.fix(command),
        None => check,
    }
}
