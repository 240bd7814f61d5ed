//! The one error the skins see.
//!
//! A skin looks at [`Kind`] and nothing else: status, exit code and colour follow from it. The message is for the
//! caller; the cause goes to the log.

use std::borrow::Cow;
use std::fmt;

use forge_run::Secrets;

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

/// A failure with words for the caller and a cause for the log.
#[derive(Debug)]
pub struct Error {
    kind: Kind,
    message: String,
    cause: Option<Box<dyn std::error::Error + Send + Sync>>,
}

pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), cause: None }
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

    pub fn internal(
        message: impl Into<String>,
        cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self { kind: Kind::Internal, message: message.into(), cause: Some(cause.into()) }
    }

    /// The same without secrets. The cause says them too, so it goes where there are any.
    pub(crate) fn masked(mut self, secrets: &Secrets) -> Self {
        if let Cow::Owned(message) = secrets.mask_text(&self.message) {
            (self.message, self.cause) = (message, None);
        }
        self
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
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
            LegacyError::Invalid(message) => Self::invalid(message),
        }
    }
}

impl From<forge_store::StoreError> for Error {
    fn from(error: forge_store::StoreError) -> Self {
        use forge_store::StoreError;
        let kind = match &error {
            StoreError::Full
            | StoreError::Gone { .. }
            | StoreError::NoCopy { .. }
            | StoreError::NotSynced { .. } => Kind::Unavailable,
            StoreError::Missing => Kind::NotFound,
            StoreError::Duplicate => Kind::Conflict,
            _ => Kind::Internal,
        };
        let message = format!("DatabaseError: {error}");
        // The others have said everything; a cause with the same words would only be read twice.
        let cause = match error {
            StoreError::Sql(cause) => Some(cause.into()),
            _ => None,
        };
        Self { kind, message, cause }
    }
}

impl From<forge_git::GitError> for Error {
    fn from(error: forge_git::GitError) -> Self {
        use forge_git::GitError;
        let kind = match &error {
            GitError::BranchMissing(_) | GitError::FileMissing { .. } => Kind::NotFound,
            GitError::BadPath { .. } => Kind::Invalid,
            GitError::Io { source, .. } if source.kind() == std::io::ErrorKind::InvalidFilename => {
                Kind::Invalid
            }
            GitError::FileTooLarge { .. } => Kind::TooLarge,
            GitError::NoRepository(_) => Kind::Conflict,
            GitError::NotForges { .. }
            | GitError::Replaced { .. }
            | GitError::StrangeRebase { .. }
            | GitError::Conflict { .. }
            | GitError::Diverged(_)
            | GitError::Dirty { .. }
            | GitError::InProgress { .. }
            | GitError::OffBranch { .. }
            | GitError::CheckedOut { .. }
            | GitError::RemoteTarget(_)
            | GitError::NothingToMerge { .. }
            | GitError::NothingKept(_)
            | GitError::Exists(_)
            | GitError::NoRemote(_)
            | GitError::Rejected { .. }
            | GitError::Untrusted(_)
            | GitError::Busy(_) => Kind::Conflict,
            GitError::DiskFull | GitError::NoGit | GitError::TooOld { .. } => Kind::Unavailable,
            GitError::Failed { .. } | GitError::Locked { .. } | GitError::Io { .. } => Kind::Internal,
        };
        Self { kind, message: format!("GitServiceError: {error}"), cause: Some(error.into()) }
    }
}

impl From<forge_run::LaunchError> for Error {
    fn from(error: forge_run::LaunchError) -> Self {
        use forge_run::LaunchError;
        let kind = match &error {
            LaunchError::Agent { not_found: true, .. } => Kind::Invalid,
            LaunchError::DiskFull { .. } => Kind::Unavailable,
            LaunchError::Agent { .. } | LaunchError::Keeper { .. } => Kind::Internal,
        };
        Self { kind, message: error.to_string(), cause: Some(error.into()) }
    }
}

impl From<forge_run::TalkError> for Error {
    fn from(error: forge_run::TalkError) -> Self {
        Self { kind: Kind::Internal, message: format!("ContainerError: {error}"), cause: Some(error.into()) }
    }
}

impl From<forge_run::agents::PlanError> for Error {
    fn from(error: forge_run::agents::PlanError) -> Self {
        use forge_run::agents::PlanError;
        let message = match &error {
            PlanError::NoCommand { .. } => error.to_string(),
            PlanError::NotFound { .. } | PlanError::BadCommand { .. } => format!("ContainerError: {error}"),
        };
        Self::new(Kind::Invalid, message)
    }
}

impl From<forge_run::agents::ProfileError> for Error {
    fn from(error: forge_run::agents::ProfileError) -> Self {
        Self::new(Kind::Invalid, error.to_string())
    }
}
