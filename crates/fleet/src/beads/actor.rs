//! The name under which Forge takes a bead: `forge/<host>/<who>/<uuid>`.
//!
//! Invariant: no two claims share a name. To the tools the name is the worker, so a shared one would let both win.

use uuid::Uuid;

const FIRST: &str = "forge/";

/// The name for one claim. Separators are removed from the host name.
pub fn actor(who: &str, claim: Uuid) -> String {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let host: String = host.chars().filter(|c| !c.is_control() && !c.is_whitespace() && *c != '/').collect();
    let host = if host.is_empty() { "localhost" } else { host.as_str() };
    format!("{FIRST}{host}/{who}/{claim}")
}

/// Whether Forge created this name. A bead that anybody else holds is never taken away.
pub fn is_ours(actor: &str) -> bool {
    actor.starts_with(FIRST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_four_parts_and_is_known_again() {
        let claim = Uuid::new_v4();
        let name = actor("alpha", claim);
        let parts: Vec<&str> = name.split('/').collect();
        assert_eq!((parts.len(), parts[0], parts[2]), (4, "forge", "alpha"), "{name}");
        assert_eq!(parts[3], claim.to_string());
        assert!(is_ours(&name) && !is_ours("alice") && !is_ours("forger/x"));
    }
}
