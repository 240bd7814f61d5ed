CREATE INDEX drafts_waiting ON drafts (attempt_id) WHERE queued = 1 OR sending = 1;

-- hash is that of the content, and name is made from it: one row and one file per content.
CREATE TABLE images (
    id            TEXT    NOT NULL PRIMARY KEY,
    name          TEXT    NOT NULL,
    original_name TEXT    NOT NULL,
    mime_type     TEXT,
    size_bytes    INTEGER NOT NULL,
    hash          TEXT    NOT NULL UNIQUE,
    created_ms    INTEGER NOT NULL,
    updated_ms    INTEGER NOT NULL
) STRICT;

CREATE TABLE task_images (
    task_id  TEXT    NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    image_id TEXT    NOT NULL REFERENCES images (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    PRIMARY KEY (task_id, image_id)
) STRICT;
CREATE INDEX task_images_in_order ON task_images (task_id, position);
CREATE INDEX task_images_of_image ON task_images (image_id);

CREATE TABLE tags (
    id         TEXT    NOT NULL PRIMARY KEY,
    name       TEXT    NOT NULL,
    content    TEXT    NOT NULL,
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX tags_by_name ON tags (name, id);

CREATE TABLE templates (
    id          TEXT    NOT NULL PRIMARY KEY,
    project_id  TEXT    REFERENCES projects (id) ON DELETE CASCADE,
    title       TEXT    NOT NULL,
    description TEXT,
    name        TEXT    NOT NULL,
    created_ms  INTEGER NOT NULL,
    updated_ms  INTEGER NOT NULL
) STRICT;
CREATE INDEX templates_by_name ON templates (name, id);
CREATE INDEX templates_of_project ON templates (project_id, name, id);

CREATE TABLE approvals (
    id          TEXT    NOT NULL PRIMARY KEY,
    run_id      TEXT    REFERENCES runs (id) ON DELETE CASCADE,
    tool_name   TEXT    NOT NULL,
    tool_input  TEXT    NOT NULL,
    call_id     TEXT,
    session_id  TEXT,
    status      TEXT    NOT NULL,
    reason      TEXT,
    created_ms  INTEGER NOT NULL,
    timeout_ms  INTEGER NOT NULL,
    answered_ms INTEGER
) STRICT;
CREATE INDEX approvals_of_run ON approvals (run_id, status);
CREATE INDEX approvals_by_due ON approvals (status, timeout_ms, id);
