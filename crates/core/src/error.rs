//! The one error the skins see.
//!
//! A skin looks at the [`Kind`] and the [`ErrorCode`] and nothing else: status, exit code and colour follow from the
//! first, what helps from the second. The message is for the caller; the cause goes to the log.
//!
//! Invariant: nobody has to read a message to find out what happened. Every failure has a code, the general one of its
//! kind where no other action helps. The message says what is wrong and the hint what to do about it, so that they can
//! be shown apart; written as text, an error is the whole sentence.

use std::borrow::Cow;
use std::fmt;

use forge_run::Secrets;
use forge_types::{AttemptId, ErrandId, ErrorCode, ProjectId, RunId, TaskId};

/// What sort of failure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The thing named does not exist.
    NotFound,
    /// The request itself is wrong.
    Invalid,
    /// More was asked for than is handed out at once.
    TooLarge,
    /// A rule of the product says no, and shipped clients expect a 200 with `success: false`.
    Refused,
    /// The present state does not allow it.
    Conflict,
    /// Not allowed.
    Denied,
    /// Something outside is missing or full; trying again later may help.
    Unavailable,
    /// Another machine that was asked failed or said nothing.
    Upstream,
    /// Our fault.
    Internal,
}

impl Kind {
    /// The code of a failure that has no code of its own.
    pub fn code(self) -> ErrorCode {
        match self {
            Kind::NotFound => ErrorCode::NotFound,
            Kind::Invalid => ErrorCode::Invalid,
            Kind::TooLarge => ErrorCode::TooLarge,
            Kind::Refused => ErrorCode::Refused,
            Kind::Conflict => ErrorCode::Conflict,
            Kind::Denied => ErrorCode::Denied,
            Kind::Unavailable => ErrorCode::Unavailable,
            Kind::Upstream => ErrorCode::Upstream,
            Kind::Internal => ErrorCode::Internal,
        }
    }
}

type Cause = Box<dyn std::error::Error + Send + Sync>;

/// A failure with words for the caller and a cause for the log.
#[derive(Debug)]
pub struct Error {
    kind: Kind,
    /// `None` where the code of the kind says enough.
    code: Option<ErrorCode>,
    field: Option<Cow<'static, str>>,
    message: String,
    hint: Option<Cow<'static, str>>,
    cause: Option<Cause>,
}

pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, code: None, field: None, message: message.into(), hint: None, cause: None }
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(Kind::NotFound, message)
    }

    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(Kind::Invalid, message)
    }

    pub fn refused(message: impl Into<String>) -> Self {
        Self::new(Kind::Refused, message)
    }

    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(Kind::Conflict, message)
    }

    pub fn internal(message: impl Into<String>, cause: impl Into<Cause>) -> Self {
        Self { cause: Some(cause.into()), ..Self::new(Kind::Internal, message) }
    }

    pub(crate) fn no_project(id: ProjectId) -> Self {
        Self::not_found(format!("Project not found: {id}")).code(ErrorCode::ProjectNotFound)
    }

    pub(crate) fn no_task(id: TaskId) -> Self {
        Self::not_found(format!("Task not found: {id}")).code(ErrorCode::TaskNotFound)
    }

    pub(crate) fn no_attempt(id: AttemptId) -> Self {
        Self::not_found(format!("Task attempt not found: {id}")).code(ErrorCode::AttemptNotFound)
    }

    pub(crate) fn no_run(id: RunId) -> Self {
        Self::not_found(format!("Execution process not found: {id}")).code(ErrorCode::RunNotFound)
    }

    pub(crate) fn no_errand(id: ErrandId) -> Self {
        Self::not_found(format!("Execution run not found: {id}")).code(ErrorCode::ErrandNotFound)
    }

    /// A code that says more than the kind.
    #[must_use]
    pub fn code(mut self, code: ErrorCode) -> Self {
        self.code = Some(code);
        self
    }

    /// The part of the request that is wrong. The message names it too.
    #[must_use]
    pub fn field(mut self, field: impl Into<Cow<'static, str>>) -> Self {
        self.field = Some(field.into());
        self
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same about a part of the request, which the message then begins with.
    #[must_use]
    pub(crate) fn of_field(self, field: &'static str) -> Self {
        self.field(field).reworded(|message| format!("{field}: {message}"))
    }

    /// The same failure in the eyes of somebody else: another status, the same code, field, hint and cause.
    #[must_use]
    pub(crate) fn of_kind(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }

    /// The same failure in other words.
    #[must_use]
    pub(crate) fn reworded(mut self, words: impl FnOnce(&str) -> String) -> Self {
        self.message = words(&self.message);
        self
    }

    /// The same without secrets. The cause says them too, so it goes where there are any.
    pub(crate) fn masked(mut self, secrets: &Secrets) -> Self {
        if let Cow::Owned(message) = secrets.mask_text(&self.message) {
            (self.message, self.cause) = (message, None);
        }
        if let Some(Cow::Owned(hint)) = self.hint.as_deref().map(|hint| secrets.mask_text(hint)) {
            (self.hint, self.cause) = (Some(hint.into()), None);
        }
        self
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    pub fn error_code(&self) -> ErrorCode {
        self.code.unwrap_or(self.kind.code())
    }

    pub fn wrong_field(&self) -> Option<&str> {
        self.field.as_deref()
    }

    /// What is wrong, without what to do about it.
    pub fn message(&self) -> &str {
        &self.message
    }

    pub fn advice(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.hint {
            Some(hint) => write!(f, "{}; {hint}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as _)
    }
}

impl From<forge_legacy::LegacyError> for Error {
    fn from(error: forge_legacy::LegacyError) -> Self {
        use forge_legacy::LegacyError;
        match error {
            LegacyError::NotFound(message) => Self::not_found(message),
            // The request is sound; what it leads to cannot be read.
            LegacyError::Invalid(message) => Self::invalid(message).code(ErrorCode::Refused),
        }
    }
}

impl From<forge_store::StoreError> for Error {
    fn from(error: forge_store::StoreError) -> Self {
        use forge_store::StoreError;
        let kind = match &error {
            StoreError::Full => {
                let full = Self::new(Kind::Unavailable, error.to_string());
                return full.code(ErrorCode::DiskFull).hint("free some space and try again");
            }
            StoreError::Gone { .. } | StoreError::NoCopy { .. } | StoreError::NotSynced { .. } => {
                Kind::Unavailable
            }
            StoreError::Missing => Kind::NotFound,
            StoreError::Duplicate => Kind::Conflict,
            _ => Kind::Internal,
        };
        let message = error.to_string();
        // The others have said everything; a cause with the same words would only be read twice.
        let cause = match error {
            StoreError::Sql(cause) => Some(cause.into()),
            _ => None,
        };
        Self { cause, ..Self::new(kind, message) }
    }
}

impl From<forge_git::GitError> for Error {
    fn from(error: forge_git::GitError) -> Self {
        use forge_git::GitError;
        let code = error.code();
        let kind = match code {
            ErrorCode::BranchNotFound | ErrorCode::NotFound => Kind::NotFound,
            ErrorCode::Invalid => Kind::Invalid,
            ErrorCode::TooLarge => Kind::TooLarge,
            ErrorCode::DiskFull | ErrorCode::GitUnusable => Kind::Unavailable,
            // Clients know a remote that lets nobody in as a failure of the server.
            ErrorCode::HostTokenInvalid | ErrorCode::Internal => Kind::Internal,
            _ => Kind::Conflict,
        };
        let field = match &error {
            GitError::BadPath { field, .. }
            | GitError::FileMissing { field, .. }
            | GitError::FileTooLarge { field, .. } => Some(field.clone()),
            _ => None,
        };
        let (code, hint) = (Some(code), error.hint().map(Cow::Borrowed));
        Self { kind, code, field, message: error.to_string(), hint, cause: Some(error.into()) }
    }
}

impl From<forge_run::LaunchError> for Error {
    fn from(error: forge_run::LaunchError) -> Self {
        use forge_run::LaunchError;
        let message = error.to_string();
        let as_is = match &error {
            LaunchError::Agent { not_found: true, .. } => {
                Self::invalid(message).code(ErrorCode::AgentNotFound)
            }
            LaunchError::DiskFull { .. } => {
                let full = Self::new(Kind::Unavailable, message).code(ErrorCode::DiskFull);
                full.hint("free some space and start again")
            }
            LaunchError::Agent { .. } | LaunchError::Keeper { .. } => Self::new(Kind::Internal, message),
        };
        Self { cause: Some(error.into()), ..as_is }
    }
}

impl From<forge_run::OrderError> for Error {
    fn from(error: forge_run::OrderError) -> Self {
        use forge_run::OrderError;
        let code = match &error {
            OrderError::Ended => ErrorCode::NotRunning,
            OrderError::Refused { .. } | OrderError::Timeout { .. } => ErrorCode::Internal,
        };
        Self::internal(error.to_string(), error).code(code)
    }
}

impl From<forge_run::agents::PlanError> for Error {
    fn from(error: forge_run::agents::PlanError) -> Self {
        use forge_run::agents::PlanError;
        match error {
            PlanError::NotFound { program, remedy } => {
                let error = Self::invalid(format!("Executable `{program}` not found in PATH"));
                error.code(ErrorCode::AgentNotFound).hint(remedy)
            }
            PlanError::NoCommand { .. } => Self::invalid(error.to_string()).field("base_command_override"),
            PlanError::BadCommand { field, .. } => Self::invalid(error.to_string()).field(field),
        }
    }
}

impl From<forge_run::agents::ProfileError> for Error {
    fn from(error: forge_run::agents::ProfileError) -> Self {
        use forge_run::agents::ProfileError;
        let text = error.to_string();
        match error {
            ProfileError::UnknownVariant { .. } | ProfileError::Ambiguous { .. } => {
                Self::invalid(text).field("executor_profile_id.variant")
            }
            ProfileError::Invalid { place, .. } => Self::invalid(text).field(place),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_without_a_code_has_the_general_one_of_its_kind() {
        assert_eq!(Error::conflict("busy").error_code(), ErrorCode::Conflict);
        let error = Error::not_found("no such task").code(ErrorCode::TaskNotFound);
        assert_eq!(error.error_code(), ErrorCode::TaskNotFound);
        assert_eq!(
            error.of_kind(Kind::Refused).error_code(),
            ErrorCode::TaskNotFound,
            "not what it is seen as"
        );
        assert_eq!(Error::conflict("busy").of_kind(Kind::Internal).error_code(), ErrorCode::Internal);
    }

    #[test]
    fn an_error_as_text_says_what_is_wrong_and_what_to_do() {
        let error = Error::conflict("it is busy").hint("wait");
        assert_eq!((error.message(), error.advice()), ("it is busy", Some("wait")));
        assert_eq!(
            error.reworded(|what| format!("not pushed: {what}")).to_string(),
            "not pushed: it is busy; wait"
        );
        assert_eq!(Error::conflict("it is busy").to_string(), "it is busy");
    }

    #[test]
    fn a_failure_of_git_names_what_helps_by_code_and_hint() {
        use forge_git::GitError;
        let dirty = Error::from(GitError::Dirty { path: "/w".into(), files: vec!["a".to_owned()] });
        assert_eq!((dirty.kind(), dirty.error_code()), (Kind::Conflict, ErrorCode::UncommittedChanges));
        assert_eq!(dirty.message(), "/w has uncommitted changes: a");
        assert!(dirty.advice().is_some_and(|hint| hint.starts_with("commit, stash")), "{dirty}");
        let missing = Error::from(GitError::BranchMissing("main".to_owned()));
        assert_eq!((missing.kind(), missing.error_code()), (Kind::NotFound, ErrorCode::BranchNotFound));
        assert_eq!((missing.to_string(), missing.advice()), ("Branch not found: main".to_owned(), None));
    }

    #[test]
    fn no_secret_stays_in_a_hint() {
        let dir = tempfile::tempdir().unwrap();
        Secrets::add(dir.path(), [("A_TOKEN".into(), "hunter2-hunter2".into())]).unwrap();
        let secrets = Secrets::read(dir.path()).unwrap();
        let error =
            Error::internal("it failed", "cause").hint("run it with hunter2-hunter2").masked(&secrets);
        assert!(!error.to_string().contains("hunter2"), "{error}");
        assert!(std::error::Error::source(&error).is_none());
    }
}
