//! The progress of a batch: one row per task, repainted continuously, or a line when something happens.
//!
//! Invariant: never more rows are painted than the terminal shows, and they are erased before anything
//! else is written.

use std::time::{Duration, Instant};

use anyhow::Result;
use unicode_width::UnicodeWidthStr;

use super::job::{Job, State};
use crate::figures::clock;
use crate::terminal;
use crate::transcript::{Colours, Ink, Line, Page};

const BEAT: Duration = Duration::from_millis(100);
/// When nothing is painted.
const SLOW_BEAT: Duration = Duration::from_secs(60);
const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const TITLE_COLUMNS: usize = 40;
/// Used when the terminal does not report its number of rows.
const USUAL_ROWS: usize = 24;

pub enum Board {
    Painted { begun: Instant, rows: usize },
    Lines,
    Silent,
}

impl Board {
    /// What standard output can show.
    pub fn open() -> Self {
        match terminal::can_rewrite() {
            true => Self::Painted { begun: Instant::now(), rows: 0 },
            false => Self::Lines,
        }
    }

    /// How often to paint it.
    pub fn beat(&self) -> Duration {
        if matches!(self, Self::Painted { .. }) { BEAT } else { SLOW_BEAT }
    }

    pub fn started(&mut self, job: &Job) -> Result<()> {
        self.print(
            &Line::new(Ink::Plain, "started    ")
                .and(Ink::Plain, &job.short())
                .and(Ink::Plain, "  ")
                .and(Ink::Plain, &job.title),
        )
    }

    pub fn ended(&mut self, job: &Job) -> Result<()> {
        let (ink, word) = job.word();
        let line = Line::new(ink, &format!("{word:<11}")).and(Ink::Plain, &job.short());
        let facts = [job.took().map(clock), Some(job.outcome()).filter(|text| !text.is_empty())];
        let facts: Vec<String> = facts.into_iter().flatten().collect();
        self.print(&line.and(Ink::Plain, &format!("  {} ({})", job.title, facts.join(" · "))))
    }

    fn print(&mut self, line: &Line) -> Result<()> {
        let Self::Lines = self else { return Ok(()) };
        let mut out = String::new();
        line.put(terminal::page(), &mut out);
        terminal::write(&out)
    }

    pub fn paint(&mut self, jobs: &[Job]) -> Result<()> {
        let Self::Painted { begun, rows } = self else { return Ok(()) };
        let turn = (begun.elapsed().as_millis() / BEAT.as_millis()) as usize;
        let lines = picture(jobs, terminal_rows(), SPINNER[turn % SPINNER.len()]);
        let mut out = back(*rows);
        for line in &lines {
            line.put(narrower(terminal::page()), &mut out);
            // Erase the rest of the previous row.
            out.insert_str(out.len() - 1, "\u{1b}[K");
        }
        if lines.len() < *rows {
            out.push_str("\u{1b}[J");
        }
        *rows = lines.len();
        terminal::draw(&out)
    }

    /// Erases what was painted.
    pub fn clear(&mut self) -> Result<()> {
        let Self::Painted { rows, .. } = self else { return Ok(()) };
        terminal::draw(&format!("{}\u{1b}[J", back(std::mem::take(rows))))
    }
}

/// Back to the first painted row.
fn back(rows: usize) -> String {
    match rows {
        0 => String::new(),
        rows => format!("\r\u{1b}[{rows}A"),
    }
}

/// A row that fills the last column makes some terminals start another.
fn narrower(page: Page) -> Page {
    Page { width: page.width.saturating_sub(1), ..page }
}

fn terminal_rows() -> usize {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok().map(|size| usize::from(size.ws_row));
    size.filter(|rows| *rows > 0).unwrap_or(USUAL_ROWS)
}

/// One row per job and one with totals. If not all fit, running jobs come first, then the most recently ended.
fn picture(jobs: &[Job], rows: usize, spinner: &str) -> Vec<Line> {
    // The cursor's row, the totals, and one that keeps the picture from filling the screen.
    let room = rows.saturating_sub(3).max(1);
    let mut shown: Vec<usize> = (0..jobs.len()).collect();
    if jobs.len() > room {
        shown.sort_by_key(|place| match &jobs[*place].state {
            State::Working { .. } => (0, *place),
            State::Starting => (1, *place),
            State::Ended { .. } | State::Refused { .. } => (2, jobs.len() - place),
            State::Waiting => (3, *place),
        });
        shown.truncate(room);
        shown.sort_unstable();
    }
    let widest = shown.iter().map(|place| jobs[*place].title.width()).max().unwrap_or(0).min(TITLE_COLUMNS);
    let mut lines: Vec<Line> = shown.iter().map(|place| row(&jobs[*place], widest, spinner)).collect();
    lines.push(tally(jobs));
    lines
}

fn row(job: &Job, widest: usize, spinner: &str) -> Line {
    let (ink, word) = job.word();
    let mark = match (&job.state, job.is_completed()) {
        (State::Working { .. } | State::Starting, _) => spinner,
        (State::Waiting, _) => "·",
        (_, true) => "✓",
        (_, false) => "✗",
    };
    let took = job.took().map_or_else(String::new, clock);
    let title = fit(&job.title, widest);
    let line = Line::new(ink, mark).and(Ink::Plain, " ").and(Ink::Plain, &title);
    line.and(ink, &format!("  {word:<9}")).and(Ink::Dim, &format!(" {took:>6}  {}", job.outcome()))
}

/// Cuts or pads to exactly this many columns.
fn fit(title: &str, columns: usize) -> String {
    let mut text = String::new();
    Line::new(Ink::Plain, title).put(Page { width: columns, colours: Colours::Off }, &mut text);
    let text = text.trim_end_matches('\n');
    format!("{text}{}", " ".repeat(columns.saturating_sub(text.width())))
}

fn tally(jobs: &[Job]) -> Line {
    let count = |fits: fn(&Job) -> bool| jobs.iter().filter(|job| fits(job)).count();
    let running = count(|job| matches!(job.state, State::Working { .. } | State::Starting));
    let waiting = count(|job| matches!(job.state, State::Waiting));
    let (done, over) = (count(Job::is_completed), count(Job::is_over));
    let mut parts = vec![format!("{running} running")];
    if waiting > 0 {
        parts.push(format!("{waiting} waiting"));
    }
    parts.push(format!("{done} of {} completed", jobs.len()));
    if over > done {
        parts.push(format!("{} not", over - done));
    }
    Line::new(Ink::Dim, &format!("  {} · Ctrl-C leaves them running", parts.join(" · ")))
}

#[cfg(test)]
mod tests {
    use super::super::file::parse;
    use super::*;

    fn jobs(count: usize) -> Vec<Job> {
        let text: Vec<String> = (1..=count).map(|number| format!("Task {number}")).collect();
        let usual = "SCRIPTED".parse().unwrap();
        let items = parse("t.md", &text.join("\n---\n")).unwrap();
        items.into_iter().map(|item| Job::of(item, &usual, None)).collect()
    }

    fn shown(lines: &[Line]) -> String {
        let mut out = String::new();
        lines.iter().for_each(|line| line.put(Page { width: 80, colours: Colours::Off }, &mut out));
        out
    }

    #[test]
    fn every_task_has_a_row_as_long_as_there_is_room() {
        let mut jobs = jobs(3);
        jobs[1].state = State::Starting;
        jobs[2].state = State::Refused { reason: "no such branch".to_owned() };
        insta::assert_snapshot!(shown(&picture(&jobs, 24, "⠋")), @"
        · Task 1  waiting           
        ⠋ Task 2  starting          
        ✗ Task 3  refused           no such branch
          1 running · 1 waiting · 0 of 3 completed · 1 not · Ctrl-C leaves them running
        ");
    }

    #[test]
    fn no_more_rows_are_painted_than_the_terminal_has_and_running_ones_come_first() {
        let mut jobs = jobs(50);
        jobs[40].state = State::Starting;
        let lines = picture(&jobs, 10, "⠋");
        assert_eq!(lines.len(), 8);
        assert!(shown(&lines).contains("Task 41"), "{}", shown(&lines));
    }
}
