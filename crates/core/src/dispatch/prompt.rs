//! The prompt for a bead.

use forge_fleet::beads::Bead;
use forge_types::Task;

/// The text below the title: every part that the bead has.
pub(crate) fn description(bead: &Bead) -> Option<String> {
    let text = bead.description.as_deref().map(str::trim).filter(|text| !text.is_empty());
    let parts: Vec<String> = text.map(str::to_owned).into_iter().chain(sections(bead)).collect();
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

/// The parts that stand in fields of their own, each with its heading.
pub(crate) fn sections(bead: &Bead) -> Vec<String> {
    let parts = [
        ("Design", &bead.design),
        ("Acceptance criteria", &bead.acceptance_criteria),
        ("Notes", &bead.notes),
    ];
    let sections = parts.into_iter().filter_map(|(heading, text)| {
        let text = text.as_deref().map(str::trim).filter(|text| !text.is_empty())?;
        Some(format!("{heading}:\n{text}"))
    });
    sections.collect()
}

/// The whole prompt of a worker, which cannot ask back.
pub(super) fn whole(bead: &Bead) -> String {
    let text = description(bead).map(|text| format!("\n\n{text}")).unwrap_or_default();
    format!(
        "{}{text}\n\nThis is bead {}. Work on it here until it is done, and commit what you change.\n\
         If something else must be done first, write that down as a bead that this one depends on, and end with exit \
         code 1. If you need a person, say why and end with exit code 1.\n",
        bead.title, bead.id
    )
}

/// The same for a task of the board, which no tracker knows.
pub(super) fn of_task(task: &Task) -> String {
    format!(
        "{}\n\nWork on this here until it is done, and commit what you change. If you need a person, say why and end \
         with exit code 1.\n",
        task.prompt()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_a_bead_is_told_and_no_empty_one() {
        let mut bead = Bead::new("fg-1", "Title");
        assert_eq!(description(&bead), None);
        bead.description = Some("Do it.\n".into());
        bead.notes = Some(" ".into());
        bead.acceptance_criteria = Some("It is done.".into());
        assert_eq!(description(&bead).unwrap(), "Do it.\n\nAcceptance criteria:\nIt is done.");
    }
}
