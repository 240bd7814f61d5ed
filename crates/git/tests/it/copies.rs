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
