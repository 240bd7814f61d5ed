//! Beads without a program: Forge's own writer of `issues.jsonl`.
//!
//! Owns the rules of a change, which are br's. Invariants: used only where neither a program nor a database exists;
//! every change is made under the workspace's lock, to the file's current content.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::json;

use super::bead::{Bead, Comment, CommentId, Dependency, Status, Time};
use super::cycle;
use super::draft::Draft;
use super::error::BeadsError;
use super::jsonl::{BeadQueueReader, run_blocking};
use super::lock::Lock;
use super::name;
use super::place::{self, Layout, Place};
use super::ready::Edge;
use super::store::{Change, Claim, Close, Linked, NewBead, Release, Unlinked};
use super::workspace::Workspace;

#[derive(Debug, Clone)]
pub struct LocalStore {
    file: BeadQueueReader,
    dir: PathBuf,
}

impl LocalStore {
    pub(super) fn new(workspace: &Workspace) -> Self {
        Self { file: BeadQueueReader::of(workspace, ""), dir: workspace.place.dir.clone() }
    }

    pub(super) fn file(&self) -> &BeadQueueReader {
        &self.file
    }

    pub async fn claim(&self, id: &str, actor: &str) -> Claim {
        let (id, actor) = (id.to_owned(), actor.to_owned());
        let (policy, name, who) = (self.file.policy(), id.clone(), actor.clone());
        let refusal = self.edit(move |draft| {
            let mut bead = draft.get(&id)?;
            match (bead.status(), bead.assignee()) {
                (Status::Closed | Status::Tombstone, _) => {
                    return Ok(Some(Claim::NotClaimable { status: bead.status().clone() }));
                }
                (_, Some(by)) if by != actor => return Ok(Some(Claim::AlreadyClaimed { by: by.to_owned() })),
                (Status::Open | Status::InProgress, _) if !bead.is_deferred(Timestamp::now()) => {}
                (Status::Open | Status::InProgress, _) => {
                    return Ok(Some(Claim::NotClaimable { status: Status::Deferred }));
                }
                (status, _) => return Ok(Some(Claim::NotClaimable { status: status.clone() })),
            }
            let by = policy.blockers(draft.snapshot(), &id);
            if !by.is_empty() {
                return Ok(Some(Claim::Blocked { by }));
            }
            bead.assignee = Some(actor);
            bead.status = Some(Status::InProgress);
            draft.put(bead)?;
            Ok(None)
        });
        match refusal.await {
            Ok(Some(refusal)) => return refusal,
            Ok(None) => {}
            Err(error) => return error.into(),
        }
        match self.show_one(&name).await {
            Ok(bead) => Claim::judge(bead, &who),
            Err(error) => error.into(),
        }
    }

    pub async fn release(&self, id: &str, actor: &str, comment: &str) -> Result<Release, BeadsError> {
        let (id, actor, comment) = (id.to_owned(), actor.to_owned(), comment.to_owned());
        let release = move |draft: &mut Draft| {
            let mut bead = draft.get(&id)?;
            if bead.assignee() != Some(&actor) || bead.is_over() {
                return Ok(Release::NotHeld { by: bead.assignee().map(str::to_owned) });
            }
            bead.status = Some(Status::Open);
            bead.assignee = None;
            if !comment.is_empty() {
                add_comment(&mut bead, &actor, &comment);
            }
            draft.put(bead).map(Release::Released)
        };
        self.edit(release).await
    }

    pub async fn close(&self, id: &str, reason: &str) -> Result<Close, BeadsError> {
        let (id, reason) = (id.to_owned(), reason.to_owned());
        let policy = self.file.policy();
        let close = move |draft: &mut Draft| {
            let mut bead = draft.get(&id)?;
            if bead.is_over() {
                return Ok(Close::AlreadyClosed);
            }
            let blockers = policy.blockers(draft.snapshot(), &id);
            if !blockers.is_empty() {
                return Ok(Close::Refused(format!(
                    "{id} is blocked by {}; close them first",
                    blockers.join(", ")
                )));
            }
            let children = open_children(draft, &bead, |edge| policy.edge(edge) == Edge::Parent);
            if !children.is_empty() {
                let names = children.join(", ");
                return Ok(Close::Refused(format!(
                    "{id} is an epic with open children, {names}; close them first"
                )));
            }
            bead.status = Some(Status::Closed);
            bead.closed_at = Some(Time::now());
            bead.close_reason = (!reason.is_empty()).then_some(reason);
            draft.put(bead).map(Close::Closed)
        };
        self.edit(close).await
    }

    pub async fn create(&self, new: &NewBead, actor: &str) -> Result<Bead, BeadsError> {
        let (new, actor, dir) = (new.clone(), actor.to_owned(), self.dir.clone());
        let create = move |draft: &mut Draft| {
            let now = Timestamp::now();
            let description = new.description.as_deref().unwrap_or_default();
            let (title, unix_nanos) = (new.title.as_str(), now.as_nanosecond());
            let seed = name::Seed { title, description, creator: &actor, unix_nanos };
            let beads = draft.snapshot().beads();
            let id = match &new.parent {
                Some(parent) => name::child(parent, beads.iter().map(|bead| bead.id.as_str()))?,
                None => {
                    let is_taken = |id: &str| draft.snapshot().get(id).is_some();
                    name::make(&prefix(&dir, beads)?, &seed, beads.len(), is_taken)
                        .ok_or_else(|| BeadsError::Refused("no free id was found; try again".to_owned()))?
                }
            };
            let parent = new.parent.iter().map(|parent| ("parent-child".to_owned(), parent.clone()));
            let mut bead = Bead::new(&id, title);
            for (kind, on) in parent.chain(new.dependencies) {
                draft.get(&on)?;
                bead.dependencies.push(edge(&id, &on, &kind, &actor));
            }
            bead.description = new.description.filter(|text| !text.is_empty());
            bead.status = Some(Status::Open);
            bead.priority = Some(new.priority);
            bead.issue_type = Some(new.issue_type);
            bead.labels = new.labels;
            bead.external_ref = new.external_ref;
            bead.created_at = Some(Time::from(now.to_string()));
            bead.created_by = Some(actor);
            draft.put(bead)
        };
        self.edit(create).await
    }

    pub async fn add_dep(&self, id: &str, on: &str, kind: &str, actor: &str) -> Result<Linked, BeadsError> {
        let [id, on, kind, actor] = [id, on, kind, actor].map(str::to_owned);
        let policy = self.file.policy();
        let add = move |draft: &mut Draft| {
            let mut bead = draft.get(&id)?;
            draft.get(&on)?;
            if bead.dependencies.iter().any(|edge| edge.depends_on_id == on && edge.kind() == kind) {
                return Ok(Linked::AlreadyThere);
            }
            let edge = edge(&id, &on, &kind, &actor);
            if id == on || cycle::closes(draft.snapshot(), policy, &id, &edge) {
                let why = format!(
                    "{id} cannot depend on {on}: each would wait for the other; remove one dependency first, with \
                     `forge beads undep`"
                );
                return Err(BeadsError::Refused(why));
            }
            bead.dependencies.push(edge);
            draft.put(bead).map(|_| Linked::Added)
        };
        self.edit(add).await
    }

    pub async fn remove_dep(&self, id: &str, on: &str, kind: Option<&str>) -> Result<Unlinked, BeadsError> {
        let (id, on, kind) = (id.to_owned(), on.to_owned(), kind.map(str::to_owned));
        let remove = move |draft: &mut Draft| {
            let mut bead = draft.get(&id)?;
            let before = bead.dependencies.len();
            let matches_kind = |edge: &Dependency| kind.as_deref().is_none_or(|kind| edge.kind() == kind);
            bead.dependencies.retain(|edge| edge.depends_on_id != on || !matches_kind(edge));
            match bead.dependencies.len() == before {
                true => Ok(Unlinked::NotThere),
                false => draft.put(bead).map(|_| Unlinked::Removed),
            }
        };
        self.edit(remove).await
    }

    pub async fn comment(&self, id: &str, actor: &str, text: &str) -> Result<(), BeadsError> {
        let [id, actor, text] = [id, actor, text].map(str::to_owned);
        let comment = move |draft: &mut Draft| {
            let mut bead = draft.get(&id)?;
            add_comment(&mut bead, &actor, &text);
            draft.put(bead).map(drop)
        };
        self.edit(comment).await
    }

    pub async fn update(&self, id: &str, change: &Change) -> Result<Bead, BeadsError> {
        let (id, change) = (id.to_owned(), change.clone());
        let update = move |draft: &mut Draft| {
            let mut bead = draft.get(&id)?;
            if change == Change::default() {
                return Ok(bead);
            }
            if let Some(title) = change.title {
                bead.title = title;
            }
            if let Some(description) = change.description {
                bead.description = Some(description).filter(|text| !text.is_empty());
            }
            if change.unassigned {
                bead.assignee = None;
            }
            if let Some(priority) = change.priority {
                bead.priority = Some(priority);
            }
            if let Some(status) = change.status {
                if bead.is_over() {
                    bead.closed_at = None;
                    bead.close_reason = None;
                }
                bead.status = Some(status);
            }
            draft.put(bead)
        };
        self.edit(update).await
    }

    async fn show_one(&self, id: &str) -> Result<Bead, BeadsError> {
        let missing = || BeadsError::NoSuchBead { id: id.to_owned() };
        self.file.show(&[id]).await?.into_iter().next().ok_or_else(missing)
    }

    /// Changes the file under the lock. It is written only if the work changed something and succeeded.
    async fn edit<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Draft) -> Result<T, BeadsError> + Send + 'static,
    ) -> Result<T, BeadsError> {
        let (file, dir) = (self.file.clone(), self.dir.clone());
        let edit = move || {
            let _lock = Lock::take(&dir)?;
            refuse_database(&dir)?;
            let mut draft = Draft::open(&file)?;
            let result = work(&mut draft)?;
            draft.save()?;
            Ok(result)
        };
        run_blocking(edit).await
    }
}

/// Somebody may have started to use a program since the workspace was opened.
fn refuse_database(dir: &Path) -> Result<(), BeadsError> {
    match Place::find(dir, Some(dir.as_os_str()))? {
        Some(place) if place.layout == Layout::Bare => Ok(()),
        _ => {
            let why = "a database appeared next to the file, so a beads program owns it now; try again";
            Err(BeadsError::ReadOnly(why.to_owned()))
        }
    }
}

fn edge(id: &str, on: &str, kind: &str, actor: &str) -> Dependency {
    let mut edge = Dependency::new(on, kind);
    let now = Time::now();
    let facts = [("issue_id", id), ("created_at", now.text()), ("created_by", actor)];
    edge.rest = facts.map(|(name, value)| (name.to_owned(), json!(value))).into_iter().collect();
    edge
}

fn add_comment(bead: &mut Bead, author: &str, text: &str) {
    let number = |comment: &Comment| match comment.id {
        CommentId::Number(number) => number,
        CommentId::Text(_) => 0,
    };
    let id = CommentId::Number(bead.comments.iter().map(number).max().unwrap_or(0) + 1);
    let facts = [("issue_id", json!(bead.id)), ("created_at", json!(Time::now().text()))];
    let rest = facts.map(|(name, value)| (name.to_owned(), value)).into_iter().collect();
    bead.comments.push(Comment { id, author: author.to_owned(), text: text.to_owned(), rest });
}

fn open_children(draft: &Draft, parent: &Bead, is_child: impl Fn(&Dependency) -> bool) -> Vec<String> {
    if parent.issue_type() != "epic" {
        return Vec::new();
    }
    let is_open = |bead: &&Bead| {
        let edges = bead.dependencies.iter();
        !bead.is_over() && edges.into_iter().any(|edge| edge.depends_on_id == parent.id && is_child(edge))
    };
    draft.snapshot().beads().iter().filter(is_open).map(|bead| bead.id.clone()).collect()
}

/// The prefix of new ids: the configured one, else the one that all beads have, else the directory's name.
fn prefix(dir: &Path, beads: &[Bead]) -> Result<String, BeadsError> {
    let known = configured_prefix(dir)?.or_else(|| common_prefix(beads));
    Ok(known.unwrap_or_else(|| {
        let name =
            dir.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().to_lowercase();
        let name: String =
            name.chars().filter(|c| c.is_ascii_alphanumeric() || "-_".contains(*c)).take(40).collect();
        let name = name.trim_matches('-');
        if name.is_empty() { "bd".to_owned() } else { name.to_owned() }
    }))
}

fn configured_prefix(dir: &Path) -> Result<Option<String>, BeadsError> {
    let Some(bytes) = place::read_file(dir, "config.yaml")? else { return Ok(None) };
    let config: yaml_serde::Value = yaml_serde::from_slice(&bytes).unwrap_or_default();
    let prefix = config.get("issue-prefix").or_else(|| config.get("issue_prefix"));
    let prefix = prefix.and_then(|prefix| prefix.as_str()).unwrap_or_default().trim().trim_end_matches('-');
    Ok(name::check(&format!("{prefix}-0")).ok().map(|()| prefix.to_owned()))
}

fn common_prefix(beads: &[Bead]) -> Option<String> {
    let (prefix, _) = beads.first()?.id.rsplit_once('-')?;
    let has_it = |bead: &Bead| bead.id.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('-'));
    (beads.iter().all(has_it) && name::check(&format!("{prefix}-0")).is_ok()).then(|| prefix.to_owned())
}
