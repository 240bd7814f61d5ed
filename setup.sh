#!/usr/bin/env bash
# From a fresh clone to a running program: checks the requirements, installs what it may, builds.
# `./setup.sh --check` only checks.
set -euo pipefail
cd "$(dirname "$0")"

case "${1:-}" in
  '' | --check) ;;
  *)
    echo "setup: '$1' is unknown; allowed: --check, or nothing" >&2
    exit 2
    ;;
esac
bash scripts/dev/prepare-system.sh
if [ "${1:-}" = --check ]; then
  echo "Everything that Forge needs is here."
  exit 0
fi
cargo build -p forge
echo "Next: 'npm run dev' to work on Forge, 'npm start' to use it, 'npm test' to test it."
