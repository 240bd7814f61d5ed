//! What a folder has of beads, for people who want to know whether Forge can work with them.

use std::path::Path;

use forge_fleet::beads::{Filter, Flavour, Surroundings, Workspace};

/// Beads as they were found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BeadsSurvey {
    /// Who keeps them, in words.
    pub flavour: &'static str,
    /// The program that changes them, with its version; without one Forge does or nobody.
    pub program: Option<String>,
    /// How many can be worked on now, or why that is unknown.
    pub ready: Result<usize, String>,
}

/// Looks at the beads of a folder, without a server; `None` when it has none.
pub async fn survey_beads(folder: &Path) -> Result<Option<BeadsSurvey>, String> {
    let around = Surroundings { beads_dir: None, path: std::env::var_os("PATH") };
    let found = Workspace::find_in(folder, &around).await.map_err(|error| error.to_string())?;
    let Some(workspace) = found else { return Ok(None) };
    let flavour = match workspace.flavour {
        Flavour::Br => "br",
        Flavour::ClassicBd => "bd (SQLite)",
        Flavour::ModernBd => "bd (Dolt)",
        Flavour::Local => "Forge's own",
    };
    let program = workspace.program.as_ref().map(|program| {
        let version = program.version;
        format!("{} {}.{}.{}", program.tool, version.0, version.1, version.2)
    });
    let ready = match workspace.open() {
        Ok(store) => store.ready(&Filter::default()).await.map(|ready| ready.len()),
        Err(error) => Err(error),
    };
    Ok(Some(BeadsSurvey { flavour, program, ready: ready.map_err(|error| error.to_string()) }))
}
