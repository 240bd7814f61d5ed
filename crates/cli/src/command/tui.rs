//! `forge tui`: the dashboard. It is a client of the server like every other command.

use anyhow::{Context, Result};
use forge_tui::{Options, Theme};

use crate::client::Whereabouts;
use crate::command::serve::block_on;
use crate::exit::Misused;
use crate::home;
use crate::logging;
use crate::settings::{self, Env};
use crate::terminal;

#[derive(clap::Args)]
#[command(after_help = "Examples:\n  forge tui\n  forge tui --theme light\n  NO_COLOR=1 forge tui")]
pub struct Flags {
    /// Colours for a dark or a light background, or none [default: by NO_COLOR and COLORFGBG]
    #[arg(long, value_enum)]
    theme: Option<Colours>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Colours {
    Dark,
    Light,
    Plain,
}

pub fn run(flags: &Flags) -> Result<()> {
    if !terminal::is_attended() {
        let text =
            "the dashboard needs a terminal; `forge status` and `forge list` print the same without one";
        return Err(Misused(text.to_owned()).into());
    }
    let env = Env::load();
    let home = settings::home(env)?;
    home::make(&home)?;
    let log = home.join("tui.log");
    logging::start_in(&log, "warn", env.get("RUST_LOG"))
        .with_context(|| format!("cannot write {}", log.display()))?;
    let Whereabouts { base, token, .. } = Whereabouts::find()?;
    let program = std::env::current_exe().context("cannot find this program's own path")?;
    let (theme, emoji) = (theme(flags.theme), terminal::draws_emoji());
    block_on(forge_tui::run(Options { base, token, theme, emoji, program, browse: forge_run::open_page }))
}

fn theme(asked: Option<Colours>) -> Theme {
    let set = |key: &str| std::env::var(key).ok();
    match asked {
        Some(Colours::Dark) => Theme::Dark,
        Some(Colours::Light) => Theme::Light,
        Some(Colours::Plain) => Theme::Plain,
        None => Theme::of(set("NO_COLOR").as_deref(), set("TERM").as_deref(), set("COLORFGBG").as_deref()),
    }
}
