#!/usr/bin/env bash
# All tests: formatting, lints, unit and integration tests, cross-process tests, the contract, the
# TypeScript client, the page in a browser.
set -euo pipefail
cd "$(dirname "$0")/../.."
bash scripts/dev/prepare-system.sh tests

if ! cargo nextest --version >/dev/null 2>&1; then
  cargo install --locked --quiet cargo-nextest
fi
# What was installed is written down there; a changed lock file is newer. The page is built with it, by cargo.
if [ package-lock.json -nt node_modules/.package-lock.json ]; then npm ci --no-audit --no-fund; fi
cargo fmt --all --check
npx --no-install biome check .
cargo clippy --workspace --all-targets --quiet -- -D warnings
# The cross-process tests run the program itself, with a fake agent.
cargo build --quiet -p forge -p forge-tests
cargo nextest run --workspace --no-fail-fast "$@"
# The scripts, and the package as its users get it, around the program that was just built.
node --test scripts/tests/*.test.mjs

node scripts/contract/generate-types.mjs --check
node scripts/contract/check-contract.mjs
npm run --silent test:client
# The MCP server, spoken to by the official clients.
npm ci --prefix tests/mcp --no-audit --no-fund --silent
npm test --prefix tests/mcp
# The page: types, lints and units, then a real browser in front of the program.
npm run --silent test:web
