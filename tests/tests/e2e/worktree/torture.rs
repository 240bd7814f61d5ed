//! Generated repositories, random operations, one promise: no commit and no uncommitted byte is ever lost.
//!
//! After each operation every commit that was reachable before is reachable still, and every file content that is gone
//! from a directory is in a commit. A refused operation leaves branches and files exactly as they were. The seed of a
//! failure is in its message; `FORGE_TORTURE_SEED` runs another one.

mod ledger;
mod world;

use std::sync::Arc;

use forge_tests::{Answer, Rng, TestForge, git};
use serde_json::json;
use tokio::sync::Semaphore;

use ledger::Ledger;
use world::World;

const STEPS: usize = 120;

async fn torment(seed: u64) {
    let mut world = World::new(seed).await;
    let mut before = Ledger::of(&world);
    for step in 0..STEPS {
        let (what, answer) = act(&mut world).await;
        let after = Ledger::of(&world);
        let context = || {
            let said = answer.as_ref().map_or("", |answer| answer.text.as_str());
            format!("seed {seed}, step {step}: {what}: {said}")
        };
        if what.starts_with("/api") {
            before.assert_nothing_lost(&after, &world, &context());
        }
        if answer.as_ref().is_some_and(was_refused) {
            before.assert_same(&after, &context());
        }
        before = after;
    }
    for path in world.paths() {
        // Whatever happened, every worktree that is there is one that git can work with.
        git(&path, &["status", "--porcelain"]);
    }
}

/// A rebase that stops at conflicts is no refusal: it has begun.
fn was_refused(answer: &Answer) -> bool {
    answer.status >= 400 || (answer.body["success"] == false && answer.body["error_data"]["op"].is_null())
}

/// One random step: a person or an agent works, or the API is asked for something.
async fn act(world: &mut World) -> (String, Option<Answer>) {
    let attempt = world.pick_attempt();
    let base = format!("/api/task-attempts/{}", attempt.id);
    let (branch, file) = (world.some_branch(), world.some_file(&attempt.path));
    match world.rng.below(16) {
        0 | 1 => {
            world.ensure(&attempt).await;
            world.edit(&attempt.path);
            (format!("edit {}", attempt.path.display()), None)
        }
        2 | 3 => {
            world.ensure(&attempt).await;
            world.edit(&attempt.path);
            world.commit(&attempt.path);
            (format!("commit in {}", attempt.path.display()), None)
        }
        4 => {
            world.edit(&world.repo.clone());
            world.commit(&world.repo.clone());
            ("commit in the project".to_owned(), None)
        }
        5 => {
            world.stir_project();
            ("stir the project".to_owned(), None)
        }
        6 | 7 => world.post(format!("{base}/merge"), json!(null)).await,
        8 | 9 => world.post(format!("{base}/rebase"), json!(null)).await,
        10 => world.post(format!("{base}/rebase"), json!({"new_base_branch": branch})).await,
        11 => world.post(format!("{base}/conflicts/abort"), json!(null)).await,
        12 => world.post(format!("{base}/delete-file?file_path={}", world::encode(&file)), json!(null)).await,
        13 => world.post(format!("{base}/change-target-branch"), json!({"new_target_branch": branch})).await,
        14 => {
            world.resolve(&attempt.path);
            let script = json!({"prompt": "say The agent was here."});
            let (what, _) = world.post(format!("{base}/follow-up"), script).await;
            world.forge.settled(&attempt.id).await;
            (what, None)
        }
        _ => {
            let verb = if attempt.path.exists() { "retire" } else { "restore" };
            world.post(format!("/api/worktrees/{}/{verb}", attempt.id), json!(null)).await
        }
    }
}

#[tokio::test]
async fn nothing_is_lost_in_a_first_generated_repository() {
    let given = std::env::var("FORGE_TORTURE_SEED").ok().and_then(|seed| seed.parse().ok());
    torment(given.unwrap_or(1)).await;
}

#[tokio::test]
async fn nothing_is_lost_in_a_second_generated_repository() {
    torment(2).await;
}

#[tokio::test]
async fn nothing_is_lost_in_a_third_generated_repository() {
    torment(3).await;
}

#[tokio::test]
async fn nothing_is_lost_in_a_fourth_generated_repository() {
    torment(4).await;
}

#[tokio::test]
async fn twenty_merges_at_once_land_one_after_the_other_and_lose_nothing() {
    const ATTEMPTS: usize = 20;
    let forge = Arc::new(TestForge::start().await);
    let (project, repo) = forge.project("repo").await;
    let mut attempts = Vec::new();
    for n in 0..ATTEMPTS {
        let script = format!("write file-{n}.txt {n}\nsay {n} is done");
        let task = forge.start_scripted(&project, &format!("Add file number {n}"), &script).await;
        attempts.push(task.attempt());
    }
    for id in &attempts {
        forge.settled(id).await;
    }
    let merge = async |id: &str| forge.post(&format!("/api/task-attempts/{id}/merge"), &json!(null)).await;
    let first = futures_util::future::join_all(attempts.iter().map(|id| merge(id))).await;
    let landed = first.iter().filter(|answer| answer.status == 200).count();
    assert_eq!(landed, 1, "all left the same commit, so one lands and the others have diverged");
    for refused in first.iter().filter(|answer| answer.status != 200) {
        assert_eq!(refused.status, 409, "{}", refused.text);
        assert!(refused.message().contains("Branches diverged: "), "{}", refused.text);
        assert!(refused.message().contains("rebase"), "{}", refused.text);
    }

    // The others rebase and merge, several at a time, until each has landed.
    let turns = Semaphore::new(3);
    let others = attempts.iter().zip(&first).filter(|(_, answer)| answer.status != 200).map(|(id, _)| id);
    let land = async |id: &String| {
        let _turn = turns.acquire().await.unwrap();
        for _ in 0..ATTEMPTS {
            forge.post(&format!("/api/task-attempts/{id}/rebase"), &json!(null)).await.data();
            let answer = merge(id).await;
            if answer.status == 200 {
                return;
            }
            assert!(answer.message().contains("Branches diverged: "), "{}", answer.text);
        }
        panic!("{id} never landed");
    };
    futures_util::future::join_all(others.map(land)).await;
    assert_eq!(git(&repo, &["rev-list", "--count", "main"]), (ATTEMPTS + 1).to_string());
    assert_eq!(git(&repo, &["status", "--porcelain"]), "");
    for (n, id) in attempts.iter().enumerate() {
        assert_eq!(
            std::fs::read_to_string(repo.join(format!("file-{n}.txt"))).unwrap().trim(),
            n.to_string()
        );
        let status = forge.get(&format!("/api/task-attempts/{id}/branch-status")).await.data();
        assert_eq!(status["merges"].as_array().unwrap().len(), 1);
    }
    let mut rng = Rng::new(1);
    assert_ne!(rng.below(1 << 30), rng.below(1 << 30), "the generator of the other tests does generate");
}
