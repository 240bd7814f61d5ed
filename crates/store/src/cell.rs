//! How the values of Forge stand in cells: ids, words and days as text, times and money as integers, the rest as JSON.
//!
//! Invariant: what was written is read again as the same value. A cell that no version of Forge wrote is an error that
//! names its column.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use forge_types::{
    AgentId, AlertId, ApprovalId, AttemptId, AttemptStatus, Budget, CostSource, Day, DraftId, DraftKind,
    ErrandId, Executor, ImageId, MergeId, MicroUsd, Millis, NotificationId, NotificationStatus, PrStatus,
    ProfileId, ProjectId, RoutingId, RunId, RunPhase, RunReason, RunStatus, TagId, TaskId, TaskStatus,
    TemplateId, WorkerId,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::calls::CallSource;
use crate::sql::{Cell, FromCell, Row, ToCell, Value};

/// How the cell of a column is read where its type alone does not determine it.
pub(crate) trait Reads<T> {
    fn read(row: &Row<'_>, column: &str) -> sqlx::Result<T>;
}

/// How such a cell is written.
pub(crate) trait Writes<T> {
    fn write(value: &T) -> sqlx::Result<Value<'_>>;
}

/// As JSON.
pub(crate) struct Json;
/// As JSON, and as null when there is none.
pub(crate) struct OptionalJson;
/// As JSON, and as null when it is empty.
pub(crate) struct ListJson;
/// The status of an attempt: that of its newest agent run.
pub(crate) struct OfNewestRun;

/// The text of a value in a JSON column.
pub(crate) fn json(value: &impl Serialize) -> sqlx::Result<String> {
    serde_json::to_string(value).map_err(|error| sqlx::Error::Encode(error.into()))
}

impl<T: DeserializeOwned> Reads<T> for Json {
    fn read(row: &Row<'_>, column: &str) -> sqlx::Result<T> {
        row.json(column)
    }
}

impl<T: Serialize> Writes<T> for Json {
    fn write(value: &T) -> sqlx::Result<Value<'_>> {
        Ok(Value::Text(json(value)?.into()))
    }
}

impl<T: DeserializeOwned> Reads<Option<T>> for OptionalJson {
    fn read(row: &Row<'_>, column: &str) -> sqlx::Result<Option<T>> {
        let cell = row.cell(column)?;
        if cell.is_null()? { Ok(None) } else { cell.json().map(Some) }
    }
}

impl<T: Serialize> Writes<Option<T>> for OptionalJson {
    fn write(value: &Option<T>) -> sqlx::Result<Value<'_>> {
        value.as_ref().map_or(Ok(Value::Null), Json::write)
    }
}

impl Reads<Vec<String>> for ListJson {
    fn read(row: &Row<'_>, column: &str) -> sqlx::Result<Vec<String>> {
        Ok(OptionalJson::read(row, column)?.unwrap_or_default())
    }
}

impl Writes<Vec<String>> for ListJson {
    fn write(value: &Vec<String>) -> sqlx::Result<Value<'_>> {
        if value.is_empty() { Ok(Value::Null) } else { Json::write(value) }
    }
}

impl Reads<AttemptStatus> for OfNewestRun {
    fn read(row: &Row<'_>, column: &str) -> sqlx::Result<AttemptStatus> {
        Ok(match row.get(column)? {
            None => AttemptStatus::Pending,
            Some(RunStatus::Running) => AttemptStatus::Running,
            Some(RunStatus::Completed) => AttemptStatus::Completed,
            Some(RunStatus::Failed) => AttemptStatus::Failed,
            Some(RunStatus::Killed) => AttemptStatus::Stopped,
        })
    }
}

impl<T: ToCell + ?Sized> ToCell for &T {
    fn to_cell(&self) -> Value<'_> {
        (**self).to_cell()
    }
}

impl<T: ToCell> ToCell for Option<T> {
    fn to_cell(&self) -> Value<'_> {
        self.as_ref().map_or(Value::Null, T::to_cell)
    }
}

impl<T: FromCell> FromCell for Option<T> {
    fn from_cell(cell: Cell<'_>) -> sqlx::Result<Self> {
        if cell.is_null()? { Ok(None) } else { T::from_cell(cell).map(Some) }
    }
}

impl ToCell for str {
    fn to_cell(&self) -> Value<'_> {
        Value::Text(self.into())
    }
}

impl ToCell for String {
    fn to_cell(&self) -> Value<'_> {
        self.as_str().to_cell()
    }
}

impl ToCell for Path {
    fn to_cell(&self) -> Value<'_> {
        Value::Text(self.to_string_lossy())
    }
}

impl ToCell for PathBuf {
    fn to_cell(&self) -> Value<'_> {
        self.as_path().to_cell()
    }
}

impl FromCell for PathBuf {
    fn from_cell(cell: Cell<'_>) -> sqlx::Result<Self> {
        String::from_cell(cell).map(PathBuf::from)
    }
}

/// Devices and inodes: SQL has no unsigned integers.
impl ToCell for u64 {
    fn to_cell(&self) -> Value<'_> {
        Value::Integer(self.cast_signed())
    }
}

impl FromCell for u64 {
    fn from_cell(cell: Cell<'_>) -> sqlx::Result<Self> {
        i64::from_cell(cell).map(i64::cast_unsigned)
    }
}

/// Values that are shown as their text.
macro_rules! shown {
    ($($kind:ty),* $(,)?) => {$(
        impl ToCell for $kind {
            fn to_cell(&self) -> Value<'_> {
                Value::Text(Cow::Owned(self.to_string()))
            }
        }
    )*};
}

/// Values that have a word.
macro_rules! words {
    ($($kind:ty),* $(,)?) => {$(
        impl ToCell for $kind {
            fn to_cell(&self) -> Value<'_> {
                self.as_str().to_cell()
            }
        }
    )*};
}

/// Values that are parsed from their text.
macro_rules! parsed {
    ($($kind:ty),* $(,)?) => {$(
        impl FromCell for $kind {
            fn from_cell(cell: Cell<'_>) -> sqlx::Result<Self> {
                cell.parse()
            }
        }
    )*};
}

/// Numbers with a meaning.
macro_rules! numbers {
    ($($kind:ident($inner:ty)),* $(,)?) => {$(
        impl ToCell for $kind {
            fn to_cell(&self) -> Value<'_> {
                self.0.to_cell()
            }
        }

        impl FromCell for $kind {
            fn from_cell(cell: Cell<'_>) -> sqlx::Result<Self> {
                <$inner>::from_cell(cell).map($kind)
            }
        }
    )*};
}

/// Enums whose words only the database knows, and what any other word means.
macro_rules! kinds {
    ($($kind:ident { $($name:ident = $word:literal),* } else |$cell:ident, $other:ident| $else:expr;)*) => {$(
        impl ToCell for $kind {
            fn to_cell(&self) -> Value<'_> {
                Value::Text(Cow::Borrowed(match self { $($kind::$name => $word),* }))
            }
        }

        impl FromCell for $kind {
            fn from_cell($cell: Cell<'_>) -> sqlx::Result<Self> {
                match $cell.text()? {
                    $($word => Ok($kind::$name),)*
                    $other => $else,
                }
            }
        }
    )*};
}

shown! {
    AgentId, AlertId, ApprovalId, AttemptId, Day, DraftId, ErrandId, Executor, ImageId, MergeId, NotificationId,
    ProjectId, RoutingId, RunId, TagId, TaskId, TemplateId,
}
words! { CallSource, CostSource, NotificationStatus, RunPhase, RunReason, RunStatus, TaskStatus, WorkerId }
parsed! {
    AgentId, ApprovalId, AttemptId, Day, DraftId, ErrandId, ImageId, MergeId, NotificationId, NotificationStatus,
    ProfileId, ProjectId, RunId, RunPhase, RunReason, RunStatus, TagId, TaskId, TaskStatus, TemplateId, WorkerId,
}
numbers! { Millis(i64), MicroUsd(i64), Budget(MicroUsd) }
kinds! {
    DraftKind { FollowUp = "follow_up", Retry = "retry" }
        else |cell, other| Err(cell.bad(format!("unknown kind of draft '{other}'")));
    PrStatus { Open = "open", Merged = "merged", Closed = "closed", Unknown = "unknown" }
        else |cell, _other| Ok(PrStatus::Unknown);
}
