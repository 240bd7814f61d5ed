//! Workers are found by their mark, and others by their names without being touched.

use forge_fleet::discovery::{Bond, adopt, discover_on};

use crate::fixture::{Fixture, good_launcher};

#[tokio::test]
async fn own_workers_are_managed_and_look_alikes_foreign_until_adopted() {
    let fixture = Fixture::new();
    assert_eq!(discover_on(&fixture.tmux).await.unwrap().workers, []);
    fixture.session("claude-code-sonnet-alpha", "sleep 600").await;
    fixture.session("somebody-elses", "sleep 600").await;
    fixture.launcher().spawn(fixture.request("mine", &good_launcher("exec sleep 600"))).await.unwrap();

    let found = discover_on(&fixture.tmux).await.unwrap().workers;
    let short: Vec<_> = found.iter().map(|worker| (worker.worker_id.as_str(), worker.bond)).collect();
    assert_eq!(short, [("claude-code-sonnet-alpha", Bond::Foreign), ("mine", Bond::Managed)]);
    assert!(!found[0].is_attached && found[0].created_at.0 > 0);
    // A foreign session is not a worker that can be stopped.
    assert!(fixture.launcher().stop(&found[0].worker_id).await.is_err());

    adopt(&fixture.tmux, &found[0]).await.unwrap();
    let found = discover_on(&fixture.tmux).await.unwrap().workers;
    assert!(found.iter().all(|worker| worker.bond == Bond::Managed));
    assert_eq!(fixture.launcher().list_workers().await.unwrap().len(), 2);
}
