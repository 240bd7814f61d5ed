//! The real programs that `FORGE_TEST_BR` and `FORGE_TEST_BD` name: `cargo nextest run -p forge-fleet --run-ignored all`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use forge_fleet::beads::{Claim, Close, Filter, NewBead, Release, Store, Surroundings, Workspace};
use pretty_assertions::assert_eq;

/// A new workspace of the program that the variable names.
async fn open(variable: &str, name: &str, root: &Path) -> Store {
    let program = std::env::var_os(variable).unwrap_or_else(|| panic!("{variable} must name {name}"));
    let program = PathBuf::from(program);
    let bin = root.join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    std::os::unix::fs::symlink(&program, bin.join(name)).unwrap();
    let made = Command::new(&program)
        .args(["init", "--prefix", "fg"])
        .current_dir(root)
        .env_remove("BEADS_DIR")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let path = std::env::join_paths([bin, "/usr/bin".into(), "/bin".into()]).unwrap();
    let around = Surroundings { beads_dir: None, path: Some(path) };
    let workspace = Workspace::find_in(root, &around).await.unwrap().unwrap();
    assert!(workspace.program.is_some(), "{:?}", workspace.rejected);
    workspace.open().unwrap()
}

async fn work(store: &Store) {
    let first = store.create(&NewBead::new("-first"), "maker").await.unwrap();
    let second = store.create(&NewBead::new("second"), "maker").await.unwrap();
    store.add_dep(&second.id, &first.id, "blocks", "maker").await.unwrap();
    let ready = store.ready(&Filter::default()).await.unwrap();
    assert_eq!(ready.iter().map(|bead| bead.id.as_str()).collect::<Vec<_>>(), [first.id.as_str()]);
    assert!(matches!(store.claim(&first.id, "forge/h/w1/r").await, Claim::Won(_)));
    let lost = store.claim(&first.id, "forge/h/w2/r").await;
    assert!(matches!(&lost, Claim::AlreadyClaimed { by } if by == "forge/h/w1/r"), "{lost:?}");
    let released = store.release(&first.id, "forge/h/w1/r", "-it died").await.unwrap();
    assert!(matches!(released, Release::Released(_)));
    assert!(matches!(store.claim(&first.id, "forge/h/w2/r").await, Claim::Won(_)));
    assert!(matches!(store.close(&first.id, "forge/h/w2/r", "merged").await.unwrap(), Close::Closed(_)));
    let ready = store.ready(&Filter::default()).await.unwrap();
    assert_eq!(ready.iter().map(|bead| bead.id.as_str()).collect::<Vec<_>>(), [second.id.as_str()]);
    assert_eq!(store.snapshot().await.unwrap().beads().len(), 2);
}

#[tokio::test]
#[ignore = "needs br: FORGE_TEST_BR names it"]
async fn br_does_what_is_promised() {
    let root = tempfile::tempdir().unwrap();
    work(&open("FORGE_TEST_BR", "br", root.path()).await).await;
}

#[tokio::test]
#[ignore = "needs bd: FORGE_TEST_BD names it"]
async fn bd_does_what_is_promised() {
    let root = tempfile::tempdir().unwrap();
    work(&open("FORGE_TEST_BD", "bd", root.path()).await).await;
}
