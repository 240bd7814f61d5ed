//! Reading lists, one task for each.
//!
//! Invariant: a list is read at most once at a time and not more often than [`PACE`]; what asks for it meanwhile is
//! answered by one more reading; an item that cannot be read hides no other.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use forge_client::{Client, Error, Kind};
use forge_types::{FleetSettings, Project, TaskSummary, UsageReport};
use futures_util::future::try_join_all;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;

use crate::message::{Loaded, Message, Topic};
use crate::model::{Bead, List, Means, Usage};

const PACE: Duration = Duration::from_millis(200);

pub struct Loader {
    bells: HashMap<Topic, Arc<Notify>>,
}

impl Loader {
    pub fn start(api: &Client, messages: &mpsc::Sender<Message>, tasks: &mut JoinSet<()>) -> Self {
        let bells = Topic::ALL.map(|topic| {
            let bell = Arc::new(Notify::new());
            tasks.spawn(keep_reading(api.clone(), topic, bell.clone(), messages.clone()));
            (topic, bell)
        });
        Self { bells: bells.into() }
    }

    pub fn load(&self, topic: Topic) {
        if let Some(bell) = self.bells.get(&topic) {
            bell.notify_one();
        }
    }
}

async fn keep_reading(api: Client, topic: Topic, bell: Arc<Notify>, messages: mpsc::Sender<Message>) {
    loop {
        bell.notified().await;
        let reader = Reader { api: &api, left_out: AtomicUsize::new(0) };
        let message = match reader.read(topic).await {
            Ok(loaded) => Message::Loaded(Box::new(loaded)),
            Err(error) => Message::Failed(topic, error),
        };
        let left_out = Some(reader.left_out.into_inner()).filter(|count| *count > 0);
        let remark = left_out.map(|count| Message::LeftOut(topic, count));
        for message in std::iter::once(message).chain(remark) {
            if messages.send(message).await.is_err() {
                return;
            }
        }
        tokio::time::sleep(PACE).await;
    }
}

/// As much of the settings as the dashboard follows.
#[derive(Deserialize)]
struct Config {
    fleet: FleetSettings,
}

/// Reads lists without the items that this version cannot read, and counts those.
struct Reader<'a> {
    api: &'a Client,
    left_out: AtomicUsize,
}

impl Reader<'_> {
    async fn read(&self, topic: Topic) -> Result<Loaded, Error> {
        Ok(match topic {
            Topic::Projects => Loaded::Projects(self.list("/api/projects").await?),
            Topic::Attempts => Loaded::Attempts(self.list("/api/task-attempts").await?),
            Topic::Tasks => Loaded::Tasks(self.tasks().await?),
            Topic::Questions => Loaded::Questions(self.list("/api/approvals/pending").await?),
            Topic::Beads => Loaded::Beads(self.beads().await?),
            Topic::Workers => Loaded::Workers(self.list("/api/workers").await?),
            Topic::Alerts => Loaded::Alerts(self.list("/api/alerts").await?),
            Topic::Routing => Loaded::Routing(self.list("/api/routing").await?),
            Topic::Usage => Loaded::Usage(self.usage().await?),
            Topic::Settings => {
                let config: Config = self.api.get("/api/config").await?;
                Loaded::Settings(config.fleet.alerts)
            }
            Topic::Means => {
                let (launchers, defined) =
                    tokio::try_join!(self.list("/api/launchers"), self.api.get("/api/worker-definitions"),)?;
                Loaded::Means(Means { launchers, defined })
            }
        })
    }

    async fn list<T: DeserializeOwned>(&self, path: &str) -> Result<Vec<T>, Error> {
        let (rows, left_out) = readable(self.api.get(path).await?);
        self.left_out.fetch_add(left_out, Ordering::Relaxed);
        Ok(rows)
    }

    /// Those of all projects, the newest first.
    async fn tasks(&self) -> Result<Vec<TaskSummary>, Error> {
        let projects: Vec<Project> = self.list("/api/projects").await?;
        let lists = projects.iter().map(|project| async {
            self.list::<TaskSummary>(&format!("/api/tasks?project_id={}", project.id)).await
        });
        let mut tasks = try_join_all(lists).await?.concat();
        tasks.sort_by_key(|task| Reverse(task.task.created_at));
        Ok(tasks)
    }

    /// Those of all projects that have some: by section, the most urgent first, else in the order of their trackers.
    async fn beads(&self) -> Result<Vec<Bead>, Error> {
        let projects: Vec<Project> = self.list("/api/projects").await?;
        let lists = projects.iter().map(|project| async {
            match self.list(&format!("/api/beads?project_id={}", project.id)).await {
                Ok(beads) => Ok(beads.into_iter().map(|bead| Bead::new(project.id, bead)).collect()),
                // It may have been removed meanwhile.
                Err(error) if error.kind == Kind::NotFound => Ok(Vec::new()),
                Err(error) => Err(error),
            }
        });
        let mut beads = try_join_all(lists).await?.concat();
        beads.sort_by_key(|bead| (bead.section(), bead.urgency()));
        Ok(beads)
    }

    async fn usage(&self) -> Result<Usage, Error> {
        let (days, models): (UsageReport, UsageReport) = tokio::try_join!(
            self.api.get("/api/usage?group_by=day"),
            self.api.get("/api/usage?group_by=model"),
        )?;
        let (workers, served) =
            tokio::try_join!(self.if_served("/api/usage/workers"), self.if_served("/api/usage/models"))?;
        let mut groups = days.groups;
        groups.sort_by_key(|group| Reverse(group.day));
        Ok(Usage { days: groups, models: models.groups, total: days.total, workers, served })
    }

    /// A list that an older server does not have is not an error.
    async fn if_served<T: DeserializeOwned>(&self, path: &str) -> Result<List<T>, Error> {
        match self.list(path).await {
            Ok(rows) => Ok(List::Read(rows)),
            Err(error) if error.kind == Kind::NotServed => Ok(List::NotServed),
            Err(error) => Err(error),
        }
    }
}

/// The items that this version can read, and the number of others: what a newer server adds must not hide the rest.
pub(super) fn readable<T: DeserializeOwned>(items: Vec<Value>) -> (Vec<T>, usize) {
    let all = items.len();
    let read = |item: Value| {
        let item = serde_json::from_value(item);
        item.inspect_err(|error| tracing::warn!(%error, "an item of a list cannot be read")).ok()
    };
    let rows: Vec<T> = items.into_iter().filter_map(read).collect();
    let left_out = all - rows.len();
    (rows, left_out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::worker;
    use forge_types::wire::ListedWorker;

    #[test]
    fn an_item_of_a_newer_server_is_left_out_and_the_others_are_read() {
        let phases = ["running", "hibernating", "paused"];
        let items = phases.map(|phase| worker(phase, phase, "healthy", &[], 1)).into();
        let (rows, left_out) = readable::<ListedWorker>(items);
        let ids: Vec<&str> = rows.iter().map(|row| row.worker.id.as_str()).collect();
        assert_eq!((ids, left_out), (vec!["running", "paused"], 1));
    }
}
