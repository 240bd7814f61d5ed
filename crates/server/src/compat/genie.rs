//! What Genie sends: `ForgeClient`, the class in its `forge.ts`, has names of its own for some fields, sends drafts as
//! they are, and the profiles in a wrapping.
//!
//! No recorded exchange has these forms; the tests here and in `tests/it/older.rs` have the bodies that it sends.

use forge_types::{
    ChangeTargetBranch, CreatePullRequest, FollowUp, FollowUpErrand, OpenEditor, QueueDraft, RebaseAttempt,
    SaveDraft,
};
use schemars::JsonSchema;
use serde_json::{Value, json};

use super::{Older, Renamed};
use crate::envelope::Fault;
use crate::extract::decode_value;

macro_rules! renamed {
    ($($request:ty: $theirs:literal => $ours:literal),* $(,)?) => {
        $(impl Renamed for $request {
            const FIELDS: &'static [(&'static str, &'static str)] = &[($theirs, $ours)];
        })*
    };
}

renamed! {
    FollowUp: "follow_up_prompt" => "prompt",
    FollowUpErrand: "follow_up_prompt" => "prompt",
    ChangeTargetBranch: "target_branch" => "new_target_branch",
    RebaseAttempt: "base_branch" => "new_base_branch",
    CreatePullRequest: "description" => "body",
    OpenEditor: "file" => "file_path",
    SaveDraft: "content" => "prompt",
    QueueDraft: "execute" => "queued",
}

/// A change of a draft; a bare string is its prompt.
#[derive(JsonSchema)]
#[schemars(rename = "SaveDraft", untagged)]
#[expect(dead_code, reason = "only described")]
pub(crate) enum DraftBody {
    Prompt(String),
    Change(SaveDraft),
}

pub(crate) fn draft(body: Value) -> Result<SaveDraft, Fault> {
    let body = match body {
        Value::String(prompt) => json!({"prompt": prompt}),
        body => body,
    };
    decode_value(&body).map(|Older(draft)| draft)
}

/// The profiles in `{"profiles": <text or object>}`, or in what the server sent: `{"content": <text>, "path": …}`.
pub(crate) fn profiles(text: &str) -> String {
    let take = |body: &mut Value, key: &str| body.get_mut(key).map(Value::take);
    let Ok(mut body) = serde_json::from_str::<Value>(text) else { return text.to_owned() };
    let wrapped = take(&mut body, "profiles");
    let is_wrapped = wrapped.is_some();
    let mut inner = wrapped.unwrap_or(body);
    match take(&mut inner, "content").filter(Value::is_string).unwrap_or(inner) {
        Value::String(inner) => inner,
        inner if is_wrapped => inner.to_string(),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_are_read_in_every_wrapping() {
        let plain = r#"{"executors":{}}"#;
        for text in [
            plain,
            r#"{"profiles":{"executors":{}}}"#,
            r#"{"profiles":"{\"executors\":{}}"}"#,
            r#"{"content":"{\"executors\":{}}","path":"/p"}"#,
            r#"{"profiles":{"content":"{\"executors\":{}}","path":"/p"}}"#,
        ] {
            assert_eq!(profiles(text), plain);
        }
        assert_eq!(profiles("not json"), "not json");
    }

    #[test]
    fn every_name_of_a_field_is_read() {
        fn read<T: serde::de::DeserializeOwned + Renamed>(body: Value) -> T {
            decode_value::<Older<T>>(&body).unwrap().0
        }
        assert_eq!(read::<FollowUp>(json!({"follow_up_prompt": "p"})).prompt, "p");
        assert_eq!(read::<FollowUpErrand>(json!({"follow_up_prompt": "p"})).prompt, "p");
        assert_eq!(read::<ChangeTargetBranch>(json!({"target_branch": "b"})).new_target_branch, "b");
        assert_eq!(read::<RebaseAttempt>(json!({"base_branch": "b"})).new_base_branch.unwrap(), "b");
        let pull = json!({"title": "t", "description": "d"});
        assert_eq!(read::<CreatePullRequest>(pull).body.unwrap(), "d");
        assert_eq!(read::<OpenEditor>(json!({"file": "f", "line": 1})).file_path.unwrap(), "f");
        assert!(read::<QueueDraft>(json!({"execute": true, "prompt": "p"})).queued);
        for body in [json!("p"), json!({"prompt": "p"}), json!({"content": "p"})] {
            assert_eq!(draft(body).unwrap().prompt.unwrap(), "p");
        }
    }
}
