//! `forge dispatch`: gives the beads of a project to agents, by itself or once.

use anyhow::Result;
use serde_json::{Map, Value, json};

use crate::client::Client;
use crate::command::run::agent::read_executor;
use crate::command::serve::block_on;
use crate::figures;
use crate::reference::{self, short};
use crate::table::Table;
use crate::terminal::{self, say, say_fact};
use crate::transcript::{Ink, Line};

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  forge dispatch --max-workers 4\n  forge dispatch --dry-run\n  forge dispatch --once -x CLAUDE_CODE\n  \
                  forge dispatch --mirror on\n  forge dispatch -x default --max-workers default\n  forge dispatch --off"
)]
pub struct Flags {
    /// The project: name, id or path [default: the repository of the present directory]
    project: Option<String>,
    /// Start what is ready now, and leave the switch as it is
    #[arg(long, conflicts_with_all = ["off", "status"])]
    once: bool,
    /// Only tell what would be started
    #[arg(long, conflicts_with_all = ["off", "status"])]
    dry_run: bool,
    /// Switch it off; what is at work goes on
    #[arg(long, conflicts_with = "status")]
    off: bool,
    /// Only tell how the switch stands
    #[arg(long)]
    status: bool,
    /// The most beads of the project at once; `default` takes the limit back
    #[arg(long, value_name = "N|default", value_parser = read_limit)]
    max_workers: Option<Wish<u32>>,
    /// What a bead is worked on by
    #[arg(long, value_enum)]
    mode: Option<Mode>,
    /// What becomes of the branch when the agent succeeded
    #[arg(long, value_enum)]
    landing: Option<Landing>,
    /// When a bead counts as done
    #[arg(long, value_enum)]
    close_on: Option<CloseOn>,
    /// The agent for all of them, e.g. CODEX:HIGH; `default` goes back to those of the settings, by tier
    #[arg(short = 'x', long, value_name = "EXECUTOR[:VARIANT]")]
    executor: Option<String>,
    /// With --mode worker: the only definition (workers/<name>.yaml, workers.yaml) or launcher to use; `default` goes back
    /// to all that fit
    #[arg(long, value_name = "NAME|default", value_parser = read_name)]
    worker: Option<Wish<String>>,
    /// Whether tasks that are to be done are given out beside beads
    #[arg(long, value_name = "BOOL")]
    tasks: Option<bool>,
    /// Whether beads are tasks of the board and back; leaves the switch as it is
    #[arg(long, value_enum)]
    mirror: Option<Switch>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The word that takes a wish back.
const DEFAULT: &str = "default";

/// Something of one's own, or what it is without a wish.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Wish<T> {
    Default,
    Own(T),
}

impl<T: Into<Value>> From<Wish<T>> for Value {
    fn from(wish: Wish<T>) -> Value {
        match wish {
            Wish::Default => Value::Null,
            Wish::Own(own) => own.into(),
        }
    }
}

fn read_limit(text: &str) -> Result<Wish<u32>, String> {
    match text {
        DEFAULT => Ok(Wish::Default),
        text => text.parse().map(Wish::Own).map_err(|_| format!("a number or `{DEFAULT}` is wanted")),
    }
}

fn read_name(text: &str) -> Result<Wish<String>, String> {
    Ok(if text == DEFAULT { Wish::Default } else { Wish::Own(text.to_owned()) })
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
            body["project_id"] = project.id.into();
            body["dry_run"] = flags.dry_run.into();
            let report: Value = client.post("/api/dispatch", &body).await?;
            match flags.json {
                true => terminal::print_json(&report),
                false => tell(&project.name, &report),
            }
            return Ok(());
        }
        let path = format!("/api/projects/{}/dispatch", project.id);
        let rule: Value = match flags.status {
            true => client.get(&path).await?,
            false => {
                if flags.off || flags.mirror.is_none() {
                    body["enabled"] = (!flags.off).into();
                }
                client.put(&path, &body).await?
            }
        };
        match flags.json {
            true => terminal::print_json(&rule),
            false => tell_rule(&project.name, &rule),
        }
        Ok(())
    })
}

impl Flags {
    /// What is said on the command line, and nothing else.
    fn change(&self) -> Result<Value> {
        fn word<T: clap::ValueEnum>(value: Option<T>) -> Option<Value> {
            Some(value?.to_possible_value()?.get_name().into())
        }
        let executor = match self.executor.as_deref() {
            None => None,
            Some(DEFAULT) => Some(Value::Null),
            Some(own) => Some(json!(read_executor(own)?)),
        };
        let said = [
            ("max_workers", self.max_workers.clone().map(Value::from)),
            ("mode", word(self.mode)),
            ("landing", word(self.landing)),
            ("close_on", word(self.close_on)),
            ("mirror", self.mirror.map(|mirror| (mirror == Switch::On).into())),
            ("executor_profile_id", executor),
            ("worker", self.worker.clone().map(Value::from)),
            ("tasks", self.tasks.map(Value::from)),
        ];
        let said = said.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        Ok(Value::Object(said.collect::<Map<_, _>>()))
    }
}

fn tell_rule(project: &str, rule: &Value) {
    let state = if rule["enabled"] == true { "on" } else { "off" };
    say(&Line::new(Ink::Bold, project).and(Ink::Plain, &format!(": dispatch is {state}")));
    for name in ["mode", "landing", "close_on"] {
        say_fact(name, text(&rule[name]));
    }
    say_fact("mirror", if rule["mirror"] == true { "on" } else { "off" });
    if let Some(most) = rule["max_workers"].as_u64() {
        say_fact("at once", &most.to_string());
    }
    if let Some(executor) = rule["executor_profile_id"]["executor"].as_str() {
        say_fact("agent", executor);
    }
    if rule["tasks"] == true {
        say_fact("tasks", "given out too");
    }
    if let Some(worker) = rule["worker"].as_str() {
        say_fact("worker", worker);
    }
}

fn tell(project: &str, report: &Value) {
    let list = |name: &str| report[name].as_array().cloned().unwrap_or_default();
    let (started, waiting) = (list("started"), list("waiting"));
    if started.is_empty() && waiting.is_empty() {
        say(&Line::new(Ink::Plain, &format!("nothing of {project} is ready")));
        return;
    }
    let mut table =
        Table::new(&["BEAD", "SCORE", "TIER", "MODEL", "ATTEMPT", "WORKER", "TITLE"]).bending(&["TITLE"]);
    for bead in &started {
        let points = ["priority", "type", "complexity", "availability"];
        let score: u64 = points.iter().filter_map(|part| bead["score"][part].as_u64()).sum();
        table.row(vec![
            (Ink::Bold, text(&bead["bead"]).to_owned()),
            (Ink::Plain, score.to_string()),
            (Ink::Plain, text(&bead["decision"]["tier"]).to_owned()),
            (Ink::Plain, text(&bead["decision"]["model"]).to_owned()),
            (Ink::Plain, bead["attempt_id"].as_str().map_or("-", short).to_owned()),
            (Ink::Plain, bead["worker"].as_str().unwrap_or("-").to_owned()),
            (Ink::Plain, text(&bead["title"]).to_owned()),
        ]);
    }
    if !started.is_empty() {
        table.print();
    }
    let would = if report["dry_run"] == true { "would be started" } else { "started" };
    say(&Line::new(Ink::Plain, &format!("{} of {project} {would}", figures::count(started.len(), "bead"))));
    for bead in &waiting {
        let line = Line::new(Ink::Bold, text(&bead["bead"])).and(Ink::Plain, " waits: ");
        say(&line.and(Ink::Yellow, text(&bead["reason"])).whole());
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
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
        Program::try_parse_from(args).expect("flags").flags.change().expect("a change")
    }

    #[test]
    fn what_was_wished_can_be_taken_back() {
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
