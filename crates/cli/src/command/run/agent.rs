//! Which agent to use: an executor with a variant, or an agent by its name.
//!
//! Invariant: a name matches one agent or none; the project's agents and the common variants count alike.

use anyhow::{Context, Result};
use forge_types::wire::{AgentProfiles, ProfilesFile};
use forge_types::{Executor, ProfileId, ProjectId, Settings, canonical_variant};

use crate::client::Client;
use crate::exit::Misused;
use crate::reference::NotFound;

/// How many names to suggest for an unknown one.
const OFFERED: usize = 5;

#[derive(clap::Args)]
pub struct Choice {
    /// The agent and its variant, e.g. CLAUDE_CODE or CODEX:HIGH [default: from the settings]
    #[arg(short = 'x', long, value_name = "EXECUTOR[:VARIANT]")]
    pub executor: Option<String>,
    /// An agent by name: a variant from the profiles or an agent that the project describes
    #[arg(short, long, value_name = "NAME")]
    pub agent: Option<String>,
    /// The model to use instead of the profile's
    #[arg(short, long)]
    pub model: Option<String>,
}

impl Choice {
    /// The chosen profile in a project, as known to its server.
    pub async fn find(&self, client: &Client, project: ProjectId) -> Result<ProfileId> {
        let (profiles, usual) =
            tokio::try_join!(known_profiles(client, Some(project)), usual_profile(client))?;
        self.find_in(&profiles, usual)
    }

    pub fn find_in(&self, profiles: &AgentProfiles, usual: ProfileId) -> Result<ProfileId> {
        let given = self.executor.as_deref().map(read_executor).transpose()?;
        let mut profile = match (self.agent.as_deref(), given) {
            (None, given) => given.unwrap_or(usual),
            (Some(_), Some(ProfileId { variant: Some(variant), .. })) => {
                let text = format!(
                    "--executor names the variant {variant}, and --agent another one; use only one of them"
                );
                return Err(Misused(text).into());
            }
            (Some(name), given) => match (name.parse(), given) {
                (Ok(profile), None) => profile,
                (_, given) => {
                    let only = given.map(|profile| profile.executor);
                    Known::read(profiles, only).find(name, usual.executor)?
                }
            },
        };
        profile.model = self.model.clone().or(profile.model);
        Ok(profile)
    }
}

/// The agent of the settings.
pub async fn usual_profile(client: &Client) -> Result<ProfileId> {
    Ok(client.get::<Settings>("/api/config").await?.executor_profile)
}

/// The profiles of every agent: the common ones, and those of a project on top.
pub async fn known_profiles(client: &Client, project: Option<ProjectId>) -> Result<AgentProfiles> {
    let query = project.map(|id| format!("?project_id={id}")).unwrap_or_default();
    let file: ProfilesFile = client.get(&format!("/api/profiles{query}")).await?;
    serde_json::from_str(&file.content).context("the profiles of the server cannot be read")
}

pub fn read_executor(text: &str) -> Result<ProfileId> {
    text.parse().map_err(|error| Misused(format!("--executor: {error}")).into())
}

/// Every available agent.
struct Known(Vec<ProfileId>);

impl Known {
    fn read(profiles: &AgentProfiles, only: Option<Executor>) -> Self {
        let known = profiles.executors.iter().filter_map(|(name, variants)| {
            let executor: Executor = name.parse().ok()?;
            let profile =
                move |name: &String| ProfileId { variant: Some(name.clone()), ..ProfileId::new(executor) };
            only.is_none_or(|only| only == executor).then(|| variants.keys().map(profile))
        });
        Self(known.flatten().collect())
    }

    /// The agent with that name, else the only one whose name ends with it; the usual executor's if several match.
    fn find(&self, name: &str, usual: Executor) -> Result<ProfileId> {
        let wanted = canonical_variant(name);
        let named = |fits: &dyn Fn(&str) -> bool| -> Vec<&ProfileId> {
            self.0.iter().filter(|profile| profile.variant.as_deref().is_some_and(fits)).collect()
        };
        let mut found = named(&|variant| variant == wanted);
        if found.is_empty() {
            found =
                named(&|variant| variant.strip_suffix(&wanted).is_some_and(|prefix| prefix.ends_with('_')));
        }
        if found.len() > 1 {
            let same = found.iter().all(|profile| profile.variant == found[0].variant);
            let usual = found.iter().find(|profile| same && profile.executor == usual).copied();
            found = usual.map_or(found, |profile| vec![profile]);
        }
        match found.as_slice() {
            [one] => Ok((*one).clone()),
            [] => {
                Err(NotFound(format!("--agent: no agent is called '{name}'; {}", self.nearest(&wanted)))
                    .into())
            }
            many => {
                let many: Vec<String> = many.iter().map(|profile| profile.to_string()).collect();
                let text = format!("--agent: '{name}' is ambiguous: {}; choose one of them", many.join(", "));
                Err(NotFound(text).into())
            }
        }
    }

    fn nearest(&self, wanted: &str) -> String {
        let mut names: Vec<&str> = self.0.iter().filter_map(|profile| profile.variant.as_deref()).collect();
        names.sort_unstable();
        names.dedup();
        names.sort_by_key(|name| (!name.contains(wanted), distance(wanted, name)));
        names.truncate(OFFERED);
        match names.is_empty() {
            true => "there are none".to_owned(),
            false => format!("the nearest names: {}", names.join(", ")),
        }
    }
}

/// How many letters must be added, removed or changed to turn one word into the other.
pub fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (at, letter) in from.chars().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], at + 1);
        for (column, other) in to.iter().enumerate() {
            let changed = corner + usize::from(letter != *other);
            corner = row[column + 1];
            row[column + 1] = changed.min(corner + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn known() -> Known {
        let profiles = json!({"executors": {
            "CLAUDE_CODE": {"GENIE": {}, "APPROVALS": {}, "CODE_EXPLORE": {}, "CODE_TESTS": {}},
            "CODEX": {"GENIE": {}, "APPROVALS": {}, "HIGH": {}},
            "AGENT_OF_TOMORROW": {"HIGH": {}},
        }});
        Known::read(&serde_json::from_value(profiles).unwrap(), None)
    }

    #[test]
    fn a_name_matches_one_agent_or_none() {
        let find = |name: &str| known().find(name, Executor::ClaudeCode).map(|profile| profile.to_string());
        for (name, want) in [
            ("high", "CODEX:HIGH"),
            ("code-explore", "CLAUDE_CODE:CODE_EXPLORE"),
            ("Explore", "CLAUDE_CODE:CODE_EXPLORE"),
            ("approvals", "CLAUDE_CODE:APPROVALS"),
        ] {
            assert_eq!(find(name).unwrap(), want, "{name}");
        }
        let wrong = find("explorer").unwrap_err().to_string();
        assert!(wrong.contains("nearest names: CODE_EXPLORE,"), "{wrong}");
        let several = known().find("approvals", Executor::Gemini).unwrap_err().to_string();
        assert!(several.contains("CLAUDE_CODE:APPROVALS, CODEX:APPROVALS"), "{several}");
    }

    #[test]
    fn words_are_as_far_apart_as_letters_differ() {
        for (from, to, want) in
            [("", "abc", 3), ("abc", "abc", 0), ("abc", "axc", 1), ("kitten", "sitting", 3)]
        {
            assert_eq!(distance(from, to), want, "{from} {to}");
        }
    }
}
