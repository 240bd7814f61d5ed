//! Tools for the draft of an attempt: its next message, written before it is sent.
//!
//! Invariant: these tools use only the follow-up draft. A queued draft is sent once, by the engine, as soon as nothing
//! runs.

use forge_types::wire::DraftResponse;
use forge_types::{AttemptId, Draft, DraftKind, QueueDraft, SaveDraft};
use rmcp::schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::mcp::argument::Id;
use crate::mcp::attempts::{AttemptArgument, with_attempt};
use crate::mcp::tool::{Call, Outcome, tools};

const KIND: DraftKind = DraftKind::FollowUp;

tools! {
    Reads get_draft(AttemptArgument)
        "Shows the draft of an attempt's next message, and whether it is queued to be sent.";
    Replaces save_draft(SaveArguments)
        "Writes the draft of an attempt's next message. Nothing is sent; set_draft_queue does that. Refused while the draft is queued.";
    Starts set_draft_queue(QueueArguments)
        "Queues an attempt's draft: it is sent as soon as nothing runs there, perhaps at once. Or takes it out of the queue.";
    Replaces delete_draft(AttemptArgument)
        "Deletes the draft of an attempt's next message, also when it is queued.";
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct SaveArguments {
    /// The id of the attempt, from list_task_attempts.
    attempt_id: Id<AttemptId>,
    /// The message for the agent.
    #[serde(alias = "prompt")]
    content: String,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct QueueArguments {
    /// The id of the attempt, from list_task_attempts.
    attempt_id: Id<AttemptId>,
    /// True to send the draft when nothing runs, false to keep it.
    #[serde(alias = "queued")]
    queue: bool,
}

async fn get_draft(call: Call, arguments: AttemptArgument) -> Outcome {
    let draft = call.forge.draft(arguments.attempt_id.0, KIND).await?;
    show(&call, draft).await
}

async fn save_draft(call: Call, arguments: SaveArguments) -> Outcome {
    let request = SaveDraft { prompt: Some(arguments.content), ..SaveDraft::default() };
    let draft = call.forge.save_draft(arguments.attempt_id.0, KIND, request).await?;
    show(&call, draft).await
}

async fn set_draft_queue(call: Call, arguments: QueueArguments) -> Outcome {
    let request =
        QueueDraft { queued: arguments.queue, prompt: None, expected_queued: None, expected_version: None };
    let draft = call.forge.queue_draft(arguments.attempt_id.0, KIND, request).await?;
    show(&call, draft).await
}

async fn delete_draft(call: Call, arguments: AttemptArgument) -> Outcome {
    call.forge.delete_draft(arguments.attempt_id.0, KIND).await?;
    with_attempt(&call, arguments.attempt_id.0, json!({"deleted": true})).await
}

async fn show(call: &Call, draft: Draft) -> Outcome {
    with_attempt(call, draft.task_attempt_id, json!({"draft": DraftResponse::from(draft)})).await
}
