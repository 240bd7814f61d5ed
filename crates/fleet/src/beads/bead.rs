//! One bead: a record of `issues.jsonl`.
//!
//! Owns the record's known fields and everything else in it. Invariant: reading and writing a record loses nothing. A
//! field with an unexpected type stays in [`Bead::rest`] as it was; a known field that is set later replaces it.

pub use forge_types::BeadStatus as Status;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The fields of a record that are not known here.
pub type Rest = Map<String, Value>;

/// A record of `issues.jsonl`. Absent fields are `None` or empty; the methods know the defaults.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Rest")]
pub struct Bead {
    pub id: String,
    pub title: String,
    pub description: Option<String>,
    pub design: Option<String>,
    pub acceptance_criteria: Option<String>,
    pub notes: Option<String>,
    pub status: Option<Status>,
    pub priority: Option<i64>,
    pub issue_type: Option<String>,
    pub assignee: Option<String>,
    pub owner: Option<String>,
    pub estimated_minutes: Option<i64>,
    pub created_at: Option<Time>,
    pub created_by: Option<String>,
    pub updated_at: Option<Time>,
    pub started_at: Option<Time>,
    pub closed_at: Option<Time>,
    pub close_reason: Option<String>,
    pub due_at: Option<Time>,
    pub defer_until: Option<Time>,
    pub external_ref: Option<String>,
    pub pinned: Option<bool>,
    pub ephemeral: Option<bool>,
    pub is_template: Option<bool>,
    pub labels: Vec<String>,
    pub dependencies: Vec<Dependency>,
    pub comments: Vec<Comment>,
    /// Every unknown field, and every known one whose value has another type.
    pub rest: Rest,
}

/// An edge. It is stored with the bead that depends.
#[derive(Debug, Clone, PartialEq)]
pub struct Dependency {
    pub depends_on_id: String,
    /// The kind as written; `blocks` when it is absent.
    pub kind: Option<String>,
    pub rest: Rest,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comment {
    pub id: CommentId,
    pub author: String,
    pub text: String,
    #[serde(flatten)]
    pub rest: Rest,
}

/// Numbers in br and classic bd, UUIDs in newer bd.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CommentId {
    Number(i64),
    Text(String),
}

/// A time with its original text, which a later compare-and-set must repeat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Time {
    text: String,
    at: Option<Timestamp>,
}

impl Bead {
    pub fn new(id: impl Into<String>, title: impl Into<String>) -> Self {
        let mut bead = Self::of(Rest::new(), Vec::new());
        (bead.id, bead.title) = (id.into(), title.into());
        bead
    }

    pub fn status(&self) -> &Status {
        self.status.as_ref().unwrap_or(&Status::Open)
    }

    /// 0 is the most urgent. Every tool writes it; where it is missing, bd reads 0.
    pub fn priority(&self) -> i64 {
        self.priority.unwrap_or(0)
    }

    pub fn issue_type(&self) -> &str {
        self.issue_type.as_deref().unwrap_or("task")
    }

    /// Who has it; none if the name is empty.
    pub fn assignee(&self) -> Option<&str> {
        self.assignee.as_deref().filter(|name| !name.is_empty())
    }

    /// Whether it is finished or deleted.
    pub fn is_over(&self) -> bool {
        matches!(self.status(), Status::Closed | Status::Tombstone)
    }

    /// Whether work on it waits for a date.
    pub(super) fn is_deferred(&self, now: Timestamp) -> bool {
        self.defer_until.as_ref().and_then(Time::at).is_some_and(|until| until > now)
    }

    fn of(mut rest: Rest, dependencies: Vec<Dependency>) -> Self {
        let rest = &mut rest;
        Self {
            id: text(rest, "id").unwrap_or_default(),
            title: take(rest, "title", |title| title.as_str().filter(|t| !t.is_empty()).map(str::to_owned))
                .unwrap_or_default(),
            description: text(rest, "description"),
            design: text(rest, "design"),
            acceptance_criteria: text(rest, "acceptance_criteria"),
            notes: text(rest, "notes"),
            status: text(rest, "status").map(Status::from),
            priority: number(rest, "priority"),
            issue_type: text(rest, "issue_type"),
            assignee: text(rest, "assignee"),
            owner: text(rest, "owner"),
            estimated_minutes: number(rest, "estimated_minutes"),
            created_at: time(rest, "created_at"),
            created_by: text(rest, "created_by"),
            updated_at: time(rest, "updated_at"),
            started_at: time(rest, "started_at"),
            closed_at: time(rest, "closed_at"),
            close_reason: text(rest, "close_reason"),
            due_at: time(rest, "due_at"),
            defer_until: time(rest, "defer_until"),
            external_ref: text(rest, "external_ref"),
            pinned: flag(rest, "pinned"),
            ephemeral: flag(rest, "ephemeral"),
            is_template: flag(rest, "is_template"),
            labels: list(rest, "labels"),
            dependencies,
            comments: list(rest, "comments"),
            rest: std::mem::take(rest),
        }
    }

    /// The record, in the order in which br writes its fields.
    fn record(&self) -> Vec<(&str, Value)> {
        let mut out: Vec<(&str, Value)> = vec![("id", self.id.clone().into())];
        if !self.title.is_empty() {
            out.push(("title", self.title.clone().into()));
        }
        let mut put = |name: &'static str, value: Option<Value>| out.extend(value.map(|value| (name, value)));
        put("description", of_text(&self.description));
        put("design", of_text(&self.design));
        put("acceptance_criteria", of_text(&self.acceptance_criteria));
        put("notes", of_text(&self.notes));
        put("status", self.status.as_ref().map(|status| status.as_str().into()));
        put("priority", self.priority.map(Value::from));
        put("issue_type", of_text(&self.issue_type));
        put("assignee", of_text(&self.assignee));
        put("owner", of_text(&self.owner));
        put("estimated_minutes", self.estimated_minutes.map(Value::from));
        put("created_at", of_time(&self.created_at));
        put("created_by", of_text(&self.created_by));
        put("updated_at", of_time(&self.updated_at));
        put("started_at", of_time(&self.started_at));
        put("closed_at", of_time(&self.closed_at));
        put("close_reason", of_text(&self.close_reason));
        put("due_at", of_time(&self.due_at));
        put("defer_until", of_time(&self.defer_until));
        put("external_ref", of_text(&self.external_ref));
        put("pinned", self.pinned.map(Value::from));
        put("ephemeral", self.ephemeral.map(Value::from));
        put("is_template", self.is_template.map(Value::from));
        put("labels", of_list(&self.labels, |label| label.clone().into()));
        put("dependencies", of_list(&self.dependencies, Dependency::record));
        put("comments", of_list(&self.comments, Comment::record));
        let known: Vec<&str> = out.iter().map(|(name, _)| *name).collect();
        let others = self.rest.iter().filter(|(name, _)| !known.contains(&name.as_str()));
        let others: Vec<_> = others.map(|(name, value)| (name.as_str(), value.clone())).collect();
        out.extend(others);
        out
    }
}

impl Serialize for Bead {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.record())
    }
}

impl TryFrom<Rest> for Bead {
    type Error = String;

    fn try_from(mut record: Rest) -> Result<Self, String> {
        match record.get("id") {
            Some(Value::String(id)) if !id.is_empty() => {}
            Some(other) => return Err(format!("its id is {other}, not a name")),
            None => return Err("it has no id".to_owned()),
        }
        // An edge that cannot be read might be one that blocks, so it is never passed over.
        let edges = match record.remove("dependencies") {
            None => Vec::new(),
            Some(Value::Array(edges)) if !edges.is_empty() => edges,
            Some(empty @ (Value::Null | Value::Array(_))) => {
                record.insert("dependencies".to_owned(), empty);
                Vec::new()
            }
            Some(_) => return Err("its dependencies are not a list".to_owned()),
        };
        let edges = edges.into_iter().map(Dependency::read).collect::<Result<_, _>>()?;
        Ok(Self::of(record, edges))
    }
}

impl Dependency {
    pub fn new(depends_on_id: impl Into<String>, kind: impl Into<String>) -> Self {
        Self { depends_on_id: depends_on_id.into(), kind: Some(kind.into()), rest: Rest::new() }
    }

    pub fn kind(&self) -> &str {
        self.kind.as_deref().unwrap_or("blocks")
    }

    fn read(value: Value) -> Result<Self, String> {
        let Value::Object(mut rest) = value else {
            return Err(format!("a dependency is {value}, not an object"));
        };
        match text(&mut rest, "depends_on_id") {
            Some(depends_on_id) => {
                Ok(Self { depends_on_id, kind: text(&mut rest, "type"), rest: std::mem::take(&mut rest) })
            }
            None => Err("a dependency has no depends_on_id".to_owned()),
        }
    }

    fn record(&self) -> Value {
        let mut record = self.rest.clone();
        record.insert("depends_on_id".to_owned(), self.depends_on_id.clone().into());
        if let Some(kind) = &self.kind {
            record.insert("type".to_owned(), kind.clone().into());
        }
        record.into()
    }
}

impl Comment {
    fn record(&self) -> Value {
        let mut record = self.rest.clone();
        let id = match &self.id {
            CommentId::Number(id) => (*id).into(),
            CommentId::Text(id) => id.clone().into(),
        };
        record.insert("id".to_owned(), id);
        record.insert("author".to_owned(), self.author.clone().into());
        record.insert("text".to_owned(), self.text.clone().into());
        record.into()
    }
}

impl Time {
    pub fn now() -> Self {
        let at = Timestamp::now();
        Self { text: at.to_string(), at: Some(at) }
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// `None` when the text is not a time.
    pub fn at(&self) -> Option<Timestamp> {
        self.at
    }
}

impl From<String> for Time {
    fn from(text: String) -> Self {
        Self { at: text.parse().ok(), text }
    }
}

/// Takes a field out if `wanted` accepts its value; leaves it otherwise.
fn take<T>(rest: &mut Rest, name: &str, wanted: impl FnOnce(&Value) -> Option<T>) -> Option<T> {
    let found = rest.get(name).and_then(wanted)?;
    rest.remove(name);
    Some(found)
}

fn text(rest: &mut Rest, name: &str) -> Option<String> {
    if !rest.get(name).is_some_and(Value::is_string) {
        return None;
    }
    match rest.remove(name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

fn number(rest: &mut Rest, name: &str) -> Option<i64> {
    take(rest, name, Value::as_i64)
}

fn flag(rest: &mut Rest, name: &str) -> Option<bool> {
    take(rest, name, Value::as_bool)
}

fn time(rest: &mut Rest, name: &str) -> Option<Time> {
    text(rest, name).map(Time::from)
}

/// An empty list stays where it is: it is written again only if it was there.
fn list<T: serde::de::DeserializeOwned>(rest: &mut Rest, name: &str) -> Vec<T> {
    let read = |value: &Value| Vec::<T>::deserialize(value).ok().filter(|found| !found.is_empty());
    take(rest, name, read).unwrap_or_default()
}

fn of_text(text: &Option<String>) -> Option<Value> {
    text.clone().map(Value::from)
}

fn of_time(time: &Option<Time>) -> Option<Value> {
    time.as_ref().map(|time| time.text.clone().into())
}

fn of_list<T>(items: &[T], record: impl Fn(&T) -> Value) -> Option<Value> {
    (!items.is_empty()).then(|| items.iter().map(record).collect())
}
