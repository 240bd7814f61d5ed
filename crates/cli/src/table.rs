//! Rows in columns, for people and for `awk`.
//!
//! Invariant: a row is one line; without a terminal nothing is cut or coloured. On a terminal the flexible columns
//! shrink first, so that the columns to their right stay visible.

use unicode_width::UnicodeWidthStr;

use crate::terminal;
use crate::transcript::{Ink, Line, Page, beginning, clean};

/// Space between columns.
const GAP: usize = 2;
/// The minimum width of a flexible column.
const LEAST_WIDTH: usize = 12;

pub struct Table {
    head: Vec<&'static str>,
    flexible: Vec<&'static str>,
    right: Vec<&'static str>,
    rows: Vec<Vec<(Ink, String)>>,
    /// Signs before the rows, for terminals that can draw them.
    signs: Vec<&'static str>,
}

/// Signs are one or two columns wide, depending on the terminal; the text after them starts here.
const AFTER_SIGN: usize = 3;

impl Table {
    pub fn new(head: &[&'static str]) -> Self {
        Self {
            head: head.to_vec(),
            flexible: Vec::new(),
            right: Vec::new(),
            rows: Vec::new(),
            signs: Vec::new(),
        }
    }

    /// Columns that are cut when the terminal is too narrow.
    pub fn flexible(self, columns: &[&'static str]) -> Self {
        Self { flexible: columns.to_vec(), ..self }
    }

    /// Right-aligned columns, e.g. numbers.
    pub fn right(self, columns: &[&'static str]) -> Self {
        Self { right: columns.to_vec(), ..self }
    }

    /// A row with as many cells as the table has columns. The last one may be cut at the edge of a terminal.
    pub fn row(&mut self, cells: Vec<(Ink, String)>) {
        let one_line = |(ink, text): (Ink, String)| (ink, clean(&text).replace('\n', " "));
        self.rows.push(cells.into_iter().map(one_line).collect());
    }

    /// A sign before the next row. A table has one before each row, or none.
    pub fn sign(&mut self, sign: &'static str) {
        self.signs.push(sign);
    }

    pub fn print(&self) {
        let page = terminal::page();
        match self.signs.is_empty() {
            true => terminal::print(&self.on(page)),
            // Every cell is clean, and errors do not matter if the terminal is gone.
            false => _ = terminal::draw(&self.on(page)),
        }
    }

    fn on(&self, page: Page) -> String {
        let before = if self.signs.is_empty() { 0 } else { AFTER_SIGN };
        let page = Page { width: page.width.saturating_sub(before), ..page };
        let widths = self.widths(page.width);
        let mut signs = std::iter::once(&"").chain(&self.signs);
        let mut out = String::new();
        let head: Vec<(Ink, String)> = self.head.iter().map(|name| (Ink::Dim, (*name).to_owned())).collect();
        for row in std::iter::once(&head).chain(&self.rows) {
            if let Some(sign) = signs.next().filter(|_| before > 0) {
                out.push_str(&format!("{sign}\u{1b}[{}G", before + 1));
            }
            let mut line = Line::default();
            for (place, (ink, text)) in row.iter().enumerate() {
                let last = place + 1 == row.len();
                let text = fit(text, widths[place]);
                let room = widths[place] - text.width();
                let (before, after) = match (self.right.contains(&self.head[place]), last) {
                    (true, true) => (room, 0),
                    (true, false) => (room, GAP),
                    (false, true) => (0, 0),
                    (false, false) => (0, room + GAP),
                };
                line = line.and(Ink::Plain, &" ".repeat(before)).and(*ink, &text);
                line = line.and(Ink::Plain, &" ".repeat(after));
            }
            line.put(page, &mut out);
        }
        out
    }

    fn widths(&self, page: usize) -> Vec<usize> {
        let mut widths: Vec<usize> = self.head.iter().map(|name| name.width()).collect();
        for row in &self.rows {
            for (width, (_, text)) in widths.iter_mut().zip(row) {
                *width = (*width).max(text.width());
            }
        }
        let bends = |place: &usize| self.flexible.contains(&self.head[*place]);
        let whole = |widths: &[usize]| widths.iter().sum::<usize>() + GAP * (widths.len().max(1) - 1);
        // Shrink the widest first, so that none is cut while another is wider.
        while whole(&widths) > page {
            let widest = (0..widths.len()).filter(bends).max_by_key(|place| widths[*place]);
            match widest.filter(|place| widths[*place] > LEAST_WIDTH) {
                Some(place) => widths[place] -= 1,
                None => break,
            }
        }
        widths
    }
}

fn fit(text: &str, width: usize) -> String {
    match text.width() <= width {
        true => text.to_owned(),
        false => format!("{}…", beginning(text, width.saturating_sub(1))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::Colours;

    fn page(width: usize) -> Page {
        Page { width, colours: Colours::Off }
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_and_the_last_is_cut_at_the_edge() {
        let mut table = Table::new(&["ID", "TITLE"]);
        table.row(vec![(Ink::Plain, "a1b2c3d4".into()), (Ink::Plain, "Fix\nthe login".into())]);
        table.row(vec![(Ink::Plain, "漢字".into()), (Ink::Plain, "x".into())]);
        assert_eq!(table.on(page(usize::MAX)), "ID        TITLE\na1b2c3d4  Fix the login\n漢字      x\n");
        assert_eq!(table.on(page(16)), "ID        TITLE\na1b2c3d4  Fix t…\n漢字      x\n");
    }

    #[test]
    fn signs_of_any_width_do_not_move_the_columns() {
        let mut table = Table::new(&["ID"]);
        for sign in ["✅", "⏸️"] {
            table.sign(sign);
            table.row(vec![(Ink::Plain, "a".into())]);
        }
        let expected = "\u{1b}[4GID\n✅\u{1b}[4Ga\n⏸️\u{1b}[4Ga\n";
        assert_eq!(table.on(page(80)), expected);
    }

    #[test]
    fn flexible_columns_shrink_and_numbers_are_right_aligned() {
        let mut table = Table::new(&["COST", "TITLE", "BRANCH"]).flexible(&["TITLE"]).right(&["COST"]);
        let title = "A title that is far too long";
        table.row(vec![(Ink::Plain, "$1".into()), (Ink::Plain, title.into()), (Ink::Plain, "main".into())]);
        let wide = "COST  TITLE                         BRANCH\n  $1  A title that is far too long  main\n";
        assert_eq!(table.on(page(usize::MAX)), wide);
        assert_eq!(table.on(page(28)), "COST  TITLE           BRANCH\n  $1  A title that …  main\n");
    }
}
