//! Statements and rows: the one door between the store and its driver.
//!
//! Owns how values are bound and how cells are read. Invariant: a reader names the column that it wants and gets its
//! cell from a [`Row`], whatever the order of the select list; no reader sees the driver. A second database is a second
//! variant inside [`Query`], [`Row`] and [`Cell`].

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt::Write;
use std::str::FromStr;

use serde::de::DeserializeOwned;
use sqlx::pool::PoolConnection;
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{
    Arguments, AssertSqlSafe, Column, ColumnIndex, Decode, Row as _, Sqlite, SqliteConnection, SqlitePool,
    Transaction, Type, ValueRef,
};

use crate::entity::{Cells, Entity};
use crate::error::{Result, StoreError};

/// A connection, inside a transaction or not.
pub(crate) type Conn = SqliteConnection;
pub(crate) type Pool = SqlitePool;
/// A connection that only reads, until it is dropped.
pub(crate) type Reader = PoolConnection<Sqlite>;
/// One moment of the database, until it is dropped.
pub(crate) type Snapshot = Transaction<'static, Sqlite>;

/// A value on its way into a cell.
pub(crate) enum Value<'v> {
    Null,
    Bool(bool),
    Integer(i64),
    Text(Cow<'v, str>),
}

/// What can be bound to a statement.
pub(crate) trait ToCell {
    fn to_cell(&self) -> Value<'_>;
}

/// What a cell can be read as.
pub(crate) trait FromCell: Sized {
    fn from_cell(cell: Cell<'_>) -> sqlx::Result<Self>;
}

/// A statement with its values in the order of their numbers.
pub(crate) struct Query {
    sql: Cow<'static, str>,
    values: SqliteArguments,
}

/// A statement with its bindings in order.
macro_rules! bind {
    ($sql:expr $(, $value:expr)* $(,)?) => {
        $crate::sql::Query::new($sql)$(.bind(&$value))*
    };
}
pub(crate) use bind;

impl Query {
    pub(crate) fn new(sql: impl Into<Cow<'static, str>>) -> Self {
        Self { sql: sql.into(), values: SqliteArguments::default() }
    }

    /// A statement that takes the cells of a row.
    pub(crate) fn of(sql: &'static str, row: &impl Cells) -> Result<Self> {
        let mut query = Self::new(sql);
        row.write(&mut query)?;
        Ok(query)
    }

    pub(crate) fn bind(mut self, value: &(impl ToCell + ?Sized)) -> Self {
        self.put(value.to_cell());
        self
    }

    pub(crate) fn put(&mut self, value: Value<'_>) {
        // Texts and numbers can always be encoded.
        let _ = match value {
            Value::Null => self.values.add(None::<i64>),
            Value::Bool(value) => self.values.add(value),
            Value::Integer(value) => self.values.add(value),
            Value::Text(value) => self.values.add(value),
        };
    }

    pub(crate) fn push(&mut self, sql: &str) -> &mut Self {
        self.sql.to_mut().push_str(sql);
        self
    }

    /// Adds the placeholder of a value, and the value.
    pub(crate) fn push_bind(&mut self, value: &(impl ToCell + ?Sized)) -> &mut Self {
        self.put(value.to_cell());
        // Writing to a string cannot fail.
        let _ = write!(self.sql.to_mut(), "${}", self.values.len());
        self
    }

    /// Adds the placeholders of values, with commas between, and the values.
    pub(crate) fn push_list<'v, V: ToCell + 'v>(
        &mut self,
        values: impl IntoIterator<Item = &'v V>,
    ) -> &mut Self {
        for (number, value) in values.into_iter().enumerate() {
            self.push(if number == 0 { "" } else { ", " }).push_bind(value);
        }
        self
    }

    fn ready(self) -> sqlx::query::Query<'static, Sqlite, SqliteArguments> {
        sqlx::query_with(AssertSqlSafe(self.sql), self.values)
    }

    /// Returns how many rows it changed.
    pub(crate) async fn run(self, conn: &mut Conn) -> Result<u64> {
        Ok(self.ready().execute(conn).await?.rows_affected())
    }

    /// [`StoreError::Missing`] when it changed nothing.
    pub(crate) async fn change(self, conn: &mut Conn) -> Result<()> {
        if self.run(conn).await? == 0 { Err(StoreError::Missing) } else { Ok(()) }
    }

    pub(crate) async fn one<T>(
        self,
        conn: &mut Conn,
        read: impl FnOnce(&Row<'_>) -> sqlx::Result<T>,
    ) -> Result<Option<T>> {
        let row = self.ready().fetch_optional(conn).await?;
        Ok(row.as_ref().map(|row| read(&Row::of(row))).transpose()?)
    }

    pub(crate) async fn all<T>(
        self,
        conn: &mut Conn,
        mut read: impl FnMut(&Row<'_>) -> sqlx::Result<T>,
    ) -> Result<Vec<T>> {
        let rows = self.ready().fetch_all(conn).await?;
        Ok(rows.iter().map(|row| read(&Row::of(row))).collect::<sqlx::Result<_>>()?)
    }

    pub(crate) async fn find<E: Entity>(self, conn: &mut Conn) -> Result<Option<E>> {
        self.one(conn, E::read).await
    }

    pub(crate) async fn list<E: Entity>(self, conn: &mut Conn) -> Result<Vec<E>> {
        self.all(conn, E::read).await
    }

    /// The first cell of the only row.
    pub(crate) async fn value<T: FromCell>(self, conn: &mut Conn) -> Result<T> {
        let row = self.ready().fetch_one(conn).await?;
        Ok(T::from_cell(Cell { row: &row, index: 0 })?)
    }

    /// The first cell of every row.
    pub(crate) async fn values<T: FromCell>(self, conn: &mut Conn) -> Result<Vec<T>> {
        self.all(conn, |row| T::from_cell(Cell { row: row.row, index: 0 })).await
    }
}

/// A row of an answer.
pub(crate) struct Row<'r> {
    row: &'r SqliteRow,
    /// After the cell that was read last: readers mostly follow the select list, and comparing one name is cheaper than
    /// looking one up.
    next: std::cell::Cell<usize>,
}

impl<'r> Row<'r> {
    fn of(row: &'r SqliteRow) -> Self {
        Self { row, next: std::cell::Cell::new(0) }
    }

    pub(crate) fn cell(&self, column: &str) -> sqlx::Result<Cell<'r>> {
        let next = self.next.get();
        let index = match self.row.columns().get(next) {
            Some(found) if found.name() == column => next,
            _ => column.index(self.row)?,
        };
        self.next.set(index + 1);
        Ok(Cell { row: self.row, index })
    }

    pub(crate) fn get<T: FromCell>(&self, column: &str) -> sqlx::Result<T> {
        T::from_cell(self.cell(column)?)
    }

    pub(crate) fn json<T: DeserializeOwned>(&self, column: &str) -> sqlx::Result<T> {
        self.cell(column)?.json()
    }
}

/// A cell of a row.
#[derive(Clone, Copy)]
pub(crate) struct Cell<'r> {
    row: &'r SqliteRow,
    index: usize,
}

impl<'r> Cell<'r> {
    fn decode<T: Decode<'r, Sqlite> + Type<Sqlite>>(self) -> sqlx::Result<T> {
        self.row.try_get(self.index)
    }

    pub(crate) fn is_null(self) -> sqlx::Result<bool> {
        Ok(self.row.try_get_raw(self.index)?.is_null())
    }

    pub(crate) fn text(self) -> sqlx::Result<&'r str> {
        self.decode()
    }

    pub(crate) fn parse<T: FromStr<Err: Into<Box<dyn StdError + Send + Sync>>>>(self) -> sqlx::Result<T> {
        self.text()?.parse().map_err(|error: T::Err| self.bad(error))
    }

    pub(crate) fn json<T: DeserializeOwned>(self) -> sqlx::Result<T> {
        serde_json::from_str(self.text()?).map_err(|error| self.bad(error))
    }

    /// It contains what no version of Forge wrote there.
    pub(crate) fn bad(self, error: impl Into<Box<dyn StdError + Send + Sync>>) -> sqlx::Error {
        let column = self.row.columns().get(self.index).map(|column| column.name().to_owned());
        sqlx::Error::ColumnDecode { index: column.unwrap_or_default(), source: error.into() }
    }
}

/// Values that the driver knows.
macro_rules! known {
    ($($kind:ty => $variant:ident),* $(,)?) => {$(
        impl FromCell for $kind {
            fn from_cell(cell: Cell<'_>) -> sqlx::Result<Self> {
                cell.decode()
            }
        }

        impl ToCell for $kind {
            fn to_cell(&self) -> Value<'_> {
                Value::$variant((*self).into())
            }
        }
    )*};
}

known! { bool => Bool, i64 => Integer, i32 => Integer, u32 => Integer }

impl FromCell for String {
    fn from_cell(cell: Cell<'_>) -> sqlx::Result<Self> {
        cell.decode()
    }
}
