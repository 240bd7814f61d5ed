-- Times are milliseconds since 1970, ids are hyphenated UUIDs, booleans are 0 or 1.

CREATE TABLE meta (
    key   TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

CREATE TABLE projects (
    id                  TEXT    NOT NULL PRIMARY KEY,
    name                TEXT    NOT NULL,
    git_repo_path       TEXT    NOT NULL UNIQUE,
    setup_script        TEXT,
    dev_script          TEXT,
    cleanup_script      TEXT,
    copy_files          TEXT,
    commit_prompt       TEXT,
    default_base_branch TEXT,
    created_ms          INTEGER NOT NULL,
    updated_ms          INTEGER NOT NULL
) STRICT;
CREATE INDEX projects_newest ON projects (created_ms DESC, id);

-- From running_count on the columns follow from attempts, runs and merges; every commit brings them up to date.
-- document is the whole row as lists show it, so that a list of thousands is read without taking rows apart.
CREATE TABLE tasks (
    id                TEXT    NOT NULL PRIMARY KEY,
    project_id        TEXT    NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    title             TEXT    NOT NULL,
    description       TEXT,
    status            TEXT    NOT NULL,
    parent_attempt_id TEXT    REFERENCES attempts (id) ON DELETE SET NULL,
    hidden            INTEGER NOT NULL,
    created_ms        INTEGER NOT NULL,
    updated_ms        INTEGER NOT NULL,
    running_count     INTEGER NOT NULL DEFAULT 0,
    merged            INTEGER NOT NULL DEFAULT 0,
    last_failed       INTEGER NOT NULL DEFAULT 0,
    executor          TEXT    NOT NULL DEFAULT '',
    attempt_count     INTEGER NOT NULL DEFAULT 0,
    document          TEXT    NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX tasks_newest ON tasks (project_id, hidden, created_ms DESC, id);
CREATE INDEX tasks_of_parent ON tasks (parent_attempt_id, created_ms DESC, id) WHERE parent_attempt_id IS NOT NULL;

CREATE TABLE attempts (
    id                    TEXT    NOT NULL PRIMARY KEY,
    task_id               TEXT    NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    container_ref         TEXT,
    branch                TEXT    NOT NULL,
    target_branch         TEXT    NOT NULL,
    executor              TEXT    NOT NULL,
    model                 TEXT,
    worktree_deleted      INTEGER NOT NULL,
    setup_completed_ms    INTEGER,
    input_tokens          INTEGER,
    output_tokens         INTEGER,
    cache_creation_tokens INTEGER,
    cache_read_tokens     INTEGER,
    created_ms            INTEGER NOT NULL,
    updated_ms            INTEGER NOT NULL,
    use_worktree          INTEGER NOT NULL
) STRICT;
CREATE INDEX attempts_newest ON attempts (created_ms DESC, id);
CREATE INDEX attempts_of_task ON attempts (task_id, created_ms DESC, id);
CREATE INDEX attempts_by_path ON attempts (container_ref, created_ms DESC, id);
CREATE INDEX attempts_by_use ON attempts (worktree_deleted, use_worktree, updated_ms);

CREATE TABLE errands (
    id               TEXT    NOT NULL PRIMARY KEY,
    project_id       TEXT    NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    branch           TEXT    NOT NULL,
    target_branch    TEXT    NOT NULL,
    executor         TEXT    NOT NULL,
    variant          TEXT,
    container_ref    TEXT,
    prompt           TEXT    NOT NULL,
    worktree_deleted INTEGER NOT NULL,
    created_ms       INTEGER NOT NULL,
    updated_ms       INTEGER NOT NULL
) STRICT;
CREATE INDEX errands_newest ON errands (created_ms DESC, id);
CREATE INDEX errands_of_project ON errands (project_id, created_ms DESC, id);

CREATE TABLE runs (
    id           TEXT    NOT NULL PRIMARY KEY,
    attempt_id   TEXT    REFERENCES attempts (id) ON DELETE CASCADE,
    errand_id    TEXT    REFERENCES errands (id) ON DELETE CASCADE,
    reason       TEXT    NOT NULL,
    action       TEXT    NOT NULL,
    before_head  TEXT,
    after_head   TEXT,
    status       TEXT    NOT NULL,
    phase        TEXT    NOT NULL,
    exit_code    INTEGER,
    dropped      INTEGER NOT NULL,
    session_id   TEXT,
    summary      TEXT,
    started_ms   INTEGER NOT NULL,
    completed_ms INTEGER,
    created_ms   INTEGER NOT NULL,
    updated_ms   INTEGER NOT NULL,
    CHECK ((attempt_id IS NULL) <> (errand_id IS NULL))
) STRICT;
CREATE INDEX runs_of_attempt ON runs (attempt_id, created_ms, id);
CREATE INDEX runs_of_errand ON runs (errand_id, created_ms, id);
CREATE INDEX runs_by_phase ON runs (phase, created_ms, id);

CREATE TABLE merges (
    id               TEXT    NOT NULL PRIMARY KEY,
    attempt_id       TEXT    NOT NULL REFERENCES attempts (id) ON DELETE CASCADE,
    kind             TEXT    NOT NULL,
    target_branch    TEXT    NOT NULL,
    merge_commit     TEXT,
    pr_number        INTEGER,
    pr_url           TEXT,
    pr_status        TEXT,
    pr_merged_ms     INTEGER,
    created_ms       INTEGER NOT NULL
) STRICT;
CREATE INDEX merges_of_attempt ON merges (attempt_id, created_ms DESC, id);

CREATE TABLE drafts (
    id           TEXT    NOT NULL PRIMARY KEY,
    attempt_id   TEXT    NOT NULL REFERENCES attempts (id) ON DELETE CASCADE,
    kind         TEXT    NOT NULL,
    retry_run_id TEXT,
    prompt       TEXT    NOT NULL,
    queued       INTEGER NOT NULL,
    sending      INTEGER NOT NULL,
    variant      TEXT,
    image_ids    TEXT,
    created_ms   INTEGER NOT NULL,
    updated_ms   INTEGER NOT NULL,
    version      INTEGER NOT NULL,
    UNIQUE (attempt_id, kind)
) STRICT;

-- A number that was given away is never given again: pruning always leaves the newest event.
CREATE TABLE events (
    seq        INTEGER PRIMARY KEY,
    at_ms      INTEGER NOT NULL,
    kind       TEXT    NOT NULL,
    project_id TEXT,
    attempt_id TEXT,
    body       TEXT    NOT NULL
) STRICT;
