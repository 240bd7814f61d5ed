//! Random worktrees are retired and come back byte for byte.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use forge_git::{Source, empty_trash, restore, retire};
use forge_types::Millis;
use proptest::prelude::*;

use crate::fixture::{Fixture, git, owner, try_git, write};

#[derive(Clone, Debug)]
enum Step {
    Write { name: usize, bytes: Vec<u8> },
    Remove { name: usize },
    Link { name: usize, target: String },
    Mode { name: usize, mode: u32 },
    EmptyDir { name: usize, mode: u32 },
    Stage { name: usize },
    Nested { name: usize },
    Commit,
    Detach,
    Conflict,
    Cache,
}

const NAMES: &[&[u8]] = &[
    b"a.txt",
    b"dir/b.txt",
    b"new",
    b"deep/er/file",
    b"x.log",
    b"ignored/f",
    b"sp ace",
    b"n\new",
    b"q\"uote\\",
    b"\xff\xfe",
    "ünï".as_bytes(),
    b"%forge%x",
    b"100%25",
    b".gitmodules",
    b".gitattributes",
    b"-dash",
    b"sub/.GIT/x",
];

fn place(root: &Path, name: usize) -> PathBuf {
    root.join(OsStr::from_bytes(NAMES[name % NAMES.len()]))
}

fn step() -> impl Strategy<Value = Step> {
    let name = 0..NAMES.len();
    let modes = prop::sample::select(vec![0o644u32, 0o755, 0o600, 0o664, 0o444, 0o700]);
    let bytes = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200),
        Just(b"text\r\nwith\nmixed\r\nends".to_vec()),
        Just(b"* text=auto eol=crlf\n*.txt ident\n".to_vec()),
    ];
    prop_oneof![
        5 => (name.clone(), bytes).prop_map(|(name, bytes)| Step::Write { name, bytes }),
        2 => name.clone().prop_map(|name| Step::Remove { name }),
        1 => (name.clone(), "[a-z/.]{1,12}").prop_map(|(name, target)| Step::Link { name, target }),
        2 => (name.clone(), modes.clone()).prop_map(|(name, mode)| Step::Mode { name, mode }),
        1 => (name.clone(), prop::sample::select(vec![0o755u32, 0o700, 0o775]))
            .prop_map(|(name, mode)| Step::EmptyDir { name, mode }),
        3 => name.clone().prop_map(|name| Step::Stage { name }),
        1 => name.prop_map(|name| Step::Nested { name }),
        1 => Just(Step::Commit),
        1 => Just(Step::Detach),
        1 => Just(Step::Conflict),
        1 => Just(Step::Cache),
    ]
}

fn apply(root: &Path, step: &Step) {
    match step {
        Step::Write { name, bytes } => {
            let path = place(root, *name);
            if std::fs::create_dir_all(path.parent().unwrap()).is_ok() {
                // A link or a directory may be in the way; then the step does nothing.
                if path.symlink_metadata().is_ok_and(|meta| !meta.is_file()) {
                    return;
                }
                let _ = std::fs::write(&path, bytes);
            }
        }
        Step::Remove { name } => _ = std::fs::remove_file(place(root, *name)),
        Step::Link { name, target } => {
            let path = place(root, *name);
            let _ = std::fs::remove_file(&path);
            let _ = symlink(target, &path);
        }
        Step::Mode { name, mode } => {
            let path = place(root, *name);
            if path.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
                std::fs::set_permissions(&path, PermissionsExt::from_mode(*mode)).unwrap();
            }
        }
        Step::EmptyDir { name, mode } => {
            let path = root.join(format!("empty-{name}/inner"));
            std::fs::create_dir_all(&path).unwrap();
            std::fs::set_permissions(&path, PermissionsExt::from_mode(*mode)).unwrap();
        }
        Step::Stage { name } => {
            let name = String::from_utf8_lossy(NAMES[*name]).into_owned();
            try_git(root, &["add", "-f", "--", &name]);
        }
        Step::Nested { name } => {
            let path = root.join(format!("nested-{name}"));
            std::fs::create_dir_all(&path).unwrap();
            git(&path, &["init", "-q"]);
            write(&path.join("inside"), "nested");
            git(&path, &["add", "-A"]);
            git(
                &path,
                &["-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "--allow-empty", "-m", "n"],
            );
        }
        Step::Commit => _ = try_git(root, &["commit", "-q", "-m", "step"]),
        Step::Detach => _ = try_git(root, &["checkout", "-q", "--detach"]),
        Step::Conflict => _ = try_git(root, &["merge", "-q", "conflicting"]),
        Step::Cache => write(&root.join("node_modules/pkg/index.js"), "cache"),
    }
}

/// Everything a user could notice: kind, permissions and bytes of each entry.
fn picture(root: &Path, dir: &Path, into: &mut BTreeMap<PathBuf, (u32, Vec<u8>)>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let relative = path.strip_prefix(root).unwrap().to_owned();
        let meta = path.symlink_metadata().unwrap();
        if relative == Path::new(".git") || relative.starts_with("node_modules") {
            continue;
        }
        let bytes = if meta.is_file() {
            std::fs::read(&path).unwrap()
        } else if meta.is_symlink() {
            std::fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec()
        } else {
            Vec::new()
        };
        into.insert(relative, (meta.mode(), bytes));
        if meta.is_dir() {
            picture(root, &path, into);
        }
    }
}

type Picture = (BTreeMap<PathBuf, (u32, Vec<u8>)>, Vec<(i32, String)>);

fn look(root: &Path) -> Picture {
    let mut files = BTreeMap::new();
    picture(root, root, &mut files);
    let questions: [&[&str]; 6] = [
        &["ls-files", "-s", "-u", "-z"],
        &["ls-files", "-s", "-z"],
        &["symbolic-ref", "-q", "HEAD"],
        &["rev-parse", "HEAD"],
        &["rev-parse", "-q", "--verify", "MERGE_HEAD"],
        &["status", "--porcelain=v2", "-z", "--ignored"],
    ];
    let answers = questions.iter().map(|args| try_git(root, args)).map(|(code, text)| {
        let shown = text.split('\0').filter(|line| *line != "! node_modules/");
        (code, shown.collect::<Vec<_>>().join("\n"))
    });
    (files, answers.collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 40, failure_persistence: None, ..Default::default() })]

    #[test]
    fn a_random_worktree_comes_back_from_the_trash_and_from_its_keep_reference(
        steps in prop::collection::vec(step(), 1..16)
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let f = Fixture::new().await;
            git(&f.project(), &["checkout", "-q", "-b", "conflicting"]);
            write(&f.project().join("a.txt"), "other\n");
            git(&f.project(), &["commit", "-qam", "other"]);
            git(&f.project(), &["checkout", "-q", "main"]);
            let (id, w) = f.start("wild").await;
            write(&w.path.join("a.txt"), "ours\n");
            git(&w.path, &["commit", "-qam", "ours"]);
            for step in &steps {
                apply(&w.path, step);
            }
            let before = look(&w.path);
            retire(&f.repo, &f.base, owner(id), &w.path).await.unwrap();
            let back = restore(&f.repo, &f.base, owner(id), &w.path).await.unwrap();
            assert_eq!(back.source, Source::Trash);
            assert_eq!(look(&w.path), before, "from the trash");
            retire(&f.repo, &f.base, owner(id), &w.path).await.unwrap();
            let emptied = empty_trash(&f.base, Duration::ZERO, Millis(i64::MAX)).await.unwrap();
            assert_eq!(emptied.left, []);
            let back = restore(&f.repo, &f.base, owner(id), &w.path).await.unwrap();
            assert_eq!(back.source, Source::Keep);
            assert_eq!(look(&w.path), before, "from the keep reference");
        });
    }
}
