//! Getting the Cursor agent ready: its program installed and logged in.
//!
//! Invariant: the script is fixed text; nothing a user wrote becomes part of it. It installs only what is absent, and the
//! installer is fetched whole before any of it runs.

/// A script that ends well once `cursor-agent` is installed and logged in. The login prints an address to open.
pub const CURSOR_SETUP: &str = r#"set -e
export PATH="$HOME/.local/bin:$PATH"
if command -v cursor-agent >/dev/null 2>&1; then
  echo "cursor-agent is installed"
else
  echo "installing the Cursor CLI"
  installer=$(mktemp)
  trap 'rm -f "$installer"' EXIT
  curl -fsS --max-time 120 https://cursor.com/install -o "$installer"
  bash "$installer"
fi
NO_OPEN_BROWSER=1 cursor-agent login
"#;
