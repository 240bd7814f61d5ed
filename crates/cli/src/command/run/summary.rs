//! The result of a run, in a few lines.

use std::time::{Duration, Instant};

use forge_types::wire::TaskAttemptDetail;
use forge_types::{
    AgentSource, AgentState, Attempt, AttemptId, AutoPr, Executor, FoundAgent, MicroUsd, Millis, RunStatus,
    UsageReport,
};
use serde_json::{Value, json};

use crate::client::Client;
use crate::figures;
use crate::json;
use crate::process::Process;
use crate::reference::short;
use crate::tally::{Changes, Tokens};
use crate::transcript::{Ink, Line};

/// How long the summary waits for the pull request.
const PULL_LIMIT: Duration = Duration::from_secs(30);
const PULL_PAUSE: Duration = Duration::from_millis(200);

pub struct Summary {
    status: RunStatus,
    took: Duration,
    attempt: Attempt,
    parked_until: Option<Millis>,
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
    async fn gather(client: &Client, attempt: &Attempt) -> Self {
        let agents: Vec<FoundAgent> = client.get("/api/agents").await.unwrap_or_default();
        Self::of(&agents, attempt.executor_profile_id.executor)
    }

    fn of(agents: &[FoundAgent], executor: Executor) -> Self {
        let agent = agents.iter().find(|agent| agent.executor == executor);
        let step = agent.map(|agent| match agent.state {
            AgentState::NotInstalled | AgentState::NotWorking => ("install", agent.install.clone()),
            _ => ("log in", agent.log_in.clone().unwrap_or_default()),
        });
        let ready = agents.iter().filter(|agent| agent.ready && agent.found != Some(AgentSource::BuiltIn));
        let ready = ready.map(|agent| agent.executor).find(|other| *other != executor);
        let software = forge_run::agents::agent(executor).software.as_ref();
        Self {
            step: step.filter(|(_, command)| !command.is_empty()),
            key: software.and_then(|software| software.keys.first()).copied(),
            ready: ready.map(|executor| executor.to_string()),
        }
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
        attempt: AttemptId,
        run: &Process,
        took: Duration,
        landing: Landing,
    ) -> anyhow::Result<Self> {
        let path = format!("/api/task-attempts/{attempt}");
        let TaskAttemptDetail { mut attempt, .. } = client.get(&path).await?;
        let changes = Changes::count(&attempt).await;
        if run.status == RunStatus::Completed && has_some(changes) {
            attempt = await_pull(client, &path, attempt).await?;
        }
        let usage: Option<UsageReport> =
            client.get(&format!("/api/usage?task_attempt_id={}", attempt.id)).await.ok();
        Ok(Self {
            status: run.status,
            took,
            changes,
            cost_usd: usage.and_then(|usage| usage.total.cost_usd).map(MicroUsd::usd),
            setup: match run.setup_required {
                true => Some(Setup::gather(client, &attempt).await),
                false => None,
            },
            attempt,
            parked_until: run.parked_until,
            commit_error: run.commit_error.clone(),
            open_conflicts: run.open_conflicts.clone(),
            exit_code: run.exit_code,
            landing,
        })
    }

    pub fn lines(&self) -> Vec<Line> {
        let (ink, word) = match self.status {
            RunStatus::Completed => (Ink::Green, "completed"),
            RunStatus::Killed => (Ink::Yellow, "stopped"),
            RunStatus::Failed => (Ink::Red, "failed"),
            RunStatus::Running => (Ink::Yellow, "running"),
        };
        let mut facts = vec![format!(" in {}", figures::duration(self.took))];
        if let (Some(code), RunStatus::Failed) = (self.exit_code.filter(|code| *code != 0), self.status) {
            facts.push(format!("exit {code}"));
        }
        facts.extend(self.changes.map(Changes::words));
        facts.extend(Tokens::from(&self.attempt.tokens).words());
        facts.extend(self.cost_usd.map(figures::money));
        let mut lines = vec![Line::new(ink, word).and(Ink::Plain, &facts.join(" · "))];
        if let Some(until) = self.parked_until {
            lines.push(Line::new(Ink::Yellow, &format!("  parked until {until}")));
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
        let task = short(self.attempt.task_id);
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
        let Attempt { branch, target_branch: target, worktree_path, .. } = &self.attempt;
        let id = short(self.attempt.id);
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
        match &self.attempt.auto_pr {
            Some(AutoPr::Opened { url }) => lines.push(row("pr", url)),
            Some(AutoPr::Failed { message }) => {
                lines.push(row("pr", &format!("not opened: {message}; try again with forge pr {id}")));
            }
            Some(AutoPr::Waiting) if self.status == RunStatus::Completed && has_some(self.changes) => {
                lines.push(row("pr", "not open yet; the server continues, and the board shows it"));
            }
            _ => {}
        }
        if has_some(self.changes) && self.attempt.use_worktree {
            let (merge, diff) = match self.landing {
                Landing::Server => (format!("forge merge {id}"), format!("forge diff {id}")),
                Landing::Git => (
                    format!("git merge --squash {branch} && git commit"),
                    format!("git -C {} diff {target}", worktree_path.as_deref().unwrap_or_default()),
                ),
            };
            if self.status == RunStatus::Completed {
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
            "attempt": json::complete(&self.attempt),
        })
    }
}

/// Whether the agent changed something, as far as is known.
fn has_some(changes: Option<Changes>) -> bool {
    changes.is_none_or(|changes| changes.files > 0)
}

/// The attempt once its pull request is open or has failed, if it gets one. A code host may be slow, and the
/// server continues without us.
async fn await_pull(client: &Client, path: &str, attempt: Attempt) -> anyhow::Result<Attempt> {
    let mut now = attempt;
    let begun = Instant::now();
    while now.auto_pr == Some(AutoPr::Waiting) && begun.elapsed() < PULL_LIMIT {
        tokio::select! {
            () = tokio::time::sleep(PULL_PAUSE) => {}
            _ = tokio::signal::ctrl_c() => break,
        }
        now = client.get::<TaskAttemptDetail>(path).await?.attempt;
    }
    Ok(now)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::{Colours, Page};

    fn summary(status: RunStatus) -> Summary {
        let attempt = json!({
            "id": "a1b2c3d4-0000-4000-8000-000000000000", "task_id": "99887766-0000-4000-8000-000000000000",
            "project_id": "11223344-0000-4000-8000-000000000000", "branch": "forge/a1b2-greet",
            "target_branch": "main", "executor": "SHELL", "executor_profile_id": "SHELL", "status": "completed",
            "container_ref": null, "worktree_path": "/worktrees/a1b2-greet", "worktree_deleted": false,
            "use_worktree": true, "setup_completed_at": null, "created_at": "2026-11-01T00:00:00Z",
            "updated_at": "2026-11-01T00:00:00Z", "input_tokens": 468, "cache_read_tokens": 2000,
            "cache_creation_tokens": 0, "output_tokens": 112,
        });
        let attempt = serde_json::from_value(attempt).unwrap();
        Summary {
            status,
            took: Duration::from_secs(75),
            attempt,
            parked_until: None,
            commit_error: None,
            setup: None,
            open_conflicts: Vec::new(),
            exit_code: Some(if status == RunStatus::Failed { 3 } else { 0 }),
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
        insta::assert_snapshot!(shown(&summary(RunStatus::Completed)), @r#"
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
        let text = shown(&Summary { commit_error, ..summary(RunStatus::Completed) });
        assert!(text.contains("not committed the disk is full"), "{text}");
    }

    #[test]
    fn an_agent_that_is_not_set_up_comes_with_the_command_that_sets_it_up() {
        let agent = |executor, found, state, install: &str, log_in: Option<&str>| FoundAgent {
            executor,
            name: String::new(),
            program: String::new(),
            protocol: String::new(),
            found,
            path: None,
            version: None,
            keys: Vec::new(),
            logged_in: false,
            ready: state == AgentState::Ready,
            state,
            install: install.to_owned(),
            log_in: log_in.map(str::to_owned),
        };
        let path = Some(AgentSource::Path);
        let agents = [
            agent(Executor::ClaudeCode, path, AgentState::NotLoggedIn, "i", Some("claude")),
            agent(Executor::Codex, path, AgentState::Ready, "", None),
            agent(Executor::Amp, None, AgentState::NotInstalled, "npm i amp", None),
            agent(Executor::Shell, Some(AgentSource::BuiltIn), AgentState::Ready, "", None),
        ];
        let mut failed = summary(RunStatus::Failed);
        failed.changes = Some(Changes::default());
        failed.cost_usd = None;
        failed.setup = Some(Setup::of(&agents, Executor::ClaudeCode));
        insta::assert_snapshot!(shown(&failed), @r#"
        failed in 1 min 15 s · exit 3 · no changes · 2.5k tokens in, 112 out
          branch   forge/a1b2-greet → main
          log in   claude   (or set ANTHROPIC_API_KEY)
          retry    forge task start 99887766
          switch   forge task start 99887766 -x CODEX
        "#);
        assert_eq!(Setup::of(&agents, Executor::Amp).step, Some(("install", "npm i amp".to_owned())));
    }

    #[test]
    fn conflicts_that_are_left_open_are_named_with_the_ways_out() {
        let mut stuck = summary(RunStatus::Completed);
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
        let mut failed = summary(RunStatus::Failed);
        failed.changes = Some(Changes::default());
        failed.cost_usd = None;
        insta::assert_snapshot!(shown(&failed), @r#"
        failed in 1 min 15 s · exit 3 · no changes · 2.5k tokens in, 112 out
          branch   forge/a1b2-greet → main
          continue forge resume a1b2c3d4 "…"
        "#);
    }
}
