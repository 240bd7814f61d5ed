#!/usr/bin/env bash
set -euo pipefail

# Arguments
SESSION_NAME="$1"
FORGE_WORKER_ID="${FORGE_WORKER_ID:-worker-default}"
FORGE_MODEL="${FORGE_MODEL:-sonnet}"

# Create tmux session
tmux new-session -d -s "$SESSION_NAME"

# Start agent in session
tmux send-keys -t "$SESSION_NAME" \
    "cd $FORGE_WORKSPACE && $AGENT_COMMAND" Enter

# Output success JSON
cat <<EOF
{
  "pid": $(tmux display-message -p -t "$SESSION_NAME" -F "#{session_pid}"),
  "session": "$SESSION_NAME",
  "model": "$FORGE_MODEL"
}
EOF
