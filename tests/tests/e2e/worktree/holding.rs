//! Who puts a worktree away or brings it back has it to themselves: an agent never works in a directory that is moved
//! below it, and of several callers at once one wins and the others are told so.

use std::path::{Path, PathBuf};

use forge_tests::{TestForge, await_file, git, text};
use futures_util::future::join_all;
use serde_json::{Value, json};
use sqlx::{Connection, SqliteConnection};

/// An attempt whose agent has ended, with its place.
async fn ended_attempt(forge: &TestForge, project: &str) -> (Value, String, PathBuf) {
    let task = forge.start_scripted(project, "t", "write a.txt one\nsay done").await;
    let attempt = task.attempt();
    forge.settled(&attempt).await;
    let place = task.place();
    (task["task_attempt"].clone(), attempt, place)
}

/// Files that take the snapshot of a retirement a while.
fn fill(place: &Path) {
    for number in 0..400 {
        std::fs::write(place.join(format!("untracked-{number}")), format!("{number}\n").repeat(9000))
            .unwrap();
    }
}

#[tokio::test]
async fn a_follow_up_during_a_retirement_works_in_the_worktree_and_its_work_is_committed() {
    let forge = TestForge::start().await;
    let (project, repo) = forge.project("repo").await;
    let go = forge.dir().join("go");
    for round in 0..2 {
        let task = forge.start_with(&project, "SHELL", "t", "echo one > a.txt").await;
        let attempt = task.attempt();
        forge.settled(&attempt).await;
        fill(Path::new(&text(&task["task_attempt"]["worktree_path"])));
        let script = format!("{}; echo precious > result.txt", await_file(&go));
        let (retired, said) =
            (format!("/api/worktrees/{attempt}/retire"), format!("/api/task-attempts/{attempt}/follow-up"));
        let (nothing, body) = (json!({}), json!({"prompt": script}));
        let (retired, said) = tokio::join!(forge.post(&retired, &nothing), forge.post(&said, &body));
        assert!([200, 409].contains(&retired.status), "{}", retired.text);
        assert_eq!(said.status, 200, "{}", said.text);
        std::fs::write(&go, "").unwrap();
        let runs = forge.settled(&attempt).await;
        assert_eq!(runs.last().unwrap()["status"], "completed", "round {round}: {runs:#?}\n{}", forge.log());
        let branch = task.branch();
        assert_eq!(git(&repo, &["show", &format!("{branch}:result.txt")]), "precious");
        assert_eq!(git(&repo, &["show", &format!("{branch}:untracked-7")]).lines().count(), 9000);
        std::fs::remove_file(&go).unwrap();
    }
}

#[tokio::test]
async fn of_many_who_retire_or_restore_at_once_one_wins_and_the_others_get_a_conflict() {
    let forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    let (_, attempt, place) = ended_attempt(&forge, &project).await;
    let nothing = json!({});
    for verb in ["retire", "restore", "retire"] {
        let path = format!("/api/worktrees/{attempt}/{verb}");
        let answers = join_all((0..8).map(|_| forge.post(&path, &nothing))).await;
        let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409, 409, 409, 409, 409, 409, 409], "{verb}");
        for loser in answers.iter().filter(|answer| answer.status == 409) {
            let place = place.to_string_lossy();
            assert!(loser.text.contains(&*place), "it says what happened: {}", loser.text);
        }
        assert_eq!(place.exists(), verb == "restore");
    }
}

#[tokio::test]
async fn follow_ups_at_once_to_a_retired_attempt_all_run() {
    let forge = TestForge::start().await;
    let (project, repo) = forge.project("repo").await;
    let (task, attempt, _) = ended_attempt(&forge, &project).await;
    forge.post(&format!("/api/worktrees/{attempt}/retire"), &json!({})).await.data();
    let path = format!("/api/task-attempts/{attempt}/follow-up");
    let bodies: Vec<Value> =
        (0..4).map(|n| json!({"prompt": format!("write f{n}.txt {n}\nsay ok")})).collect();
    for answer in join_all(bodies.iter().map(|body| forge.post(&path, body))).await {
        assert_eq!(answer.status, 200, "{}", answer.text);
    }
    let runs = forge.settled(&attempt).await;
    assert_eq!(runs.iter().filter(|run| run["status"] == "completed").count(), 5, "{runs:#?}");
    for n in 0..4 {
        git(&repo, &["cat-file", "-e", &format!("{}:f{n}.txt", text(&task["branch"]))]);
    }
}

#[tokio::test]
async fn a_task_that_is_deleted_keeps_no_agent_and_loses_no_work() {
    let forge = TestForge::start().await;
    let (project, repo) = forge.project("repo").await;
    let (task, attempt, place) = ended_attempt(&forge, &project).await;
    fill(&place);
    let (delete, say) =
        (format!("/api/tasks/{}", text(&task["task_id"])), format!("/api/task-attempts/{attempt}/follow-up"));
    let body = json!({"prompt": "write b.txt two\nsay ok"});
    let (deleted, said) = tokio::join!(forge.delete(&delete), forge.post(&say, &body));
    match deleted.status {
        200 | 202 | 204 => assert!([404, 409].contains(&said.status), "{} {}", said.status, said.text),
        409 => {
            assert_eq!(said.status, 200, "{}", said.text);
            forge.settled(&attempt).await;
            assert_eq!(git(&repo, &["show", &format!("{}:b.txt", text(&task["branch"]))]), "two");
        }
        other => panic!("{other}: {}", deleted.text),
    }
}

#[tokio::test]
async fn a_row_that_a_crash_left_behind_the_directory_is_put_right_by_the_next_start() {
    let mut forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    let (_, here, _) = ended_attempt(&forge, &project).await;
    let (_, away, _) = ended_attempt(&forge, &project).await;
    forge.post(&format!("/api/worktrees/{away}/retire"), &json!({})).await.data();
    forge.crash();
    let database = format!("sqlite://{}", forge.home().join("db.sqlite").display());
    let mut rows = SqliteConnection::connect(&database).await.unwrap();
    let turned = "UPDATE attempts SET worktree_deleted = 1 - worktree_deleted";
    sqlx::query(turned).execute(&mut rows).await.unwrap();
    rows.close().await.unwrap();
    forge.up().await;
    for (attempt, deleted) in [(here, false), (away, true)] {
        let path = format!("/api/task-attempts/{attempt}");
        forge.until(&path, "the row is right", |attempt| attempt["worktree_deleted"] == deleted).await;
    }
}
