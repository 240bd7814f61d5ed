//! Labels of tasks.
//!
//! Invariant: a stored list has at most [`LABELS_MAX`] labels of at most [`LABEL_MAX_CHARS`] characters, none of them twice, in the
//! order in which they were given.

use forge_types::{LABEL_MAX_CHARS, LABELS_MAX};

use crate::{Error, Result};

/// The list as it is stored, or what is wrong with it.
pub(crate) fn check(given: &[String]) -> Result<Vec<String>> {
    let mut labels = Vec::new();
    for label in given {
        if let Some(flaw) = flaw(label.trim()) {
            return Err(Error::invalid(format!(
                "{label:?} {flaw}; allowed: 1 to {LABEL_MAX_CHARS} characters in one line"
            ))
            .of_field("labels"));
        }
        add(&mut labels, label.trim());
    }
    match labels.get(LABELS_MAX) {
        Some(first) => Err(Error::invalid(format!(
            "'{first}' is one too many of {}; allowed: at most {LABELS_MAX}",
            labels.len()
        ))
        .of_field("labels")),
        None => Ok(labels),
    }
}

/// As much of a list that somebody else wrote as can be stored.
pub(crate) fn take_over(given: &[String]) -> Vec<String> {
    let mut labels = Vec::new();
    given
        .iter()
        .map(|label| label.trim())
        .filter(|label| flaw(label).is_none())
        .for_each(|label| add(&mut labels, label));
    labels.truncate(LABELS_MAX);
    labels
}

fn flaw(label: &str) -> Option<&'static str> {
    if label.is_empty() {
        Some("is blank")
    } else if label.chars().any(char::is_control) {
        Some("has control characters")
    } else if label.chars().count() > LABEL_MAX_CHARS {
        Some("is too long")
    } else {
        None
    }
}

/// Unless it is there already, in whatever case.
fn add(labels: &mut Vec<String>, label: &str) {
    if !labels.iter().any(|known| known.to_lowercase() == label.to_lowercase()) {
        labels.push(label.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn labels_are_trimmed_and_told_once_in_their_order() {
        let given = words(&[" ui ", "Bug", "UI", "straße", "bug"]);
        assert_eq!(check(&given).unwrap(), ["ui", "Bug", "straße"]);
        assert_eq!(check(&[]).unwrap(), Vec::<String>::new());
        let most: Vec<String> = (0..LABELS_MAX).map(|number| number.to_string()).collect();
        let twice = [most.clone(), most.clone()].concat();
        assert_eq!(check(&twice).unwrap(), most, "what is named twice counts once");
        assert!(check(&["ä".repeat(LABEL_MAX_CHARS)]).is_ok());
    }

    #[test]
    fn what_is_no_label_is_refused_by_name_and_left_out_of_what_others_wrote() {
        let many: Vec<String> = (0..=LABELS_MAX).map(|number| format!("n{number}")).collect();
        for (given, part) in [
            (words(&["ok", "  "]), "\"  \" is blank"),
            (words(&["a\nb"]), "\"a\\nb\" has control"),
            (vec!["x".repeat(LABEL_MAX_CHARS + 1)], "xx\" is too long"),
            (many.clone(), "'n20' is one too many of 21"),
        ] {
            let message = check(&given).unwrap_err().message().to_owned();
            assert!(message.starts_with("labels: ") && message.contains(part), "{message}");
            assert!(message.contains("; allowed: "), "{message}");
        }
        assert_eq!(take_over(&words(&["ok", " ", "a\tb", "OK", &"x".repeat(51)])), ["ok"]);
        assert_eq!(take_over(&many), many[..LABELS_MAX]);
    }
}
