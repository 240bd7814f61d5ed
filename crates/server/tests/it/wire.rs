//! The translation against exchanges recorded from an older server: what it sent, we still send.

use forge_types::wire::{AttemptDrafts, ExecutionProcess, StartedTask, TaskAttemptDetail, newest_agent_run};
use forge_types::{
    Attempt, AttemptId, AttemptStatus, ErrandId, Executor, Millis, ProfileId, ProjectId, Run, RunId,
    RunOwner, RunPhase, RunReason, Task, TaskStatus, TaskSummary, Tokens,
};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

fn recorded(text: &str) -> Value {
    let body: Value = serde_json::from_str(text).unwrap();
    body["data"].clone()
}

fn read<T: serde::de::DeserializeOwned>(value: &Value) -> T {
    serde_json::from_value(value.clone()).unwrap()
}

/// Every recorded key with its recorded value (times to the millisecond), and no new keys but `added`.
fn assert_keeps(ours: &Value, recorded: &Value, added: &[&str]) {
    let (ours, recorded) = (ours.as_object().unwrap(), recorded.as_object().unwrap());
    for (key, want) in recorded {
        let got = ours.get(key).unwrap_or_else(|| panic!("{key} is missing"));
        if key.ends_with("_at") && want.is_string() {
            assert_eq!(read::<Millis>(got), read::<Millis>(want), "{key}");
        } else {
            assert_eq!(got, want, "{key}");
        }
    }
    let mut new: Vec<&str> =
        ours.keys().filter(|key| !recorded.contains_key(*key)).map(|key| &**key).collect();
    new.sort_unstable();
    assert_eq!(new, added);
}

fn recorded_run() -> (Value, Run) {
    let data = recorded(include_str!("../fixtures/process.json"));
    let run = Run {
        id: read(&data["id"]),
        owner: RunOwner::Attempt(read(&data["task_attempt_id"])),
        reason: read(&data["run_reason"]),
        action: read(&data["executor_action"]),
        before_head: read(&data["before_head_commit"]),
        after_head: read(&data["after_head_commit"]),
        status: read(&data["status"]),
        phase: RunPhase::Ended,
        exit_code: read(&data["exit_code"]),
        dropped: read(&data["dropped"]),
        session_id: Some("s".into()),
        summary: None,
        parked_until: None,
        unverified: false,
        commit_error: None,
        setup_required: false,
        open_conflicts: Vec::new(),
        started_at: read(&data["started_at"]),
        completed_at: read(&data["completed_at"]),
        created_at: read(&data["created_at"]),
        updated_at: read(&data["updated_at"]),
    };
    (data, run)
}

fn recorded_attempt() -> (Value, Attempt) {
    let data = recorded(include_str!("../fixtures/attempt.json"));
    let attempt = Attempt {
        id: read(&data["id"]),
        task_id: read(&data["task_id"]),
        container_ref: read(&data["container_ref"]),
        branch: read(&data["branch"]),
        target_branch: read(&data["target_branch"]),
        executor: read(&data["executor"]),
        worktree_deleted: read(&data["worktree_deleted"]),
        setup_completed_at: read(&data["setup_completed_at"]),
        tokens: Tokens::default(),
        created_at: read(&data["created_at"]),
        updated_at: read(&data["updated_at"]),
        status: AttemptStatus::Running,
        project_id: ProjectId::random(),
        executor_profile_id: ProfileId::new(Executor::ClaudeCode),
        worktree_path: read(&data["container_ref"]),
        use_worktree: true,
        auto_pr: None,
        cost_usd: None,
        max_cost_usd: None,
    };
    (data, attempt)
}

fn task(data: &Value) -> Task {
    read(data)
}

#[test]
fn a_run_is_the_recorded_execution_process() {
    let (data, run) = recorded_run();
    let ours = serde_json::to_value(ExecutionProcess::from(run)).unwrap();
    assert_keeps(&ours, &data, &["execution_run_id", "output"]);
    assert_eq!(ours["output"], Value::Null);
}

#[test]
fn a_run_of_an_errand_names_the_execution_run() {
    let (_, mut run) = recorded_run();
    let errand = ErrandId::random();
    run.owner = RunOwner::Errand(errand);
    let ours = serde_json::to_value(ExecutionProcess::from(run)).unwrap();
    assert_eq!(ours["task_attempt_id"], Value::Null);
    assert_eq!(ours["execution_run_id"], json!(errand));
}

#[test]
fn only_the_last_of_a_list_carries_its_output() {
    let (_, run) = recorded_run();
    let runs = vec![run.clone(), run];
    let ours = serde_json::to_value(ExecutionProcess::list(runs, Some("done".into()))).unwrap();
    assert_eq!(ours[0]["output"], Value::Null);
    assert_eq!(ours[1]["output"], "done");
}

#[test]
fn create_and_start_answers_flat_with_the_attempt_beside_it() {
    let data = recorded(include_str!("../fixtures/create_and_start.json"));
    let (_, attempt) = recorded_attempt();
    let summary = TaskSummary {
        task: task(&data),
        has_in_progress_attempt: true,
        has_merged_attempt: false,
        last_attempt_failed: false,
        executor: "CLAUDE_CODE".into(),
        attempt_count: 1,
    };
    let id = attempt.id;
    let ours = serde_json::to_value(StartedTask::new(summary, attempt)).unwrap();
    assert_keeps(&ours, &data, &["attempt_count", "attempts", "task", "task_attempt"]);
    assert_eq!(ours["task_attempt"], ours["attempts"][0]);
    assert_eq!(ours["task_attempt"]["id"], json!(id));
    assert_eq!(ours["task"]["title"], data["title"]);
}

#[test]
fn an_attempt_shows_its_newest_agent_run_first_in_capitals() {
    let (data, attempt) = recorded_attempt();
    let (_, mut agent) = recorded_run();
    agent.summary = Some("said".to_owned());
    let mut setup = agent.clone();
    (setup.id, setup.reason) = (RunId::random(), RunReason::SetupScript);
    let mut cleanup = setup.clone();
    (cleanup.id, cleanup.reason) = (RunId::random(), RunReason::CleanupScript);
    let task = Task { status: TaskStatus::InReview, ..Task::new(attempt.project_id, "t", Millis(0)) };
    let runs = [setup, agent.clone(), cleanup];
    assert_eq!(newest_agent_run(&runs).map(|run| run.id), Some(agent.id));
    let output = "System initialized with model: m\n$ ls\na\nsaid";
    let ours =
        serde_json::to_value(TaskAttemptDetail::new(attempt, task, &runs, Some(output.into()))).unwrap();
    let added = [
        "execution_processes",
        "executor_profile_id",
        "project_id",
        "status",
        "task",
        "use_worktree",
        "worktree_path",
    ];
    assert_keeps(&ours, &data, &added);
    let first = json!({"id": agent.id, "status": "COMPLETED", "normalized_logs": [{"type": "text", "content": "said"}]});
    assert_eq!(ours["execution_processes"][0], first);
    assert_eq!(ours["execution_processes"].as_array().unwrap().len(), 3);
}

#[test]
fn an_attempt_without_an_agent_run_shows_no_text() {
    let (_, attempt) = recorded_attempt();
    let (_, mut setup) = recorded_run();
    setup.reason = RunReason::SetupScript;
    let data = recorded(include_str!("../fixtures/create_and_start.json"));
    let ours = serde_json::to_value(TaskAttemptDetail::new(attempt, task(&data), &[setup], None)).unwrap();
    assert_eq!(ours["execution_processes"][0]["normalized_logs"], json!([]));
}

#[test]
fn a_missing_follow_up_draft_is_an_empty_one() {
    let attempt = AttemptId::random();
    let ours = serde_json::to_value(AttemptDrafts::new(attempt, Vec::new(), Millis(0))).unwrap();
    assert_eq!(ours["retry"], Value::Null);
    assert_eq!(ours["follow_up"]["version"], 0);
    assert_eq!(ours["follow_up"]["task_attempt_id"], json!(attempt));
}
