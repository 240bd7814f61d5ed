//! Tools for the draft of an attempt: what it is to be told next, written down before it can be said.
//!
//! Invariant: only the follow-up draft is meant. A queued draft is sent once, by the engine, as soon as nothing runs.

use forge_types::{AttemptId, Draft, DraftKind, QueueDraft, SaveDraft};
use rmcp::schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::mcp::argument::Id;
use crate::mcp::attempts::{AttemptArgument, tell_with};
use crate::mcp::tool::{Call, Outcome, tools};
use crate::wire;

const KIND: DraftKind = DraftKind::FollowUp;

tools! {
    Reads get_draft(AttemptArgument)
        "Shows the draft of an attempt's next message, and whether it is queued to be sent.";
    Replaces save_draft(SaveArguments)
        "Writes the draft of an attempt's next message. Nothing is sent; set_draft_queue does that. Refused while the draft is queued.";
    Starts set_draft_queue(QueueArguments)
        "Queues an attempt's draft: it is sent as soon as nothing runs there, at once if so. Or takes it out of the queue again.";
    Replaces delete_draft(AttemptArgument)
        "Throws the draft of an attempt's next message away, also when it is queued.";
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct SaveArguments {
    /// The attempt, as list_task_attempts tells it.
    attempt_id: Id<AttemptId>,
    /// What the agent is to be told.
    #[serde(alias = "prompt")]
    content: String,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct QueueArguments {
    /// The attempt, as list_task_attempts tells it.
    attempt_id: Id<AttemptId>,
    /// True to send the draft when nothing runs, false to keep it.
    #[serde(alias = "queued")]
    queue: bool,
}

async fn get_draft(call: Call, arguments: AttemptArgument) -> Outcome {
    let draft = call.forge.draft(arguments.attempt_id.0, KIND).await?;
    tell(&call, draft).await
}

async fn save_draft(call: Call, arguments: SaveArguments) -> Outcome {
    let request = SaveDraft { prompt: Some(arguments.content), ..SaveDraft::default() };
    let draft = call.forge.save_draft(arguments.attempt_id.0, KIND, request).await?;
    tell(&call, draft).await
}

async fn set_draft_queue(call: Call, arguments: QueueArguments) -> Outcome {
    let request =
        QueueDraft { queued: arguments.queue, prompt: None, expected_queued: None, expected_version: None };
    let draft = call.forge.queue_draft(arguments.attempt_id.0, KIND, request).await?;
    tell(&call, draft).await
}

async fn delete_draft(call: Call, arguments: AttemptArgument) -> Outcome {
    call.forge.delete_draft(arguments.attempt_id.0, KIND).await?;
    tell_with(&call, arguments.attempt_id.0, json!({"deleted": true})).await
}

async fn tell(call: &Call, draft: Draft) -> Outcome {
    tell_with(call, draft.task_attempt_id, json!({"draft": wire::draft(draft)})).await
}
