//! Cells of databases whose types cannot be relied on.
//!
//! Invariant: every read returns something, perhaps `None`. Ids are compared as hyphenated text, whether they are
//! stored as bytes, as digits or as text.

use std::collections::HashMap;
use std::str::FromStr;

use forge_types::{Millis, TaskId};
use sqlx::sqlite::SqliteRow;
use sqlx::{Column, Row, TypeInfo, ValueRef};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    Number(i64),
    Text(String),
    Bytes(Vec<u8>),
}

/// One row, by the names of its columns.
#[derive(Clone, Debug, Default)]
pub(super) struct Record(HashMap<String, Cell>);

impl Record {
    pub(super) fn of(row: &SqliteRow) -> Record {
        let cells = row.columns().iter().filter_map(|column| {
            let index = column.ordinal();
            let raw = row.try_get_raw(index).ok()?;
            if raw.is_null() {
                return None;
            }
            let kind = raw.type_info().name().to_owned();
            // Read without a type check: the declared type of a column does not determine its cells.
            let cell = match kind.as_str() {
                "INTEGER" | "BOOLEAN" => Cell::Number(row.try_get_unchecked(index).ok()?),
                "REAL" => Cell::Number(row.try_get_unchecked::<f64, _>(index).ok()? as i64),
                "BLOB" => Cell::Bytes(row.try_get_unchecked(index).ok()?),
                _ => Cell::Text(text(row, index)?),
            };
            Some((column.name().to_owned(), cell))
        });
        Record(cells.collect())
    }

    /// The text of the first of these columns that has one.
    pub(super) fn text(&self, columns: &[&str]) -> Option<String> {
        columns.iter().find_map(|column| match self.0.get(*column)? {
            Cell::Text(text) => Some(text.clone()),
            Cell::Bytes(bytes) => String::from_utf8(bytes.clone()).ok(),
            Cell::Number(number) => Some(number.to_string()),
        })
    }

    /// Like [`Self::text`], but blank counts as none.
    pub(super) fn words(&self, columns: &[&str]) -> Option<String> {
        columns.iter().find_map(|column| self.text(&[column]).filter(|text| !text.trim().is_empty()))
    }

    pub(super) fn number(&self, column: &str) -> Option<i64> {
        match self.0.get(column)? {
            Cell::Number(number) => Some(*number),
            Cell::Text(text) => text.trim().parse().ok(),
            Cell::Bytes(_) => None,
        }
    }

    pub(super) fn is_set(&self, column: &str) -> bool {
        self.number(column).is_some_and(|number| number != 0)
    }

    /// The id in the first of these columns that has one.
    pub(super) fn key(&self, columns: &[&str]) -> Option<String> {
        columns.iter().find_map(|column| match self.0.get(*column)? {
            Cell::Bytes(bytes) if bytes.len() == 16 => {
                Some(hyphenated(&bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()))
            }
            Cell::Bytes(bytes) => String::from_utf8(bytes.clone()).ok().map(|text| hyphenated(&text)),
            Cell::Text(text) => Some(hyphenated(text)),
            Cell::Number(number) => Some(number.to_string()),
        })
    }

    /// The id of its own row, of the given kind.
    pub(super) fn id<T: FromStr>(&self) -> Option<T> {
        self.key(&["id"])?.parse().ok()
    }

    pub(super) fn time(&self, columns: &[&str]) -> Option<Millis> {
        columns.iter().find_map(|column| match self.0.get(*column)? {
            Cell::Text(text) => read_time(text),
            // Seconds until the year 5138, milliseconds from 1973 on.
            Cell::Number(number) if *number < 100_000_000_000 => Some(Millis(number * 1000)),
            Cell::Number(number) => Some(Millis(*number)),
            Cell::Bytes(_) => None,
        })
    }
}

/// The text of a cell, whatever its bytes are.
fn text(row: &SqliteRow, index: usize) -> Option<String> {
    bytes(row, index).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// The bytes of a cell, also when they claim to be text and are not.
pub(super) fn bytes(row: &SqliteRow, index: usize) -> Option<Vec<u8>> {
    row.try_get_unchecked::<Option<Vec<u8>>, _>(index).ok().flatten()
}

fn hyphenated(text: &str) -> String {
    text.parse::<TaskId>().map_or_else(|_| text.to_owned(), |id| id.to_string())
}

/// `2025-06-17 20:08:15.631` is UTC; with a `T` it may have an offset.
fn read_time(text: &str) -> Option<Millis> {
    let text = text.trim().replacen(' ', "T", 1);
    let (_, clock) = text.split_once('T')?;
    let has_zone = clock.contains(['Z', 'z', '+', '-']);
    let text = if has_zone { text } else { format!("{text}Z") };
    serde_json::from_value(text.into()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_however_they_were_written() {
        for text in
            ["2025-06-17 20:08:15.631", "2025-06-17T20:08:15.631Z", "2025-06-17T22:08:15.631000+02:00"]
        {
            assert_eq!(read_time(text), Some(Millis(1_750_190_895_631)), "{text}");
        }
        assert_eq!(read_time("2025-06-17 20:08:15"), Some(Millis(1_750_190_895_000)));
        assert_eq!(read_time("yesterday"), None);
    }

    #[test]
    fn an_id_is_one_id_in_every_form() {
        let want = "a1b2c3d4-0000-4000-8000-00000000000f";
        let bytes = want.parse::<TaskId>().unwrap().0.as_bytes().to_vec();
        for cell in [Cell::Bytes(bytes), Cell::Text(want.to_uppercase()), Cell::Text(want.replace('-', ""))] {
            let record = Record(HashMap::from([("id".to_owned(), cell)]));
            assert_eq!(record.key(&["nothing", "id"]).as_deref(), Some(want));
        }
    }
}
