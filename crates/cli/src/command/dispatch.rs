//! `forge dispatch`: gives the beads of a project to agents, continuously or once.

use anyhow::Result;
use forge_types::{DispatchReport, ProjectDispatch, WorkerId};
use serde_json::{Map, Value, json};

use crate::client::Client;
use crate::command::run::agent::read_executor;
use crate::command::serve::block_on;
use crate::figures;
use crate::json;
use crate::reference::{self, short};
use crate::table::Table;
use crate::terminal::{say, say_fact};
use crate::transcript::{Ink, Line};

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  forge dispatch --max-workers 4\n  forge dispatch --dry-run\n  forge dispatch --once -x CLAUDE_CODE\n  \
                  forge dispatch --mirror on\n  forge dispatch -x default --max-workers default\n  forge dispatch --off"
)]
pub struct Flags {
    /// The project: name, id or path [default: that of the current directory]
    project: Option<String>,
    /// Start what is ready now, without turning dispatch on or off
    #[arg(long, conflicts_with_all = ["off", "status"])]
    once: bool,
    /// Only show what would start
    #[arg(long, conflicts_with_all = ["off", "status"])]
    dry_run: bool,
    /// Turn dispatch off; running agents continue
    #[arg(long, conflicts_with = "status")]
    off: bool,
    /// Only show the current settings
    #[arg(long)]
    status: bool,
    /// Maximum number of beads of the project at once; `default` removes the limit
    #[arg(long, value_name = "N|default", value_parser = read_limit)]
    max_workers: Option<Setting<u32>>,
    /// Whether a bead becomes an attempt or goes to a worker
    #[arg(long, value_enum)]
    mode: Option<Mode>,
    /// What to do with the branch when the agent succeeds
    #[arg(long, value_enum)]
    landing: Option<Landing>,
    /// When a bead counts as done
    #[arg(long, value_enum)]
    close_on: Option<CloseOn>,
    /// The agent for all beads, e.g. CODEX:HIGH; `default` chooses by tier from the settings
    #[arg(short = 'x', long, value_name = "EXECUTOR[:VARIANT]")]
    executor: Option<String>,
    /// With --mode worker: use only this definition (workers/<name>.yaml, workers.yaml) or launcher; `default` allows
    /// all that match
    #[arg(long, value_name = "NAME|default", value_parser = read_name)]
    worker: Option<Setting<String>>,
    /// Whether to also dispatch tasks with the status todo
    #[arg(long, value_name = "BOOL")]
    tasks: Option<bool>,
    /// Mirror beads as tasks on the board and back; does not turn dispatch on or off
    #[arg(long, value_enum)]
    mirror: Option<Switch>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The word that removes a setting.
const DEFAULT: &str = "default";

/// A value, or the default.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Setting<T> {
    Default,
    Own(T),
}

impl<T: Into<Value>> From<Setting<T>> for Value {
    fn from(setting: Setting<T>) -> Value {
        match setting {
            Setting::Default => Value::Null,
            Setting::Own(own) => own.into(),
        }
    }
}

fn read_limit(text: &str) -> Result<Setting<u32>, String> {
    match text {
        DEFAULT => Ok(Setting::Default),
        text => text.parse().map(Setting::Own).map_err(|_| format!("expected a number or `{DEFAULT}`")),
    }
}

fn read_name(text: &str) -> Result<Setting<String>, String> {
    Ok(if text == DEFAULT { Setting::Default } else { Setting::Own(text.to_owned()) })
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Switch {
    On,
    Off,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Mode {
    Attempt,
    Worker,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Landing {
    Review,
    Merge,
    Pr,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum CloseOn {
    Success,
    Merge,
}

pub fn run(flags: Flags) -> Result<()> {
    block_on(async {
        let client = Client::find()?;
        let project = match &flags.project {
            Some(named) => reference::project(&client, named).await?,
            None => reference::here_or_refuse(&client).await?,
        };
        let mut body = flags.change()?;
        if flags.once || flags.dry_run {
            body.insert("project_id".to_owned(), json!(project.id));
            body.insert("dry_run".to_owned(), flags.dry_run.into());
            let report: DispatchReport = client.post("/api/dispatch", &Value::Object(body)).await?;
            match flags.json {
                true => json::print(&report),
                false => print_report(&project.name, &report),
            }
            return Ok(());
        }
        let path = format!("/api/projects/{}/dispatch", project.id);
        let rule: ProjectDispatch = match flags.status {
            true => client.get(&path).await?,
            false => {
                if flags.off || flags.mirror.is_none() {
                    body.insert("enabled".to_owned(), (!flags.off).into());
                }
                client.put(&path, &Value::Object(body)).await?
            }
        };
        match flags.json {
            true => json::print(&rule),
            false => print_rule(&project.name, &rule),
        }
        Ok(())
    })
}

impl Flags {
    /// Only what the command line sets.
    fn change(&self) -> Result<Map<String, Value>> {
        fn word<T: clap::ValueEnum>(value: Option<T>) -> Option<Value> {
            Some(value?.to_possible_value()?.get_name().into())
        }
        let executor = match self.executor.as_deref() {
            None => None,
            Some(DEFAULT) => Some(Value::Null),
            Some(own) => Some(json!(read_executor(own)?)),
        };
        let given = [
            ("max_workers", self.max_workers.clone().map(Value::from)),
            ("mode", word(self.mode)),
            ("landing", word(self.landing)),
            ("close_on", word(self.close_on)),
            ("mirror", self.mirror.map(|mirror| (mirror == Switch::On).into())),
            ("executor_profile_id", executor),
            ("worker", self.worker.clone().map(Value::from)),
            ("tasks", self.tasks.map(Value::from)),
        ];
        let given = given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        Ok(given.collect())
    }
}

fn print_rule(project: &str, ProjectDispatch { rule, .. }: &ProjectDispatch) {
    let state = |on: bool| if on { "on" } else { "off" };
    say(&Line::new(Ink::Bold, project).and(Ink::Plain, &format!(": dispatch is {}", state(rule.enabled))));
    say_fact("mode", &json::word(&rule.mode));
    say_fact("landing", &json::word(&rule.landing));
    say_fact("close_on", &json::word(&rule.close_on));
    say_fact("mirror", state(rule.mirror));
    if let Some(most) = rule.max_workers {
        say_fact("at once", &most.to_string());
    }
    if let Some(profile) = &rule.executor_profile_id {
        say_fact("agent", profile.executor.as_str());
    }
    if rule.tasks {
        say_fact("tasks", "dispatched too");
    }
    if let Some(worker) = &rule.worker {
        say_fact("worker", worker);
    }
}

fn print_report(project: &str, report: &DispatchReport) {
    let DispatchReport { started, waiting, .. } = report;
    if started.is_empty() && waiting.is_empty() {
        say(&Line::new(Ink::Plain, &format!("nothing in {project} is ready")));
        return;
    }
    let mut table =
        Table::new(&["BEAD", "SCORE", "TIER", "MODEL", "ATTEMPT", "WORKER", "TITLE"]).flexible(&["TITLE"]);
    for bead in started {
        table.row(vec![
            (Ink::Bold, bead.bead.clone()),
            (Ink::Plain, bead.score.total().to_string()),
            (Ink::Plain, bead.decision.tier.to_string()),
            (Ink::Plain, bead.decision.model.clone()),
            (Ink::Plain, bead.attempt_id.map_or_else(|| "-".to_owned(), short)),
            (Ink::Plain, bead.worker.as_ref().map_or("-", WorkerId::as_str).to_owned()),
            (Ink::Plain, bead.title.clone()),
        ]);
    }
    if !started.is_empty() {
        table.print();
    }
    let would = if report.dry_run { "would be started" } else { "started" };
    say(&Line::new(Ink::Plain, &format!("{} of {project} {would}", figures::count(started.len(), "bead"))));
    for bead in waiting {
        let line = Line::new(Ink::Bold, &bead.bead).and(Ink::Plain, " waits: ");
        say(&line.and(Ink::Yellow, &bead.reason).whole());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        flags: Flags,
    }

    fn change(args: &[&str]) -> Value {
        let args = ["dispatch"].iter().chain(args);
        Program::try_parse_from(args).expect("flags").flags.change().expect("a change").into()
    }

    #[test]
    fn a_setting_can_be_removed() {
        assert_eq!(change(&[]), json!({}));
        assert_eq!(
            change(&["--max-workers", "4", "--worker", "a"]),
            json!({"max_workers": 4, "worker": "a"})
        );
        let back = change(&["-x", "default", "--max-workers", "default", "--worker", "default"]);
        assert_eq!(back, json!({"executor_profile_id": null, "max_workers": null, "worker": null}));
        let refusal = Program::try_parse_from(["dispatch", "--max-workers", "many"]).err().expect("refused");
        assert!(refusal.to_string().contains("a number or `default`"), "{refusal}");
    }
}
