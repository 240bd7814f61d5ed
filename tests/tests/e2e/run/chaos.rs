//! Whatever is killed at whatever moment: no byte, no file, no task and no answer is lost, and nothing happens twice.
//!
//! The small form of `npm run soak`. The seed of a failure is in its message; `FORGE_CHAOS_SEED` runs another one.

use forge_tests::chaos::{Length, Tale};

#[tokio::test]
async fn servers_keepers_and_agents_are_killed_at_random_and_every_promise_holds() {
    let given = std::env::var("FORGE_CHAOS_SEED").ok().and_then(|seed| seed.parse().ok());
    let tale = Tale { seed: given.unwrap_or(1), length: Length::Kills(30), hands: 3, attempts: 8 };
    let outcome = tale.run(std::future::pending(), |_, _| {}).await;
    assert!(outcome.holds(), "{outcome}");
    println!("{outcome}");
}
