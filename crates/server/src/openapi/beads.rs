//! Beads and how they are dispatched, in the notation of `schema`.

pub(super) const SCHEMAS: &[(&str, &str)] = &[
    (
        "Bead",
        "id:string title?:string description?:string design?:string acceptance_criteria?:string notes?:string \
         status?:string priority?:int issue_type?:string assignee?:string owner?:string created_at?:string \
         updated_at?:string closed_at?:string close_reason?:string labels?:string[] \
         dependencies?:BeadDependency[] comments?:BeadComment[] standing:BeadStanding \
         -- A piece of work as its tracker has it; fields that the tracker adds are included.",
    ),
    ("BeadDependency", "depends_on_id:string type?:string"),
    ("BeadComment", "id:any author:string text:string"),
    (
        "BeadStanding",
        "ready:bool blocked_by:string[] lease:Lease|null failures:int parked:string|null task_id:uuid|null \
         -- `parked` is why it waits for a person.",
    ),
    ("Lease", "workspace:string bead:string worker:string actor:string taken_at:time"),
    ("BeadsOf", "project_id?:uuid|null workspace?:string|null"),
    (
        "CreateBead",
        "+BeadsOf title:string description?:string|null issue_type?:string|null priority?:int|null labels?:string[] \
         parent?:string|null depends_on?:string[]",
    ),
    ("UpdateBead", "+BeadsOf priority?:int|null status?:string|null"),
    ("ClaimBead", "+BeadsOf worker?:string|null"),
    ("ReleaseBead", "+BeadsOf comment?:string|null"),
    ("CloseBead", "+BeadsOf reason:string"),
    ("LinkBead", "+BeadsOf depends_on:string type?:string|null"),
    ("BeadLink", "bead:string depends_on:string added:bool"),
    ("BeadUnlink", "bead:string depends_on:string removed:bool"),
    ("CommentBead", "+BeadsOf text:string"),
    (
        "ScoreComponents",
        "priority:int type:int complexity:int availability:int -- Points; together at most 100.",
    ),
    ("RoutingReason", "= priority_match cost_optimization availability specialized fallback"),
    (
        "RoutingDecision",
        "chosen_worker:string|null model:string tier:WorkerTier reason:RoutingReason estimated_cost:number|null",
    ),
    ("RoutingOutcome", "= closed released parked"),
    ("PassedOver", "model:string tier:WorkerTier why:string -- A model that was unavailable."),
    (
        "Routing",
        "id:uuid workspace:string work:string title:string score:ScoreComponents complexity:int \
         decision:RoutingDecision wanted:WorkerTier|null passed_over:PassedOver[] worker:string|null attempt_id:uuid|null \
         by:string|null landing:DispatchLanding close_on:CloseOn outcome:RoutingOutcome|null actual_cost:number|null \
         decided_at:time ended_at:time|null -- Which agent got a piece of work, why, and the result.",
    ),
    ("DispatchMode", "= attempt worker"),
    ("DispatchLanding", "= review merge pr"),
    ("CloseOn", "= success merge"),
    (
        "DispatchRule",
        "enabled:bool mode:DispatchMode landing:DispatchLanding close_on:CloseOn max_workers:int|null \
         executor_profile_id:ExecutorProfileId|null worker:string|null tasks:bool mirror:bool has_beads:bool \
         -- How the beads of a project are given to agents; `has_beads`: whether it has any.",
    ),
    (
        "DispatchChange",
        "enabled?:bool|null mode?:DispatchMode landing?:DispatchLanding close_on?:CloseOn max_workers?:int|null \
         executor_profile_id?:ProfileChoice|null worker?:string|null tasks?:bool|null mirror?:bool|null \
         -- An absent field stays as it is; null removes a limit or an agent.",
    ),
    ("DispatchRequest", "+DispatchChange project_id:uuid dry_run?:bool"),
    (
        "DispatchedBead",
        "bead:string title:string score:ScoreComponents complexity:int decision:RoutingDecision worker?:string task_id?:uuid \
         attempt_id?:uuid",
    ),
    ("WaitingBead", "bead:string title:string reason:string"),
    (
        "DispatchReport",
        "project_id:uuid workspace:string dry_run:bool started:DispatchedBead[] waiting:WaitingBead[]",
    ),
    ("TierCaps", "premium:int|null standard:int|null budget:int|null free:int|null"),
    (
        "TierModels",
        "premium:ExecutorProfileId[] standard:ExecutorProfileId[] budget:ExecutorProfileId[] free:ExecutorProfileId[]",
    ),
];
