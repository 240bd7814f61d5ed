// A command of `forge`.

const COMMAND = `//! \`forge about\`: what this program is, without a server.

use anyhow::Result;
use serde_json::json;

#[derive(clap::Args)]
#[command(after_help = "Examples:\\n  forge about\\n  forge about --json")]
pub struct Flags {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(flags: &Flags) -> Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    match flags.json {
        true => println!("{:#}", json!({"version": version})),
        false => println!("forge {version}"),
    }
    Ok(())
}
`;

const LIST = "crates/cli/src/command.rs";

export default {
  title: "a command",
  goal: "2 files",
  edits: [
    { file: "crates/cli/src/command/about.rs", create: COMMAND },
    { file: LIST, replace: "mod alerts;", text: "mod about;\nmod alerts;" },
    { file: LIST, after: "    Man(man::Flags),", text: "    /// Print what this program is\n    About(about::Flags)," },
    {
      file: LIST,
      after: "Command::Man(flags) =>",
      text: "            Command::About(flags) => done(about::run(&flags)),",
    },
  ],
};
