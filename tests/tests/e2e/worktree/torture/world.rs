//! A project with everything that makes git difficult, a few attempts in it, and random work on both.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use forge_tests::{Answer, Rng, TestForge, git, text};
use serde_json::json;

const ATTEMPTS: usize = 3;
/// Files that everybody works on. None of them is ever a directory.
const NAMES: [&str; 8] = [
    "README.md",
    "src/code.rs",
    "src/deep/ünï çödé.txt",
    "quoted \"name\"\t.txt",
    "-dash [and] *star*.txt",
    "dos.bat",
    "tool.sh",
    "binary.bin",
];

#[derive(Clone)]
pub struct Place {
    pub id: String,
    pub path: PathBuf,
    branch: String,
}

pub struct World {
    pub forge: TestForge,
    pub repo: PathBuf,
    pub rng: Rng,
    attempts: Vec<Place>,
    edits: usize,
}

impl World {
    pub async fn new(seed: u64) -> World {
        let forge = TestForge::start().await;
        let (project, repo) = forge.project("repo").await;
        furnish(&forge, &repo);
        let mut attempts = Vec::new();
        for n in 0..ATTEMPTS {
            let task = forge.start_scripted(&project, &format!("attempt {n}"), "say hello").await;
            let attempt = &task["task_attempt"];
            let id = text(&attempt["id"]);
            forge.settled(&id).await;
            let path = PathBuf::from(text(&attempt["worktree_path"]));
            attempts.push(Place { id, path, branch: text(&attempt["branch"]) });
        }
        World { forge, repo, rng: Rng::new(seed), attempts, edits: 0 }
    }

    /// Every directory that somebody works in and that is there.
    pub fn paths(&self) -> Vec<PathBuf> {
        let worktrees = self.attempts.iter().map(|attempt| attempt.path.clone());
        worktrees.chain([self.repo.clone()]).filter(|path| path.join(".git").exists()).collect()
    }

    pub fn pick_attempt(&mut self) -> Place {
        self.rng.pick(&self.attempts).clone()
    }

    pub async fn ensure(&self, attempt: &Place) {
        if !attempt.path.exists() {
            let path = format!("/api/worktrees/{}/restore", attempt.id);
            self.forge.post(&path, &json!(null)).await.data();
        }
    }

    /// Asks the API; whatever it thinks of the request, it must not be at a loss.
    pub async fn post(&self, what: String, body: serde_json::Value) -> (String, Option<Answer>) {
        let answer = self.forge.post(&what, &body).await;
        assert!(answer.status != 500, "{what}: {}\n{}", answer.text, self.forge.log());
        (what, Some(answer))
    }

    pub fn some_branch(&mut self) -> String {
        let own = self.rng.below(self.attempts.len());
        let own = self.attempts[own].branch.clone();
        self.rng
            .pick(&["main".to_owned(), "other".to_owned(), "detour".to_owned(), "nope".to_owned(), own])
            .clone()
    }

    pub fn some_file(&mut self, root: &Path) -> String {
        let mut names: Vec<String> = NAMES.iter().map(|name| (*name).to_owned()).collect();
        names.extend(["link".to_owned(), "../repo/README.md".to_owned(), "debug.log".to_owned()]);
        names.extend((0..self.edits).map(|n| format!("new-{n}.txt")).filter(|name| root.join(name).exists()));
        self.rng.pick(&names).clone()
    }

    /// One to three changes of random kinds; nothing of it is committed.
    pub fn edit(&mut self, root: &Path) {
        for _ in 0..=self.rng.below(3) {
            self.edits += 1;
            let n = self.edits;
            let name = *self.rng.pick(&NAMES);
            let path = root.join(name);
            match self.rng.below(9) {
                0..=2 => write(&path, self.lines(n, if name == "dos.bat" { "\r\n" } else { "\n" })),
                3 => write(&root.join(format!("new-{n}.txt")), format!("new {n}\n")),
                4 if path.is_file() => {
                    let to = root.join(format!("moved-{n}-{}", path.file_name().unwrap().to_string_lossy()));
                    std::fs::rename(&path, to).unwrap();
                }
                5 if path.is_file() => {
                    let mode = if self.rng.below(2) == 0 { 0o755 } else { 0o644 };
                    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
                }
                6 => {
                    let _ = std::fs::remove_file(root.join("link"));
                    symlink(format!("somewhere-{n}"), root.join("link")).unwrap();
                }
                7 => write(&root.join("debug.log"), format!("ignored {n}\n")),
                _ => write(&root.join("binary.bin"), [0, 159, n as u8, 0, 1]),
            }
        }
    }

    fn lines(&mut self, n: usize, end: &str) -> String {
        let changed = self.rng.below(6);
        let line = |at: usize| if at == changed { format!("line {at} by {n}") } else { format!("line {at}") };
        (0..6).map(|at| line(at) + end).collect()
    }

    /// As a person would: everything, or an empty commit. In a stopped rebase only what is resolved is committed.
    pub fn commit(&mut self, root: &Path) {
        if unmerged(root) {
            return;
        }
        if self.rng.below(5) > 0 {
            git(root, &["add", "-A"]);
        }
        git(root, &["commit", "-q", "--allow-empty", "-m", &format!("commit {}", self.edits)]);
    }

    /// Takes a side for each conflict and stages it, as an agent does that forgets to continue.
    pub fn resolve(&mut self, root: &Path) {
        if root.exists() && unmerged(root) && self.rng.below(3) > 0 {
            git(root, &["add", "-A"]);
        }
    }

    /// The user's own checkout: another branch, no branch, half-finished edits, or clean on main.
    pub fn stir_project(&mut self) {
        let repo = self.repo.clone();
        match self.rng.below(5) {
            0 => self.edit(&repo),
            choice => {
                git(&repo, &["add", "-A"]);
                git(&repo, &["commit", "-q", "--allow-empty", "-m", "put aside"]);
                let to: &[&str] = match choice {
                    1 => &["checkout", "-q", "--detach"],
                    2 => &["checkout", "-q", "other"],
                    _ => &["checkout", "-q", "main"],
                };
                git(&repo, to);
            }
        }
    }
}

fn unmerged(root: &Path) -> bool {
    !git(root, &["ls-files", "-u"]).is_empty()
}

fn write(path: &Path, bytes: impl AsRef<[u8]>) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

/// Files of every kind, a link, a submodule, converted line ends and branches that lead away from each other.
fn furnish(forge: &TestForge, repo: &Path) {
    let library = forge.repository("library");
    let url = library.to_string_lossy().into_owned();
    git(repo, &["config", "protocol.file.allow", "always"]);
    let mut add = Command::new("git");
    add.arg("-C").arg(repo).args(["-c", "protocol.file.allow=always", "submodule", "--quiet", "add"]);
    assert!(add.arg(&url).arg("library").output().unwrap().status.success());
    write(&repo.join(".gitattributes"), "*.bat text eol=crlf\n*.bin binary\n");
    write(&repo.join(".gitignore"), "*.log\n");
    for name in NAMES {
        let end = if name == "dos.bat" { "\r\n" } else { "\n" };
        write(&repo.join(name), (0..6).map(|at| format!("line {at}{end}")).collect::<String>());
    }
    std::fs::set_permissions(repo.join("tool.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    symlink("README.md", repo.join("link")).unwrap();
    git(repo, &["add", "-A"]);
    git(repo, &["commit", "-qm", "Furnish"]);
    git(repo, &["branch", "detour"]);
    git(repo, &["checkout", "-q", "-b", "other"]);
    write(&repo.join("README.md"), "another beginning\n");
    git(repo, &["commit", "-qam", "Other"]);
    git(repo, &["checkout", "-q", "main"]);
}

/// A file name as part of a URL.
pub fn encode(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}
