//! Tasks made of issues.
//!
//! Invariant: an issue has one task per project; asking again answers that task. Everything a start needs is checked
//! before anything is made, here or on the host.

use forge_remote::{Host, Issue, RemoteError, Token};
use forge_store::{Page, StoreError};
use forge_types::{
    Attempt, CreateAttempt, CreateAttemptOptions, CreateTask, IssueLink, Project, ProjectId, Task,
    TaskFromIssue, TaskStatus, TaskSummary,
};

use crate::publish::pull_request::repository_of;
use crate::task::label;
use crate::task::new_task;
use crate::{Error, Forge, Kind, Result};

/// The task of an issue. `warning` says what did not work although the task is there.
pub struct IssueTask {
    pub task: TaskSummary,
    pub attempt: Option<Attempt>,
    pub issue: IssueLink,
    pub warning: Option<String>,
}

impl Forge {
    pub async fn create_task_from_issue(&self, id: ProjectId, request: TaskFromIssue) -> Result<IssueTask> {
        let project = self.project(id).await?;
        let target = match &project.default_base_branch {
            Some(branch) => branch.clone(),
            None => self.repo(&project).await?.current_branch().await?.unwrap_or_else(|| "main".to_owned()),
        };
        let upstream = self.upstream(&project, &target).await?;
        let host = upstream.host()?;
        let number = wanted_number(&request, host)?;
        let options = self.start_options(&request);
        if let Some(options) = &options {
            self.check_start(id, options).await?;
        }
        let repository = repository_of(host);
        if let Some(link) = self.0.store.issue(id, &repository, number).await? {
            return self.answer_known(link, options).await;
        }
        let token = self.token_for(host).await;
        let issue = self.fetch_issue(host, token.as_ref(), number).await?;
        let task = issue_task(&project, &issue)?;
        let link = IssueLink { task_id: task.id, project_id: id, repository, number, url: issue.url.clone() };
        match self.write_issue_task(&task, &link).await {
            Err(StoreError::Duplicate) => {
                let known = self.0.store.issue(id, &link.repository, number).await?;
                return self.answer_known(known.ok_or(StoreError::Missing)?, options).await;
            }
            written => written?,
        }
        let mut answer = self.start_issue_task(link, options).await?;
        let comment = comment_of(&task, answer.attempt.as_ref());
        if let Err(error) = self.call_on(host, token.as_ref()).comment_on_issue(number, &comment).await {
            let text = format!("the task was made, but the issue has no comment about it: {error}");
            answer.warning =
                Some(answer.warning.map_or(text.clone(), |warning| format!("{warning}; {text}")));
        }
        Ok(answer)
    }

    fn start_options(&self, request: &TaskFromIssue) -> Option<CreateAttemptOptions> {
        request.start.unwrap_or(false).then(|| CreateAttemptOptions {
            executor_profile_id: request
                .executor_profile_id
                .clone()
                .unwrap_or_else(|| self.settings().executor_profile.clone()),
            base_branch: request.base_branch.clone(),
            use_worktree: None,
            auto_pr: request.auto_pr,
            max_cost_usd: request.max_cost_usd,
        })
    }

    async fn fetch_issue(&self, host: &Host, token: Option<&Token>, number: i64) -> Result<Issue> {
        match self.call_on(host, token).issue(number).await {
            Ok(Some(issue)) => Ok(issue),
            Ok(None) => {
                Err(Error::invalid(format!("#{number} is a pull request, not an issue")).of_field("number"))
            }
            Err(RemoteError::Refused { status: 404 | 410, .. }) => Err(Error::not_found(format!(
                "{} has no issue #{number} in {}, or the token may not see it",
                host.name, host.path
            ))
            .of_field("number")),
            Err(error) => Err(Error::new(Kind::Upstream, format!("the issue cannot be read: {error}"))),
        }
    }

    async fn write_issue_task(&self, task: &Task, link: &IssueLink) -> std::result::Result<(), StoreError> {
        let mut tx = self.0.store.begin().await?;
        tx.insert_task(task, false).await?;
        tx.insert_issue(link).await?;
        tx.commit().await?;
        Ok(())
    }

    /// An earlier call made the task; a start that it did not ask for can still be had.
    async fn answer_known(
        &self,
        issue: IssueLink,
        options: Option<CreateAttemptOptions>,
    ) -> Result<IssueTask> {
        let page = Page { limit: Some(1), offset: 0 };
        let newest = self.0.store.attempts(Some(issue.task_id), page).await?.into_iter().next();
        match newest {
            None => self.start_issue_task(issue, options).await,
            Some(attempt) => {
                let task = self.summary(&issue).await?;
                Ok(IssueTask { task, attempt: Some(attempt), issue, warning: None })
            }
        }
    }

    async fn start_issue_task(
        &self,
        issue: IssueLink,
        options: Option<CreateAttemptOptions>,
    ) -> Result<IssueTask> {
        let (mut attempt, mut warning) = (None, None);
        if let Some(start) = options {
            match self.create_attempt(CreateAttempt { task_id: issue.task_id, start }, None).await {
                Ok(started) => (attempt, warning) = (Some(started.attempt), started.warning),
                Err(error) => warning = Some(format!("the task was made but not started: {error}")),
            }
        }
        Ok(IssueTask { task: self.summary(&issue).await?, attempt, issue, warning })
    }

    async fn summary(&self, issue: &IssueLink) -> Result<TaskSummary> {
        let summary = self.0.store.task_summary(issue.task_id).await?;
        summary.ok_or_else(|| Error::no_task(issue.task_id))
    }
}

fn wanted_number(request: &TaskFromIssue, host: &Host) -> Result<i64> {
    let place = format!("{} on {}", host.path, host.name);
    match (&request.url, request.number) {
        (Some(url), _) => host.issue_number(url).ok_or_else(|| {
            Error::invalid(format!("'{url}' is not an issue of this project's repository, {place}"))
                .of_field("url")
        }),
        (None, Some(number)) if number > 0 => Ok(number),
        (None, Some(number)) => Err(Error::invalid(format!(
            "{number} is not allowed; allowed: the number of an issue of {place}"
        ))
        .of_field("number")),
        (None, None) => Err(Error::invalid("missing")
            .hint(format!("give the number or the url of an issue of {place}"))
            .of_field("number")),
    }
}

fn issue_task(project: &Project, issue: &Issue) -> Result<Task> {
    let body = issue.body.trim();
    let description = if body.is_empty() { issue.url.clone() } else { format!("{body}\n\n{}", issue.url) };
    let title = format!("[ISSUE] #{}-{}", issue.number, issue.title.trim());
    let labels = Some(label::take_over(&issue.labels));
    let request = CreateTask { description: Some(description), labels, ..CreateTask::new(project.id, title) };
    new_task(request, TaskStatus::Todo)
}

fn comment_of(task: &Task, attempt: Option<&Attempt>) -> String {
    match attempt {
        Some(attempt) => {
            format!(
                "Forge took this up: an agent works on it on branch `{}` (task `{}`).",
                attempt.branch, task.id
            )
        }
        None => format!("Forge took this up as task `{}`.", task.id),
    }
}
