//! Parses tmux's list of sessions.

use std::collections::BTreeMap;

use forge_types::Millis;
use serde::{Deserialize, Serialize};

/// Separated by `:`, which tmux forbids in names; the option comes last, because it may contain anything.
pub(super) const FORMAT: &str = "#{session_id}:#{session_created}:#{session_attached}:#{pane_id}:#{pane_pid}:\
                                 #{pane_dead}:#{session_name}:#{@forge_worker_id}";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    pub name: String,
    /// Like `$3`; a server never reuses it.
    pub id: String,
    /// The option `@forge_worker_id`.
    pub worker_id: Option<String>,
    pub created_at: Millis,
    /// Number of attached clients.
    pub attached: u32,
    /// The session's first pane, like `%3`: the agent's, whatever a person has split off since.
    pub pane: String,
    pub pane_pid: u32,
    /// The pane's process has ended, and only `remain-on-exit` keeps the pane.
    pub pane_dead: bool,
}

/// One line per pane; the oldest pane stands for its session.
pub(super) fn parse(text: &str) -> Vec<Session> {
    let mut sessions: BTreeMap<u64, (u64, Session)> = BTreeMap::new();
    for (number, pane, session) in text.lines().filter_map(parse_line) {
        match sessions.get(&number) {
            Some((older, _)) if *older <= pane => {}
            _ => _ = sessions.insert(number, (pane, session)),
        }
    }
    sessions.into_values().map(|(_, session)| session).collect()
}

fn parse_line(line: &str) -> Option<(u64, u64, Session)> {
    let mut fields = line.splitn(8, ':');
    let id = fields.next()?;
    let created: i64 = fields.next()?.parse().ok()?;
    let attached = fields.next()?.parse().ok()?;
    let pane = fields.next()?;
    let pane_pid = fields.next()?.parse().ok()?;
    let pane_dead = fields.next()? == "1";
    let name = fields.next()?.to_owned();
    let worker_id = fields.next().filter(|id| !id.is_empty()).map(str::to_owned);
    let session = Session {
        name,
        id: id.to_owned(),
        worker_id,
        created_at: Millis(created * 1000),
        attached,
        pane: pane.to_owned(),
        pane_pid,
        pane_dead,
    };
    Some((id.strip_prefix('$')?.parse().ok()?, pane.strip_prefix('%')?.parse().ok()?, session))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_pane_stands_for_its_session_and_the_option_may_contain_colons() {
        let text = "$10:1700000000:0:%12:900:0:late:\n\
                    $2:1600000000:1:%7:700:0:a b_c:\n\
                    $2:1600000000:1:%3:300:1:a b_c:w:1\n\
                    nonsense\n";
        let sessions = parse(text);
        let short: Vec<_> = sessions.iter().map(|s| (s.name.as_str(), s.pane_pid, s.pane_dead)).collect();
        assert_eq!(short, [("a b_c", 300, true), ("late", 900, false)]);
        assert_eq!(sessions[0].worker_id.as_deref(), Some("w:1"));
        assert_eq!((sessions[0].attached, sessions[0].created_at), (1, Millis(1_600_000_000_000)));
        assert_eq!(sessions[1].worker_id, None);
    }
}
