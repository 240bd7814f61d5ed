#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::PermissionsExt;

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::journal::{Kind, Reader, Record, View, Writer};

const KEY: &str = "sk-demo-0123456789";

fn secrets(values: &[&str]) -> Secrets {
    Secrets::of(&values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>()).unwrap()
}

/// The masked records of these pieces.
fn masked<'a>(secrets: &Secrets, pieces: impl IntoIterator<Item = (Kind, &'a str)>) -> Vec<String> {
    let mut masker = Masker::new(secrets).unwrap();
    let shown = pieces.into_iter().map(|(kind, piece)| masker.mask(kind, piece.as_bytes().to_vec()));
    shown.map(|bytes| String::from_utf8(bytes).unwrap()).collect()
}

fn on_stdout(secrets: &Secrets, pieces: &[&str]) -> Vec<String> {
    masked(secrets, pieces.iter().map(|piece| (Kind::Stdout, *piece)))
}

fn chosen(environment: &[(&str, &str)]) -> Vec<String> {
    secret_values(environment.iter().map(|(name, value)| (name.into(), value.into())))
}

#[test]
fn a_variable_is_a_secret_by_its_name() {
    for name in [
        "TOKEN",
        "GITHUB_TOKEN",
        "anthropic_api_key",
        "Db_Password",
        "AWS_SECRET_ACCESS_KEY",
        "STRIPE_KEY",
        "GH_PAT",
    ] {
        assert!(is_secret(name), "{name}");
    }
    for name in
        ["PATH", "TOKENS", "MYTOKEN", "TOKEN_FILE", "DISPAT", "MONKEY", "AWS_ACCESS_KEY_ID", "FORGE_RUN_ID"]
    {
        assert!(!is_secret(name), "{name}");
    }
}

#[test]
fn a_value_is_masked_line_by_line_when_it_is_long_enough() {
    let key = "-----BEGIN KEY-----\r\n  MIIEvQIBADANBg  \nshort\n";
    assert_eq!(
        chosen(&[
            ("A_TOKEN", "1234567"),
            ("B_TOKEN", "12345678"),
            ("C_PRIVATE_KEY", key),
            ("D_TOKEN", "12345678"),
            ("GOOGLE_CREDENTIALS", "/home/me/credentials.json"),
            ("NAME", "not a secret at all"),
        ]),
        ["-----BEGIN KEY-----", "12345678", "MIIEvQIBADANBg"]
    );
}

#[test]
fn the_number_and_the_size_of_values_are_bounded() {
    let many: Vec<(String, String)> =
        (0..400).map(|n| (format!("V{n}_TOKEN"), format!("value-{n:04}"))).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(chosen(&many).len(), 256);
    let long = ["a", "b", "c"].map(|letter| letter.repeat(30_000));
    let long: Vec<(&str, &str)> =
        ["A_TOKEN", "B_TOKEN", "C_TOKEN"].into_iter().zip(long.iter().map(String::as_str)).collect();
    assert_eq!(chosen(&long).len(), 2);
}

#[test]
fn the_file_is_private_and_returns_what_was_stored() {
    let dir = tempfile::tempdir().unwrap();
    Secrets::add(dir.path(), [("NAME".into(), "of no interest".into())]).unwrap();
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "without secrets there is no file");
    assert!(Masker::new(&Secrets::read(dir.path()).unwrap()).is_none());
    fs::write(dir.path().join("secrets.part"), "of a start that was cut off").unwrap();
    Secrets::add(dir.path(), [("A_TOKEN".into(), KEY.into()), ("B_TOKEN".into(), "geheim-ä\"ö".into())])
        .unwrap();
    let files: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files, [dir.path().join("secrets")]);
    assert_eq!(files[0].metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let secrets = Secrets::read(dir.path()).unwrap();
    assert_eq!(secrets.mask_text(&format!("{KEY}, geheim-ä\"ö")), "***, ***");
}

#[test]
fn a_second_start_adds_its_secrets_to_those_of_the_first() {
    let dir = tempfile::tempdir().unwrap();
    Secrets::add(dir.path(), [("A_TOKEN".into(), KEY.into())]).unwrap();
    Secrets::add(dir.path(), [("NAME".into(), "of no interest".into())]).unwrap();
    Secrets::add(dir.path(), [("A_TOKEN".into(), "the-next-one".into())]).unwrap();
    assert_eq!(Secrets::read(dir.path()).unwrap().mask_text(&format!("{KEY} the-next-one")), "*** ***");
    let many = (0..256).map(|n| (format!("V{n}_TOKEN").into(), format!("value-{n:04}").into()));
    Secrets::add(dir.path(), many).unwrap();
    assert_eq!(fs::read_to_string(dir.path().join("secrets")).unwrap().lines().count(), 256);
}

#[test]
fn a_file_that_cannot_be_read_shows_nothing() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("secrets"), [0xFF, 0xFE]).unwrap();
    let mut writer = Writer::create(dir.path()).unwrap();
    writer.append(Kind::Stdout, 1, b"text").unwrap();
    assert!(Reader::open(dir.path(), View::Masked).is_err());
}

#[test]
fn a_secret_that_is_written_in_two_pieces_shows_three_bytes_at_most() {
    let secrets = secrets(&[KEY]);
    let text = format!("key: {KEY}!\n");
    for at in 1..text.len() {
        let shown = on_stdout(&secrets, &[&text[..at], &text[at..]]).concat();
        let begun = at.saturating_sub(5);
        let seen = if begun < 4 { &KEY[..begun] } else { "" };
        let halves = if (4..KEY.len()).contains(&begun) { "******" } else { "***" };
        assert_eq!(shown, format!("key: {seen}{halves}!\n"), "cut at {at}");
    }
}

#[test]
fn a_secret_that_is_written_in_three_pieces_shows_three_bytes_at_most() {
    let secrets = secrets(&[KEY]);
    let text = format!("a{KEY}b");
    for first in 1..text.len() - 1 {
        for second in first + 1..text.len() {
            let shown =
                on_stdout(&secrets, &[&text[..first], &text[first..second], &text[second..]]).concat();
            let seen: String = shown.chars().filter(|c| *c != '*').collect();
            let of_key = &seen[1..seen.len() - 1];
            assert!(of_key.len() <= 3 && KEY.starts_with(of_key), "{first}, {second}: {shown}");
        }
    }
}

#[test]
fn a_secret_byte_by_byte_shows_three_bytes() {
    let secrets = secrets(&[KEY]);
    let pieces: Vec<&str> = (0..KEY.len()).map(|at| &KEY[at..=at]).collect();
    let shown = on_stdout(&secrets, &pieces);
    assert_eq!(shown[..3], ["s", "k", "-"]);
    assert!(shown[3..].iter().all(|piece| piece == "***"), "{shown:?}");
}

#[test]
fn what_only_begins_like_a_secret_is_shown_where_no_record_ends() {
    let secrets = secrets(&[KEY]);
    assert_eq!(on_stdout(&secrets, &["sk-demo-x sk-d", "iet\n"]), ["sk-demo-x ***", "iet\n"]);
    assert_eq!(on_stdout(&secrets, &["sk-", "diet\n"]), ["sk-", "diet\n"]);
}

#[test]
fn the_longer_of_two_secrets_is_masked_whole() {
    let secrets = secrets(&["password", "password-2026"]);
    assert_eq!(on_stdout(&secrets, &["password", "-2026", " password-2 "]), ["***", "***", " ***-2 "]);
    assert_eq!(on_stdout(&secrets, &["a password-2026."]), ["a ***."]);
}

#[test]
fn secrets_that_overlap_are_masked_together() {
    let secrets = secrets(&["abcdefgh", "efghijkl"]);
    assert_eq!(on_stdout(&secrets, &["-abcdefghijkl-"]), ["-***-"]);
    assert_eq!(on_stdout(&secrets, &["-abcdefgh", "ijkl-"]), ["-***", "***-"]);
}

#[test]
fn no_character_is_split_around_a_secret() {
    let secrets = secrets(&["pässwörter"]);
    assert_eq!(
        on_stdout(&secrets, &["éé pässwörter öö", "ä", "pässw", "örterß"]),
        ["éé *** öö", "ä", "***", "***ß"]
    );
}

#[test]
fn streams_do_not_touch_each_other() {
    let secrets = secrets(&[KEY]);
    let (front, back) = KEY.split_at(6);
    let pieces = [
        (Kind::Stdout, front),
        (Kind::Stderr, "noise\n"),
        (Kind::Stdout, back),
        (Kind::Stdout, front),
        (Kind::Stderr, back),
        (Kind::Note, KEY),
        (Kind::End, KEY),
    ];
    assert_eq!(masked(&secrets, pieces), ["***", "noise\n", "***", "***", back, "***", KEY]);
}

#[test]
fn a_secret_is_found_inside_json() {
    let secrets = secrets(&["qu\"ote\\d\t!"]);
    let line = json!({"text": "it is qu\"ote\\d\t!"}).to_string();
    assert_eq!(on_stdout(&secrets, &[&line]), [r#"{"text":"it is ***"}"#]);
    let mut value = json!({"a": ["x qu\"ote\\d\t! y", 7], "qu\"ote\\d\t!": {"qu\"ote": null}});
    secrets.mask_value(&mut value);
    assert_eq!(value, json!({"a": ["x *** y", 7], "***": {"qu\"ote": null}}));
}

#[test]
fn what_was_not_found_may_be_forgotten() {
    let dir = tempfile::tempdir().unwrap();
    let values = ["never-printed", "printed-whole", "begun-only-0000"];
    let environment =
        values.iter().enumerate().map(|(n, value)| (format!("V{n}_TOKEN").into(), value.into()));
    Secrets::add(dir.path(), environment).unwrap();
    let pieces = ["a printed-whole and a begun-", "nothing"];
    let before = Secrets::read(dir.path()).unwrap();
    let shown = on_stdout(&before, &pieces);
    assert_eq!(shown, ["a *** and a ***", "nothing"]);
    before.forget_unseen(dir.path()).unwrap();
    let kept = fs::read_to_string(dir.path().join("secrets")).unwrap();
    assert_eq!(kept, "begun-only-0000\nprinted-whole");
    assert_eq!(dir.path().join("secrets").metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(on_stdout(&Secrets::read(dir.path()).unwrap(), &pieces), shown);
}

#[test]
fn debug_output_does_not_show_a_secret() {
    assert!(!format!("{:?}", secrets(&[KEY])).contains("demo"));
}

/// Values of few letters, and texts that are full of their parts.
fn any_values() -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec("[ab]{8,12}|[abé]{8,10}|ab\"[ab]{6}", 1..4)
}

fn any_pieces() -> impl Strategy<Value = Vec<(bool, Vec<u8>, u8)>> {
    proptest::collection::vec(
        (any::<bool>(), "[ab\"é]{0,12}".prop_map(String::into_bytes), any::<u8>()),
        1..24,
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn no_reader_sees_a_secret_and_all_see_the_same(
        values in any_values(),
        pieces in any_pieces(),
        skipped in 0u64..24,
        batch in 1usize..100,
    ) {
        let dir = tempfile::tempdir().unwrap();
        Secrets::add(dir.path(), [("V_TOKEN".into(), values.join("\n").into())]).unwrap();
        let mut writer = Writer::create(dir.path()).unwrap();
        for (is_error, bytes, number) in &pieces {
            let kind = if *is_error { Kind::Stderr } else { Kind::Stdout };
            // Some pieces are whole secrets, some the halves of one.
            let value = &values[usize::from(*number) % values.len()];
            let cut = value.floor_char_boundary(usize::from(*number) % 12);
            match number % 3 {
                0 => writer.append(kind, 1, bytes).unwrap(),
                1 => writer.append(kind, 1, value.as_bytes()).unwrap(),
                _ => {
                    writer.append(kind, 1, &value.as_bytes()[..cut]).unwrap();
                    writer.append(Kind::Stdin, 1, b"aaaaaaaaaaaaaaaa").unwrap();
                    writer.append(kind, 1, &value.as_bytes()[cut..]).unwrap();
                }
            }
        }
        let all = read(dir.path(), 0, 1 << 20);
        for kind in [Kind::Stdout, Kind::Stderr] {
            let shown: Vec<u8> =
                all.iter().filter(|record| record.kind == kind).flat_map(|record| record.bytes.clone()).collect();
            let shown = String::from_utf8(shown).unwrap();
            for value in &values {
                prop_assert!(!shown.contains(value.as_str()), "{value} in {shown}");
            }
        }
        for record in &all {
            prop_assert!(std::str::from_utf8(&record.bytes).is_ok());
        }
        let late = read(dir.path(), skipped, batch);
        let wanted: Vec<&Record> = all.iter().filter(|record| record.kind.is_output()).skip(skipped as usize).collect();
        prop_assert_eq!(late.iter().filter(|record| record.kind.is_output()).collect::<Vec<_>>(), wanted);
    }
}

fn read(dir: &Path, skipped: u64, max_bytes: usize) -> Vec<Record> {
    let mut reader = Reader::open(dir, View::Masked).unwrap();
    reader.skip_outputs(skipped).unwrap();
    let mut records = Vec::new();
    loop {
        let before = records.len();
        reader.read(max_bytes, &mut records).unwrap();
        if records.len() == before {
            return records;
        }
    }
}
