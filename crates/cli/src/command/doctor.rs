//! `forge doctor`: shows what is installed, what is missing, and how to fix it. Works with and without a server.
//!
//! Invariant: it changes nothing. All checks run in parallel and finish within seconds, even if something hangs.
//! It fails only if Forge itself cannot work; a missing agent is a warning.

mod agent;
mod beads;
mod check;
mod host;

use std::process::ExitCode;

use anyhow::{Context, Result};
use serde_json::json;

use crate::command::serve;
use crate::settings::{self, Env};
use crate::terminal;
use crate::transcript::{Ink, Line};
use check::{Check, Status};

#[derive(clap::Args)]
#[command(after_help = "Examples:\n  forge doctor\n  forge doctor --json")]
pub struct Flags {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Checks that belong together.
struct Section {
    name: &'static str,
    checks: Vec<Check>,
}

pub fn run(flags: Flags) -> Result<ExitCode> {
    serve::block_on(async {
        let env = Env::load();
        let home = settings::home(env)?;
        let database = settings::database(env, &home)?;
        let workspaces = settings::workspaces(env)?;
        let base = settings::worktree_base(&serve::Flags::default(), env, &home);
        let survey = tokio::task::spawn_blocking(forge_run::agents::survey);
        let (git, server, port, beads) =
            tokio::join!(host::git(), host::server(), host::port(env), beads::checks(&workspaces));
        let survey = survey.await.context("cannot look for programs")?;
        let mut programs = vec![git.or_install("git", survey.packager)];
        programs.extend(survey.tools.iter().filter_map(|tool| host::tool(tool, survey.packager)));
        let mut sections = vec![
            Section {
                name: "Forge",
                checks: vec![
                    Check::new("version", Status::Ok, env!("CARGO_PKG_VERSION")),
                    host::home(&home),
                    host::worktrees(&base),
                    host::database(&database),
                    server,
                    port,
                    host::loopback(forge_server::probe_peers()),
                ],
            },
            Section { name: "Programs", checks: programs },
            Section { name: "Agents", checks: survey.agents.iter().map(agent::check).collect() },
            Section {
                name: "System",
                checks: vec![
                    host::disk("disk (data)", &home),
                    host::disk("disk (worktrees)", base.as_ref().map_or(&home, |base| &base.path)),
                    host::sandbox(&survey.tools, survey.packager),
                    host::watches(),
                ],
            },
        ];
        if !beads.is_empty() {
            sections.push(Section { name: "Beads", checks: beads });
        }
        let able = sections.iter().flat_map(|section| &section.checks).all(|check| !check.is_fatal());
        match flags.json {
            true => print_json(&sections, able),
            false => print_text(&sections, able),
        }
        Ok(if able { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    })
}

fn print_json(sections: &[Section], able: bool) {
    let checks: Vec<_> = sections
        .iter()
        .flat_map(|section| section.checks.iter().map(|check| check.object(&section.name.to_lowercase())))
        .collect();
    println!("{:#}", json!({"ok": able, "checks": checks}));
}

fn print_text(sections: &[Section], able: bool) {
    let page = terminal::page();
    let mut out = String::new();
    let width = sections.iter().flat_map(|section| &section.checks).map(Check::name_width).max().unwrap_or(0);
    for section in sections {
        Line::new(Ink::Bold, section.name).put(page, &mut out);
        section.checks.iter().for_each(|check| check.put(width, page, &mut out));
        out.push('\n');
    }
    let (ink, words) = match able {
        true => (Ink::Green, "Forge can work here."),
        false => (Ink::Red, "Forge cannot work here; see what is marked as missing above."),
    };
    Line::new(ink, words).put(page, &mut out);
    terminal::print(&out);
}
