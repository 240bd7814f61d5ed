use crate::fixture::*;
use forge_git::*;
#[tokio::test]
async fn timing() {
    for n in [3usize, 1000, 4000] {
        let f = Fixture::new().await;
        for i in 0..n {
            write(&f.project().join(format!("d{}/f{i}.txt", i % 30)), format!("{i}\n").repeat(50));
        }
        git(&f.project(), &["add", "-A"]);
        git(&f.project(), &["commit", "-qm", "x"]);
        f.start("w").await;
        let (mut cold, mut plain) = (vec![], vec![]);
        for i in 0..10 {
            let t = std::time::Instant::now();
            f.start("cold").await;
            cold.push(t.elapsed());
            let t = std::time::Instant::now();
            tokio::process::Command::new("git")
                .arg("-C")
                .arg(f.project())
                .args(["worktree", "add", "-q", "--no-track", "-b", &format!("p{i}")])
                .arg(f.dir.path().join(format!("p{i}")))
                .arg("main")
                .output()
                .await
                .unwrap();
            plain.push(t.elapsed());
        }
        for v in [&mut cold, &mut plain] {
            v.sort();
        }
        println!("n {n} cold {:?} plain {:?}", cold[5], plain[5]);
    }
}
