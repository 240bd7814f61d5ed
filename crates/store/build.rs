//! Makes a new migration file rebuild the crate that embeds it.

fn main() {
    println!("cargo:rerun-if-changed=migrations");
}
