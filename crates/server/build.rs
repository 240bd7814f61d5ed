//! Builds the board and writes it as a table of files for `src/page/board.rs`, so that `cargo build` makes the whole
//! product.
//!
//! Invariant: no build of Forge fails because the board is missing; the table then holds the reason instead. Nothing
//! runs here unless a source of the board changed, or its last build failed.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::error::Error;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

use flate2::Compression;
use flate2::write::GzEncoder;

/// What the board is made from, beside the sources of the client.
const SOURCES: [&str; 11] = [
    "package.json",
    "package-lock.json",
    "shared/types.ts",
    "client/package.json",
    "client/tsconfig.json",
    "web/package.json",
    "web/index.html",
    "web/vite.config.ts",
    "web/tsconfig.json",
    "web/public",
    "web/src",
];
/// How many of a tool's last lines are shown when it fails.
const LAST_LINES: usize = 12;

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR: cargo did not set it")?);
    println!("cargo::rerun-if-env-changed=FORGE_PAGE");
    let choice = env::var("FORGE_PAGE").unwrap_or_default();
    let page = match choice.as_str() {
        "off" => Err("It was left out on purpose: Forge was built with FORGE_PAGE=off.".to_owned()),
        "" => build(&root, &out.join("page")),
        folder => {
            watch(&root.join(folder));
            Ok(root.join(folder))
        }
    };
    let table = page.and_then(|page| {
        take(&page, &out).map_err(|error| format!("Its files in {} cannot be used: {error}", page.display()))
    });
    if let (Err(reason), true) = (&table, choice != "off") {
        println!(
            "cargo::warning=the board is not in this build. {}",
            reason.lines().next().unwrap_or_default()
        );
    }
    let table = table.unwrap_or_else(|reason| format!("Err({reason:?})"));
    fs::write(out.join("board.rs"), table)?;
    Ok(())
}

fn watch(path: &Path) {
    println!("cargo::rerun-if-changed={}", path.display());
}

/// Runs the build of the board, and returns where its files are or why there are none.
fn build(root: &Path, page: &Path) -> Result<PathBuf, String> {
    // To cargo a missing file is a changed one. The client's `types.ts` is a copy that the build makes itself.
    SOURCES.iter().map(|name| root.join(name)).filter(|path| path.exists()).for_each(|path| watch(&path));
    for entry in fs::read_dir(root.join("client/src")).into_iter().flatten().flatten() {
        if entry.file_name() != "types.ts" {
            watch(&entry.path());
        }
    }
    if !root.join("web/package.json").exists() {
        return Err("Its source was not there when Forge was built: web/package.json is missing.".to_owned());
    }
    if Command::new("npm").arg("--version").output().is_err() {
        return Err("npm was not found when Forge was built. Install Node.js 20 or newer, then run \
                    `touch web/package.json` and build again."
            .to_owned());
    }
    let made = install(root).and_then(|()| {
        let place = page.to_string_lossy();
        let build = ["run", "--silent", "build", "--workspace", "@forge/web"];
        npm(root, &[&build[..], &["--", "--outDir", &place, "--emptyOutDir"]].concat())
    });
    if made.is_err() {
        // This file never exists, so the next build tries again: the network may be back.
        watch(&page.with_extension("missing"));
    }
    made.map(|()| page.to_owned())
}

/// Makes sure that the dependencies of the board are installed.
fn install(root: &Path) -> Result<(), String> {
    // Other packages bring Vite along, so its presence proves little; and for a single workspace `ls` reports no
    // problem with an empty folder.
    if npm(root, &["ls"]).is_ok() {
        return Ok(());
    }
    // Without a network this should not wait for minutes.
    npm(root, &["ci", "--no-audit", "--no-fund", "--fetch-retries=1", "--fetch-timeout=60000"])
}

fn npm(root: &Path, args: &[&str]) -> Result<(), String> {
    // The caller's NODE_ENV would choose which packages are installed and which React is built in.
    let mut npm = Command::new("npm");
    npm.args(args).current_dir(root).env_remove("NODE_ENV").env_remove("FORCE_COLOR").env("NO_COLOR", "1");
    // After "--" comes where this one build puts its files.
    let name = args.split(|arg| *arg == "--").next().unwrap_or(args).join(" ");
    let output = npm.output().map_err(|error| format!("`npm {name}` cannot be run: {error}."))?;
    if output.status.success() {
        return Ok(());
    }
    // The type checker reports errors on standard output.
    let said = if output.stderr.trim_ascii().is_empty() { output.stdout } else { output.stderr };
    let said = String::from_utf8_lossy(&said);
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines[lines.len().saturating_sub(LAST_LINES)..].join("\n");
    Err(format!("`npm {name}` failed ({}) when Forge was built.\n{last}", output.status))
}

/// Copies the files of a page to `out`, each content once, and returns the Rust expression of their table.
fn take(page: &Path, out: &Path) -> io::Result<String> {
    let index = fs::read_to_string(page.join("index.html"))
        .map_err(|error| io::Error::new(error.kind(), format!("index.html: {error}")))?;
    fs::write(out.join("index.html"), index)?;
    let mut contents = HashMap::new();
    let (mut statics, mut rows) = (String::new(), String::new());
    for path in list(page)? {
        let name = path.strip_prefix(page).map_err(io::Error::other)?.to_string_lossy().into_owned();
        if name == "index.html" {
            continue;
        }
        let (kind, is_text) = kind(&path);
        let bytes = fs::read(&path)?;
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        let tag = format!("W/\"{:016x}\"", hasher.finish());
        let number = contents.len();
        let fields = match contents.entry((bytes, is_text)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(free) => {
                let bytes = &free.key().0;
                let whole = keep(out, format!("BYTES_{number}"), bytes, &mut statics)?;
                let packed = if is_text { Some(compress(bytes)?) } else { None };
                let gzip = match packed.filter(|packed| packed.len() < bytes.len()) {
                    Some(packed) => {
                        format!("Some({})", keep(out, format!("GZIP_{number}"), &packed, &mut statics)?)
                    }
                    None => "None".to_owned(),
                };
                free.insert(format!("bytes: {whole}, gzip: {gzip}"))
            }
        };
        rows += &format!("File {{ path: {name:?}, kind: {kind:?}, tag: {tag:?}, {fields} }},\n");
    }
    let index = "include_str!(concat!(env!(\"OUT_DIR\"), \"/index.html\"))";
    Ok(format!("{{\n{statics}Ok(Board {{ index: {index}, files: &[\n{rows}] }})\n}}\n"))
}

/// Every file below a folder, always in the same order.
fn list(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let (mut files, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() { open.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    Ok(files)
}

/// Writes a content beside the table, and the static that holds it; returns its name.
fn keep(out: &Path, name: String, bytes: &[u8], statics: &mut String) -> io::Result<String> {
    fs::write(out.join(&name), bytes)?;
    *statics += &format!("static {name}: &[u8] = include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{name}\"));\n");
    Ok(name)
}

fn compress(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// The content type, and whether it is text, which is worth compressing.
fn kind(path: &Path) -> (&'static str, bool) {
    match path.extension().and_then(|end| end.to_str()).unwrap_or_default() {
        "html" => ("text/html; charset=utf-8", true),
        "js" | "mjs" => ("text/javascript; charset=utf-8", true),
        "css" => ("text/css; charset=utf-8", true),
        "txt" => ("text/plain; charset=utf-8", true),
        "svg" => ("image/svg+xml", true),
        "json" | "map" => ("application/json", true),
        "webmanifest" => ("application/manifest+json", true),
        "wasm" => ("application/wasm", false),
        "woff2" => ("font/woff2", false),
        "png" => ("image/png", false),
        "jpg" | "jpeg" => ("image/jpeg", false),
        "webp" => ("image/webp", false),
        "ico" => ("image/x-icon", false),
        _ => ("application/octet-stream", false),
    }
}
