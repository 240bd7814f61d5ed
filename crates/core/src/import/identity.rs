//! Which row of Forge something of a source is, or will be.
//!
//! Invariant: the same thing of the same source always gets the same answer. An old id is kept while it is free, so that
//! addresses which people have written down go on working.

use std::collections::HashSet;
use std::fmt::Display;
use std::str::FromStr;

use forge_store::{ImportKind, Imported, Noted};
use uuid::Uuid;

use crate::Result;

/// Ids that follow from a source and its key lie in this space.
const SPACE: Uuid = Uuid::from_u128(0x6f0f_5a0e_8f4c_5b53_9d1e_2f6f_7265_6701);

/// What Forge has under an id.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    Nothing,
    /// The same thing: it is linked and not copied.
    Same,
    /// Something else.
    Other,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Identity<T> {
    New(T),
    /// Forge has it under the same id, and nothing says yet that it came from this source.
    Linked(T),
    /// It was imported before.
    Known(T),
    /// It was imported once and deleted in Forge since.
    Deleted,
    /// The source has it twice.
    Repeated,
}

/// Decides for all things of one source.
pub(super) struct Identities {
    pub(super) source: String,
    imported: Imported,
    given: HashSet<Uuid>,
}

impl Identities {
    pub(super) fn new(source: String, imported: Imported) -> Self {
        Self { source, imported, given: HashSet::new() }
    }

    /// The id that was noted for this key when it was imported.
    pub(super) fn noted<T: FromStr>(&self, kind: ImportKind, key: &str) -> Option<T> {
        self.trace(kind, key)?.id.parse().ok()
    }

    pub(super) fn trace(&self, kind: ImportKind, key: &str) -> Option<&Noted> {
        self.imported.noted(kind, key)
    }

    /// `look` says what Forge has under an id.
    pub(super) async fn decide<T, F>(
        &mut self,
        kind: ImportKind,
        key: &str,
        old: Option<T>,
        look: impl Fn(T) -> F,
    ) -> Result<Identity<T>>
    where
        T: Copy + Display + FromStr,
        F: Future<Output = Result<Seen>>,
    {
        if let Some(noted) = self.noted::<T>(kind, key) {
            return Ok(match look(noted).await? {
                Seen::Nothing => Identity::Deleted,
                Seen::Same | Seen::Other => Identity::Known(noted),
            });
        }
        let derived = Uuid::new_v5(&SPACE, format!("{}\n{}\n{key}", self.source, kind.as_str()).as_bytes());
        let derived: Option<T> = derived.to_string().parse().ok();
        for id in old.into_iter().chain(derived) {
            match look(id).await? {
                Seen::Same => return Ok(Identity::Linked(id)),
                Seen::Other => {}
                Seen::Nothing => {
                    let fresh = id.to_string().parse().is_ok_and(|id: Uuid| self.given.insert(id));
                    return Ok(if fresh { Identity::New(id) } else { Identity::Repeated });
                }
            }
        }
        Ok(Identity::Repeated)
    }
}
