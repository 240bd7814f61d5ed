//! All beads of a workspace at one moment, and how they are read from `issues.jsonl`.
//!
//! Owns the file's lines: what is a bead, what is skipped, what is invalid. Invariant: a file is read whole or not at
//! all, so that a reader that meets a [`Problem`] keeps the last good snapshot instead of part of the new one.

use std::collections::HashMap;
use std::fmt;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::bead::{Bead, Rest};

pub type Hash = [u8; 32];

#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    beads: Vec<Bead>,
    places: HashMap<String, usize>,
    hash: Hash,
}

/// Why a file cannot be read, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Counted from 1.
    pub line: usize,
    pub kind: ProblemKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProblemKind {
    /// A marker of an unfinished merge.
    Conflicted,
    /// The last line ends in the middle of a record.
    HalfWritten,
    NotJson(String),
    NotABead(String),
}

/// A line of the file with the bead in it, if it has one.
pub(super) struct Line<'a> {
    pub raw: &'a [u8],
    pub bead: Option<Bead>,
}

impl Snapshot {
    pub fn parse(bytes: &[u8]) -> Result<Self, Problem> {
        let mut beads = Vec::new();
        for line in lines(bytes) {
            beads.extend(line?.bead);
        }
        Ok(Self::new(beads, hash(bytes)))
    }

    /// For beads that did not come from a file.
    pub(super) fn of_beads(beads: Vec<Bead>) -> Self {
        let mut digest = Sha256::new();
        for bead in &beads {
            digest.update(serde_json::to_vec(bead).unwrap_or_default());
            digest.update(b"\n");
        }
        Self::new(beads, digest.finalize().into())
    }

    /// If an id occurs twice, the later record wins: that is what an append or a merge leaves.
    fn new(all: Vec<Bead>, hash: Hash) -> Self {
        let mut beads: Vec<Bead> = Vec::with_capacity(all.len());
        let mut places = HashMap::with_capacity(all.len());
        for bead in all {
            match places.get(&bead.id) {
                Some(&place) => beads[place] = bead,
                None => {
                    places.insert(bead.id.clone(), beads.len());
                    beads.push(bead);
                }
            }
        }
        Self { beads, places, hash }
    }

    pub fn beads(&self) -> &[Bead] {
        &self.beads
    }

    pub fn get(&self, id: &str) -> Option<&Bead> {
        self.place(id).map(|place| &self.beads[place])
    }

    pub(super) fn place(&self, id: &str) -> Option<usize> {
        self.places.get(id).copied()
    }

    /// Equal for two snapshots of the same content.
    pub fn hash(&self) -> Hash {
        self.hash
    }
}

pub(super) fn hash(bytes: &[u8]) -> Hash {
    Sha256::digest(bytes).into()
}

/// The lines that are not empty, each with its bead.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = Result<Line<'_>, Problem>> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let ends_whole = bytes.last().is_none_or(|byte| *byte == b'\n');
    let count = bytes.split(|byte| *byte == b'\n').count();
    bytes.split(|byte| *byte == b'\n').enumerate().filter_map(move |(index, raw)| {
        let raw = raw.trim_ascii();
        let is_cut = !ends_whole && index + 1 == count;
        let problem = |kind| Problem { line: index + 1, kind };
        (!raw.is_empty()).then(|| {
            let bead = read(raw, is_cut).map_err(problem)?;
            Ok(Line { raw, bead })
        })
    })
}

fn read(raw: &[u8], is_cut: bool) -> Result<Option<Bead>, ProblemKind> {
    const MARKS: [&[u8]; 4] = [b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>"];
    if MARKS.iter().any(|mark| raw.starts_with(mark)) {
        return Err(ProblemKind::Conflicted);
    }
    let value: Value = serde_json::from_slice(raw).map_err(|error| match error.is_eof() && is_cut {
        true => ProblemKind::HalfWritten,
        false => ProblemKind::NotJson(error.to_string()),
    })?;
    let Value::Object(record) = value else {
        return Err(ProblemKind::NotABead("it is not an object".to_owned()));
    };
    if !is_issue(&record) {
        return Ok(None);
    }
    Bead::try_from(record).map(Some).map_err(ProblemKind::NotABead)
}

/// bd 1.x also exports memories, and may export more.
fn is_issue(record: &Rest) -> bool {
    record.get("_type").is_none_or(|kind| kind == "issue")
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        match &self.kind {
            ProblemKind::Conflicted => f.write_str("a merge conflict is not resolved; resolve it in git"),
            ProblemKind::HalfWritten => {
                f.write_str("the last record is cut off; it may still be being written")
            }
            ProblemKind::NotJson(why) => write!(f, "not JSON ({why}); repair or remove the line"),
            ProblemKind::NotABead(why) => write!(f, "not a bead: {why}; repair or remove the line"),
        }
    }
}
