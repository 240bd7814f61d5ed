//! The result of a run, in a few lines.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::Client;
use crate::figures;
use crate::process::Process;
use crate::reference::short;
use crate::tally::{Changes, Tokens};
use crate::transcript::{Ink, Line};

/// How long the summary waits for the pull request.
const PULL_LIMIT: Duration = Duration::from_secs(30);
const PULL_PAUSE: Duration = Duration::from_millis(200);

pub struct Summary {
    status: String,
    took: Duration,
    attempt: Value,
    parked_until: Option<String>,
    commit_error: Option<String>,
    setup: Option<Setup>,
    open_conflicts: Vec<String>,
    exit_code: Option<i32>,
    changes: Option<Changes>,
    cost_usd: Option<f64>,
    landing: Landing,
}

/// What an agent needs before it can work, and which agent could work instead.
#[derive(Default)]
struct Setup {
    /// `install` or `log in`, and its command.
    step: Option<(&'static str, String)>,
    /// The variable that holds a key.
    key: Option<&'static str>,
    ready: Option<String>,
}

impl Setup {
    /// From the server's list of agents; what it does not report is left out.
    async fn gather(client: &Client, attempt: &Value) -> Self {
        let agents: Value = client.get("/api/agents").await.unwrap_or_default();
        Self::of(&agents, text(&attempt["executor"]))
    }

    fn of(agents: &Value, profile: &str) -> Self {
        let executor = profile.split(':').next().unwrap_or_default();
        let agents = || agents.as_array().into_iter().flatten();
        let agent = agents().find(|agent| agent["executor"] == executor);
        let step = agent.and_then(|agent| {
            let step = match agent["state"].as_str() {
                Some("not_installed" | "not_working") => ("install", text(&agent["install"])),
                _ => ("log in", text(&agent["log_in"])),
            };
            Some(step)
                .filter(|(_, command)| !command.is_empty())
                .map(|(name, command)| (name, command.to_owned()))
        });
        let ready = agents().filter(|agent| agent["ready"] == true && agent["found"] != "built_in");
        let mut ready = ready.map(|agent| text(&agent["executor"])).filter(|other| *other != executor);
        let software =
            executor.parse().ok().and_then(|known| forge_run::agents::agent(known).software.as_ref());
        let key = software.and_then(|software| software.keys.first());
        Self { step, key: key.copied(), ready: ready.next().map(str::to_owned) }
    }
}

/// How to land the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Landing {
    /// By the server, which keeps running.
    Server,
    /// By git: the server ends with the command.
    Git,
}

impl Summary {
    /// Asks the server for what is known now; what is unknown is left out.
    pub async fn gather(
        client: &Client,
        attempt: &str,
        run: &Process,
        took: Duration,
        landing: Landing,
    ) -> anyhow::Result<Self> {
        let path = format!("/api/task-attempts/{attempt}");
        let mut attempt: Value = client.get(&path).await?;
        let changes = Changes::count(&attempt).await;
        if run.status == "completed" && has_some(changes) {
            attempt = await_pull(client, &path, attempt).await?;
        }
        let id = text(&attempt["id"]);
        let usage: Option<Value> = client.get(&format!("/api/usage?task_attempt_id={id}")).await.ok();
        Ok(Self {
            status: run.status.clone(),
            took,
            changes,
            cost_usd: usage.and_then(|usage| usage["total"]["cost_usd"].as_f64()),
            setup: match run.setup_required {
                true => Some(Setup::gather(client, &attempt).await),
                false => None,
            },
            attempt,
            parked_until: run.parked_until.clone(),
            commit_error: run.commit_error.clone(),
            open_conflicts: run.open_conflicts.clone(),
            exit_code: run.exit_code,
            landing,
        })
    }

    pub fn lines(&self) -> Vec<Line> {
        let (ink, word) = match self.status.as_str() {
            "completed" => (Ink::Green, "completed"),
            "killed" => (Ink::Yellow, "stopped"),
            "failed" => (Ink::Red, "failed"),
            other => (Ink::Yellow, other),
        };
        let mut facts = vec![format!(" in {}", figures::duration(self.took))];
        if let (Some(code), "failed") = (self.exit_code.filter(|code| *code != 0), self.status.as_str()) {
            facts.push(format!("exit {code}"));
        }
        facts.extend(self.changes.map(Changes::words));
        facts.extend(Tokens::read(&self.attempt).words());
        facts.extend(self.cost_usd.map(figures::money));
        let mut lines = vec![Line::new(ink, word).and(Ink::Plain, &facts.join(" · "))];
        if let Some(until) = &self.parked_until {
            lines.push(Line::new(Ink::Yellow, "  parked until ").and(Ink::Yellow, until));
        }
        if let Some(why) = &self.commit_error {
            lines.push(Line::new(Ink::Red, "  not committed ").and(Ink::Plain, why));
            lines.push(Line::new(
                Ink::Dim,
                "                The work is in the worktree; Forge will try again.",
            ));
        }
        if !self.open_conflicts.is_empty() {
            let files = self.open_conflicts.join(", ");
            lines.push(Line::new(Ink::Red, "  still in conflict ").and(Ink::Plain, &files));
        }
        lines.extend(self.next_steps());
        lines
    }

    /// How to set the agent up, try again, or let another one try.
    fn setup_steps(&self, setup: &Setup) -> Vec<(&'static str, String)> {
        let task = short(text(&self.attempt["task_id"]));
        let mut steps = Vec::new();
        if let Some((name, command)) = &setup.step {
            let key = setup.key.map(|key| format!("   (or set {key})")).unwrap_or_default();
            steps.push((*name, format!("{command}{key}")));
        }
        steps.push(("retry", format!("forge task start {task}")));
        if let Some(ready) = &setup.ready {
            steps.push(("switch", format!("forge task start {task} -x {ready}")));
        }
        steps
    }

    fn next_steps(&self) -> Vec<Line> {
        let text = |key: &str| text(&self.attempt[key]);
        let (branch, target) = (text("branch"), text("target_branch"));
        let id = short(text("id"));
        let row = |name: &str, value: &str| {
            Line::new(Ink::Dim, &format!("  {name:9}")).and(Ink::Plain, value).whole()
        };
        let mut lines = vec![row("branch", &format!("{branch} → {target}"))];
        if let Some(setup) = &self.setup {
            lines.extend(self.setup_steps(setup).iter().map(|(name, command)| row(name, command)));
            return lines;
        }
        if !self.open_conflicts.is_empty() {
            lines.push(row("resolve", &format!("forge rebase {id} --resolve")));
            lines.push(row("abort", &format!("forge rebase {id} --abort")));
            return lines;
        }
        let pull = &self.attempt["auto_pr"];
        match pull["state"].as_str() {
            Some("opened") => lines.push(row("pr", pull["url"].as_str().unwrap_or_default())),
            Some("failed") => {
                let why = pull["message"].as_str().unwrap_or_default();
                lines.push(row("pr", &format!("not opened: {why}; try again with forge pr {id}")));
            }
            Some(_) if self.status == "completed" && has_some(self.changes) => {
                lines.push(row("pr", "not open yet; the server continues, and the board shows it"));
            }
            _ => {}
        }
        if has_some(self.changes) && self.attempt["use_worktree"] != false {
            let (merge, diff) = match self.landing {
                Landing::Server => (format!("forge merge {id}"), format!("forge diff {id}")),
                Landing::Git => (
                    format!("git merge --squash {branch} && git commit"),
                    format!("git -C {} diff {target}", text("worktree_path")),
                ),
            };
            if self.status == "completed" {
                lines.push(row("merge", &merge));
            }
            lines.push(row("diff", &diff));
        }
        lines.push(row("continue", &format!("forge resume {id} \"…\"")));
        lines
    }

    /// The last line of the JSON output.
    pub fn object(&self) -> Value {
        json!({
            "type": "end",
            "status": self.status,
            "exit_code": self.exit_code,
            "duration_ms": u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX),
            "parked_until": self.parked_until,
            "commit_error": self.commit_error,
            "setup_required": self.setup.is_some(),
            "open_conflicts": self.open_conflicts,
            "changes": self.changes.map(|c| json!({"files": c.files, "added": c.added, "removed": c.removed})),
            "cost_usd": self.cost_usd,
            "attempt": self.attempt,
        })
    }
}

/// Whether the agent changed something, as far as is known.
fn has_some(changes: Option<Changes>) -> bool {
    changes.is_none_or(|changes| changes.files > 0)
}

/// The attempt once its pull request is open or has failed, if it gets one. A code host may be slow, and the
/// server continues without us.
async fn await_pull(client: &Client, path: &str, attempt: Value) -> anyhow::Result<Value> {
    let mut now = attempt;
    let begun = Instant::now();
    while now["auto_pr"]["state"] == "waiting" && begun.elapsed() < PULL_LIMIT {
        tokio::select! {
            () = tokio::time::sleep(PULL_PAUSE) => {}
            _ = tokio::signal::ctrl_c() => break,
        }
        now = client.get(path).await?;
    }
    Ok(now)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::{Colours, Page};

    fn summary(status: &str) -> Summary {
        let attempt = json!({
            "id": "a1b2c3d4-0000-4000-8000-000000000000", "task_id": "99887766-0000-4000-8000-000000000000", "branch": "forge/a1b2-greet", "target_branch": "main",
            "worktree_path": "/worktrees/a1b2-greet", "use_worktree": true,
            "input_tokens": 468, "cache_read_tokens": 2000, "cache_creation_tokens": 0, "output_tokens": 112,
        });
        Summary {
            status: status.to_owned(),
            took: Duration::from_secs(75),
            attempt,
            parked_until: None,
            commit_error: None,
            setup: None,
            open_conflicts: Vec::new(),
            exit_code: Some(if status == "failed" { 3 } else { 0 }),
            changes: Some(Changes { files: 2, added: 12, removed: 4 }),
            cost_usd: Some(0.417),
            landing: Landing::Server,
        }
    }

    fn shown(summary: &Summary) -> String {
        let mut out = String::new();
        let page = Page { width: 80, colours: Colours::Off };
        summary.lines().iter().for_each(|line| line.put(page, &mut out));
        out
    }

    #[test]
    fn the_summary_shows_the_result_and_the_next_steps() {
        insta::assert_snapshot!(shown(&summary("completed")), @r#"
        completed in 1 min 15 s · 2 files +12 -4 · 2.5k tokens in, 112 out · $0.42
          branch   forge/a1b2-greet → main
          merge    forge merge a1b2c3d4
          diff     forge diff a1b2c3d4
          continue forge resume a1b2c3d4 "…"
        "#);
    }

    #[test]
    fn work_that_is_not_committed_is_reported() {
        let commit_error = Some("the disk is full".to_owned());
        let text = shown(&Summary { commit_error, ..summary("completed") });
        assert!(text.contains("not committed the disk is full"), "{text}");
    }

    #[test]
    fn an_agent_that_is_not_set_up_comes_with_the_command_that_sets_it_up() {
        let agents = json!([
            {"executor": "CLAUDE_CODE", "found": "path", "ready": false, "state": "not_logged_in", "install": "i", "log_in": "claude"},
            {"executor": "CODEX", "found": "path", "ready": true, "state": "ready"},
            {"executor": "AMP", "found": null, "ready": false, "state": "not_installed", "install": "npm i amp"},
            {"executor": "SHELL", "found": "built_in", "ready": true, "state": "ready"},
        ]);
        let mut failed = summary("failed");
        failed.changes = Some(Changes::default());
        failed.cost_usd = None;
        failed.setup = Some(Setup::of(&agents, "CLAUDE_CODE:PLAN"));
        insta::assert_snapshot!(shown(&failed), @r#"
        failed in 1 min 15 s · exit 3 · no changes · 2.5k tokens in, 112 out
          branch   forge/a1b2-greet → main
          log in   claude   (or set ANTHROPIC_API_KEY)
          retry    forge task start 99887766
          switch   forge task start 99887766 -x CODEX
        "#);
        assert_eq!(Setup::of(&agents, "AMP").step, Some(("install", "npm i amp".to_owned())));
    }

    #[test]
    fn conflicts_that_are_left_open_are_named_with_the_ways_out() {
        let mut stuck = summary("completed");
        stuck.open_conflicts = vec!["README.md".to_owned()];
        insta::assert_snapshot!(shown(&stuck), @r#"
        completed in 1 min 15 s · 2 files +12 -4 · 2.5k tokens in, 112 out · $0.42
          still in conflict README.md
          branch   forge/a1b2-greet → main
          resolve  forge rebase a1b2c3d4 --resolve
          abort    forge rebase a1b2c3d4 --abort
        "#);
    }

    #[test]
    fn a_failure_without_changes_offers_no_merge() {
        let mut failed = summary("failed");
        failed.changes = Some(Changes::default());
        failed.cost_usd = None;
        insta::assert_snapshot!(shown(&failed), @r#"
        failed in 1 min 15 s · exit 3 · no changes · 2.5k tokens in, 112 out
          branch   forge/a1b2-greet → main
          continue forge resume a1b2c3d4 "…"
        "#);
    }
}
