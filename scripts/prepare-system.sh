#!/usr/bin/env bash
# Makes sure that what Forge needs from the system is there: git, a C compiler and make (SQLite, jemalloc), cargo.
# Installs with apt when root; otherwise says exactly what is missing.
set -euo pipefail

missing=()
need() { command -v "$1" >/dev/null 2>&1 || missing+=("$2"); }
need git git
need cc gcc
need make make
need bash bash

if [ ${#missing[@]} -gt 0 ]; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${missing[@]}"
  else
    echo "forge: missing on this system: ${missing[*]}. Install them, e.g.: sudo apt-get install ${missing[*]}" >&2
    exit 1
  fi
fi

if ! command -v cargo >/dev/null 2>&1; then
  echo "forge: cargo is missing. Install Rust 1.95 or newer: https://rustup.rs" >&2
  exit 1
fi

# `prepare-system.sh tests`: also gh, a client of code hosts that we did not write. Without it one test skips itself.
if [ "${1:-}" = tests ] && ! command -v gh >/dev/null 2>&1; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq gh || true
  fi
  command -v gh >/dev/null 2>&1 || echo "forge: gh is missing; the test that uses it is skipped" >&2
fi
