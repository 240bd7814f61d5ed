//! Finding secrets in a text.
//!
//! Owns the forms in which a value is searched: unchanged, and as it is escaped in a JSON string. Invariant: the
//! result depends on the text alone, and no masked part begins or ends inside a UTF-8 character.

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use aho_corasick::{AhoCorasick, AhoCorasickKind};

/// The text in place of a secret.
const MASK: &[u8] = b"***";
/// The end of a text is masked if it is the beginning of a secret of at least this length; shorter ones are too
/// common.
const MIN_PARTIAL_BYTES: usize = 4;

/// How to treat the end of a text that may be the beginning of a secret.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Partial {
    Masked,
    Kept,
}

pub(super) struct Forms {
    search: AhoCorasick,
    /// Sorted, so that those with a common prefix are adjacent.
    forms: Vec<Form>,
    /// The bytes with which forms begin.
    first: [bool; 256],
    longest: usize,
}

struct Form {
    text: String,
    value: String,
    /// It, or a prefix of it, was found.
    seen: AtomicBool,
}

impl Forms {
    pub(super) fn of(values: &[String]) -> io::Result<Forms> {
        let form =
            |text: String, value: &String| Form { text, value: value.clone(), seen: AtomicBool::new(false) };
        let both = |value| [form(String::clone(value), value), form(in_json(value), value)];
        let mut forms: Vec<Form> = values.iter().filter(|value| !value.is_empty()).flat_map(both).collect();
        forms.sort_by(|a, b| a.text.cmp(&b.text));
        forms.dedup_by(|a, b| a.text == b.text);
        // The faster kind takes a hundred times the memory, for each reader.
        let kind = Some(AhoCorasickKind::ContiguousNFA);
        let texts = forms.iter().map(|form| &form.text);
        let search = AhoCorasick::builder().kind(kind).build(texts).map_err(io::Error::other)?;
        let mut first = [false; 256];
        let beginnings = forms.iter().filter_map(|form| form.text.bytes().next());
        beginnings.for_each(|byte| first[usize::from(byte)] = true);
        let longest = forms.iter().map(|form| form.text.len()).max().unwrap_or_default();
        Ok(Forms { search, forms, first, longest })
    }

    pub(super) fn values(&self) -> Vec<String> {
        distinct(self.forms.iter())
    }

    /// The values that are needed to mask everything searched so far.
    pub(super) fn seen(&self) -> Vec<String> {
        distinct(self.forms.iter().filter(|form| form.seen.load(Ordering::Relaxed)))
    }

    /// How many bytes before a text may belong to a secret that ends in it.
    pub(super) fn reach(&self) -> usize {
        self.longest.saturating_sub(1)
    }

    /// The ranges to mask, sorted and disjoint.
    pub(super) fn spans(&self, text: &[u8], partial: Partial) -> Vec<Range<usize>> {
        let mut spans = Vec::new();
        // Finding all overlapping matches is slower.
        if self.search.is_match(text) {
            for found in self.search.find_overlapping_iter(text) {
                self.forms[found.pattern()].seen.store(true, Ordering::Relaxed);
                add(&mut spans, found.range());
            }
        }
        if partial == Partial::Masked
            && let Some(start) = self.partial_start(text)
        {
            add(&mut spans, start..text.len());
        }
        spans
    }

    /// The start of the longest end of the text that is a prefix of a secret.
    fn partial_start(&self, text: &[u8]) -> Option<usize> {
        let first = text.len().saturating_sub(self.reach());
        let last = text.len().checked_sub(MIN_PARTIAL_BYTES)?;
        (first..=last).find(|at| self.first[usize::from(text[*at])] && self.is_prefix(&text[*at..]))
    }

    fn is_prefix(&self, start: &[u8]) -> bool {
        let place = self.forms.partition_point(|form| form.text.as_bytes() < start);
        let Some(form) = self.forms.get(place).filter(|form| form.text.as_bytes().starts_with(start)) else {
            return false;
        };
        form.seen.store(true, Ordering::Relaxed);
        true
    }
}

fn distinct<'a>(forms: impl Iterator<Item = &'a Form>) -> Vec<String> {
    let mut values: Vec<String> = forms.map(|form| form.value.clone()).collect();
    values.sort_unstable();
    values.dedup();
    values
}

/// Adds a span that ends no earlier than those before it.
fn add(spans: &mut Vec<Range<usize>>, mut span: Range<usize>) {
    while let Some(before) = spans.pop_if(|before| before.end >= span.start) {
        span.start = span.start.min(before.start);
    }
    spans.push(span);
}

/// The text with a mask in place of each span.
pub(super) fn apply_mask(text: &[u8], spans: &[Range<usize>]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut end = 0;
    for span in spans {
        out.extend_from_slice(&text[end..span.start]);
        out.extend_from_slice(MASK);
        end = span.end;
    }
    out.extend_from_slice(&text[end..]);
    out
}

fn in_json(value: &str) -> String {
    let quoted = serde_json::Value::from(value).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}
