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
    let version = agent.version.as_deref().unwrap_or("unknown version");
    let place = match whence {
        Whence::Path => file.display().to_string(),
        Whence::LoginPath => format!("{} (only in the login shell's PATH)", file.display()),
        Whence::Npx => "through npx, which fetches it at its first start".to_owned(),
    };
    let protocol = agent.about.protocol.as_str();
    let check = match (agent.keys.as_slice(), &agent.login) {
        ([], None) => {
            let detail = format!("{version}, {protocol}, no key and no login seen; {place}");
            let keys = agent.about.keys.first().copied().unwrap_or_default();
            let fix = match whence {
                Whence::Npx => format!("{} && {}", agent.about.install, agent.about.program),
                _ => agent.about.program.to_owned(),
            };
            Check::new(name, Status::Warning, detail).fix(format!("{fix}   (log in there, or set {keys})"))
        }
        (keys, login) => {
            let seen = match login {
                Some(_) => "logged in".to_owned(),
                None => format!("key in {}", keys.join(", ")),
            };
            Check::new(name, Status::Ok, format!("{version}, {protocol}, {seen}; {place}"))
        }
    };
    check.facts(facts)
}
