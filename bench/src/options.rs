//! The command line of the bench.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::rows::{ROWS, Row};
use crate::work::Size;

const USAGE: &str = "\
usage: forge-bench [rows] [board] [scale] [--only row,…] [--quick] [--no-peer | --no-ours] [--forge path]
                   [--peer-dir dir] [--out dir]
  rows        the table beside the peer
  board       the page in a browser, Forge alone
  scale       how costs grow with tasks, subscribers and runs, Forge alone
              (without any of these words: all of them)
  --only      rows to run (see the names in the table)
  --quick     small counts
  --no-peer   Forge alone
  --no-ours   the peer alone
  --forge     Forge's binary (target/release/forge)
  --peer-dir  where the peer is installed, or will be (bench/out/peer)
  --out       where results and logs go (bench/out)";

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sides {
    Both,
    ForgeOnly,
    PeerOnly,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    Rows,
    Board,
    Scale,
}

pub struct Options {
    pub size: Size,
    pub sides: Sides,
    pub forge: PathBuf,
    pub peer_dir: PathBuf,
    pub out: PathBuf,
    only: Vec<Row>,
    parts: Vec<Part>,
}

impl Options {
    pub fn parse(mut words: impl Iterator<Item = String>) -> Result<Options> {
        let mut options = Options {
            size: Size::Full,
            sides: Sides::Both,
            forge: "target/release/forge".into(),
            peer_dir: "bench/out/peer".into(),
            out: "bench/out".into(),
            only: Vec::new(),
            parts: Vec::new(),
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().with_context(|| format!("{word} needs a value\n{USAGE}"));
            match word.as_str() {
                "rows" => options.parts.push(Part::Rows),
                "board" => options.parts.push(Part::Board),
                "scale" => options.parts.push(Part::Scale),
                "--quick" => options.size = Size::Quick,
                "--no-peer" => options.sides = Sides::ForgeOnly,
                "--no-ours" => options.sides = Sides::PeerOnly,
                "--forge" => options.forge = value()?.into(),
                "--peer-dir" => options.peer_dir = value()?.into(),
                "--out" => options.out = value()?.into(),
                "--only" => {
                    options.only = value()?.split(',').map(find_row).collect::<Result<_>>()?;
                    options.parts.push(Part::Rows);
                }
                _ => bail!("unknown option {word}\n{USAGE}"),
            }
        }
        Ok(options)
    }

    /// The rows to run, in their fixed order.
    pub fn rows(&self) -> impl Iterator<Item = Row> {
        ROWS.into_iter().filter(|row| self.only.is_empty() || self.only.contains(row))
    }

    pub fn wants(&self, part: Part) -> bool {
        match self.parts.is_empty() {
            true => part == Part::Rows || self.sides != Sides::PeerOnly,
            false => self.parts.contains(&part),
        }
    }
}

fn find_row(name: &str) -> Result<Row> {
    let known: Vec<_> = ROWS.iter().map(|row| row.name()).collect();
    let found = ROWS.into_iter().find(|row| row.name() == name);
    found.with_context(|| format!("--only: no row {name}; rows: {}", known.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(line: &str) -> Vec<Part> {
        let options = Options::parse(line.split_whitespace().map(str::to_owned)).unwrap();
        [Part::Rows, Part::Board, Part::Scale].into_iter().filter(|part| options.wants(*part)).collect()
    }

    #[test]
    fn a_part_runs_when_it_is_named_or_when_nothing_is() {
        assert_eq!(parts("--quick"), [Part::Rows, Part::Board, Part::Scale]);
        assert_eq!(parts("scale --quick"), [Part::Scale]);
        assert_eq!(parts("--only create,diff"), [Part::Rows]);
        assert_eq!(parts("--no-ours"), [Part::Rows]);
        assert_eq!(parts("board --only create"), [Part::Rows, Part::Board]);
    }
}
