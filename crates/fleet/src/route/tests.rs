use super::*;
use crate::work::Priority;

fn work(priority: u8) -> Work {
    Work {
        id: "fg-1".to_owned(),
        title: "Something of a usual length".to_owned(),
        description: String::new(),
        priority: Priority::new(priority),
        kind: "task".to_owned(),
        labels: Vec::new(),
        created_at_ms: 0,
        blocks: 0,
        files: Some(1),
    }
}

fn model(name: &str, tier: WorkerTier) -> Model {
    let standing = Standing::Usable { resets_soon: false };
    Model { name: name.to_owned(), tier, standing, mean_cost: None, chosen: 0 }
}

fn models() -> Vec<Model> {
    vec![
        model("opus", WorkerTier::Premium),
        model("sonnet", WorkerTier::Standard),
        model("glm-4.7", WorkerTier::Standard),
        model("haiku", WorkerTier::Budget),
    ]
}

fn worker(id: &str, model: &str, free: bool) -> Candidate {
    Candidate { id: id.parse().unwrap(), model: model.to_owned(), free, knows: Vec::new() }
}

fn roomy() -> Rules {
    Rules { room: WorkerTier::ALL.map(|tier| (tier, 1)).to_vec(), ..Rules::default() }
}

fn routed(
    work: &Work,
    models: &[Model],
    workers: &[Candidate],
    rules: &Rules,
) -> Result<RoutingDecision, NoRoute> {
    route(work, &Complexity::of(work), models, workers, rules)
}

#[test]
fn priorities_lead_to_their_models() {
    for (priority, model, reason) in [
        (0, "opus", RoutingReason::PriorityMatch),
        (1, "opus", RoutingReason::PriorityMatch),
        (2, "sonnet", RoutingReason::PriorityMatch),
        (3, "haiku", RoutingReason::CostOptimization),
        (4, "haiku", RoutingReason::CostOptimization),
    ] {
        let decision = routed(&work(priority), &models(), &[], &roomy()).unwrap();
        assert_eq!((decision.model.as_str(), decision.reason), (model, reason), "P{priority}");
        assert_eq!(decision.chosen_worker, None);
    }
}

#[test]
fn difficulty_raises_a_tier_and_nothing_lowers_it() {
    let mut critical = work(4);
    critical.labels.push("critical".to_owned());
    assert_eq!(tier_of(&critical, &Complexity::of(&critical), &Rules::default()), WorkerTier::Premium);
    let mut easy = work(0);
    easy.title = "Fix typo".to_owned();
    assert_eq!(tier_of(&easy, &Complexity::of(&easy), &Rules::default()), WorkerTier::Premium);
}

#[test]
fn a_free_worker_is_taken_before_a_new_one_is_started_and_one_that_knows_the_work_before_all() {
    let mut knowing = worker("b", "sonnet", true);
    knowing.knows.push("task".to_owned());
    let crowd = [worker("a", "sonnet", true), knowing, worker("c", "haiku", true)];
    let decision = routed(&work(2), &models(), &crowd, &roomy()).unwrap();
    assert_eq!((decision.chosen_worker, decision.reason), ("b".parse().ok(), RoutingReason::Specialized));
    let decision = routed(&work(2), &models(), &crowd[..1], &roomy()).unwrap();
    assert_eq!((decision.chosen_worker, decision.reason), ("a".parse().ok(), RoutingReason::Availability));
}

#[test]
fn a_model_that_cannot_be_used_is_never_chosen() {
    let mut models = models();
    models[0].standing = Standing::Unusable;
    let decision = routed(&work(0), &models, &[worker("a", "opus", true)], &roomy()).unwrap();
    assert_eq!((decision.model.as_str(), decision.reason), ("sonnet", RoutingReason::Fallback));
    models.iter_mut().for_each(|model| model.standing = Standing::Unusable);
    assert_eq!(routed(&work(0), &models, &[], &roomy()), Err(NoRoute::NoModel));
}

#[test]
fn quota_that_would_be_lost_is_used_first_and_load_is_spread() {
    let mut models = models();
    models[1].chosen = 3;
    assert_eq!(routed(&work(2), &models, &[], &roomy()).unwrap().model, "glm-4.7");
    models[1].standing = Standing::Usable { resets_soon: true };
    assert_eq!(routed(&work(2), &models, &[], &roomy()).unwrap().model, "sonnet");
}

#[test]
fn without_room_the_work_waits() {
    let busy = [worker("a", "sonnet", false)];
    assert_eq!(routed(&work(2), &models(), &busy, &Rules::default()), Err(NoRoute::NoRoom));
}

#[test]
fn what_a_priority_asks_for_and_where_it_falls_back_to_are_settings() {
    let tiers = PriorityTiers { p0: WorkerTier::Budget, ..PriorityTiers::default() };
    let rules = Rules { tiers, ..roomy() };
    assert_eq!(routed(&work(0), &models(), &[], &rules).unwrap().model, "haiku");
    let is_other = |model: &Model| model.tier != WorkerTier::Standard;
    let others: Vec<Model> = models().into_iter().filter(is_other).collect();
    for (fallback, model) in [
        (Fallback::Up, Some("opus")),
        (Fallback::Down, Some("haiku")),
        (Fallback::Both, Some("opus")),
        (Fallback::None, None),
    ] {
        let rules = Rules { fallback, ..roomy() };
        let found = routed(&work(2), &others, &[], &rules).ok().map(|decision| decision.model);
        assert_eq!(found.as_deref(), model, "{fallback:?}");
    }
}
