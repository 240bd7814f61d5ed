//! Masking record by record.
//!
//! Owns the end of each stream, as far back as a secret may reach. Invariant: the masked record depends only on the
//! bytes of its stream up to its own end: it is the same for every reader, whenever and from wherever it reads, and
//! nobody waits for the next record. So at most the first three bytes of a secret that is written in pieces are
//! shown.

use std::sync::Arc;

use super::Secrets;
use super::forms::{Forms, Partial, apply_mask};
use crate::journal::Kind;

pub(crate) struct Masker {
    forms: Arc<Forms>,
    /// The last unmasked bytes of stdout, stderr, stdin and notes.
    ends: [Vec<u8>; 4],
}

impl Masker {
    /// `None` when there is nothing to mask.
    pub(crate) fn new(secrets: &Secrets) -> Option<Masker> {
        Some(Masker { forms: secrets.0.clone()?, ends: Default::default() })
    }

    /// The next record of a stream, masked.
    pub(crate) fn mask(&mut self, kind: Kind, bytes: Vec<u8>) -> Vec<u8> {
        let Masker { forms, ends } = self;
        let Some(window) = ends.get_mut(stream_index(kind)) else { return bytes };
        let before = window.len();
        window.extend_from_slice(&bytes);
        let mut spans = forms.spans(window, Partial::Masked);
        spans.retain(|span| span.end > before);
        for span in &mut spans {
            *span = span.start.saturating_sub(before)..span.end - before;
        }
        keep_end(window, forms.reach());
        if spans.is_empty() { bytes } else { apply_mask(&bytes, &spans) }
    }

    /// Notes a record that is not shown.
    pub(crate) fn skip(&mut self, kind: Kind, bytes: &[u8]) {
        let Some(end) = self.ends.get_mut(stream_index(kind)) else { return };
        let reach = self.forms.reach();
        end.extend_from_slice(&bytes[bytes.len().saturating_sub(reach)..]);
        keep_end(end, reach);
    }
}

fn stream_index(kind: Kind) -> usize {
    match kind {
        Kind::Stdout => 0,
        Kind::Stderr => 1,
        Kind::Stdin => 2,
        Kind::Note => 3,
        Kind::End => usize::MAX,
    }
}

fn keep_end(bytes: &mut Vec<u8>, count: usize) {
    bytes.drain(..bytes.len().saturating_sub(count));
}
