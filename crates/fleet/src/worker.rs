//! Types of workers: id, tier and status.

pub use forge_types::{InvalidWorkerId, WorkerId, WorkerStatus, WorkerTier};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_can_be_a_file_name_and_nothing_more() {
        for id in ["claude-code-sonnet-alpha", "w1", "fg-1.2", "A_b"] {
            assert_eq!(WorkerId::new(id).expect(id).as_str(), id);
        }
        for id in ["", ".", "..", ".x", "-x", "a/b", "a b", "a:b", "a\n", "ä", &"x".repeat(129)] {
            assert!(WorkerId::new(id).is_err(), "{id:?}");
        }
        assert!(serde_json::from_str::<WorkerId>("\"../x\"").is_err());
    }
}
