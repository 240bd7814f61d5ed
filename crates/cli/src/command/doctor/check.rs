//! One check and its result.

use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use crate::transcript::{Ink, Line, Page};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Ok,
    Warning,
    Missing,
}

impl Status {
    fn as_str(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Warning => "warning",
            Status::Missing => "missing",
        }
    }

    fn ink(self) -> Ink {
        match self {
            Status::Ok => Ink::Green,
            Status::Warning => Ink::Yellow,
            Status::Missing => Ink::Red,
        }
    }
}

/// Whether Forge can work without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    Good,
    Must,
}

#[derive(Clone, Debug)]
pub struct Check {
    name: String,
    status: Status,
    detail: String,
    /// The command that fixes it.
    fix: Option<String>,
    need: Need,
    /// More for programs.
    facts: Value,
}

impl Check {
    pub fn new(name: &str, status: Status, detail: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            status,
            detail: detail.into(),
            fix: None,
            need: Need::Good,
            facts: Value::Null,
        }
    }

    pub fn fix(self, command: impl Into<String>) -> Self {
        Self { fix: Some(command.into()), ..self }
    }

    pub fn facts(self, facts: Value) -> Self {
        Self { facts, ..self }
    }

    /// Forge cannot work without it.
    pub fn must(self) -> Self {
        Self { need: Need::Must, ..self }
    }

    /// Anything but ok is fixed by installing a package.
    pub fn or_install(self, package: &str, packager: Option<&str>) -> Self {
        match (self.status, packager) {
            (Status::Ok, _) => self,
            (_, Some(packager)) => self.fix(format!("{packager} {package}")),
            (_, None) => self.fix(format!("install {package} with the package manager of this system")),
        }
    }

    pub fn is_fatal(&self) -> bool {
        self.need == Need::Must && self.status == Status::Missing
    }

    pub fn name_width(&self) -> usize {
        self.name.width()
    }

    pub fn put(&self, name_width: usize, page: Page, out: &mut String) {
        let status = format!("  {:9}", self.status.as_str());
        let name = format!("{:name_width$}  ", self.name);
        let indent = status.width() + name.width();
        let mut rows = wrap(&self.detail, page.width.saturating_sub(indent)).into_iter();
        let first = Line::new(self.status.ink(), &status).and(Ink::Plain, &name);
        first.and(Ink::Plain, &rows.next().unwrap_or_default()).whole().put(page, out);
        for row in rows {
            Line::new(Ink::Plain, &" ".repeat(indent)).and(Ink::Plain, &row).whole().put(page, out);
        }
        if let Some(fix) = &self.fix {
            // A truncated command is useless.
            let gap = " ".repeat(indent);
            Line::new(Ink::Plain, &gap).and(Ink::Cyan, &format!("→ {fix}")).whole().put(page, out);
        }
    }

    pub fn object(&self, section: &str) -> Value {
        let mut object = json!({
            "section": section, "name": self.name, "status": self.status.as_str(), "detail": self.detail, "fix": self.fix,
        });
        if let (Some(object), Some(facts)) = (object.as_object_mut(), self.facts.as_object()) {
            object.extend(facts.clone());
        }
        object
    }
}

/// Rows of whole words; a word longer than a row gets its own.
fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match rows.last_mut() {
            Some(row) if row.width() + 1 + word.width() <= columns => {
                row.push(' ');
                row.push_str(word);
            }
            _ => rows.push(word.to_owned()),
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::Colours;

    #[test]
    fn details_wrap_below_themselves_and_commands_stay_whole() {
        let check = Check::new("git", Status::Missing, "the program was not found on PATH")
            .fix("sudo apt-get install git");
        let mut out = String::new();
        check.put(5, Page { width: 40, colours: Colours::Off }, &mut out);
        insta::assert_snapshot!(out, @r"
          missing  git    the program was not
                          found on PATH
                          → sudo apt-get install git
        ");
    }
}
