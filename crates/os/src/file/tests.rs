use std::io::Write;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use rustix::fs::{CWD, FileType, mknodat};

use super::*;

const LIMIT: u64 = 10;

struct Tree {
    dir: tempfile::TempDir,
    _listener: UnixListener,
}

impl Tree {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().join("root");
        std::fs::create_dir_all(root.join("sub")).expect("mkdir");
        std::fs::write(dir.path().join("secret"), "secret").expect("write");
        std::fs::write(root.join("sub/file"), "0123456789").expect("write");
        std::fs::write(root.join("large"), "0123456789+").expect("write");
        std::fs::write(root.join("latin"), b"\xe9").expect("write");
        std::fs::File::create(root.join("sparse"))
            .and_then(|file| file.set_len(1 << 40))
            .expect("a sparse file");
        mknodat(CWD, root.join("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
        let links: [(&str, &Path); 9] = [
            ("inner", Path::new("sub/file")),
            ("way", Path::new("sub")),
            ("absolute", &root.join("sub/file")),
            ("zero", Path::new("/dev/zero")),
            ("out", Path::new("../secret")),
            ("up", Path::new("..")),
            ("round", Path::new("round")),
            ("nowhere", Path::new("nothing")),
            ("unborn", Path::new("../unborn")),
        ];
        for (name, target) in links {
            symlink(target, root.join(name)).expect("symlink");
        }
        let _listener = UnixListener::bind(root.join("socket")).expect("a socket");
        Tree { dir, _listener }
    }

    fn root(&self) -> PathBuf {
        self.dir.path().join("root")
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, FileError> {
        read(&self.root(), Path::new(path), LIMIT)
    }
}

#[test]
fn regular_files_are_read_also_through_links_that_stay_inside() {
    let tree = Tree::new();
    for path in ["sub/file", "inner", "way/file", "absolute", "./sub/../sub/file"] {
        assert_eq!(tree.read(path).expect(path), b"0123456789", "{path}");
    }
    let absolute = tree.root().join("way/file");
    assert_eq!(read_text(&tree.root(), &absolute, LIMIT).expect("text"), "0123456789");
}

#[test]
fn pipes_sockets_devices_and_folders_are_refused_at_once() {
    let tree = Tree::new();
    for path in ["pipe", "socket", "sub", "way", "round"] {
        let refused = tree.read(path).expect_err(path);
        assert!(matches!(refused, FileError::NotRegular { .. }) && refused.is_refusal(), "{path}: {refused}");
        assert!(refused.to_string().contains(path), "{refused}");
    }
    let device = read(Path::new("/dev"), Path::new("zero"), LIMIT).expect_err("a device");
    assert!(matches!(device, FileError::NotRegular { .. }), "{device}");
}

#[test]
fn nothing_outside_of_the_root_is_read() {
    let tree = Tree::new();
    for path in ["zero", "out", "up/secret", "../secret", "unborn", "/dev/zero", "/etc/hostname"] {
        let refused = tree.read(path).expect_err(path);
        assert!(matches!(refused, FileError::LeadsOut { .. }) && refused.is_refusal(), "{path}: {refused}");
    }
}

#[test]
fn too_large_a_file_is_refused_with_the_limit() {
    let tree = Tree::new();
    for path in ["large", "sparse"] {
        let refused = tree.read(path).expect_err(path);
        assert!(matches!(refused, FileError::TooLarge { limit: LIMIT, .. }), "{path}: {refused}");
        assert!(refused.to_string().contains("10 bytes"), "{refused}");
    }
}

#[test]
fn a_missing_file_differs_from_one_that_cannot_be_read() {
    let tree = Tree::new();
    let long = "n".repeat(300);
    for path in ["nothing", "sub/nothing", "large/below", "nowhere", &long] {
        let found = tree.read(path);
        assert!(matches!(found, Err(FileError::Missing { .. })), "{path}: {found:?}");
        assert!(matches!(if_any(found), Ok(None)), "{path}");
    }
    assert!(read(&tree.root().join("no"), Path::new("file"), LIMIT).expect_err("no root").is_missing());
    assert!(read_text(&tree.root(), Path::new("latin"), LIMIT).expect_err("no text").is_refusal());
}

#[test]
fn a_file_to_write_to_is_made_where_there_is_none_and_waits_for_no_reader() {
    let tree = Tree::new();
    let end = |path: &str| open_end(&tree.root(), Path::new(path));
    std::fs::write(tree.root().join("sub/old"), "old").expect("write");
    for (path, want) in [("sub/new", "more"), ("sub/old", "oldmore")] {
        end(path).expect(path).write_all(b"more").expect("write");
        assert_eq!(tree.read(path).expect(path), want.as_bytes());
    }
    for path in ["pipe", "sub"] {
        assert!(matches!(end(path), Err(FileError::NotRegular { .. })), "{path}");
    }
    assert!(matches!(end("up/new"), Err(FileError::LeadsOut { .. })));
    assert!(!tree.dir.path().join("new").exists());
}

/// Where the kernel cannot check for links that lead out.
#[test]
fn the_portable_way_comes_to_the_same() {
    let tree = Tree::new();
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let open = |path: &str| open_resolved(&tree.root(), Path::new(path), flags).map(File::from);
    for path in ["sub/file", "inner", "way/file", "absolute"] {
        assert!(open(path).expect(path).metadata().expect("metadata").is_file(), "{path}");
    }
    for path in ["zero", "out", "up/secret", "../secret", "/dev/zero"] {
        assert_eq!(open(path).expect_err(path), Errno::XDEV, "{path}");
    }
    assert!(!open("pipe").expect("a pipe").metadata().expect("metadata").is_file());
    assert_eq!(open("socket").expect_err("a socket"), Errno::NXIO);
    assert_eq!(open("nothing").expect_err("nothing"), Errno::NOENT);
    let lock = flags | OFlags::WRONLY | OFlags::CREATE;
    assert!(open_resolved(&tree.root(), Path::new("way/new"), lock).is_ok());
    assert_eq!(open_resolved(&tree.root(), Path::new("up/new"), lock).expect_err("outside"), Errno::XDEV);
}
