//! Tool calls that have no result yet, and the permission requests for them.
//!
//! Owns the entries of the open calls, because a result changes the entry of its call. Invariant: bounded in number
//! and in bytes; when an agent leaves more calls open than that, the oldest keep their last shown state.

use std::collections::VecDeque;

use forge_types::{ApprovalId, EntryType, Millis, NormalizedEntry, RunId, ToolStatus};

use super::entries::LogWriter;
use super::{FoldContext, Verdict};

const MAX_CALLS: usize = 256;
const MAX_BYTES: usize = 16 << 20;
const MAX_REQUESTS: usize = 64;

pub(super) struct Calls {
    run: RunId,
    answer_ms: i64,
    open: VecDeque<Call>,
    bytes: usize,
    requests: VecDeque<PermissionRequest>,
}

pub(super) struct Call {
    pub id: String,
    pub index: usize,
    pub entry: NormalizedEntry,
    /// The approximate size of the entry in memory.
    bytes: usize,
}

/// A permission request that has no answer yet.
struct PermissionRequest {
    request_id: String,
    call_id: String,
}

impl Call {
    fn is_undecided(&self) -> bool {
        let EntryType::ToolUse { status, .. } = &self.entry.entry_type else { return false };
        matches!(status, ToolStatus::Created | ToolStatus::PendingApproval { .. })
    }
}

impl Calls {
    pub fn new(context: &FoldContext) -> Calls {
        Calls {
            run: context.run,
            answer_ms: context.answer_ms,
            open: VecDeque::new(),
            bytes: 0,
            requests: VecDeque::new(),
        }
    }

    /// Shows a call: a new one, or an updated description of an open one.
    pub fn open(&mut self, id: &str, entry: NormalizedEntry, bytes: usize, log: &mut LogWriter<'_>) {
        let known = self.take(id).map(|call| call.index);
        let index = log.put(known, entry.clone());
        self.bytes += bytes;
        self.open.push_back(Call { id: id.to_owned(), index, entry, bytes });
        while self.open.len() > MAX_CALLS || (self.bytes > MAX_BYTES && self.open.len() > 1) {
            if let Some(oldest) = self.open.pop_front() {
                self.bytes -= oldest.bytes;
            }
        }
    }

    pub fn take(&mut self, id: &str) -> Option<Call> {
        let place = self.open.iter().rposition(|call| call.id == id)?;
        let call = self.open.remove(place)?;
        self.bytes -= call.bytes;
        Some(call)
    }

    pub fn get(&self, id: &str) -> Option<&Call> {
        self.open.iter().rfind(|call| call.id == id)
    }

    pub fn has(&self, id: &str) -> bool {
        self.open.iter().any(|call| call.id == id)
    }

    /// Whether a call is open and neither denied nor timed out.
    pub fn is_undecided(&self, id: &str) -> bool {
        self.get(id).is_some_and(|call| call.is_undecided())
    }

    /// The undecided call of a tool with this input, or else the newest call of that tool.
    pub fn most_similar(&self, tool: &str, input: &serde_json::Value) -> Option<String> {
        let of_tool = |call: &&Call| {
            let EntryType::ToolUse { tool_name, .. } = &call.entry.entry_type else { return false };
            tool_name == tool
                && call.is_undecided()
                && !self.requests.iter().any(|request| request.call_id == call.id)
        };
        let same = |call: &&Call| call.entry.metadata.as_ref().is_some_and(|block| block["input"] == *input);
        let calls = || self.open.iter().rev().filter(of_tool);
        calls().find(same).or_else(|| calls().next()).map(|call| call.id.clone())
    }

    /// Marks a call as waiting for a person.
    pub fn mark_waiting(&mut self, request_id: &str, call_id: &str, at_ms: i64, log: &mut LogWriter<'_>) {
        if self.requests.len() == MAX_REQUESTS {
            self.requests.pop_front();
        }
        self.requests
            .push_back(PermissionRequest { request_id: request_id.to_owned(), call_id: call_id.to_owned() });
        let status = ToolStatus::PendingApproval {
            approval_id: ApprovalId::of(self.run, request_id).to_string(),
            requested_at: Millis(at_ms).to_string(),
            timeout_at: Millis(at_ms.saturating_add(self.answer_ms)).to_string(),
        };
        self.mark(call_id, status, log);
    }

    /// The call that `request_id` asked about; the request counts as answered.
    pub fn close_request(&mut self, request_id: &str) -> Option<String> {
        let place = self.requests.iter().position(|request| request.request_id == request_id)?;
        self.requests.remove(place).map(|request| request.call_id)
    }

    /// Shows a new status of an open call and returns the call's tool.
    pub fn mark(&mut self, id: &str, status: ToolStatus, log: &mut LogWriter<'_>) -> Option<String> {
        let call = self.open.iter_mut().rfind(|call| call.id == id)?;
        let EntryType::ToolUse { tool_name, status: shown, .. } = &mut call.entry.entry_type else {
            return None;
        };
        *shown = status;
        let tool = tool_name.clone();
        log.replace(call.index, call.entry.clone());
        Some(tool)
    }

    /// The run is over. A call without a result gets the result of the run: an agent may omit results, a stopped
    /// one has none.
    pub fn finish(&mut self, log: &mut LogWriter<'_>) {
        let end = match log.outcome.verdict {
            Some(Verdict::Success) => ToolStatus::Success,
            _ => ToolStatus::Failed,
        };
        for mut call in std::mem::take(&mut self.open) {
            if call.is_undecided()
                && let EntryType::ToolUse { status, .. } = &mut call.entry.entry_type
            {
                *status = end.clone();
                log.replace(call.index, call.entry);
            }
        }
        self.bytes = 0;
        self.requests.clear();
    }
}
