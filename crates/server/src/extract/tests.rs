//! What the message says about a body or a parameter that is wrong.

use forge_types::{AttachPullRequest, CreateProject, StartTask, UpdateProject};

use super::*;

fn fault<T: DeserializeOwned>(body: &str) -> (u16, String) {
    let fault = decode::<T>(body.as_bytes()).err().expect("the body must be refused");
    (fault.status.as_u16(), fault.message)
}

#[test]
fn a_failure_names_the_field_apart_from_the_message_and_no_column_of_sound_json() {
    let wrong = |body: &str| decode::<CreateProject>(body.as_bytes()).err().unwrap();
    let shape = wrong(r#"{"name": 5}"#);
    assert_eq!((shape.field.as_deref(), shape.code), (Some("name"), ErrorCode::Invalid));
    assert!(!shape.message.contains("column"), "{}", shape.message);
    assert_eq!(wrong(r#"{"name": "#).code, ErrorCode::BodyNotJson);
}

#[test]
fn broken_json_is_refused_with_its_position_even_after_a_wrong_field() {
    for body in [r#"{"name": "#, r#"{"name": 5, "git_repo_path" oops}"#, r#"{"name":"a"} x"#] {
        let (status, message) = fault::<CreateProject>(body);
        assert_eq!(status, 400, "{message}");
        assert!(message.contains("line 1 column"), "{message}");
    }
}

#[test]
fn a_wrong_shape_names_the_field() {
    let (status, message) = fault::<CreateProject>(r#"{"name": 5}"#);
    assert_eq!(status, 422);
    assert!(message.starts_with("name: invalid type: integer"), "{message}");
    let (_, message) = fault::<CreateProject>(r#"{"name": "a", "git_repo_path": "/x"}"#);
    assert!(message.contains("missing field `use_existing_repo`"), "{message}");
}

#[test]
fn a_wrong_value_in_a_flattened_part_names_its_field_and_what_is_allowed() {
    let task = r#""task": {"project_id": "f8924071-fa8e-43ee-8fbc-96ec5b49b3da", "title": "t"}"#;
    let (status, message) = fault::<StartTask>(&format!(r#"{{{task}, "executor_profile_id": "NOPE"}}"#));
    assert_eq!(status, 422);
    assert!(message.starts_with("executor_profile_id: unknown executor 'NOPE'; allowed: "), "{message}");
    let (_, message) = fault::<StartTask>(r#"{"task": {"title": 1}, "executor_profile_id": "SHELL"}"#);
    assert!(message.starts_with("task.title: "), "{message}");
}

#[test]
fn a_number_with_a_fraction_of_zero_is_whole() {
    let number = |body: &str| decode::<AttachPullRequest>(body.as_bytes()).map(|request| request.pr_number);
    assert_eq!(number(r#"{"pr_number": 5.0}"#).unwrap(), Some(5));
    assert_eq!(number(r#"{"pr_number": -2e3}"#).unwrap(), Some(-2000));
    let message = number(r#"{"pr_number": 5.5}"#).unwrap_err().message;
    assert!(message.starts_with("pr_number: invalid type: floating point `5.5`"), "{message}");
}

#[test]
fn a_list_does_not_pass_for_an_object_without_fields() {
    let (status, message) = fault::<UpdateProject>("[null, null]");
    assert_eq!((status, message.as_str()), (422, "the body is not a JSON object"));
}

#[test]
fn numbers_of_a_page_have_limits() {
    let page = |query: &str| {
        let uri = format!("/x?{query}").parse().unwrap();
        let Query(pairs) = Query::try_from_uri(&uri).unwrap();
        Params(pairs).page()
    };
    assert_eq!(
        page("limit=10000&offset=3").map(|page| (page.limit, page.offset)).unwrap(),
        (Some(10_000), 3)
    );
    for query in ["limit=0", "limit=10001", "limit=x", "offset=-1"] {
        let fault = page(query).unwrap_err();
        assert_eq!(fault.status, 400);
        assert!(fault.message.starts_with(query.split('=').next().unwrap()), "{}", fault.message);
    }
}

#[test]
fn content_types_of_json_are_known() {
    for kind in
        ["application/json", "application/json; charset=utf-8", "Application/JSON", "application/a+json"]
    {
        assert!(is_json(kind), "{kind}");
    }
    for kind in ["text/plain", "application/x-www-form-urlencoded", "text/json+json", ""] {
        assert!(!is_json(kind), "{kind}");
    }
}
