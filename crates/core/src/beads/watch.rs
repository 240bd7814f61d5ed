//! Beads as they change, for whoever looks at them: other programs change them, too.

use std::sync::Arc;

use forge_fleet::beads::News;
use forge_types::ProjectId;

use super::Tracker;
use crate::Forge;
use crate::events::Sign;

impl Forge {
    /// Sends a sign whenever the beads of a project change, for as long as somebody listens.
    pub(super) fn show_beads(&self, project: ProjectId, tracker: &Arc<Tracker>) {
        let signs = &self.0.background.signs;
        if !signs.is_heard() || !signs.shown().beads.insert(project) {
            return;
        }
        let tracker = Arc::clone(tracker);
        self.run_until_close(|forge| async move {
            let signs = &forge.0.background.signs;
            let mut watch = tracker.store.watch();
            loop {
                let news = tokio::select! {
                    () = signs.unheard() => break,
                    news = watch.next() => news,
                };
                match news {
                    Some(News::Changed(_)) => signs.send(Sign::Beads(project)),
                    Some(News::Trouble(_)) => {}
                    None => break,
                }
            }
            signs.shown().beads.remove(&project);
        });
    }
}
