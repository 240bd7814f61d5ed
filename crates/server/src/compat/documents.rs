//! What older documents show: a task that is created and started has its fields beside the options, and the repository
//! of a project is its `repo_path`.
//!
//! No recorded exchange has these forms: `082_create_and_start` and `022_project_create` have those of the contract.

use forge_types::{CreateProject, CreateTask, StartTask, UpdateProject};
use serde_json::{Value, json};

use super::Renamed;
use crate::envelope::Fault;
use crate::extract::decode_value;

impl Renamed for CreateProject {
    const FIELDS: &'static [(&'static str, &'static str)] = &[("repo_path", "git_repo_path")];
}

impl Renamed for UpdateProject {
    const FIELDS: &'static [(&'static str, &'static str)] = CreateProject::FIELDS;
}

pub(crate) fn start(mut body: Value) -> Result<StartTask, Fault> {
    let has = |name| body.get(name).is_some_and(|value| !value.is_null());
    if !has("task") && has("project_id") {
        body["task"] = json!(decode_value::<CreateTask>(&body)?);
    }
    decode_value(&body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compat::Older;

    const PROJECT: &str = "f8924071-fa8e-43ee-8fbc-96ec5b49b3da";

    #[test]
    fn a_start_is_read_nested_and_flat() {
        let nested = json!({"task": {"project_id": PROJECT, "title": "t"}, "executor_profile_id": {"executor": "SHELL"}});
        let flat = json!({"project_id": PROJECT, "title": "t", "executor_profile_id": "SHELL", "base_branch": "main"});
        for body in [nested, flat] {
            let request = start(body).unwrap();
            assert_eq!(request.task.title, "t");
            assert_eq!(request.start.executor_profile_id.to_string(), "SHELL");
        }
    }

    #[test]
    fn a_flat_start_names_its_own_fields() {
        let refused = |body: Value, message: &str| {
            let found = start(body).unwrap_err().message;
            assert!(found.starts_with(message), "{found}");
        };
        let agent = "SHELL";
        refused(
            json!({"project_id": PROJECT, "title": 5, "executor_profile_id": agent}),
            "title: invalid type",
        );
        refused(json!({"project_id": PROJECT, "executor_profile_id": agent}), "missing field `title`");
        refused(json!({"project_id": PROJECT, "title": "t"}), "missing field `executor_profile_id`");
        refused(json!({"title": "t", "executor_profile_id": agent}), "missing field `task`");
        let unknown = json!({"project_id": PROJECT, "title": "t", "executor_profile_id": "NOPE"});
        refused(unknown, "executor_profile_id: unknown executor 'NOPE'");
    }

    #[test]
    fn a_repository_has_two_names() {
        let new = json!({"name": "n", "repo_path": "/r", "use_existing_repo": true});
        assert_eq!(decode_value::<Older<CreateProject>>(&new).unwrap().0.git_repo_path, "/r");
        let change = json!({"repo_path": "/r"});
        assert_eq!(decode_value::<Older<UpdateProject>>(&change).unwrap().0.git_repo_path.unwrap(), "/r");
    }
}
