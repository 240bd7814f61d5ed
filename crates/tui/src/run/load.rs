//! Reading lists, one task for each.
//!
//! Invariant: a list is read at most once at a time and not more often than [`PACE`]; what asks for it meanwhile is
//! answered by one more reading.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use forge_client::{Client, Error, Kind};
use futures_util::future::try_join_all;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;

use crate::message::{Loaded, Message, Topic};
use crate::model::{Bead, Definition, List, Means, Question, Spent, Usage};

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
        let message = match read(&api, topic).await {
            Ok(loaded) => Message::Loaded(Box::new(loaded)),
            Err(error) => Message::Failed(topic, error),
        };
        if messages.send(message).await.is_err() {
            return;
        }
        tokio::time::sleep(PACE).await;
    }
}

async fn read(api: &Client, topic: Topic) -> Result<Loaded, Error> {
    Ok(match topic {
        Topic::Projects => Loaded::Projects(api.get("/api/projects").await?),
        Topic::Attempts => Loaded::Attempts(api.get("/api/task-attempts").await?),
        Topic::Tasks => Loaded::Tasks(tasks(api).await?),
        Topic::Questions => Loaded::Questions(questions(api).await?),
        Topic::Beads => Loaded::Beads(beads(api).await?),
        Topic::Workers => Loaded::Workers(api.get("/api/workers").await?),
        Topic::Alerts => Loaded::Alerts(api.get("/api/alerts").await?),
        Topic::Routing => Loaded::Routing(api.get("/api/routing").await?),
        Topic::Usage => Loaded::Usage(usage(api).await?),
        Topic::Settings => {
            let config: Config = api.get("/api/config").await?;
            Loaded::Settings(config.fleet.alerts)
        }
        Topic::Means => Loaded::Means(means(api).await?),
    })
}

/// As much of the settings as the dashboard follows.
#[derive(Deserialize)]
struct Config {
    fleet: forge_types::FleetSettings,
}

#[derive(Deserialize)]
struct Named {
    id: forge_types::ProjectId,
}

/// Those of all projects, the newest first.
async fn tasks(api: &Client) -> Result<Vec<forge_types::TaskSummary>, Error> {
    let projects: Vec<Named> = api.get("/api/projects").await?;
    let lists = projects.iter().map(|project| {
        let path = format!("/api/tasks?project_id={}", project.id);
        async move { api.get::<Vec<forge_types::TaskSummary>>(&path).await }
    });
    let mut tasks: Vec<_> = try_join_all(lists).await?.into_iter().flatten().collect();
    tasks.sort_by_key(|task| std::cmp::Reverse(task.task.created_at));
    Ok(tasks)
}

/// Those of all projects that have some: by section, the most urgent first, else in the order of their trackers.
async fn beads(api: &Client) -> Result<Vec<Bead>, Error> {
    let projects: Vec<Named> = api.get("/api/projects").await?;
    let lists = projects.iter().map(|project| {
        let path = format!("/api/beads?project_id={}", project.id);
        async move {
            match api.get::<Vec<Bead>>(&path).await {
                Ok(beads) => {
                    let of = |bead| Bead { project: Some(project.id), ..bead };
                    Ok(beads.into_iter().map(of).collect())
                }
                // It may have been removed meanwhile.
                Err(error) if error.kind == Kind::NotFound => Ok(Vec::new()),
                Err(error) => Err(error),
            }
        }
    });
    let mut beads: Vec<Bead> = try_join_all(lists).await?.into_iter().flatten().collect();
    beads.sort_by_key(|bead| (bead.section(), bead.urgency()));
    Ok(beads)
}

/// Each with the attempt of its run.
async fn questions(api: &Client) -> Result<Vec<Question>, Error> {
    let mut questions: Vec<Question> = api.get("/api/approvals/pending").await?;
    for question in &mut questions {
        let Some(run) = &question.execution_process_id else { continue };
        // A run that is gone meanwhile takes its question with it; the next reading shows that.
        if let Ok(run) = api.get::<Value>(&format!("/api/execution-processes/{run}")).await {
            question.attempt = run["task_attempt_id"].as_str().map(str::to_owned);
        }
    }
    Ok(questions)
}

#[derive(Deserialize)]
struct Report {
    groups: Vec<Spent>,
    total: Spent,
}

async fn usage(api: &Client) -> Result<Usage, Error> {
    let (days, models) = tokio::try_join!(
        api.get::<Report>("/api/usage?group_by=day"),
        api.get::<Report>("/api/usage?group_by=model"),
    )?;
    let (workers, served) =
        tokio::try_join!(if_served(api, "/api/usage/workers"), if_served(api, "/api/usage/models"))?;
    let mut groups = days.groups;
    groups.sort_by(|a, b| b.day.cmp(&a.day));
    Ok(Usage { days: groups, models: models.groups, total: days.total, workers, served })
}

/// A list that an older server does not have is not an error.
async fn if_served<T: DeserializeOwned>(api: &Client, path: &str) -> Result<List<T>, Error> {
    match api.get(path).await {
        Ok(rows) => Ok(List::Read(rows)),
        Err(error) if error.kind == Kind::NotServed => Ok(List::NotServed),
        Err(error) => Err(error),
    }
}

#[derive(Deserialize)]
struct Definitions {
    definitions: Vec<Definition>,
    #[serde(default)]
    problems: Vec<String>,
}

async fn means(api: &Client) -> Result<Means, Error> {
    let (launchers, defined) =
        tokio::try_join!(api.get("/api/launchers"), api.get::<Definitions>("/api/worker-definitions"),)?;
    Ok(Means { launchers, definitions: defined.definitions, problems: defined.problems })
}
