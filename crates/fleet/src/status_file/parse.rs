//! Parses a status file, whoever wrote it.

use std::path::{Path, PathBuf};

use forge_types::Millis;
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::{CurrentTask, StatusFile};
use crate::worker::{WorkerStatus, WorkerTier};

/// The status of files by older writers, which have none.
const DEFAULT_STATUS: WorkerStatus = WorkerStatus::Idle;

pub(super) fn parse(path: &Path, written_at: Millis, bytes: &[u8]) -> StatusFile {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return unreadable(path, written_at, "the file is empty");
    }
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(fields)) => understand(path, written_at, fields),
        Ok(_) => unreadable(path, written_at, "it is JSON, but not an object"),
        Err(error) => unreadable(path, written_at, &format!("it is not JSON: {error}")),
    }
}

/// A row for an unreadable file.
pub(super) fn unreadable(path: &Path, written_at: Millis, reason: &str) -> StatusFile {
    let mut file = understand(path, written_at, Map::new());
    file.status = WorkerStatus::Error;
    file.word = WorkerStatus::Error.to_string();
    file.reason = Some(reason.to_owned());
    file
}

fn understand(path: &Path, written_at: Millis, fields: Map<String, Value>) -> StatusFile {
    let text = |key: &str| text_of(fields.get(key));
    let time = |key: &str| time_of(fields.get(key));
    let (status, word, reason) = status_of(fields.get("status"));
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    StatusFile {
        path: path.to_owned(),
        worker_id: text("worker_id").unwrap_or_else(|| stem.into_owned()),
        status,
        word,
        reason,
        model: text("model").or_else(|| text("model_id")),
        tier: text("tier").and_then(|word| WorkerTier::parse(&word)),
        workspace: text("workspace").map(PathBuf::from),
        pid: number_of(fields.get("pid")).and_then(|pid| u32::try_from(pid).ok()).filter(|pid| *pid != 0),
        started_at: time("started_at"),
        updated_at: time("last_update").max(time("last_activity")).unwrap_or(written_at),
        current_task: fields.get("current_task").and_then(task_of),
        tasks_completed: number_of(fields.get("tasks_completed")),
        paused_at: time("paused_at"),
        pause_reason: text("pause_reason"),
        fields,
    }
}

fn status_of(value: Option<&Value>) -> (WorkerStatus, String, Option<String>) {
    let word = match value {
        None | Some(Value::Null) => return (DEFAULT_STATUS, String::new(), None),
        Some(Value::String(word)) => word.trim().to_owned(),
        Some(other) => other.to_string(),
    };
    match WorkerStatus::parse(&word) {
        Some(WorkerStatus::Error) => {
            (WorkerStatus::Error, word, Some("the worker reports an error".to_owned()))
        }
        Some(status) => (status, word, None),
        None => {
            let reason = format!("`status` is `{word}`, which is unknown");
            (WorkerStatus::Error, word, Some(reason))
        }
    }
}

fn text_of(value: Option<&Value>) -> Option<String> {
    let text = value?.as_str()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn number_of(value: Option<&Value>) -> Option<u64> {
    match value? {
        Value::String(digits) => digits.trim().parse().ok(),
        Value::Number(number) => number.as_u64().or_else(|| {
            let whole = number.as_f64().filter(|number| *number >= 0.0 && number.fract() == 0.0);
            whole.map(|number| number as u64)
        }),
        _ => None,
    }
}

/// RFC 3339, or seconds or milliseconds since 1970.
fn time_of(value: Option<&Value>) -> Option<Millis> {
    match value? {
        Value::String(text) => {
            let text = text.trim();
            let at = text.parse::<Timestamp>().ok();
            // Without an offset it is assumed to be UTC.
            let at = at.or_else(|| format!("{text}Z").parse().ok());
            at.map(|at| Millis(at.as_millisecond()))
        }
        Value::Number(number) => {
            let number = number.as_f64()?;
            let millis = if number < 1e11 { number * 1000.0 } else { number };
            Some(Millis(millis as i64))
        }
        _ => None,
    }
}

fn task_of(value: &Value) -> Option<CurrentTask> {
    match value {
        Value::Null => None,
        Value::String(text) => {
            let text = text.trim();
            let (bead_id, title) = match text.split_once(": ") {
                Some((id, title)) if is_bead_id(id) => (Some(id.to_owned()), Some(title.trim().to_owned())),
                _ if is_bead_id(text) => (Some(text.to_owned()), None),
                _ => (None, None),
            };
            (!text.is_empty()).then(|| CurrentTask { text: text.to_owned(), bead_id, title, priority: None })
        }
        Value::Object(task) => {
            let text = |keys: &[&str]| keys.iter().find_map(|key| text_of(task.get(*key)));
            let bead_id = text(&["bead_id", "id", "task_id"]);
            let title = text(&["bead_title", "title", "description", "name"]);
            let line = match (&bead_id, &title) {
                (Some(id), Some(title)) => format!("{id}: {title}"),
                (Some(only), None) | (None, Some(only)) => only.clone(),
                (None, None) => text(&["type"]).unwrap_or_else(|| value.to_string()),
            };
            let priority = task.get("priority").or_else(|| task.get("bead_priority"));
            Some(CurrentTask { text: line, bead_id, title, priority: priority.and_then(priority_of) })
        }
        other => Some(CurrentTask { text: other.to_string(), bead_id: None, title: None, priority: None }),
    }
}

/// `2` or `P2`.
fn priority_of(value: &Value) -> Option<u8> {
    let number = match value {
        Value::String(word) => word.trim().trim_start_matches(['P', 'p']).parse().ok()?,
        other => other.as_u64()?,
    };
    u8::try_from(number).ok().filter(|priority| *priority <= 4)
}

fn is_bead_id(word: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !word.is_empty() && word.len() <= 64 && word.chars().all(allowed) && word.contains('-')
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    const WRITTEN: Millis = Millis(1_000);

    fn file(value: Value) -> StatusFile {
        parse(Path::new("/s/stem.json"), WRITTEN, value.to_string().as_bytes())
    }

    #[test]
    fn the_documented_file_is_read_whole() {
        let file = file(json!({
            "worker_id": "claude-code-sonnet-alpha", "status": "active",
            "current_task": "fg-123: Implement feature X", "model": "sonnet", "tier": "standard", "pid": 12345,
            "started_at": "2025-01-15T10:30:00Z", "last_update": "2025-01-15T10:35:00Z", "own": [1],
        }));
        assert_eq!(
            (file.worker_id.as_str(), file.status),
            ("claude-code-sonnet-alpha", WorkerStatus::Active)
        );
        assert_eq!((file.tier, file.pid), (Some(WorkerTier::Standard), Some(12345)));
        assert_eq!(file.updated_at.to_string(), "2025-01-15T10:35:00.000Z");
        let task = file.current_task.expect("task");
        assert_eq!(
            (task.bead_id.as_deref(), task.title.as_deref()),
            (Some("fg-123"), Some("Implement feature X"))
        );
        assert_eq!(file.fields["own"], json!([1]));
    }

    #[test]
    fn the_newest_time_counts_and_the_files_own_time_comes_last() {
        let at = |value| file(value).updated_at.to_string();
        let (early, late) = ("2025-01-15T12:00:00+02:00", "2025-01-15T10:00:01Z");
        assert_eq!(at(json!({"last_update": early, "last_activity": late})), "2025-01-15T10:00:01.000Z");
        assert_eq!(at(json!({"last_update": late, "last_activity": early})), "2025-01-15T10:00:01.000Z");
        assert_eq!(at(json!({"last_activity": early})), "2025-01-15T10:00:00.000Z");
        assert_eq!(at(json!({"last_update": "2025-01-15T10:00:00"})), "2025-01-15T10:00:00.000Z");
        assert_eq!(at(json!({"last_update": 1_736_935_200})), "2025-01-15T10:00:00.000Z");
        assert_eq!(at(json!({"last_update": "yesterday"})), WRITTEN.to_string());
    }

    #[test]
    fn no_row_is_dropped_for_a_field_that_is_odd() {
        let odd =
            file(json!({"status": "Busy", "pid": "77", "workspace": null, "current_task": null, "tier": 3}));
        assert_eq!(
            (odd.worker_id.as_str(), odd.status, odd.word.as_str()),
            ("stem", WorkerStatus::Error, "Busy")
        );
        assert!(odd.reason.as_deref().is_some_and(|reason| reason.contains("`Busy`")), "{:?}", odd.reason);
        assert_eq!((odd.pid, odd.workspace, odd.current_task, odd.tier), (Some(77), None, None, None));
        assert_eq!(file(json!({})).status, WorkerStatus::Idle);
        assert_eq!(file(json!({"status": "spawned"})).status, WorkerStatus::Starting);
        assert_eq!(file(json!({"status": "stopped", "model_id": "m"})).model.as_deref(), Some("m"));
        assert_eq!(file(json!({"pid": -1})).pid, None);
    }

    #[test]
    fn a_task_may_be_a_text_or_any_object() {
        let task = |value: Value| file(json!({"current_task": value})).current_task.expect("task");
        let full = task(json!({"bead_id": "fg-1", "bead_title": "T", "bead_priority": "P0"}));
        assert_eq!((full.text.as_str(), full.priority), ("fg-1: T", Some(0)));
        assert_eq!(task(json!({"bead_id": "fg-1", "priority": 3})).priority, Some(3));
        let described = task(json!({"type": "review", "description": "look at it"}));
        assert_eq!((described.text.as_str(), described.bead_id), ("look at it", None));
        assert_eq!(task(json!({"x": 1})).text, "{\"x\":1}");
        assert_eq!(task(json!("Note: no bead")).bead_id, None);
        assert_eq!(task(json!("fg-9")).bead_id.as_deref(), Some("fg-9"));
        assert_eq!(task(json!(7)).text, "7");
    }

    #[test]
    fn what_cannot_be_understood_is_an_error_with_its_reason() {
        for (bytes, reason) in [
            (&b"{\"worker_id\": \"a\""[..], "not JSON"),
            (b"[]", "not an object"),
            (b" \n", "empty"),
            (b"\xff\xfe", "not JSON"),
        ] {
            let file = parse(Path::new("/s/w.json"), WRITTEN, bytes);
            assert_eq!((file.worker_id.as_str(), file.status), ("w", WorkerStatus::Error));
            assert!(file.reason.as_deref().is_some_and(|text| text.contains(reason)), "{:?}", file.reason);
        }
        let bom = parse(Path::new("/s/w.json"), WRITTEN, b"\xef\xbb\xbf{\"status\":\"active\"}");
        assert_eq!(bom.status, WorkerStatus::Active);
    }
}
