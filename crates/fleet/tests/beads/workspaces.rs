//! Which beads belong to a directory, what stores them, and which program may change them.

use std::ffi::OsStr;
use std::fs::{create_dir_all, write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use forge_fleet::beads::{
    BeadsError, Filter, Flavour, FoundBy, Layout, NewBead, Place, Store, Tool, Version, Workspace,
};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::fixture::{BR_VERSION, Project, bd_version};

fn find(start: &Path) -> Option<(PathBuf, FoundBy)> {
    Place::find(start, None).unwrap().map(|place| (place.dir, place.found_by))
}

/// A linked worktree of the project, as git lays it out.
fn worktree(project: &Project) -> PathBuf {
    let root = project.root();
    let private = root.join(".git/worktrees/w");
    let tree = root.parent().unwrap().join("w");
    create_dir_all(&private).unwrap();
    create_dir_all(tree.join("deep/down")).unwrap();
    write(private.join("commondir"), "../..\n").unwrap();
    write(tree.join(".git"), format!("gitdir: {}\n", private.display())).unwrap();
    tree
}

#[test]
fn beads_are_found_from_below() {
    let project = Project::new(&[]);
    let below = project.root().join("src/deep");
    create_dir_all(&below).unwrap();
    assert_eq!(find(&below), Some((project.beads(), FoundBy::Walk)));
}

#[test]
fn a_registry_in_the_home_directory_is_no_workspace() {
    let home = tempfile::tempdir().unwrap();
    create_dir_all(home.path().join(".beads")).unwrap();
    write(home.path().join(".beads/registry.json"), "[]").unwrap();
    assert_eq!(find(home.path()), None);
}

#[test]
fn the_environment_names_another_place() {
    let (here, there) = (Project::new(&[]), Project::new(&[]));
    let dir = there.beads();
    let place = Place::find(&here.root(), Some(dir.as_os_str())).unwrap().unwrap();
    assert_eq!((place.dir, place.found_by), (dir, FoundBy::Environment));
    let error = Place::find(&here.root(), Some(OsStr::new("/nowhere/.beads"))).unwrap_err().to_string();
    assert!(error.contains("BEADS_DIR") && error.contains("/nowhere/.beads"), "{error}");
}

#[test]
fn a_redirect_is_followed_and_a_ring_of_them_is_not() {
    let (here, there) = (Project::new(&[]), Project::new(&[]));
    here.write("redirect", &format!("{}\n", there.beads().display()));
    assert_eq!(find(&here.root()), Some((there.beads(), FoundBy::Redirect)));
    create_dir_all(here.root().join("sub/.beads")).unwrap();
    write(here.root().join("sub/.beads/redirect"), "../.beads").unwrap();
    assert_eq!(find(&here.root().join("sub")), Some((there.beads(), FoundBy::Redirect)));
    there.write("redirect", &here.beads().display().to_string());
    assert!(matches!(Place::find(&here.root(), None), Err(BeadsError::Unsupported { .. })));
    there.write("redirect", "gone/.beads");
    assert!(matches!(Place::find(&here.root(), None), Err(BeadsError::Invalid { name: "redirect", .. })));
}

#[test]
fn a_linked_worktree_shares_the_store_of_the_primary_checkout() {
    let project = Project::new(&[]);
    let tree = worktree(&project);
    assert_eq!(find(&tree.join("deep/down")), Some((project.beads(), FoundBy::PrimaryCheckout)));
    // A checked-out copy is not a store of its own,
    create_dir_all(tree.join(".beads")).unwrap();
    write(tree.join(".beads/issues.jsonl"), "").unwrap();
    assert_eq!(find(&tree), Some((project.beads(), FoundBy::PrimaryCheckout)));
    // a database is.
    write(tree.join(".beads/beads.db"), "").unwrap();
    assert_eq!(find(&tree), Some((std::fs::canonicalize(tree.join(".beads")).unwrap(), FoundBy::Walk)));
}

#[test]
fn the_layout_is_known_by_its_content() {
    let layout = |files: &[(&str, &str)]| {
        let project = Project::new(&[]);
        for (name, text) in files {
            if name.ends_with('/') {
                create_dir_all(project.beads().join(name)).unwrap();
            } else {
                project.write(name, text);
            }
        }
        Place::find(&project.root(), None).unwrap().unwrap().layout
    };
    assert_eq!(layout(&[]), Layout::Bare);
    assert_eq!(layout(&[("metadata.json", r#"{"database":"beads.db"}"#)]), Layout::Bare);
    assert_eq!(layout(&[("metadata.json", r#"{"backend":"dolt"}"#)]), Layout::Dolt);
    assert_eq!(layout(&[("embeddeddolt/", "")]), Layout::Dolt);
    assert_eq!(layout(&[("beads.db", "")]), Layout::Sqlite { by: None });
    assert_eq!(layout(&[("beads.db", ""), (".br_history/", "")]), Layout::Sqlite { by: Some(Tool::Br) });
    let classic = ("metadata.json", r#"{"database":"beads.db","version":"0.21.5"}"#);
    assert_eq!(layout(&[("beads.db", ""), classic]), Layout::Sqlite { by: Some(Tool::Bd) });
}

#[test]
fn a_file_that_metadata_names_counts_only_when_it_exists() {
    let project = Project::new(&[]);
    project.write("metadata.json", r#"{"jsonl_export":"beads.jsonl"}"#);
    let jsonl = || Place::find(&project.root(), None).unwrap().unwrap().jsonl;
    assert_eq!(jsonl(), project.beads().join("issues.jsonl"));
    project.write("beads.jsonl", "");
    assert_eq!(jsonl(), project.beads().join("beads.jsonl"));
}

#[tokio::test]
async fn a_program_is_known_by_what_it_answers() {
    let project = Project::new(&[]);
    project.stub("bd").on("version", BR_VERSION, "", 0);
    let workspace = project.find().await;
    let program = workspace.program.unwrap();
    assert_eq!((program.tool, program.version), (Tool::Br, Version(0, 7, 6)));
    assert_eq!(workspace.flavour, Flavour::Br);
    assert!(
        program.capabilities.claim && program.capabilities.if_unchanged && program.capabilities.list_paged
    );
    assert!(!program.capabilities.ready_claim && !program.capabilities.envelope);
}

#[tokio::test]
async fn strangers_and_old_versions_are_left_alone_with_a_reason() {
    for (name, answer, code, reason) in [
        ("bd", "beads-rs 0.3".to_owned(), 0, "no JSON"),
        ("bd", r#"{"version":"0.1.0","git_ref":"x"}"#.to_owned(), 0, "neither"),
        ("bd", r#"{"name":"bd"}"#.to_owned(), 0, "no version"),
        ("bd", bd_version("1.2.0"), 0, "Dolt"),
        ("br", BR_VERSION.replace("0.7.6", "0.7.5"), 0, "0.7.6"),
        ("br", String::new(), 1, "1"),
    ] {
        let project = Project::new(&[]);
        project.stub(name).on("version", &answer, "", code);
        let workspace = project.find().await;
        assert_eq!(workspace.program, None, "{answer}");
        assert!(workspace.rejected[0].why.contains(reason), "{:?}", workspace.rejected);
        assert_eq!(workspace.flavour, Flavour::Local);
    }
}

#[tokio::test]
async fn capabilities_follow_the_version() {
    for (version, layout, claim, ready_claim) in [
        ("0.21.5", "beads.db", false, false),
        ("0.49.6", "beads.db", true, false),
        ("1.4.2", "dolt", true, true),
    ] {
        let project = Project::new(&[]);
        project.write(layout, "");
        project.stub("bd").on("version", &bd_version(version), "", 0);
        let program = project.find().await.program.unwrap();
        let can = program.capabilities;
        assert_eq!(
            (can.claim, can.ready_claim, can.envelope),
            (claim, ready_claim, ready_claim),
            "{version}"
        );
    }
}

#[tokio::test]
async fn a_database_without_its_program_is_only_read() {
    let project = Project::new(&[json!({ "id": "f-a" })]);
    project.write("beads.db", "");
    let store = project.open().await;
    assert!(matches!(store, Store::Jsonl(_)));
    assert_eq!(store.ready(&Filter::default()).await.unwrap().len(), 1);
    let refused = store.create(&NewBead::new("x"), "me").await;
    assert!(matches!(refused, Err(BeadsError::ReadOnly(_))), "{refused:?}");
}

#[tokio::test]
async fn a_dolt_database_without_bd_is_not_guessed_at() {
    let project = Project::new(&[json!({ "id": "f-a" })]);
    project.write("metadata.json", r#"{"backend":"dolt"}"#);
    let error = project.find().await.open().unwrap_err().to_string();
    assert!(error.contains("install bd"), "{error}");
}

#[tokio::test]
async fn detection_is_outdated_when_its_program_or_layout_changes() {
    let project = Project::new(&[]);
    project.stub("br").on("version", BR_VERSION, "", 0);
    let workspace = project.find().await;
    assert!(workspace.is_current());
    std::fs::remove_file(&workspace.program.as_ref().unwrap().path).unwrap();
    assert!(!workspace.is_current());
    let workspace = project.find().await;
    assert!(workspace.is_current());
    project.write("beads.db", "");
    assert!(!workspace.is_current());
}

#[tokio::test]
async fn a_directory_without_beads_has_no_workspace() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(Workspace::find_in(dir.path(), &Default::default()).await.unwrap(), None);
}

/// Things that git or an agent may put in place of a file: the error comes at once and names it.
#[tokio::test]
async fn links_to_devices_and_pipes_in_place_of_files_are_refused_with_their_path() {
    let pipe = |path: &Path| {
        rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    };
    let zero = |path: &Path| symlink("/dev/zero", path).unwrap();
    let places: [&dyn Fn(&Path); 2] = [&pipe, &zero];
    for lay in places {
        for name in ["issues.jsonl", "metadata.json", "redirect", "config.yaml", ".write.lock"] {
            let project = Project::new(&[]);
            let path = project.beads().join(name);
            let _ = std::fs::remove_file(&path);
            lay(&path);
            let refused = async {
                let found = Workspace::find_in(&project.root(), &project.around()).await?;
                let store = found.expect("a workspace").open()?;
                store.snapshot().await?;
                store.create(&NewBead::new("new"), "me").await
            };
            match refused.await.expect_err(name) {
                BeadsError::File(error) => {
                    assert!(error.is_refusal() && error.to_string().contains(name), "{name}: {error}");
                }
                other => panic!("{name}: {other}"),
            }
        }
    }
    // The target of a link in place of the draft stays unchanged.
    let project = Project::new(&[]);
    let victim = project.root().join("victim");
    std::fs::write(&victim, "mine").unwrap();
    symlink(&victim, project.beads().join(".issues.jsonl.forge.tmp")).unwrap();
    project.open().await.create(&NewBead::new("new"), "me").await.unwrap();
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "mine");
}

/// A program would read the file without bound.
#[tokio::test]
async fn no_program_is_let_loose_on_a_device() {
    let project = Project::new(&[]);
    let br = project.stub("br").on("version", BR_VERSION, "", 0).on("show", "[]", "", 0);
    let store = project.open().await;
    std::fs::remove_file(project.beads().join("issues.jsonl")).unwrap();
    symlink("/dev/zero", project.beads().join("issues.jsonl")).unwrap();
    let refused = store.show(&["app-1"]).await.unwrap_err();
    assert!(matches!(&refused, BeadsError::File(error) if error.is_refusal()), "{refused}");
    assert!(br.calls("show").is_empty(), "it was asked");
}
