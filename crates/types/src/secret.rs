//! Secrets as they cross the wire: never sent in clear, and kept when a caller sends back the mask that it was shown.

/// Stands for a secret that is set.
pub const SECRET_MASK: &str = "********";

/// What a caller sent for a secret: nothing (`None`), null (`Some(None)`) or text.
pub(crate) type SentSecret = Option<Option<String>>;

/// Absent or the mask keeps the stored secret, null or empty text clears it, anything else replaces it.
pub(crate) fn put_secret(stored: &mut Option<String>, sent: SentSecret) {
    match sent {
        None => {}
        Some(Some(text)) if text == SECRET_MASK => {}
        Some(text) => *stored = text.filter(|text| !text.is_empty()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_kept_cleared_or_replaced() {
        let put = |sent: SentSecret| {
            let mut stored = Some("old".to_owned());
            put_secret(&mut stored, sent);
            stored
        };
        assert_eq!(put(None).as_deref(), Some("old"));
        assert_eq!(put(Some(Some(SECRET_MASK.into()))).as_deref(), Some("old"));
        assert_eq!(put(Some(None)), None);
        assert_eq!(put(Some(Some(String::new()))), None);
        assert_eq!(put(Some(Some("new".into()))).as_deref(), Some("new"));
    }
}
