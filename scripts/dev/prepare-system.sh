#!/usr/bin/env bash
# Makes sure that what Forge needs from the system is there: git, a C compiler and make (SQLite, jemalloc), cargo, Node.
# Installs packages with apt when root; otherwise reports everything that is missing at once.
set -euo pipefail
cd "$(dirname "$0")/../.."

has() { command -v "$1" >/dev/null 2>&1; }
may_install() { [ "$(id -u)" = 0 ] && has apt-get; }
install() { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@"; }

packages=()
has git || packages+=(git)
has cc || packages+=(gcc libc6-dev)
has make || packages+=(make)
problems=()
if [ ${#packages[@]} -gt 0 ]; then
  if may_install; then
    install "${packages[@]}"
  else
    problems+=("missing on this system: ${packages[*]}. Install them, e.g.: sudo apt-get install ${packages[*]}")
  fi
fi

# need_version <program> <oldest major.minor> <how to get it>
need_version() {
  local found major minor oldest=$2
  if ! has "$1"; then
    problems+=("$1 is missing. $3")
    return
  fi
  found=$("$1" --version)
  if ! [[ $found =~ ([0-9]+)\.([0-9]+) ]]; then
    problems+=("$1 --version prints '$found', which has no version in it. $3")
    return
  fi
  major=${BASH_REMATCH[1]} minor=${BASH_REMATCH[2]}
  if ((major < ${oldest%.*} || (major == ${oldest%.*} && minor < ${oldest#*.}))); then
    problems+=("$1 is $major.$minor, which is too old: $oldest or newer is needed. $3")
  fi
}
if has git; then need_version git 2.38 "Install a newer one: https://git-scm.com/downloads"; fi
need_version cargo 1.95 "Install Rust 1.95 or newer: https://rustup.rs"
need_version node 20.0 "Install Node.js 20 or newer: https://nodejs.org"

if [ ${#problems[@]} -gt 0 ]; then
  printf 'forge: %s\n' "${problems[@]}" >&2
  exit 1
fi

# `prepare-system.sh tests`: also what only tests need. Chromium shows the page; gh is a client of code hosts and git-lfs
# one of git's that we did not write, and without them their tests skip themselves.
has_browser() { [ -n "${CHROMIUM:-}" ] || has chromium || has chromium-browser || has google-chrome; }
if [ "${1:-}" = tests ]; then
  wanted=()
  has gh || wanted+=(gh)
  has git-lfs || wanted+=(git-lfs)
  has_browser || wanted+=(chromium)
  if [ ${#wanted[@]} -gt 0 ] && may_install; then install "${wanted[@]}" || true; fi
  for program in gh git-lfs; do
    has "$program" || echo "forge: $program is missing; the test that uses it is skipped" >&2
  done
  if ! has_browser; then
    echo "forge: Chromium is missing, and the tests of the page need it. Install it, e.g.: sudo apt-get install chromium" >&2
    exit 1
  fi
fi
