//! Rows in columns, for people and for `awk`.
//!
//! Invariant: a row is one line; without a terminal nothing is cut and nothing is coloured.

use unicode_width::UnicodeWidthStr;

use crate::terminal;
use crate::transcript::{Ink, Line, Page, clean};

/// Columns are this far apart.
const GAP: usize = 2;

pub struct Table {
    head: Vec<&'static str>,
    rows: Vec<Vec<(Ink, String)>>,
}

impl Table {
    pub fn new(head: &[&'static str]) -> Self {
        Self { head: head.to_vec(), rows: Vec::new() }
    }

    /// A row with as many cells as the table has columns. The last one may be cut at the edge of a terminal.
    pub fn row(&mut self, cells: Vec<(Ink, String)>) {
        let one_line = |(ink, text): (Ink, String)| (ink, clean(&text).replace('\n', " "));
        self.rows.push(cells.into_iter().map(one_line).collect());
    }

    pub fn print(&self) {
        print!("{}", self.on(terminal::page()));
    }

    fn on(&self, page: Page) -> String {
        let mut widths: Vec<usize> = self.head.iter().map(|name| name.width()).collect();
        for row in &self.rows {
            for (width, (_, text)) in widths.iter_mut().zip(row) {
                *width = (*width).max(text.width());
            }
        }
        let mut out = String::new();
        let head: Vec<(Ink, String)> = self.head.iter().map(|name| (Ink::Dim, (*name).to_owned())).collect();
        for row in std::iter::once(&head).chain(&self.rows) {
            let mut line = Line::default();
            for (place, (ink, text)) in row.iter().enumerate() {
                let last = place + 1 == row.len();
                let room = if last { 0 } else { widths[place] - text.width() + GAP };
                line = line.and(*ink, text).and(Ink::Plain, &" ".repeat(room));
            }
            line.put(page, &mut out);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::Colours;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_and_the_last_is_cut_at_the_edge() {
        let mut table = Table::new(&["ID", "TITLE"]);
        table.row(vec![(Ink::Plain, "a1b2c3d4".into()), (Ink::Plain, "Fix\nthe login".into())]);
        table.row(vec![(Ink::Plain, "漢字".into()), (Ink::Plain, "x".into())]);
        let page = |width| Page { width, colours: Colours::Off };
        assert_eq!(table.on(page(usize::MAX)), "ID        TITLE\na1b2c3d4  Fix the login\n漢字      x\n");
        assert_eq!(table.on(page(16)), "ID        TITLE\na1b2c3d4  Fix t…\n漢字      x\n");
    }
}
