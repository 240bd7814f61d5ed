//! Progress reports for a caller that waits.
//!
//! Invariant: only a caller that asked for reports gets them, and a caller that is gone is not an error.

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};

pub(crate) struct Progress(Option<(Peer<RoleServer>, ProgressToken)>);

impl Progress {
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Self {
        Self(context.meta.get_progress_token().map(|token| (context.peer.clone(), token)))
    }

    /// `done` of `total`, in whatever unit the tool waits.
    pub(crate) async fn report(&self, done: f64, total: f64, message: String) {
        if let Some((peer, token)) = &self.0 {
            let word = ProgressNotificationParam::new(token.clone(), done);
            let _ = peer.notify_progress(word.with_total(total).with_message(message)).await;
        }
    }
}
