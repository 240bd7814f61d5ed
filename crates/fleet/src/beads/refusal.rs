//! What the programs' refusals mean.
//!
//! br gives an error code and the invalid field; bd only a message. Invariant: an unrecognised message stays an error
//! in the program's own words.

use super::answer::Complaint;
use super::bead::Status;
use super::error::BeadsError;
use super::store::{Claim, Close, Linked, Unlinked};

/// A refused claim. br marks its refusals as retryable, which here they are not.
pub(super) fn of_claim(complaint: Complaint, id: &str) -> Claim {
    let reason = complaint.reason.as_deref().unwrap_or(&complaint.message);
    let after = |words: &str| reason.split_once(words).map(|(_, rest)| rest.trim());
    if let Some(by) = after("already assigned to ").or_else(|| after("already claimed by ")) {
        return Claim::AlreadyClaimed { by: first_line(by).to_owned() };
    }
    if let Some(by) = after("cannot claim blocked issue:") {
        return Claim::Blocked { by: ids(by) };
    }
    if let Some(status) = after("not claimable: status ") {
        return Claim::NotClaimable { status: status_of(status) };
    }
    if let Some(rest) = after("cannot claim ") {
        return Claim::NotClaimable { status: status_of(rest) };
    }
    complaint.into_error(id).into()
}

pub(super) fn of_close(complaint: Complaint, id: &str) -> Result<Close, BeadsError> {
    let reason = complaint.reason.as_deref().unwrap_or(&complaint.message);
    if reason.contains("already closed") {
        return Ok(Close::AlreadyClosed);
    }
    let is_refusal = ["blocked by", "open child", "open issues", "cannot close", "gate"];
    if !complaint.is_missing_bead() && is_refusal.iter().any(|words| reason.contains(words)) {
        return Ok(Close::Refused(reason.to_owned()));
    }
    // br puts "not found" among what it skipped.
    if complaint.code.as_deref() == Some("NOTHING_TO_DO") && reason.contains("not found") {
        return Err(BeadsError::NoSuchBead { id: id.to_owned() });
    }
    Err(complaint.into_error(id))
}

pub(super) fn of_link(complaint: Complaint, id: &str, on: &str) -> Result<Linked, BeadsError> {
    let message = complaint.message.to_lowercase();
    if message.contains("unique constraint") || message.contains("already exists") {
        return Ok(Linked::AlreadyThere);
    }
    if complaint.is_missing_bead() {
        let missing = if message.contains(&on.to_lowercase()) { on } else { id };
        return Err(BeadsError::NoSuchBead { id: missing.to_owned() });
    }
    let is_rule =
        ["CYCLE_DETECTED", "SELF_DEPENDENCY"].iter().any(|code| complaint.code.as_deref() == Some(code));
    if is_rule || message.contains("cycle") || message.contains("depend on itself") {
        return Err(BeadsError::Refused(complaint.message));
    }
    Err(complaint.into_error(id))
}

pub(super) fn of_unlink(complaint: Complaint, id: &str) -> Result<Unlinked, BeadsError> {
    let message = complaint.message.to_lowercase();
    let is_absent = ["dependency not found", "no dependency", "does not exist", "not found between"];
    match is_absent.iter().any(|words| message.contains(words)) && message.contains("depend") {
        true => Ok(Unlinked::NotThere),
        false => Err(complaint.into_error(id)),
    }
}

/// Whether the bead changed since it was read.
pub(super) fn is_outdated(complaint: &Complaint) -> bool {
    complaint.code.as_deref() == Some("UPDATE_PRECONDITION_FAILED")
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or(text).trim()
}

fn ids(text: &str) -> Vec<String> {
    let words = first_line(text).split([',', ' ']).map(str::trim);
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// The status is the first word.
fn status_of(text: &str) -> Status {
    let word = text.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default();
    Status::from(word.to_owned())
}
