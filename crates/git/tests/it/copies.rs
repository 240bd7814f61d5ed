use std::os::unix::fs::{PermissionsExt, symlink};

use forge_git::copy_files;

use crate::fixture::{read, write};

#[tokio::test]
async fn files_directories_and_globs_are_copied_with_their_modes() {
    let dir = tempfile::TempDir::new().unwrap();
    let (from, to) = (dir.path().join("p"), dir.path().join("w"));
    std::fs::create_dir(&to).unwrap();
    write(&from.join(".env"), "KEY=1");
    write(&from.join("conf/deep/a.json"), "{}");
    write(&from.join("certs/x.pem"), "pem");
    write(&from.join("certs/y.txt"), "no");
    write(&from.join("run.sh"), "#!/bin/sh");
    std::fs::set_permissions(from.join("run.sh"), PermissionsExt::from_mode(0o750)).unwrap();
    let warnings = copy_files(&from, &to, " .env, conf ,certs/*.pem,./run.sh,,missing.txt").await.unwrap();
    assert_eq!(warnings.len(), 1);
    assert_eq!(warnings[0].entry, "missing.txt");
    assert_eq!(read(&to.join(".env")), "KEY=1");
    assert_eq!(read(&to.join("conf/deep/a.json")), "{}");
    assert!(to.join("certs/x.pem").is_file() && !to.join("certs/y.txt").exists());
    assert_eq!(to.join("run.sh").metadata().unwrap().permissions().mode() & 0o777, 0o750);
}

#[tokio::test]
async fn no_entry_leaves_the_project_or_the_worktree() {
    let dir = tempfile::TempDir::new().unwrap();
    let (from, to) = (dir.path().join("p"), dir.path().join("w"));
    std::fs::create_dir(&to).unwrap();
    write(&from.join("sub/ok"), "ok");
    write(&from.join(".git/config"), "secret");
    write(&from.join("out/evil"), "evil");
    write(&dir.path().join("secret"), "secret");
    symlink(dir.path().join("secret"), from.join("link")).unwrap();
    symlink(dir.path(), from.join("linkdir")).unwrap();
    symlink(dir.path(), to.join("out")).unwrap();
    let bad = [
        "../secret",
        "sub/../../secret",
        "/etc/passwd",
        "link",
        "linkdir/secret",
        ".git/config",
        ".",
        "out/evil",
    ];
    for entry in bad {
        let warnings = copy_files(&from, &to, entry).await.unwrap();
        assert_eq!(warnings.len(), 1, "{entry}");
        assert_eq!(warnings[0].entry, entry);
    }
    let names: Vec<_> = std::fs::read_dir(&to).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["out"]);
    assert!(!dir.path().join("evil").exists());
    // A worktree inside the project is not copied into itself, the rest of the directory is.
    let inside = from.join("sub/w");
    std::fs::create_dir(&inside).unwrap();
    assert!(!copy_files(&from, &inside, "sub").await.unwrap().is_empty());
    assert_eq!(copy_files(&from, &from, "sub/ok").await.unwrap().len(), 1);
    assert_eq!(read(&from.join("sub/ok")), "ok");
}

#[tokio::test]
async fn a_pipe_or_a_device_is_a_warning_and_the_rest_is_copied() {
    let dir = tempfile::TempDir::new().unwrap();
    let (from, to) = (dir.path().join("p"), dir.path().join("w"));
    std::fs::create_dir(&to).unwrap();
    write(&from.join("conf/a"), "a");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, from.join("conf/pipe"), mode).unwrap();
    symlink("/dev/zero", from.join("conf/zero")).unwrap();
    symlink("a", from.join("conf/link")).unwrap();
    let warnings = copy_files(&from, &to, "conf").await.unwrap();
    let mut reasons: Vec<_> = warnings.iter().map(|warning| warning.reason.as_str()).collect();
    reasons.sort_unstable();
    assert!(reasons.len() == 2 && reasons[0].contains("pipe") && reasons[1].contains("zero"), "{reasons:?}");
    assert_eq!((read(&to.join("conf/a")), read(&to.join("conf/link"))), ("a".into(), "a".into()));
}
