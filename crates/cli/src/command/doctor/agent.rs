//! Whether an agent could be started and would be let in by its provider.

use forge_run::agents::{Sighting, Whence};
use serde_json::json;

use super::check::{Check, Status};

pub fn check(agent: &Sighting) -> Check {
    let name = agent.executor.as_str();
    let facts = json!({
        "executor": name,
        "protocol": agent.about.protocol.as_str(),
        "found": agent.found.as_ref().map(|(whence, _)| whence.as_str()),
        "path": agent.found.as_ref().map(|(_, file)| file),
        "version": agent.version,
        "keys": agent.keys,
        "login_file": agent.login,
        "install": agent.about.install,
    });
    let Some((whence, file)) = &agent.found else {
        let missing = Check::new(name, Status::Missing, format!("{} is not installed", agent.about.program));
        return missing.fix(agent.about.install).facts(facts);
    };
    let protocol = agent.about.protocol.as_str();
    let place = match whence {
        Whence::Path => file.display().to_string(),
        Whence::LoginPath => format!("{} (only in the login shell's PATH)", file.display()),
        Whence::Npx => "through npx, which fetches it at its first start".to_owned(),
    };
    let Some(version) = &agent.version else {
        let detail = format!("{place} does not tell its version; it may be broken");
        return Check::new(name, Status::Warning, detail).fix(agent.about.install).facts(facts);
    };
    let check = match (agent.keys.as_slice(), &agent.login) {
        ([], None) => {
            let key = agent.about.keys.first().copied().unwrap_or_default();
            let detail = format!("{version}, {protocol}, no login and no key ({key}) seen, {place}");
            let log_in = match (whence, agent.about.package) {
                (Whence::Npx, Some(package)) => format!("npx -y {package}"),
                _ => agent.about.program.to_owned(),
            };
            Check::new(name, Status::Warning, detail).fix(log_in)
        }
        (_, Some(_)) => Check::new(name, Status::Ok, format!("{version}, {protocol}, logged in, {place}")),
        (keys, None) => {
            let detail = format!("{version}, {protocol}, key in {}, {place}", keys.join(" and "));
            Check::new(name, Status::Ok, detail)
        }
    };
    check.facts(facts)
}
