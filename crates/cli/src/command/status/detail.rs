//! The details of one attempt.

use anyhow::Result;
use forge_types::wire::TaskAttemptDetail;
use forge_types::{Attempt, BranchStatus, Budget, ConflictOp, Merge, Millis, PrStatus, RunReason, RunStatus};
use serde_json::json;

use crate::client::Client;
use crate::command::approve;
use crate::command::list::ink;
use crate::figures;
use crate::json;
use crate::process::Process;
use crate::reference::{self, Meant, short};
use crate::tally::Tokens;
use crate::terminal::{self, say, say_fact};
use crate::transcript::{Ink, Line};

pub async fn print(client: &Client, Meant { attempt, project }: &Meant, json: bool) -> Result<()> {
    let id = attempt.id;
    let path = format!("/api/task-attempts/{id}");
    let (detail, runs, questions) = tokio::try_join!(
        client.get::<TaskAttemptDetail>(&path),
        Process::list(client, id),
        approve::questions_of(client, id),
    )?;
    let branch = client.get::<BranchStatus>(&format!("{path}/branch-status")).await;
    if json {
        terminal::print_json(&json!({
            "attempt": json::complete(&detail), "branch_status": branch.ok().as_ref().map(json::complete), "url": reference::page(client, attempt),
            "project": project.name,
            "approvals": questions.iter().map(approve::object).collect::<Vec<_>>(),
        }));
        return Ok(());
    }
    let TaskAttemptDetail { attempt: known, task, .. } = &detail;
    say(&Line::new(Ink::Bold, &short(id)).and(Ink::Plain, " ").and(Ink::Plain, &task.title).whole());
    say_fact("project", &project.name);
    say_fact("task", &format!("{} {}", short(attempt.task_id), task.status));
    say_fact("agent", &attempt.executor_profile_id.to_string());
    print_run(attempt, &runs);
    let target = &attempt.target_branch;
    match &branch {
        Ok(status) => print_branch(attempt, status),
        Err(error) => say_fact("branch", &format!("{} → {target} ({error:#})", attempt.branch)),
    }
    print_worktree(known);
    let cost = known.cost_usd.map(|cost| figures::money(cost.usd()));
    let used: Vec<String> = Tokens::from(&known.tokens).words().into_iter().chain(cost).collect();
    if !used.is_empty() {
        say_fact("used", &used.join(", "));
    }
    if let Some(Budget(limit)) = known.max_cost_usd {
        say_fact("limit", &figures::money(limit.usd()));
    }
    say_fact("board", &reference::page(client, attempt));
    approve::print_questions(&questions);
    Ok(())
}

fn print_run(attempt: &Attempt, runs: &[Process]) {
    let newest = runs.iter().rev().find(|run| run.run_reason != RunReason::DevServer);
    let status = json::word(&attempt.status);
    let line = Line::new(Ink::Dim, &format!("{:<10}", "status")).and(ink(&status), &status);
    let Some(run) = newest else { return say(&line) };
    let doing = if run.is_agent() { String::new() } else { format!("{} ", run.name()) };

    let end = run.completed_at.unwrap_or_else(Millis::now);
    let took = figures::duration(figures::between(run.started_at, end));
    let how = match (run.status, run.exit_code.filter(|code| *code != 0)) {
        (RunStatus::Running, _) => format!("{doing}for {took}"),
        (RunStatus::Failed, Some(code)) => format!("{doing}exit {code} after {took}"),
        _ => format!("{doing}after {took}"),
    };
    let until = run.parked_until.as_ref().map(|until| format!(", parked until {until}"));
    say(&line.and(Ink::Plain, &format!(" ({how}{})", until.unwrap_or_default())));
    if let Some(why) = runs.iter().find_map(|run| run.commit_error.as_deref()) {
        let word = Line::new(Ink::Red, &format!("{:<10}", "commit"));
        say(&word.and(Ink::Plain, &format!("failed and will be retried: {why}")).whole());
    }
}

fn print_branch(attempt: &Attempt, status: &BranchStatus) {
    let mut facts = Vec::new();
    facts.extend(status.commits_ahead.map(|ahead| format!("{ahead} ahead")));
    facts.extend(status.commits_behind.map(|behind| format!("{behind} behind")));
    let dirty = status.uncommitted_count.unwrap_or(0) + status.untracked_count.unwrap_or(0);
    facts.extend((dirty > 0).then(|| format!("{} uncommitted", figures::count(dirty, "file"))));
    let target = &status.target_branch_name;
    say_fact("branch", &format!("{} → {target} ({})", attempt.branch, facts.join(", ")));
    if status.is_rebase_in_progress || status.conflict_op.is_some() {
        let operation = status.conflict_op.unwrap_or(ConflictOp::Rebase).command();
        let files = match status.conflicted_files.is_empty() {
            true => "no conflicted files are left".to_owned(),
            false => status.conflicted_files.join(", "),
        };
        say(&Line::new(Ink::Red, &format!("{:<10}a {operation} stopped: {files}", "conflict")).whole());
        say_fact(
            "",
            &format!("forge rebase {} --resolve hands it to the agent, --abort undoes it", short(attempt.id)),
        );
    }
    for merge in &status.merges {
        match merge {
            Merge::Direct { merge_commit, target_branch_name, .. } => {
                say_fact("merged", &format!("into {target_branch_name} as {}", short(merge_commit)));
            }
            Merge::Pr { pr_info, .. } => {
                let state = match pr_info.status {
                    PrStatus::Open => "open",
                    PrStatus::Merged => "merged",
                    PrStatus::Closed => "closed",
                    PrStatus::Unknown => "unknown",
                };
                say_fact("pull", &format!("#{} {state} {}", pr_info.number, pr_info.url));
            }
        }
    }
}

fn print_worktree(attempt: &Attempt) {
    let path = attempt.worktree_path.as_deref().unwrap_or("-");
    let note = match (attempt.worktree_deleted, attempt.use_worktree) {
        (true, _) => " (retired; `forge restore` restores it)",
        (_, false) => " (the main checkout)",
        _ => "",
    };
    say_fact("worktree", &format!("{path}{note}"));
}
