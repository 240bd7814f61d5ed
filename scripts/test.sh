#!/usr/bin/env bash
# All tests: formatting, lints, unit and integration tests, cross-process tests.
set -euo pipefail
cd "$(dirname "$0")/.."
bash scripts/prepare-system.sh tests

if ! cargo nextest --version >/dev/null 2>&1; then
  cargo install --locked --quiet cargo-nextest
fi
cargo fmt --all --check
cargo clippy --workspace --all-targets --quiet -- -D warnings
# The cross-process tests run the program itself, with a fake agent.
cargo build --quiet -p forge -p forge-tests
cargo nextest run --workspace --no-fail-fast "$@"
# The MCP server, spoken to by the official clients.
npm ci --prefix tests/mcp --no-audit --no-fund --silent
npm test --prefix tests/mcp
