//! Workers, leases, alerts and routing decisions.

use std::path::Path;

use forge_types::*;
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::fixture::store;

fn worker(id: &str) -> Worker {
    Worker {
        id: id.parse().unwrap(),
        session: format!("forge-worker-{id}"),
        model: "sonnet".into(),
        tier: WorkerTier::Standard,
        workspace: "/w".into(),
        phase: WorkerPhase::Starting,
        config: json!({"launcher": "/l", "extra": 1}),
        process: None,
        pane: None,
        bead: None,
        answer: None,
        tmux: None,
        paused_by_file: false,
        health: Health::default(),
        status: None,
        restarts: vec![],
        parked_until: None,
        started_at: None,
        note: None,
        created_at: Millis(1),
        updated_at: Millis(1),
    }
}

fn alert(severity: Severity, at: i64) -> Alert {
    Alert {
        id: AlertId::random(),
        kind: AlertKind::WorkerStale,
        severity,
        subject: "alpha".into(),
        message: format!("said at {at}"),
        count: 1,
        first_at: Millis(at),
        last_at: Millis(at),
        acknowledged_at: None,
        resolved_at: None,
    }
}

#[tokio::test]
async fn a_worker_is_kept_whole_and_its_name_is_taken_once() {
    let (store, _dir) = store().await;
    let mut tx = store.begin().await.unwrap();
    assert!(tx.insert_worker(&worker("alpha")).await.unwrap());
    assert!(!tx.insert_worker(&worker("alpha")).await.unwrap());
    let running = Worker { phase: WorkerPhase::Running, updated_at: Millis(5), ..worker("alpha") };
    tx.update_worker(&running).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(store.workers().await.unwrap(), std::slice::from_ref(&running));
    let events = store.events_after(0, 10).await.unwrap();
    let changes: Vec<&Event> = events.iter().map(|record| &record.event).collect();
    assert_eq!(changes, [&Event::Worker { change: Change::Created, worker: running }]);
}

#[tokio::test]
async fn a_bead_has_one_holder_and_only_the_holder_gives_it_back() {
    let (store, _dir) = store().await;
    let lease = |worker: &str| Lease {
        workspace: "/w".into(),
        bead: "fg-1".into(),
        worker: worker.parse().unwrap(),
        actor: format!("forge/h/{worker}/1"),
        taken_at: Millis(1),
    };
    let mut tx = store.begin().await.unwrap();
    assert!(tx.take_lease(&lease("alpha")).await.unwrap());
    assert!(!tx.take_lease(&lease("bravo")).await.unwrap());
    assert!(!tx.drop_lease(Path::new("/w"), "fg-1", "forge/h/bravo/1").await.unwrap());
    tx.commit().await.unwrap();
    assert_eq!(store.leases_of(&"alpha".parse().unwrap()).await.unwrap(), [lease("alpha")]);
    let mut tx = store.begin().await.unwrap();
    assert!(tx.drop_lease(Path::new("/w"), "fg-1", "forge/h/alpha/1").await.unwrap());
    assert!(tx.take_lease(&lease("bravo")).await.unwrap());
    tx.commit().await.unwrap();
    assert_eq!(store.leases().await.unwrap(), [lease("bravo")]);
}

#[tokio::test]
async fn failures_of_a_bead_are_counted_until_it_is_parked_and_forgiven_on_request() {
    let (store, _dir) = store().await;
    let place = Path::new("/w");
    let mut tx = store.begin().await.unwrap();
    assert_eq!(tx.count_bead_failure(place, "fg-1", "exit 1", Millis(1)).await.unwrap(), 1);
    assert_eq!(tx.count_bead_failure(place, "fg-1", "killed", Millis(2)).await.unwrap(), 2);
    tx.park_bead(place, "fg-1").await.unwrap();
    tx.commit().await.unwrap();
    let failures = store.bead_failures(place).await.unwrap();
    assert_eq!((failures[0].count, failures[0].reason.as_str(), failures[0].parked), (2, "killed", true));
    let mut tx = store.begin().await.unwrap();
    assert!(tx.forgive_bead(place, "fg-1").await.unwrap());
    assert!(!tx.forgive_bead(place, "fg-1").await.unwrap());
    tx.commit().await.unwrap();
    assert_eq!(store.bead_failures(place).await.unwrap(), []);
}

#[tokio::test]
async fn an_alert_is_one_until_it_is_resolved_and_what_gets_worse_is_news_again() {
    let (store, _dir) = store().await;
    let mut tx = store.begin().await.unwrap();
    let first = tx.raise_alert(alert(Severity::Warning, 1)).await.unwrap();
    tx.acknowledge_alert(first.id, Millis(2)).await.unwrap();
    let again = tx.raise_alert(alert(Severity::Info, 3)).await.unwrap();
    assert_eq!((again.id, again.count, again.severity), (first.id, 2, Severity::Warning));
    assert_eq!(again.acknowledged_at, Some(Millis(2)));
    let worse = tx.raise_alert(alert(Severity::Critical, 4)).await.unwrap();
    assert_eq!(
        (worse.severity, worse.acknowledged_at, worse.first_at),
        (Severity::Critical, None, Millis(1))
    );
    assert!(tx.resolve_alert(AlertKind::WorkerStale, "bravo", Millis(5)).await.unwrap().is_none());
    assert!(tx.resolve_alert(AlertKind::WorkerStale, "alpha", Millis(5)).await.unwrap().is_some());
    let new = tx.raise_alert(alert(Severity::Warning, 6)).await.unwrap();
    assert_ne!(new.id, first.id);
    tx.commit().await.unwrap();
    let listed: Vec<AlertId> = store.alerts(10).await.unwrap().iter().map(|alert| alert.id).collect();
    assert_eq!(listed, [new.id, first.id], "what is open comes first");
}

#[tokio::test]
async fn a_decision_is_kept_with_what_came_of_it() {
    let (store, _dir) = store().await;
    let routing = Routing {
        id: RoutingId::random(),
        workspace: "/w".into(),
        work: "fg-1".into(),
        title: "Fix".into(),
        score: ScoreComponents { priority: 40, kind: 30, complexity: 7, availability: 15 },
        complexity: 45,
        decision: RoutingDecision {
            chosen_worker: None,
            model: "opus".into(),
            tier: WorkerTier::Premium,
            reason: RoutingReason::PriorityMatch,
            estimated_cost: Some(MicroUsd(1_000)),
        },
        wanted: None,
        passed_over: Vec::new(),
        worker: None,
        attempt_id: None,
        by: None,
        landing: DispatchLanding::default(),
        close_on: CloseOn::default(),
        outcome: None,
        actual_cost: None,
        decided_at: Millis(1),
        ended_at: None,
    };
    let mut tx = store.begin().await.unwrap();
    tx.insert_routing(&routing).await.unwrap();
    let ended = Routing {
        outcome: Some(Outcome::Closed),
        actual_cost: Some(MicroUsd(900)),
        ended_at: Some(Millis(9)),
        ..routing
    };
    tx.update_routing(&ended).await.unwrap();
    assert_eq!(tx.routing(ended.id).await.unwrap(), Some(ended.clone()));
    tx.commit().await.unwrap();
    assert_eq!(store.routings_of(Path::new("/w"), "fg-1").await.unwrap(), std::slice::from_ref(&ended));
    assert_eq!(store.routings(5).await.unwrap(), [ended]);
}

#[tokio::test]
async fn an_alert_is_queued_once_for_each_severity_and_taken_once() {
    let (store, _dir) = store().await;
    let mut tx = store.begin().await.unwrap();
    let warned = tx.raise_alert(alert(Severity::Warning, 1)).await.unwrap();
    tx.raise_alert(alert(Severity::Warning, 2)).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(store.next_delivery_due().await.unwrap(), Some(Millis(1)));

    let mut tx = store.begin().await.unwrap();
    let taken = tx.claim_deliveries(Millis(5), 4).await.unwrap();
    assert_eq!(taken.iter().map(|one| (one.alert.id, one.tries)).collect::<Vec<_>>(), [(warned.id, 1)]);
    assert_eq!(tx.claim_deliveries(Millis(5), 4).await.unwrap(), []);
    tx.fail_delivery(warned.id, Severity::Warning, "no answer", Some(Millis(9))).await.unwrap();
    assert_eq!(tx.claim_deliveries(Millis(8), 4).await.unwrap(), [], "not before its time");
    assert_eq!(tx.claim_deliveries(Millis(9), 4).await.unwrap()[0].tries, 2);

    // A warning that somebody has seen stays; any other becomes critical, once.
    assert!(tx.escalate_alert(warned.id, Millis(10)).await.unwrap().is_some());
    assert!(tx.escalate_alert(warned.id, Millis(11)).await.unwrap().is_none());
    tx.raise_alert(alert(Severity::Warning, 12)).await.unwrap();
    let deliveries = tx.claim_deliveries(Millis(20), 4).await.unwrap();
    assert_eq!(deliveries.iter().map(|one| one.alert.severity).collect::<Vec<_>>(), [Severity::Critical]);

    tx.resolve_alert(AlertKind::WorkerStale, "alpha", Millis(21)).await.unwrap();
    for at in 30..33 {
        tx.raise_alert(Alert { subject: format!("worker {at}"), ..alert(Severity::Warning, at) })
            .await
            .unwrap();
    }
    assert_eq!(tx.drop_deliveries(2, "too many").await.unwrap(), 1);
    let left = tx.claim_deliveries(Millis(40), 4).await.unwrap();
    assert_eq!(left.iter().map(|one| one.alert.first_at.0).collect::<Vec<_>>(), [31, 32], "the newest stay");
}
