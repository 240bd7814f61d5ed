#!/bin/sh
# What runs in a worker's pane: work.sh MODE PROGRAM ARGUMENT...
#
# Runs the agent and says in the status file that it began and how it ended. Modes: `wait` (the agent waits for a
# person), `talk` (it gets its prompt as last argument), `work` (the same, and what it prints is also its log).
# With FORGE_ASSIGNED_BEAD it takes the bead and closes it when the agent ends with 0; with FORGE_MANAGED=1 somebody
# else does both.

mode=$1
shift
worker=$FORGE_WORKER_ID
bead=${FORGE_ASSIGNED_BEAD:-}
status_dir=${FORGE_STATUS_DIR:-$HOME/.forge/status}
logs_dir=${FORGE_LOGS_DIR:-$HOME/.forge/logs}
started_at=$(date -u +%Y-%m-%dT%H:%M:%SZ)

json() {
    printf '"%s"' "$(printf '%s' "$1" | tr '\000-\037' ' ' | sed 's/\\/\\\\/g; s/"/\\"/g')"
}

# report STATUS [EXIT_CODE]: in one step, so that nobody reads half of it.
report() {
    task=null
    [ -z "$bead" ] || task=$(json "$bead")
    draft=$status_dir/.$worker.json.$$
    mkdir -p "$status_dir" && {
        printf '{"worker_id": %s, "status": "%s", "current_task": %s, ' "$(json "$worker")" "$1" "$task"
        printf '"model": %s, "tier": %s, ' "$(json "${FORGE_MODEL:-}")" "$(json "${FORGE_TIER:-standard}")"
        printf '"workspace": %s, "session": %s, ' "$(json "$FORGE_WORKSPACE")" "$(json "$FORGE_SESSION")"
        printf '"pid": %s, "started_at": "%s", ' "$PPID" "$started_at"
        [ -z "${2:-}" ] || printf '"exit_code": %s, ' "$2"
        printf '"last_update": "%s"}\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
    } >"$draft" && mv -f "$draft" "$status_dir/$worker.json"
}

# beads VERB ARGUMENT...: br, or bd where that is all there is.
beads() {
    if command -v br >/dev/null; then
        br "$@"
    elif command -v bd >/dev/null; then
        bd "$@"
    else
        return 127
    fi
}

show_bead() {
    if command -v br >/dev/null; then
        br show "$bead" --format json
    else
        beads show "$bead" --json
    fi
}

prompt() {
    if [ -n "${FORGE_PROMPT_FILE:-}" ]; then
        cat -- "$FORGE_PROMPT_FILE"
        return
    fi
    cat <<TEXT
Work on the bead $bead in this repository until it is done, and commit what you change.
If it cannot be done without another bead, create that one and add it as a dependency.
If you need a person, say why and end with exit code 1.

The bead:
$(show_bead 2>/dev/null || printf '%s\n' "$bead")
TEXT
}

# The agent gets the same signals, and this one outlives it for the last word. What a signal did counts more than the
# code that the agent made of it. The last one told counts: a hang-up is no request of anybody, because the terminal may
# just as well have died, and an interrupt is the agent's affair.
told=
trap '[ "$told" = 143 ] || told=129' HUP
trap 'told=143' TERM
trap 'told=${told:-130}' INT

if [ "$mode" = wait ]; then
    report idle
else
    text=$(prompt) || {
        report failed 1
        exit 1
    }
    # Else it would be taken for an option.
    case $text in -*) text=" $text" ;; esac
    set -- "$@" "$text"
    report active
    if [ -n "$bead" ] && [ "${FORGE_MANAGED:-0}" != 1 ]; then
        beads update "$bead" --status in_progress --assignee "$worker" ||
            printf 'forge: bead %s could not be taken\n' "$bead" >&2
    fi
fi

if [ "$told" = 129 ] || [ "$told" = 143 ]; then
    # Ended before it began.
    code=$told
elif [ "$mode" = work ] && mkdir -p "$logs_dir"; then
    exec 4>&1
    code=$({ { "$@" 3>&- 4>&- </dev/null; printf '%s' "$?" >&3; } | tee -a "$logs_dir/$worker.log" >&4 3>&-; } 3>&1)
else
    "$@"
    code=$?
fi

case $told in
129 | 143) code=$told ;;
esac
# No code: what ended the agent also ended who would have told it. Without a signal that this one saw, it was killed.
code=${code:-${told:-137}}
# Ended by itself, by an interrupt or by a request to end: on purpose. Everything else is a failure.
ended=failed
case $code in
0 | 130 | 143) ended=stopped ;;
esac
if [ "$code" = 0 ] && [ -n "$bead" ] && [ "${FORGE_MANAGED:-0}" != 1 ]; then
    beads close "$bead" --reason "Done by $worker" || printf 'forge: bead %s could not be closed\n' "$bead" >&2
fi
report "$ended" "$code"
exit "$code"
