//! Why a source cannot be imported.

/// What it is about decides; the message names the field, the value and what helps.
#[derive(Debug, thiserror::Error)]
pub enum LegacyError {
    #[error("{0}")]
    NotFound(String),
    #[error("{0}")]
    Invalid(String),
}
