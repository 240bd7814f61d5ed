//! A store in a temporary directory and plain entities to put into it.

use forge_store::{Store, Tx};
use forge_types::*;
use tempfile::TempDir;

pub async fn store() -> (Store, TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().join("forge.db")).await.unwrap();
    (store, dir)
}

pub fn project(at: i64) -> Project {
    let id = ProjectId::random();
    Project {
        id,
        name: "demo".into(),
        git_repo_path: format!("/repos/{id}"),
        setup_script: Some("make setup".into()),
        dev_script: None,
        cleanup_script: None,
        copy_files: Some(".env,a/b".into()),
        commit_prompt: None,
        default_base_branch: Some("main".into()),
        max_cost_usd: None,
        created_at: Millis(at),
        updated_at: Millis(at),
    }
}

pub fn task(project: ProjectId, at: i64) -> Task {
    Task {
        description: Some("line\nline".into()),
        labels: vec!["ui".into(), "\"quoted\"".into()],
        ..Task::new(project, format!("task {at} \"quoted\" ✓"), Millis(at))
    }
}

pub fn attempt(task: &Task, at: i64) -> Attempt {
    let profile = ProfileId {
        executor: Executor::ClaudeCode,
        variant: Some("PLAN".into()),
        model: Some("some-model".into()),
    };
    Attempt {
        id: AttemptId::random(),
        task_id: task.id,
        container_ref: Some(format!("/trees/{at}")),
        branch: format!("forge/{at}"),
        target_branch: "main".into(),
        executor: profile.to_string(),
        worktree_deleted: false,
        setup_completed_at: None,
        tokens: Tokens { input_tokens: Some(7), ..Tokens::default() },
        created_at: Millis(at),
        updated_at: Millis(at),
        status: AttemptStatus::Pending,
        project_id: task.project_id,
        executor_profile_id: profile,
        worktree_path: Some(format!("/trees/{at}")),
        use_worktree: true,
        auto_pr: None,
        cost_usd: None,
        max_cost_usd: None,
    }
}

pub fn errand(project: ProjectId, at: i64) -> Errand {
    Errand {
        id: ErrandId::random(),
        project_id: project,
        branch: "forge/errand".into(),
        target_branch: "main".into(),
        executor: "SHELL".into(),
        variant: Some("PLAN".into()),
        container_ref: None,
        prompt: "look".into(),
        worktree_deleted: false,
        created_at: Millis(at),
        updated_at: Millis(at),
    }
}

/// A live run of an agent.
pub fn agent_run(owner: RunOwner, at: i64) -> Run {
    let after = Action::script("make clean", ScriptContext::CleanupScript);
    let action = Action::agent("do it".into(), ProfileId::new(Executor::ClaudeCode), Some("s-1".into()))
        .then(Some(after));
    run(owner, action, at)
}

pub fn script_run(owner: RunOwner, context: ScriptContext, at: i64) -> Run {
    run(owner, Action::script("true", context), at)
}

fn run(owner: RunOwner, action: Action, at: i64) -> Run {
    Run {
        id: RunId::random(),
        owner,
        reason: action.reason(),
        action,
        before_head: Some("abc".into()),
        after_head: None,
        status: RunStatus::Running,
        phase: RunPhase::Live,
        exit_code: None,
        dropped: false,
        session_id: None,
        summary: None,
        parked_until: None,
        unverified: false,
        commit_error: None,
        setup_required: false,
        open_conflicts: Vec::new(),
        started_at: Millis(at),
        completed_at: None,
        created_at: Millis(at),
        updated_at: Millis(at),
    }
}

pub fn ended(run: &Run, status: RunStatus, at: i64) -> Run {
    Run {
        status,
        phase: RunPhase::Ended,
        exit_code: Some(if status == RunStatus::Completed { 0 } else { 1 }),
        completed_at: Some(Millis(at)),
        updated_at: Millis(at),
        summary: Some("said".into()),
        ..run.clone()
    }
}

pub fn direct_merge(attempt: AttemptId, at: i64) -> Merge {
    Merge::Direct {
        id: MergeId::random(),
        task_attempt_id: attempt,
        merge_commit: "c0ffee".into(),
        target_branch_name: "main".into(),
        created_at: Millis(at),
    }
}

pub fn pull_request(attempt: AttemptId, status: PrStatus, at: i64) -> Merge {
    Merge::Pr {
        id: MergeId::random(),
        task_attempt_id: attempt,
        created_at: Millis(at),
        target_branch_name: "main".into(),
        pr_info: PrInfo {
            number: 12,
            url: "https://example.org/12".into(),
            status,
            merged_at: (status == PrStatus::Merged).then_some(Millis(at)),
            merge_commit_sha: None,
        },
    }
}

pub fn draft(attempt: AttemptId, at: i64) -> Draft {
    Draft {
        prompt: "then this".into(),
        image_ids: Some(vec![forge_types::ImageId::random()]),
        version: 3,
        retry_process_id: Some(RunId::random()),
        ..Draft::empty(attempt, Millis(at))
    }
}

pub async fn insert_project(store: &Store) -> Project {
    let project = project(1);
    let mut tx = store.begin().await.unwrap();
    tx.insert_project(&project).await.unwrap();
    tx.commit().await.unwrap();
    project
}

pub async fn insert_task(store: &Store, project: ProjectId, at: i64) -> Task {
    let task = task(project, at);
    let mut tx = store.begin().await.unwrap();
    tx.insert_task(&task, false).await.unwrap();
    tx.commit().await.unwrap();
    task
}

/// A task with one attempt.
pub async fn insert_attempt(tx: &mut Tx, project: ProjectId, at: i64) -> (Task, Attempt) {
    let task = task(project, at);
    let attempt = attempt(&task, at);
    tx.insert_task(&task, false).await.unwrap();
    tx.insert_attempt(&attempt).await.unwrap();
    (task, attempt)
}

/// The events after `seq`.
pub async fn events_since(store: &Store, seq: i64) -> Vec<Event> {
    let records = store.events_after(seq, usize::MAX).await.unwrap();
    records.iter().map(|record| record.event.clone()).collect()
}
