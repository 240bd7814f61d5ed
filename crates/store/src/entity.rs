//! Tables: every column stands once, in the [`entity!`] of its table, with the field that it holds.
//!
//! The select list, the reader, the insert, the update and the values that they take all come from there. Invariant: the
//! values of an entity are bound in the order of its written columns, and the compiler numbers the placeholders in the
//! same order. Statements are made at compile time, so none is built while Forge runs.

use crate::sql::{Query, Row};

/// A column of a select list.
pub(crate) enum Column {
    /// One of the table.
    Own { name: &'static str, role: Role },
    /// One that SQL computes.
    Derived { name: &'static str, sql: &'static str },
    /// Those of a field that has several, of another table if one is named.
    Part { columns: &'static [Column], table: Option<&'static str> },
    /// None: the field is read from a cell that another one has.
    Also,
}

/// What writes a column of the table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Inserts; it identifies the row.
    Key,
    /// Inserts.
    Fixed,
    /// Inserts and updates.
    Set,
    /// Statements of its own.
    Shown,
}

/// What is read from and written to several cells of a row.
pub(crate) trait Cells: Sized {
    const COLUMNS: &'static [Column];
    fn read(row: &Row<'_>) -> sqlx::Result<Self>;
    /// Binds the columns that an insert takes.
    fn write(&self, into: &mut Query) -> sqlx::Result<()>;
}

/// What has a table.
pub(crate) trait Entity: Cells {
    const TABLE: &'static str;
    const INSERT: &'static str;
    const UPDATE: &'static str;
    /// Inserts, or replaces the row of the same key.
    const PUT: &'static str;
}

/// How many columns an insert takes.
pub(crate) const fn written(columns: &[Column]) -> usize {
    let (mut count, mut at) = (0, 0);
    while at < columns.len() {
        count += match &columns[at] {
            Column::Own { role: Role::Shown, .. } | Column::Derived { .. } | Column::Also => 0,
            Column::Own { .. } => 1,
            Column::Part { columns, .. } => written(columns),
        };
        at += 1;
    }
    count
}

/// More than the longest statement has.
const MOST: usize = 6144;

/// A statement while the compiler makes it.
#[derive(Clone, Copy)]
pub(crate) struct Text {
    bytes: [u8; MOST],
    pub(crate) length: usize,
}

/// Where the columns of an entity are written to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Names,
    /// The names of the key.
    Keys,
    /// `name = $1`, of the key or of what updates write.
    Equal(Role),
    /// `name = excluded.name`
    Excluded,
}

impl Text {
    pub(crate) const EMPTY: Text = Text { bytes: [0; MOST], length: 0 };

    pub(crate) const fn select<E: Entity>() -> Self {
        Self::EMPTY.add("SELECT ").columns(E::TABLE, E::COLUMNS).add(" ")
    }

    pub(crate) const fn insert<E: Entity>() -> Self {
        let text = Self::EMPTY.add("INSERT INTO ").add(E::TABLE).add(" (").names::<E>();
        text.add(") VALUES ").marks(written(E::COLUMNS))
    }

    /// `($1, $2, …)`
    pub(crate) const fn marks(self, count: usize) -> Self {
        let (mut text, mut number) = (self.add("("), 0);
        while number < count {
            number += 1;
            text = text.comma(", ").add("$").number(number);
        }
        text.add(")")
    }

    /// The select list alone.
    pub(crate) const fn list<E: Entity>() -> Self {
        Self::EMPTY.columns(E::TABLE, E::COLUMNS)
    }

    /// The written columns.
    pub(crate) const fn names<E: Entity>(self) -> Self {
        self.place(E::COLUMNS, 1, ", ", Place::Names).0
    }

    pub(crate) const fn update<E: Entity>() -> Self {
        let text = Self::EMPTY.add("UPDATE ").add(E::TABLE).add(" SET ");
        let text = text.place(E::COLUMNS, 1, ", ", Place::Equal(Role::Set)).0.add(" WHERE ");
        text.place(E::COLUMNS, 1, " AND ", Place::Equal(Role::Key)).0
    }

    /// What follows an insert that replaces the row of the same key.
    pub(crate) const fn or_replace<E: Entity>(self) -> Self {
        let text = self.add(" ON CONFLICT (").place(E::COLUMNS, 1, ", ", Place::Keys).0;
        text.add(") DO UPDATE SET ").excluded::<E>()
    }

    /// `name = excluded.name, …` of all columns but the key.
    pub(crate) const fn excluded<E: Entity>(self) -> Self {
        self.place(E::COLUMNS, 1, ", ", Place::Excluded).0
    }

    pub(crate) const fn returning<E: Entity>(self) -> Self {
        self.add(" RETURNING ").columns(E::TABLE, E::COLUMNS)
    }

    const fn columns(self, table: &str, columns: &[Column]) -> Self {
        let (mut text, mut at) = (self, 0);
        while at < columns.len() {
            text = match &columns[at] {
                Column::Own { name, .. } => text.comma(", ").add(table).add(".").add(name),
                Column::Derived { name, sql } => text.comma(", ").add(sql).add(" AS ").add(name),
                Column::Part { columns, table: Some(table) } => text.columns(table, columns),
                Column::Part { columns, table: None } => text.columns(table, columns),
                Column::Also => text,
            };
            at += 1;
        }
        text
    }

    /// Returns the number of the next column too.
    const fn place(self, columns: &[Column], first: usize, between: &str, place: Place) -> (Self, usize) {
        let (mut text, mut number, mut at) = (self, first, 0);
        while at < columns.len() {
            match &columns[at] {
                Column::Own { role: Role::Shown, .. } | Column::Derived { .. } | Column::Also => {}
                Column::Part { columns, .. } => (text, number) = text.place(columns, number, between, place),
                Column::Own { name, role } => {
                    text = match (place, *role) {
                        (Place::Names, _) | (Place::Keys, Role::Key) => text.comma(between).add(name),
                        (Place::Equal(Role::Key), Role::Key) | (Place::Equal(Role::Set), Role::Set) => {
                            text.comma(between).add(name).add(" = $").number(number)
                        }
                        (Place::Excluded, Role::Fixed | Role::Set) => {
                            text.comma(between).add(name).add(" = excluded.").add(name)
                        }
                        _ => text,
                    };
                    number += 1;
                }
            }
            at += 1;
        }
        (text, number)
    }

    /// Separates what follows from what came before it, except at the beginning of a list.
    const fn comma(self, between: &str) -> Self {
        match self.bytes.split_at(self.length).0 {
            [] | [.., b' ' | b'('] => self,
            _ => self.add(between),
        }
    }

    pub(crate) const fn add(mut self, text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            self.bytes[self.length] = bytes[at];
            self.length += 1;
            at += 1;
        }
        self
    }

    const fn number(self, number: usize) -> Self {
        let text = if number < 10 { self } else { self.number(number / 10) };
        let mut text = text;
        text.bytes[text.length] = b'0' + (number % 10) as u8;
        text.length += 1;
        text
    }

    pub(crate) const fn cut<const LENGTH: usize>(&self) -> [u8; LENGTH] {
        let (mut cut, mut at) = ([0; LENGTH], 0);
        while at < LENGTH {
            cut[at] = self.bytes[at];
            at += 1;
        }
        cut
    }
}

/// The text of a statement, made by the compiler.
macro_rules! sql {
    ($text:expr) => {{
        use $crate::entity::Text;
        const TEXT: Text = $text;
        const BYTES: [u8; TEXT.length] = TEXT.cut();
        const SQL: &str = match std::str::from_utf8(&BYTES) {
            Ok(text) => text,
            Err(_) => panic!("a statement is text"),
        };
        SQL
    }};
}
pub(crate) use sql;

/// A SELECT of an entity: `select!(Task, "FROM tasks WHERE id = $1")`.
macro_rules! select {
    ($entity:ty, $($rest:expr),+) => {
        $crate::entity::sql!(Text::select::<$entity>()$(.add($rest))+)
    };
}
pub(crate) use select;

/// The columns of a table and the fields that they hold: `role field = "column": How`.
///
/// The role says what writes the column: `key`, `fixed`, `set`, `shown` (see [`Role`]). `derived` is followed by the SQL
/// that computes it, `part` is a field with several columns and its type, perhaps with the name of their table, and
/// `also` reads a cell once more. Without a name the column is called like the field; without a [`crate::cell`] `How` the
/// type of the field determines its cell. Fields that have no cell follow after `with`.
macro_rules! entity {
    ($table:ident: $entity:ty {
        $($role:ident $field:ident $(= $name:literal)? $(: $how:ty)?),+ $(,)?
    } $(with $left:ident = $value:expr)*) => {
        impl $crate::entity::Cells for $entity {
            const COLUMNS: &'static [$crate::entity::Column] =
                &[$($crate::entity::column!($role $field $(= $name)? $(: $how)?)),+];

            fn read(row: &$crate::sql::Row<'_>) -> sqlx::Result<Self> {
                Ok(Self {
                    $($field: $crate::entity::read!(row, $role $field $(= $name)? $(: $how)?),)+
                    $($left: $value,)*
                })
            }

            #[allow(unused_variables)]
            fn write(&self, into: &mut $crate::sql::Query) -> sqlx::Result<()> {
                $($crate::entity::write!(into, &self.$field, $role $(: $how)?);)+
                Ok(())
            }
        }

        $crate::entity::table!($table: $entity);
    };
}
pub(crate) use entity;

/// The statements of what has columns.
macro_rules! table {
    ($table:ident: $entity:ty) => {
        impl $crate::entity::Entity for $entity {
            const TABLE: &'static str = stringify!($table);
            const INSERT: &'static str = $crate::entity::sql!(Text::insert::<$entity>());
            const UPDATE: &'static str = $crate::entity::sql!(Text::update::<$entity>());
            const PUT: &'static str = $crate::entity::sql!(Text::insert::<$entity>().or_replace::<$entity>());
        }
    };
}
pub(crate) use table;

macro_rules! column {
    (also $($rest:tt)*) => {
        $crate::entity::Column::Also
    };
    (part $field:ident = $table:literal: $how:ty) => {
        $crate::entity::Column::Part {
            columns: <$how as $crate::entity::Cells>::COLUMNS,
            table: Some($table),
        }
    };
    (part $field:ident: $how:ty) => {
        $crate::entity::Column::Part { columns: <$how as $crate::entity::Cells>::COLUMNS, table: None }
    };
    (derived $field:ident = $sql:literal $(: $how:ty)?) => {
        $crate::entity::Column::Derived { name: stringify!($field), sql: $sql }
    };
    ($role:ident $field:ident = $name:literal $(: $how:ty)?) => {
        $crate::entity::Column::Own { name: $name, role: $crate::entity::role!($role) }
    };
    ($role:ident $field:ident $(: $how:ty)?) => {
        $crate::entity::Column::Own { name: stringify!($field), role: $crate::entity::role!($role) }
    };
}
pub(crate) use column;

macro_rules! role {
    (key) => {
        $crate::entity::Role::Key
    };
    (fixed) => {
        $crate::entity::Role::Fixed
    };
    (set) => {
        $crate::entity::Role::Set
    };
    (shown) => {
        $crate::entity::Role::Shown
    };
}
pub(crate) use role;

macro_rules! read {
    ($row:ident, part $field:ident $(= $table:literal)?: $how:ty) => {
        <$how as $crate::entity::Cells>::read($row)?
    };
    ($row:ident, derived $field:ident = $sql:literal $(: $how:ty)?) => {
        $crate::entity::read!($row, shown $field $(: $how)?)
    };
    ($row:ident, $role:ident $field:ident = $name:literal: $how:ty) => {
        <$how as $crate::cell::Reads<_>>::read($row, $name)?
    };
    ($row:ident, $role:ident $field:ident: $how:ty) => {
        <$how as $crate::cell::Reads<_>>::read($row, stringify!($field))?
    };
    ($row:ident, $role:ident $field:ident = $name:literal) => { $row.get($name)? };
    ($row:ident, $role:ident $field:ident) => { $row.get(stringify!($field))? };
}
pub(crate) use read;

macro_rules! write {
    ($into:ident, $value:expr, part: $how:ty) => {
        <$how as $crate::entity::Cells>::write($value, $into)?
    };
    ($into:ident, $value:expr, shown $($rest:tt)*) => {};
    ($into:ident, $value:expr, derived $($rest:tt)*) => {};
    ($into:ident, $value:expr, also $($rest:tt)*) => {};
    ($into:ident, $value:expr, $role:ident: $how:ty) => {
        $into.put(<$how as $crate::cell::Writes<_>>::write($value)?)
    };
    ($into:ident, $value:expr, $role:ident) => {
        $into.put($crate::sql::ToCell::to_cell($value))
    };
}
pub(crate) use write;
