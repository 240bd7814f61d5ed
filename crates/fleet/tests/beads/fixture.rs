//! A project with beads, and stub programs with prepared output.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use forge_fleet::beads::{Store, Surroundings, Workspace};
use serde_json::{Value, json};

pub const BR_VERSION: &str =
    r#"{"version":"0.7.6","build":"release","rust_version":"1.95.0","target":"x86_64-unknown-linux-gnu"}"#;

pub fn bd_version(version: &str) -> String {
    json!({ "version": version, "build": "dev" }).to_string()
}

pub fn data(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/beads").join(name))
        .unwrap()
}

pub struct Project {
    dir: tempfile::TempDir,
}

impl Project {
    /// A project named `app` whose file has these records.
    pub fn new(records: &[Value]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("app/.beads")).unwrap();
        std::fs::create_dir(dir.path().join("bin")).unwrap();
        let project = Self { dir };
        let text: String = records.iter().map(|record| format!("{record}\n")).collect();
        project.write("issues.jsonl", &text);
        project
    }

    pub fn root(&self) -> PathBuf {
        std::fs::canonicalize(self.dir.path()).unwrap().join("app")
    }

    pub fn beads(&self) -> PathBuf {
        self.root().join(".beads")
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.beads().join(name), text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.beads().join(name)).unwrap()
    }

    /// The record of a bead in the file.
    pub fn record(&self, id: &str) -> Value {
        let text = self.read("issues.jsonl");
        let mut records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        records.find(|record| record["id"] == id).unwrap()
    }

    /// Only the stubs are programs here, and what a shell script needs.
    pub fn around(&self) -> Surroundings {
        let bin = self.dir.path().join("bin").into_os_string();
        let path: OsString = [bin, ":/usr/bin:/bin".into()].into_iter().collect();
        Surroundings { beads_dir: None, path: Some(path) }
    }

    pub async fn find(&self) -> Workspace {
        Workspace::find_in(&self.root(), &self.around()).await.unwrap().unwrap()
    }

    pub async fn open(&self) -> Store {
        self.find().await.open().unwrap()
    }

    pub fn stub(&self, name: &str) -> Stub {
        let path = self.dir.path().join("bin").join(name);
        std::fs::write(&path, SCRIPT).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        Stub { path }
    }
}

/// The n-th call of a verb gets its n-th answer, later ones the last. Calls are recorded.
const SCRIPT: &str = r#"#!/bin/sh
{
  printf '%s\037' "$@"
  printf '\036%s\037%s\037%s\037%s\037%s\n' "$BEADS_DIR" "$BEADS_ACTOR" "${BEADS_DB-none}" "$NO_COLOR" "$BD_JSON_ENVELOPE"
} >> "$0.log"
dir="$0.d/$1"
[ -d "$dir" ] || { echo "no answer for $1" >&2; exit 99; }
n=$(cat "$dir/count")
echo $((n + 1)) > "$dir/count"
while [ ! -e "$dir/$n.rc" ]; do n=$((n - 1)); done
cat "$dir/$n.out"
cat "$dir/$n.err" >&2
exit "$(cat "$dir/$n.rc")"
"#;

pub struct Stub {
    path: PathBuf,
}

/// A call as the stub saw it.
#[derive(Debug)]
pub struct Seen {
    pub args: Vec<String>,
    /// `BEADS_DIR`, `BEADS_ACTOR`, `BEADS_DB`, `NO_COLOR`, `BD_JSON_ENVELOPE`.
    pub env: Vec<String>,
}

impl Stub {
    /// Adds an answer: what the call prints, and its exit code.
    pub fn on(self, verb: &str, out: &str, err: &str, code: i32) -> Self {
        let dir = self.path.with_extension("d").join(verb);
        std::fs::create_dir_all(&dir).unwrap();
        let number = (0..).find(|number| !dir.join(format!("{number}.rc")).exists()).unwrap();
        std::fs::write(dir.join("count"), "0").unwrap();
        std::fs::write(dir.join(format!("{number}.out")), out).unwrap();
        std::fs::write(dir.join(format!("{number}.err")), err).unwrap();
        std::fs::write(dir.join(format!("{number}.rc")), code.to_string()).unwrap();
        self
    }

    /// Adds the answer that was recorded for a case.
    pub fn recorded(self, verb: &str, file: &str, case: &str) -> Self {
        let text = data(file);
        let mut records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let record = records.find(|record| record["case"] == case).expect(case);
        let part = |name: &str| record[name].as_str().unwrap().to_owned();
        self.on(verb, &part("out"), &part("err"), record["rc"].as_i64().unwrap() as i32)
    }

    pub fn calls(&self, verb: &str) -> Vec<Seen> {
        let log = std::fs::read_to_string(self.path.with_extension("log")).unwrap_or_default();
        let parts = |text: &str| text.split('\u{1f}').map(str::to_owned).collect::<Vec<_>>();
        let lines = log.split_terminator('\n').filter_map(|line| line.split_once('\u{1e}'));
        let seen =
            lines.map(|(args, env)| Seen { args: parts(args.trim_end_matches('\u{1f}')), env: parts(env) });
        seen.filter(|seen| seen.args[0] == verb).collect()
    }
}
