//! Variables of the server that are not passed to the programs that it starts.
//!
//! Invariant: this is the only list of them. Whoever starts a program that is not Forge itself removes these first, and
//! then sets the variables of that program: an agent whose profile names one of them gets the value of the profile.

use serde_json::Value;

use crate::Settings;

/// Where this server listens and where it keeps its data, which would mislead another server; and what opens this
/// server and code hosts.
pub const WITHHELD: [&str; 13] = [
    "PORT",
    "BACKEND_PORT",
    "HOST",
    "DATABASE_URL",
    "AUTH_REQUIRED",
    "FORGE_TOKEN",
    "GITHUB_TOKEN",
    "GH_TOKEN",
    "GITHUB_ENTERPRISE_TOKEN",
    "GH_ENTERPRISE_TOKEN",
    "GITLAB_TOKEN",
    "GITEA_TOKEN",
    "FORGEJO_TOKEN",
];

impl Settings {
    /// The same, and the variables in which the user keeps the tokens of more code hosts.
    pub fn withheld(&self) -> Vec<String> {
        let hosts =
            self.other.get("hosts").and_then(Value::as_object).into_iter().flat_map(|all| all.values());
        let named = hosts.filter_map(|host| host["token_env"].as_str());
        WITHHELD.into_iter().chain(named).map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_of_a_hosts_token_is_withheld_too() {
        let text =
            r#"{"hosts": {"git.example": {"kind": "gitea", "token_env": "MY_HOST"}, "other": {}, "odd": 5}}"#;
        let settings: Settings = serde_json::from_str(text).unwrap();
        let withheld = settings.withheld();
        assert_eq!(withheld.last().map(String::as_str), Some("MY_HOST"));
        assert_eq!(withheld.len(), WITHHELD.len() + 1);
    }
}
