//! Looking after open pull requests.
//!
//! Invariant: one conditional request per repository and round, however many pull requests are open there. What a host
//! said is forgotten, and asked again, unless all of it was written down.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::PoisonError;
use std::time::Duration;

use forge_remote::{Host, Listing, PullRequest};
use forge_store::OpenPull;
use forge_types::{Merge, Millis, PrInfo, PrStatus, ProjectId};

use crate::publish::code_host::host_error;
use crate::{Forge, Result};

/// Pull requests that fell off a full listing and are asked for one by one in a round.
const SINGLES: usize = 20;

/// What a repository said last.
#[derive(Clone, Default)]
pub(crate) struct Seen {
    etag: Option<String>,
    at: Option<Millis>,
    failing: bool,
    gap: Option<Gap>,
}

/// Pull requests that no listing covers are asked for over several rounds.
#[derive(Clone)]
struct Gap {
    since: Millis,
    asked: BTreeSet<i64>,
}

impl Forge {
    /// Asks the code hosts about open pull requests, for as long as it is polled.
    pub(crate) async fn watch_pull_requests(&self) {
        let pause = Duration::from_secs(self.0.config.online.pull_poll_s.max(1));
        loop {
            tokio::time::sleep(pause).await;
            if let Err(error) = self.look_at_pull_requests().await {
                tracing::warn!(%error, "cannot look after pull requests");
            }
        }
    }

    async fn look_at_pull_requests(&self) -> Result<()> {
        let open = self.0.store.open_pulls().await?;
        if open.is_empty() {
            return Ok(());
        }
        for (host, pulls) in self.by_repository(open).await? {
            let result = self.look_at_repository(&host, &pulls).await;
            self.note_outcome(&host, result.err());
        }
        Ok(())
    }

    async fn by_repository(&self, open: Vec<OpenPull>) -> Result<HashMap<Host, Vec<OpenPull>>> {
        let projects: HashMap<_, _> =
            self.projects().await?.into_iter().map(|project| (project.id, project)).collect();
        let mut known: BTreeMap<(ProjectId, String), Option<Host>> = BTreeMap::new();
        let mut groups: HashMap<Host, Vec<OpenPull>> = HashMap::new();
        for pull in open {
            let (Some(project), Merge::Pr { target_branch_name, .. }) =
                (projects.get(&pull.project_id), &pull.merge)
            else {
                continue;
            };
            let key = (pull.project_id, target_branch_name.clone());
            let host = match known.get(&key) {
                Some(host) => host.clone(),
                None => {
                    let upstream = self.upstream(project, target_branch_name).await;
                    let host = upstream.ok().and_then(|upstream| upstream.host().cloned().ok());
                    known.insert(key, host.clone());
                    host
                }
            };
            if let Some(host) = host {
                groups.entry(host).or_default().push(pull);
            }
        }
        Ok(groups)
    }

    async fn look_at_repository(&self, host: &Host, pulls: &[OpenPull]) -> Result<()> {
        let seen = self.seen(host);
        let token = self.token_for(host).await;
        let code_host = self.call_on(host, token.as_ref());
        let begun = Millis::now();
        let listing = code_host.pull_requests(seen.etag.as_deref()).await;
        let (listed, etag, cut) = match listing.map_err(|error| host_error(host, error))? {
            Listing::Unchanged => return Ok(()),
            Listing::Changed { pulls, etag, cut } => (pulls, etag, cut),
        };
        let oldest = listed.iter().filter_map(|pull| pull.updated_at).min();
        // Whatever is older than the list has not changed since the last look, if that was later than its end.
        let covered = !cut || matches!((oldest, seen.at), (Some(oldest), Some(at)) if oldest <= at);
        let mut gap = seen.gap.unwrap_or(Gap { since: begun, asked: BTreeSet::new() });
        let mut left = SINGLES;
        let mut complete = true;
        for pull in pulls {
            let Some(number) = number_of(&pull.merge) else { continue };
            if let Some(listed) = listed.iter().find(|listed| listed.number == number) {
                self.follow_pull(pull, listed).await?;
            } else if !covered && !gap.asked.contains(&number) {
                if left == 0 {
                    complete = false;
                    break;
                }
                left -= 1;
                let single = code_host.pull_request(number).await.map_err(|error| host_error(host, error))?;
                self.follow_pull(pull, &single).await?;
                gap.asked.insert(number);
            }
        }
        let seen = match complete {
            true => Seen { etag, at: Some(gap.since), failing: false, gap: None },
            false => Seen { etag: None, at: seen.at, failing: false, gap: Some(gap) },
        };
        self.remember(host, seen);
        Ok(())
    }

    /// Writes down that a pull request is not open any more.
    async fn follow_pull(&self, open: &OpenPull, now: &PullRequest) -> Result<()> {
        let Merge::Pr { task_attempt_id, target_branch_name, pr_info, .. } = &open.merge else {
            return Ok(());
        };
        if now.status == PrStatus::Open || now.status == PrStatus::Unknown {
            return Ok(());
        }
        let Some(attempt) = self.0.store.attempt(*task_attempt_id).await? else { return Ok(()) };
        let PrInfo { number, url, .. } = pr_info;
        let now = PullRequest { url: url.clone(), ..now.clone() };
        self.record_pull(&attempt, target_branch_name, &now).await?;
        tracing::info!(attempt = %attempt.id, number, status = ?now.status, "pull request is not open any more");
        Ok(())
    }

    fn seen(&self, host: &Host) -> Seen {
        let seen = self.0.contacts.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.get(host).cloned().unwrap_or_default()
    }

    fn remember(&self, host: &Host, seen: Seen) {
        self.0.contacts.seen.lock().unwrap_or_else(PoisonError::into_inner).insert(host.clone(), seen);
    }

    /// A host that stays away is reported once, not every minute.
    fn note_outcome(&self, host: &Host, error: Option<crate::Error>) {
        let mut seen = self.seen(host);
        match &error {
            Some(error) if !seen.failing => {
                tracing::warn!(host = %host.name, repository = %host.path, %error, "cannot ask for pull requests");
            }
            Some(_) => {}
            None if seen.failing => tracing::info!(host = %host.name, "pull requests can be asked for again"),
            None => {}
        }
        seen.failing = error.is_some();
        self.remember(host, seen);
    }
}

fn number_of(merge: &Merge) -> Option<i64> {
    match merge {
        Merge::Pr { pr_info, .. } => Some(pr_info.number),
        Merge::Direct { .. } => None,
    }
}
