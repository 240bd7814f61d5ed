//! Publishing an attempt: pushing its branch, opening a pull request, attaching one that exists.
//!
//! Invariant: a pull request has one record per attempt and number, however often and by whom it is reported; whoever
//! finds it merged moves the task to done in the same transaction.

use forge_git::GitError;
use forge_remote::{Host, NewPullRequest, PullRequest, RemoteError};
use forge_store::Why;
use forge_types::wire::AttachedPullRequest;
use forge_types::{
    AttachPullRequest, Attempt, AttemptId, AutoPr, CreatePullRequest, ErrorCode, IssueLink, Merge, MergeId,
    Millis, PrInfo, PrStatus, RunOwner, Task, TaskStatus,
};
use serde::Serialize;

use crate::background::Bell;
use crate::publish::code_host::{Pages, Upstream, host_error, invalid_token};
use crate::worktree::workplace::Workplace;
use crate::{Error, Forge, Kind, Result};

/// What became of the wish for a pull request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opened {
    Url(String),
    Refused(PrRefusal),
}

/// Why a code host said no, in words that clients know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PrRefusal {
    TokenInvalid,
    InsufficientPermissions,
    RepoNotFoundOrNoAccess,
}

impl PrRefusal {
    pub fn code(self) -> ErrorCode {
        match self {
            PrRefusal::TokenInvalid => ErrorCode::HostTokenInvalid,
            PrRefusal::InsufficientPermissions => ErrorCode::HostPermissionMissing,
            PrRefusal::RepoNotFoundOrNoAccess => ErrorCode::HostRepositoryNotFound,
        }
    }

    /// In words for people.
    pub fn explain(self) -> &'static str {
        match self {
            PrRefusal::TokenInvalid => "the token for the code host is missing, invalid or expired",
            PrRefusal::InsufficientPermissions => "the token may not open pull requests here",
            PrRefusal::RepoNotFoundOrNoAccess => "the repository does not exist or the token may not see it",
        }
    }
}

/// An attempt with a branch that can be published.
pub(crate) struct Work {
    pub(crate) workplace: Workplace,
    pub(crate) attempt: Attempt,
    pub(crate) task: Task,
}

impl Forge {
    /// Publishes the attempt's branch, with the user's own credentials unless a token is set.
    pub async fn push_attempt(&self, id: AttemptId) -> Result<()> {
        let work = self.work(id).await?;
        let upstream = self.upstream(&work.workplace.project, &work.attempt.target_branch).await?;
        self.push_work(&work, &upstream).await.map_err(|failure| failure.into_error(&upstream))?;
        self.0.background.ring(Bell::Branches);
        Ok(())
    }

    pub(crate) async fn work(&self, id: AttemptId) -> Result<Work> {
        let workplace = self.workplace(RunOwner::Attempt(id)).await?;
        let (Some(task), Some(attempt)) = (workplace.task.clone(), workplace.attempt.clone()) else {
            return Err(Error::no_attempt(id));
        };
        if !attempt.use_worktree {
            return Err(Error::conflict(format!(
                "attempt {id} works in the main checkout and has no branch of its own, so there is nothing to publish"
            )));
        }
        Ok(Work { workplace, attempt, task })
    }

    async fn push_work(&self, work: &Work, upstream: &Upstream) -> std::result::Result<String, PushFailure> {
        if let (Some(_), Ok(host)) = (&upstream.credential, upstream.host()) {
            let token = forge_remote::stored_token(host, &self.settings());
            // A host that does not answer now is asked again by the push itself.
            if let Ok(false) = self.call_on(host, token.as_ref()).check_token().await {
                return Err(PushFailure::Token);
            }
        }
        let credential = upstream.credential.as_ref();
        let (host, at, branch) = (self.0.worktrees.host(), &work.workplace.directory, &work.attempt.branch);
        let locked = match host.push(at, branch, &upstream.remote, credential).await {
            Err(locked @ GitError::Locked { .. }) if credential.is_none() => locked,
            other => return other.map_err(PushFailure::Git),
        };
        // The user's git is not let in there, but gh may be.
        let Some(credential) = self.borrowed_credential(upstream).await else {
            return Err(PushFailure::Git(locked));
        };
        host.push(at, branch, &upstream.remote, Some(&credential)).await.map_err(PushFailure::Git)
    }

    /// Pushes the attempt and opens a pull request for it; one that is open already is brought up to date.
    pub async fn create_pull_request(&self, id: AttemptId, request: CreatePullRequest) -> Result<Opened> {
        if request.title.trim().is_empty() {
            let empty = Error::invalid("must not be empty").of_field("title");
            return Err(empty.hint("say what the pull request changes"));
        }
        let work = self.work(id).await?;
        let opened = self.open_pull_request(&work, &request).await?;
        if let (Opened::Url(url), Pages::Open) = (&opened, self.0.config.online.pages) {
            forge_run::open_page(url);
        }
        Ok(opened)
    }

    pub(crate) async fn open_pull_request(&self, work: &Work, request: &CreatePullRequest) -> Result<Opened> {
        let target = self.pull_target(work, request);
        let upstream = self.upstream(&work.workplace.project, &target).await;
        let upstream = upstream.map_err(|error| not_pushed("GitHub", error))?;
        let host = upstream.host().map_err(not_created)?;
        let base = upstream.remote.strip(&target);
        self.refuse_empty(work, &upstream, &target).await.map_err(not_created)?;
        let Some(token) = self.token_for(host).await else {
            return Ok(Opened::Refused(PrRefusal::TokenInvalid));
        };
        if let Err(failure) = self.push_work(work, &upstream).await {
            return match failure.refusal(&upstream) {
                Some(refusal) => Ok(Opened::Refused(refusal)),
                None => Err(not_pushed(upstream.product(), failure.into_error(&upstream))),
            };
        }
        let issue = self.0.store.issue_of(work.task.id).await?;
        let body = body_with_issue(request.body.as_deref(), issue.as_ref(), host);
        let new =
            NewPullRequest { title: request.title.trim(), body: &body, head: &work.attempt.branch, base };
        let code_host = self.call_on(host, Some(&token));
        // One that is open already has the new commits now; a second one for the same two branches cannot be.
        let known = code_host.pull_requests_from(new.head).await.unwrap_or_default();
        let open = known.into_iter().find(|pull| pull.status == PrStatus::Open && pull.base == base);
        let created = match open {
            Some(pull) => Ok(pull),
            None => code_host.create_pull_request(&new).await,
        };
        match created {
            Ok(pull) => {
                self.record_pull(&work.attempt, &target, &pull).await?;
                Ok(Opened::Url(pull.url))
            }
            Err(error) => match refusal_of(&error) {
                Some(refusal) => Ok(Opened::Refused(refusal)),
                None => Err(not_created(Error::refused(error.to_string()))),
            },
        }
    }

    /// The branch it is for: as asked, else the attempt's, else that of the settings.
    fn pull_target(&self, work: &Work, request: &CreatePullRequest) -> String {
        let settings = self.settings();
        let candidates = [
            request.target_branch.as_deref(),
            Some(work.attempt.target_branch.as_str()),
            settings.github.default_pr_base.as_deref(),
        ];
        let filled = candidates.into_iter().flatten().map(str::trim).find(|name| !name.is_empty());
        filled.unwrap_or("main").to_owned()
    }

    /// A branch without a commit of its own would be pushed in vain.
    async fn refuse_empty(&self, work: &Work, upstream: &Upstream, target: &str) -> Result<()> {
        if self.commits_ahead(work, upstream, target).await? == Some(0) {
            let message = format!(
                "'{}' has no commit that '{target}' lacks, so there is nothing to propose",
                work.attempt.branch
            );
            return Err(Error::refused(message).code(ErrorCode::NothingToMerge));
        }
        Ok(())
    }

    /// `None` when the target is not known in the repository.
    pub(crate) async fn commits_ahead(
        &self,
        work: &Work,
        upstream: &Upstream,
        target: &str,
    ) -> Result<Option<u32>> {
        let tip = upstream.repo.resolve_branch(&work.attempt.branch).await?;
        let target = upstream.repo.resolve_branch(target).await?;
        let (Some(tip), Some(target)) = (tip, target) else { return Ok(None) };
        let (ahead, _) = forge_git::ahead_behind(&upstream.repo, &tip.commit, &target.commit).await?;
        Ok(Some(ahead))
    }

    /// Writes down what a host says about a pull request of this attempt.
    pub(crate) async fn record_pull(
        &self,
        attempt: &Attempt,
        target: &str,
        pull: &PullRequest,
    ) -> Result<PrInfo> {
        let info = PrInfo {
            number: pull.number,
            url: pull.url.clone(),
            status: pull.status,
            merged_at: pull.merged_at,
            merge_commit_sha: pull.merge_commit.clone(),
        };
        let mut tx = self.0.store.begin().await?;
        let known = tx.pull(attempt.id, pull.number).await?;
        let (id, created_at) = match &known {
            Some(Merge::Pr { id, created_at, .. }) => (*id, *created_at),
            _ => (MergeId::random(), Millis::now()),
        };
        let merge = Merge::Pr {
            id,
            task_attempt_id: attempt.id,
            created_at,
            target_branch_name: target.to_owned(),
            pr_info: info.clone(),
        };
        match known {
            Some(_) => tx.update_merge(&merge).await?,
            None => tx.insert_merge(&merge).await?,
        }
        if let Some(mut attempt) = tx.attempt(attempt.id).await?
            && attempt.auto_pr.is_some()
        {
            attempt.auto_pr = Some(AutoPr::Opened { url: pull.url.clone() });
            attempt.updated_at = Millis::now();
            tx.update_attempt(&attempt).await?;
        }
        if pull.status == PrStatus::Merged {
            tx.move_task(attempt.task_id, TaskStatus::Done, Why::Landed).await?;
        }
        tx.commit().await?;
        self.0.background.ring(Bell::Branches);
        Ok(info)
    }

    /// The pull request of the attempt: the newest on record, else one that the host has for its branch.
    pub async fn attach_pull_request(
        &self,
        id: AttemptId,
        request: AttachPullRequest,
    ) -> Result<AttachedPullRequest> {
        let work = self.work(id).await?;
        let recorded = self.0.store.merges(id).await?;
        let recorded = recorded.iter().find_map(|merge| match merge {
            Merge::Pr { pr_info, .. } => Some(AttachedPullRequest::from(pr_info)),
            Merge::Direct { .. } => None,
        });
        if let Some(recorded) = recorded {
            return Ok(recorded);
        }
        let upstream = self.upstream(&work.workplace.project, &work.attempt.target_branch).await?;
        let host = upstream.host()?;
        let token = self.token_for(host).await;
        let found = self.call_on(host, token.as_ref()).pull_requests_from(&work.attempt.branch).await;
        let mut found = found.map_err(|error| host_error(host, error))?;
        // Newest first already; an open one counts more than any closed one.
        found.sort_by_key(|pull| pull.status != PrStatus::Open);
        let chosen = found.iter().find(|pull| request.pr_number.is_none_or(|number| number == pull.number));
        match chosen {
            Some(pull) => {
                Ok(AttachedPullRequest::from(&self.record_pull(&work.attempt, &pull.base, pull).await?))
            }
            None => Ok(AttachedPullRequest::default()),
        }
    }
}

/// Why a push did not happen.
enum PushFailure {
    Token,
    Git(GitError),
}

impl PushFailure {
    fn into_error(self, upstream: &Upstream) -> Error {
        match (self, upstream.host()) {
            (PushFailure::Token, Ok(host)) => invalid_token(host),
            (PushFailure::Token, Err(error)) => error,
            (PushFailure::Git(error), _) => error.into(),
        }
    }

    /// What a host means that turned a token away. The user's own credentials are no token.
    fn refusal(&self, upstream: &Upstream) -> Option<PrRefusal> {
        match self {
            PushFailure::Token => Some(PrRefusal::TokenInvalid),
            PushFailure::Git(GitError::Locked { reason, .. }) if upstream.credential.is_some() => {
                let has = |text: &str| reason.contains(text);
                Some(match () {
                    () if has("403") || has("denied") => PrRefusal::InsufficientPermissions,
                    () if has("404") || has("not found") => PrRefusal::RepoNotFoundOrNoAccess,
                    () => PrRefusal::TokenInvalid,
                })
            }
            PushFailure::Git(_) => None,
        }
    }
}

fn not_pushed(product: &str, error: Error) -> Error {
    lasting(error, |message| format!("Failed to push branch to {product}: {message}"))
}

fn not_created(error: Error) -> Error {
    lasting(error, |message| format!("Failed to create PR: {message}"))
}

/// Shipped clients expect these failures with status 200.
fn lasting(error: Error, words: impl FnOnce(&str) -> String) -> Error {
    match error.error_code() {
        ErrorCode::AttemptNotFound => error,
        _ => error.of_kind(Kind::Refused).reworded(words),
    }
}

fn refusal_of(error: &RemoteError) -> Option<PrRefusal> {
    let RemoteError::Refused { status, message, .. } = error else { return None };
    match status {
        401 => Some(PrRefusal::TokenInvalid),
        403 if !message.contains("rate limit") => Some(PrRefusal::InsufficientPermissions),
        404 => Some(PrRefusal::RepoNotFoundOrNoAccess),
        _ => None,
    }
}

/// The words of the pull request, which close the issue that the task came from.
pub(crate) fn body_with_issue(body: Option<&str>, issue: Option<&IssueLink>, host: &Host) -> String {
    let body = body.unwrap_or_default().trim();
    let Some(issue) = issue else { return body.to_owned() };
    let here = issue.repository == repository_of(host);
    let name = if here { format!("#{}", issue.number) } else { issue.url.clone() };
    let closes = format!("Closes {name}");
    match body {
        "" => closes,
        body if names(body, &closes) => body.to_owned(),
        body => format!("{body}\n\n{closes}"),
    }
}

/// Whether the words stand in the text, and not as the beginning of a longer number.
fn names(text: &str, words: &str) -> bool {
    text.match_indices(words)
        .any(|(at, _)| !text[at + words.len()..].starts_with(|c: char| c.is_ascii_digit()))
}

/// `host/owner/repo`, in one spelling.
pub(crate) fn repository_of(host: &Host) -> String {
    format!("{}/{}", host.name, host.path.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AgentsOnExit;
    use crate::attempt::removal::tests::archived_attempt;
    use crate::run::approval::tests::config;
    use forge_remote::Hosts;
    use forge_types::{ProjectId, TaskId};

    #[tokio::test]
    async fn a_merged_pull_request_of_an_archived_task_is_recorded_and_leaves_it_archived() {
        let dir = tempfile::tempdir().expect("a folder");
        let forge = Forge::open(config(dir.path())).await.expect("an engine");
        let attempt = archived_attempt(&forge).await;
        let pull = PullRequest {
            number: 7,
            url: "https://example.org/7".into(),
            status: PrStatus::Merged,
            head: attempt.branch.clone(),
            base: "main".into(),
            merged_at: Some(Millis(1)),
            merge_commit: None,
            updated_at: None,
        };
        forge.record_pull(&attempt, "main", &pull).await.expect("a record");
        assert_eq!(forge.0.store.merges(attempt.id).await.expect("a list").len(), 1);
        let task = forge.task(attempt.task_id).await.expect("a task");
        assert_eq!(task.status, TaskStatus::Archived);
        forge.close(AgentsOnExit::Keep).await;
    }

    #[test]
    fn a_pull_request_names_the_issue_once_and_in_full_from_elsewhere() {
        let here = Hosts::default().recognise("git@github.com:Acme/Widgets.git").expect("GitHub");
        let elsewhere = Hosts::default().recognise("git@github.com:acme/other.git").expect("GitHub");
        let issue = IssueLink {
            task_id: TaskId::random(),
            project_id: ProjectId::random(),
            repository: "github.com/acme/widgets".to_owned(),
            number: 7,
            url: "https://github.com/acme/widgets/issues/7".to_owned(),
        };
        let body = |text: Option<&str>, host: &Host| body_with_issue(text, Some(&issue), host);
        assert_eq!(body(None, &here), "Closes #7");
        assert_eq!(body(Some("Why.\n"), &here), "Why.\n\nCloses #7");
        assert_eq!(body(Some("Closes #7 at last"), &here), "Closes #7 at last");
        assert_eq!(body(Some("Closes #70"), &here), "Closes #70\n\nCloses #7");
        assert_eq!(body(None, &elsewhere), format!("Closes {}", issue.url));
        assert_eq!(body_with_issue(Some(" as it is "), None, &here), "as it is");
    }

    #[test]
    fn a_spent_rate_limit_is_no_lack_of_permission() {
        let refused = |status: u16, message: &str| {
            let (host, message) = ("h".to_owned(), message.to_owned());
            refusal_of(&RemoteError::Refused { host, status, message })
        };
        assert_eq!(refused(401, ""), Some(PrRefusal::TokenInvalid));
        assert_eq!(refused(403, "Resource not accessible"), Some(PrRefusal::InsufficientPermissions));
        assert_eq!(refused(403, "API rate limit exceeded"), None);
        assert_eq!(refused(404, "Not Found"), Some(PrRefusal::RepoNotFoundOrNoAccess));
        assert_eq!(refused(422, "Validation Failed"), None);
    }
}
