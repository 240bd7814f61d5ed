//! A conflict that the agent is asked to resolve, and how a file looks that keeps both sides.
//!
//! Invariant: a file without a complete conflict is left unchanged.

/// What every request of Forge to resolve a conflict says. The engine writes it and the scripted agent looks for it,
/// since a prompt is all that an agent gets.
pub const STOPPED: &str = "has stopped in this worktree and has to be finished.";

/// The git command to continue, if the prompt is Forge's request to resolve a conflict.
pub(super) fn command(prompt: &str) -> Option<&'static str> {
    if !prompt.contains(STOPPED) {
        return None;
    }
    let commands = ["rebase", "merge", "cherry-pick", "revert"];
    commands.into_iter().find(|command| prompt.contains(&format!("git {command} --continue")))
}

/// The text with both sides of each conflict, one after the other; `None` when it has no complete conflict.
pub(super) fn keep_both(text: &str) -> Option<String> {
    let (mut out, mut side, mut resolved) = (String::with_capacity(text.len()), Side::None, 0);
    for line in text.split_inclusive('\n') {
        match side {
            Side::None if line.starts_with("<<<<<<< ") => side = Side::Ours,
            Side::Ours if line.starts_with("||||||| ") => side = Side::Base,
            Side::Ours | Side::Base if line.trim_end() == "=======" => side = Side::Theirs,
            Side::Theirs if line.starts_with(">>>>>>> ") => (side, resolved) = (Side::None, resolved + 1),
            Side::Base => {}
            Side::None | Side::Ours | Side::Theirs => out.push_str(line),
        }
    }
    (resolved > 0 && side == Side::None).then_some(out)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    None,
    Ours,
    Base,
    Theirs,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_stay_and_the_markers_and_the_base_go() {
        let text = "a\n<<<<<<< HEAD\nb\n||||||| base\nx\n=======\nc\n>>>>>>> work\nd\n=======\n";
        assert_eq!(keep_both(text).as_deref(), Some("a\nb\nc\nd\n=======\n"));
        assert_eq!(keep_both("a\n<<<<<<< HEAD\nb\n"), None, "it does not end");
        assert_eq!(keep_both("a\n"), None);
    }
}
