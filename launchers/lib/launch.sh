# Sourced by the launchers: reads the call, makes the session with the agent in it, prints the answer.
#
# A launcher calls `read_call "$@"`, looks at $model and $prompted, and ends with `launch MODE PROGRAM ARGUMENT...`.

lib=$(CDPATH='' cd -- "$(dirname -- "$(readlink -f -- "$0" 2>/dev/null || printf '%s' "$0")")/lib" && pwd -P)

fail() {
    printf '{"pid": 0, "session": "", "error": %s}\n' "$(json "$1")"
    printf '%s\n' "$1" >&2
    exit 1
}

# A text as a JSON string, on one line.
json() {
    printf '"%s"' "$(printf '%s' "$1" | tr '\000-\037' ' ' | sed 's/\\/\\\\/g; s/"/\\"/g')"
}

# The session name as the only argument, or everything as flags.
read_call() {
    for word in "$@"; do
        case $word in
        --session-name=*) FORGE_SESSION=${word#*=} ;;
        --model=*) FORGE_MODEL=${word#*=} ;;
        --workspace=*) FORGE_WORKSPACE=${word#*=} ;;
        --bead-ref=*) FORGE_ASSIGNED_BEAD=${word#*=} ;;
        --config=*) ;;
        -*) fail "unknown option $word; usage: $(basename -- "$0") SESSION" ;;
        *) FORGE_SESSION=$word ;;
        esac
    done
    [ -n "${FORGE_SESSION:-}" ] || fail "no session name; usage: $(basename -- "$0") SESSION"
    FORGE_WORKER_ID=${FORGE_WORKER_ID:-$FORGE_SESSION}
    FORGE_WORKSPACE=${FORGE_WORKSPACE:-$PWD}
    [ -d "$FORGE_WORKSPACE" ] || fail "the workspace $FORGE_WORKSPACE is no directory"
    model=${FORGE_MODEL:-}
    # Without something to do the agent waits for a person; with it, it works and ends, unless a person wants to talk.
    prompted=
    [ -z "${FORGE_ASSIGNED_BEAD:-}${FORGE_PROMPT_FILE:-}" ] || prompted=work
    [ -z "$prompted" ] || [ "${FORGE_INTERACTIVE:-0}" != 1 ] || prompted=talk
}

# Variables that the agent gets: a session has the tmux server's environment, not this one. What is about a terminal is
# that of the session, and the server's token is nobody's business.
passed_names() {
    awk 'BEGIN {
        count = split("TMUX TMUX_PANE TERM COLUMNS LINES PWD OLDPWD SHLVL _ FORGE_TOKEN", names, " ")
        for (i = 1; i <= count; i++) kept[names[i]] = 1
        for (name in ENVIRON) if (name ~ /^[A-Za-z_][A-Za-z0-9_]*$/ && !(name in kept)) print name
    }'
}

# They go through a file that only this user can read: what stands in a command line can be read by all.
write_variables() {
    variables=$(umask 077 && mktemp "${TMPDIR:-/tmp}/forge-env.XXXXXX") || fail 'no file can be made for the variables'
    for name in $(passed_names); do
        eval "value=\${$name}"
        printf "export %s='%s'\n" "$name" "$(printf '%s' "$value" | sed "s/'/'\\\\''/g")"
    done >"$variables"
}

# launch MODE PROGRAM ARGUMENT...: modes are those of work.sh. FORGE_AGENT_ARGS has further arguments, one per line.
launch() {
    mode=$1 program=$2
    shift 2
    command -v tmux >/dev/null || fail 'tmux is not on the PATH'
    found=$(command -v "$program") || fail "$program is not on the PATH; install it first"
    ! tmux has-session -t "=$FORGE_SESSION" 2>/dev/null || fail "there already is a tmux session $FORGE_SESSION"

    newline='
'
    ifs=$IFS IFS=$newline
    set -f
    # shellcheck disable=SC2086 # one argument per line
    set -- "$@" ${FORGE_AGENT_ARGS:-}
    set +f
    IFS=$ifs

    export FORGE_SESSION FORGE_WORKER_ID FORGE_WORKSPACE
    [ -z "${FORGE_MODEL:-}" ] || export FORGE_MODEL
    [ -z "${FORGE_ASSIGNED_BEAD:-}" ] || export FORGE_ASSIGNED_BEAD
    write_variables
    # Only the first process of a session is told when its terminal goes away. This one waits and dies of it, and that
    # tells the others, of which work.sh has the last word.
    # shellcheck disable=SC2016 # expanded in the session
    set -- -- sh -c 'trap : INT; . "$1"; rm -f "$1"; shift; sh "$0" "$@"; exit "$?"' \
        "$lib/work.sh" "$variables" "$mode" "$found" "$@"
    # The mark is set by the same call, so that the session is nobody's at no time.
    pid=$(tmux new-session -d -P -F '#{pane_pid}' -s "$FORGE_SESSION" -x 200 -y 50 -c "$FORGE_WORKSPACE" \
        -e "FORGE_WORKER_ID=$FORGE_WORKER_ID" "$@" \; \
        set-option @forge_worker_id "$FORGE_WORKER_ID") || {
        rm -f "$variables"
        [ -z "$pid" ] || fail "$program ended at once in $FORGE_WORKSPACE; start it there by hand to see why"
        fail "tmux could not make the session $FORGE_SESSION"
    }

    bead=
    [ -z "${FORGE_ASSIGNED_BEAD:-}" ] || bead=", \"bead_id\": $(json "$FORGE_ASSIGNED_BEAD")"
    printf '{"pid": %s, "session": %s, "model": %s, "message": %s%s}\n' "$pid" "$(json "$FORGE_SESSION")" \
        "$(json "$model")" "$(json "started $program")" "$bead"
}
