//! Words of the commit that lands an attempt.

use forge_types::Task;

/// How people begin when they talk to an agent rather than describe a change.
const CHATTY: [&str; 8] =
    ["please ", "can you ", "could you ", "i want you to ", "i need you to ", "help me ", "let's ", "hey "];
const TITLE_MAX_CHARS: usize = 72;
const DESCRIPTION_MAX_BYTES: usize = 499;
const DESCRIPTION_MAX_LINES: usize = 10;

/// The task's cleaned title and, when it is short enough to be one, its description as body.
pub(crate) fn squash_message(task: &Task) -> String {
    let title = clean_title(&task.title);
    match task.description.as_deref().and_then(clean_description) {
        Some(body) => format!("{title}\n\n{body}"),
        None => title,
    }
}

fn clean_title(title: &str) -> String {
    let mut line = title.trim().lines().next().unwrap_or_default().trim();
    while let Some(prefix) = CHATTY.iter().find(|prefix| starts_with_ignoring_case(line, prefix)) {
        line = line[prefix.len()..].trim_start();
    }
    let mut chars = line.chars();
    let line: String = match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).take(TITLE_MAX_CHARS).collect(),
        None => "Land the work of an attempt".to_owned(),
    };
    line.trim_end().to_owned()
}

fn starts_with_ignoring_case(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix))
}

fn clean_description(text: &str) -> Option<String> {
    let text = text.trim();
    if text.is_empty() || text.len() > DESCRIPTION_MAX_BYTES {
        return None;
    }
    let noise = |line: &&str| {
        let line = line.trim_start();
        !(line.starts_with('|') || line.starts_with("##") || line.starts_with("---"))
    };
    let lines: Vec<&str> = text.lines().filter(noise).take(DESCRIPTION_MAX_LINES).collect();
    let text = lines.join("\n").trim().to_owned();
    Some(text).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use forge_types::{CreateTask, ProjectId, TaskStatus};

    fn message(title: &str, description: Option<&str>) -> String {
        let request = CreateTask {
            project_id: ProjectId::random(),
            title: title.to_owned(),
            description: description.map(str::to_owned),
            parent_task_attempt: None,
            image_ids: None,
        };
        squash_message(&crate::task::new_task(request, TaskStatus::Todo))
    }

    #[test]
    fn chatty_prefixes_go_and_one_line_stays() {
        assert_eq!(message("Please can you fix the login\nmore", None), "Fix the login");
        assert_eq!(message(&"x".repeat(100), None).len(), 72);
    }

    #[test]
    fn a_long_description_is_left_out_and_tables_too() {
        assert_eq!(message("Add a", Some(&"d".repeat(500))), "Add a");
        assert_eq!(message("Add a", Some("why\n## Head\n| t |\nhow")), "Add a\n\nwhy\nhow");
    }
}
