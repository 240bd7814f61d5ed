use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const FILE: &str = r#"{
    // where { is not a brace
    "theme": "dark", /* nor "here" */
    "mcp": {
        "old": { "type": "local", "command": ["a"] }, // stays
        // about the one that goes
        "gone": {"type": "remote"},
        "last": {"x": 1},
    },
    "url": "http://a//b", // a trailing comma follows
    "list": [1, 2,],
}
"#;

fn object(value: Value) -> Servers {
    value.as_object().cloned().unwrap()
}

#[test]
fn only_the_servers_that_differ_are_touched() {
    let new =
        object(json!({"old": {"type": "local", "command": ["a"]}, "last": {"x": 2}, "new": {"y": [1]}}));
    let text = with_servers(FILE, "mcp", &new).unwrap();
    let expected = FILE.replace("        \"gone\": {\"type\": \"remote\"},\n", "").replace(
        "\"last\": {\"x\": 1},",
        "\"last\": {\n            \"x\": 2\n        },\n        \"new\": {\n            \"y\": [\n                1\n            ]\n        }",
    );
    assert_eq!(text, expected);
    assert_eq!(with_servers(&text, "mcp", &new).unwrap(), text, "a second time changes nothing");
}

#[test]
fn a_missing_key_is_added_and_an_empty_object_filled() {
    let one = object(json!({"x": {"command": "echo"}}));
    let entry = "\"x\": {\n      \"command\": \"echo\"\n    }";
    assert_eq!(with_servers("", "m", &one).unwrap(), format!("{{\n  \"m\": {{\n    {entry}\n  }}\n}}\n"));
    let added = with_servers("{\n  \"a\": 1 // one\n}\n", "m", &one).unwrap();
    assert_eq!(added, format!("{{\n  \"a\": 1, // one\n  \"m\": {{\n    {entry}\n  }}\n}}\n"));
    let filled = with_servers("{\"m\": {}, \"z\": 1}", "m", &one).unwrap();
    assert_eq!(filled, format!("{{\"m\": {{\n    {entry}\n  }}, \"z\": 1}}"));
    let null = with_servers("{\n\t\"m\": null\n}", "m", &one).unwrap();
    assert_eq!(null, "{\n\t\"m\": {\n\t\t\"x\": {\n\t\t\t\"command\": \"echo\"\n\t\t}\n\t}\n}");
}

#[test]
fn what_cannot_be_parsed_is_refused() {
    for text in ["{", "[]", "3", "{\"m\": 1,, }", "{\"m\": \"unclosed}", "/* for ever"] {
        let read = servers(text, "m");
        assert!(read.is_err() || text.starts_with("/*"), "{text}: {read:?}");
    }
    assert!(servers("{\"m\": []}", "m").is_err());
}

fn server() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<i32>().prop_map(Value::from),
        "[a-z\"\\\\{}/*, ]{0,8}".prop_map(Value::from),
        proptest::collection::vec("[a-z,\\]]{0,4}", 0..3).prop_map(Value::from),
        proptest::collection::btree_map("[a-c\"}]{1,2}", any::<bool>(), 0..3).prop_map(|map| json!(map)),
    ]
}

fn some_servers() -> impl Strategy<Value = Servers> {
    proptest::collection::btree_map("[a-e]", server(), 0..5).prop_map(|map| map.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever was there and whatever is requested: the file then has those servers, and the rest of it is
    /// unchanged.
    #[test]
    fn any_servers_replace_any_others(old in some_servers(), new in some_servers(), style in 0..4) {
        let mut text = match style {
            0 => json!({"a": "x//y", "m": old, "z": [1]}).to_string(),
            1 => format!("{:#}", json!({"a": {"m": 1}, "m": old})),
            2 => format!("// head\n{{ /* {{ */ \"m\": {:#}, // tail\n \"z\": 1, }}", Value::Object(old.clone())),
            _ => format!("{{\n\"m\": {}\n}}", Value::Object(old.clone())),
        };
        if style == 2 {
            text = text.replace(",\n", ", // why\n");
        }
        let rest = |text: &str| {
            let mut all = parse(&blank(text)).unwrap().unwrap();
            all.remove("m");
            all
        };
        let after = with_servers(&text, "m", &new).unwrap();
        prop_assert_eq!(servers(&after, "m").unwrap(), new, "{}\n→\n{}", text, after);
        prop_assert_eq!(rest(&after), rest(&text));
        prop_assert_eq!(after.matches("// tail").count(), text.matches("// tail").count());
    }
}
