//! What holds for every command, and the page that lists them.

use std::fmt::Write;
use std::path::Path;

use clap::{Command, CommandFactory, Parser};
use pretty_assertions::assert_eq;

use super::Cli;
use crate::exit::Exit;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/commands.md");
/// These print a protocol, a script or a story, or nothing at all.
const WITHOUT_JSON: &[&str] = &[
    "forge serve",
    "forge demo",
    "forge tui",
    "forge mcp",
    "forge prepare-db",
    "forge completions",
    "forge man",
    // What it writes is JSON.
    "forge sessions export",
];

/// Every visible command below `forge` but `help`, with its whole name.
fn commands() -> Vec<(String, Command)> {
    let mut root = Cli::command().term_width(100);
    root.build();
    let mut found = Vec::new();
    collect(&root, "forge", &mut found);
    found
}

fn collect(command: &Command, name: &str, found: &mut Vec<(String, Command)>) {
    for below in command.get_subcommands().filter(|below| !below.is_hide_set() && below.get_name() != "help")
    {
        let name = format!("{name} {}", below.get_name());
        found.push((name.clone(), below.clone()));
        collect(below, &name, found);
    }
}

fn examples(command: &Command) -> Vec<String> {
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let lines = help.strip_prefix("Examples:\n").unwrap_or_default().lines();
    lines.map(|line| line.trim().to_owned()).take_while(|line| !line.is_empty()).collect()
}

#[test]
fn every_command_has_examples_that_parse() {
    for (name, command) in commands() {
        let examples = examples(&command);
        assert!(!examples.is_empty(), "`{name}` has no examples; add them with after_help");
        for example in examples {
            // What the shell does around it is not for us to parse.
            let (_, line) = example.split_once("forge ").unwrap_or_else(|| panic!("{name}: {example}"));
            let line = line.split([')', '>', '|', '#']).next().unwrap_or_default();
            let words = shlex::split(line).unwrap_or_else(|| panic!("{name}: {example}"));
            let parsed = Cli::try_parse_from(std::iter::once("forge".to_owned()).chain(words));
            assert!(
                parsed.is_ok(),
                "{example}\n{}",
                parsed.err().map(|error| error.to_string()).unwrap_or_default()
            );
        }
    }
}

#[test]
fn every_command_that_prints_has_json() {
    for (name, command) in commands() {
        let is_group = command.get_subcommands().next().is_some();
        let has_json = command.get_arguments().any(|arg| arg.get_long() == Some("json"));
        let excepted = WITHOUT_JSON.contains(&name.as_str());
        assert!(
            is_group || has_json != excepted,
            "`{name}`: --json is {has_json}, which is not what is listed here"
        );
    }
}

#[test]
fn no_command_takes_a_timeout_of_nothing() {
    let has_timeout =
        |command: &Command| command.get_arguments().any(|arg| arg.get_long() == Some("timeout"));
    let with: Vec<_> = commands().into_iter().filter(|(_, command)| has_timeout(command)).collect();
    assert!(!with.is_empty());
    for (name, _) in with {
        let parse = |secs: &str| {
            Cli::try_parse_from(name.split(' ').chain(["x", "--timeout", secs]))
                .map(drop)
                .map_err(|error| error.to_string())
        };
        assert_eq!(parse("1"), Ok(()), "{name}");
        let refused = parse("0").expect_err(&name);
        for part in ["'0'", "--timeout", "1..="] {
            assert!(refused.contains(part), "{name}: '{part}' is missing: {refused}");
        }
    }
}

#[test]
fn flags_are_explained_in_a_line_without_a_full_stop() {
    for (name, command) in commands() {
        for arg in command.get_arguments() {
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            assert!(!help.ends_with('.') && !help.contains('\n'), "{name} {}: {help}", arg.get_id());
        }
    }
}

const EXITS: [Exit; 6] =
    [Exit::Failed, Exit::Misused, Exit::Unreachable, Exit::NotFound, Exit::Refused, Exit::Stopped];

fn meaning(exit: Exit) -> &'static str {
    match exit {
        Exit::Failed => "the agent failed, or something that no other number tells of",
        Exit::Misused => "the command was not understood",
        Exit::Unreachable => "there is no server to ask; `forge serve` starts one",
        Exit::NotFound => "a name or id stands for nothing, or for more than one thing",
        Exit::Refused => "the server knows what was meant and does not do it; nothing has changed",
        Exit::Stopped => "a run was stopped, or left while it goes on",
    }
}

fn page() -> String {
    let mut page = "# Commands\n\n\
        Made by `UPDATE=1 cargo test -p forge the_page_lists` from the help texts; `forge man DIR` writes the same as manual pages.\n\n\
        An attempt can be named by its id or at least four digits of it, by its branch or worktree, by its task's title or id,\n\
        by its agent (the newest attempt of it) or as `@last`; what is in the repository of the present directory comes first.\n\
        The newest is always one of that repository for a command that changes something; outside of a project it wants a name, or\n\
        the project with `--project`.\n\n\
        ## Exit codes\n\n| code | |\n| --- | --- |\n| 0 | done |\n"
        .to_owned();
    for exit in EXITS {
        writeln!(page, "| {} | {} |", exit as u8, meaning(exit)).unwrap();
    }
    for (name, mut command) in commands() {
        let help = command.render_help().to_string();
        let help: Vec<&str> = help.lines().map(str::trim_end).collect();
        writeln!(page, "\n## {name}\n\n```text\n{}\n```", help.join("\n").trim_end()).unwrap();
    }
    page
}

#[test]
fn the_page_lists_every_command_with_its_flags() {
    let page = page();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(PAGE, &page).unwrap();
    }
    let written = std::fs::read_to_string(Path::new(PAGE)).unwrap_or_default();
    assert_eq!(written, page, "{PAGE} is old; UPDATE=1 rewrites it");
}
