-- Settings that a project has of its own; those for all projects are in meta.
CREATE TABLE project_settings (
    project_id   TEXT    NOT NULL PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
    omni_enabled INTEGER NOT NULL,
    omni_config  TEXT
) STRICT;

CREATE TABLE agents (
    id         TEXT    NOT NULL PRIMARY KEY,
    project_id TEXT    NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    agent_type TEXT    NOT NULL,
    task_id    TEXT    NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL
) STRICT;
-- Chats are many; of every other type a project has one.
CREATE UNIQUE INDEX agents_one_of_a_type ON agents (project_id, agent_type) WHERE agent_type <> 'genie_chat';
CREATE INDEX agents_of_project ON agents (project_id, created_ms DESC, id);
CREATE INDEX agents_of_task ON agents (task_id);

-- One per attempt, ever. due_ms is when it is to be tried (again).
CREATE TABLE notifications (
    id            TEXT    NOT NULL PRIMARY KEY,
    task_id       TEXT    NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    attempt_id    TEXT    NOT NULL UNIQUE REFERENCES attempts (id) ON DELETE CASCADE,
    kind          TEXT    NOT NULL,
    status        TEXT    NOT NULL,
    message       TEXT    NOT NULL,
    error_message TEXT,
    metadata      TEXT    NOT NULL,
    tries         INTEGER NOT NULL,
    due_ms        INTEGER NOT NULL,
    sent_ms       INTEGER,
    created_ms    INTEGER NOT NULL
) STRICT;
CREATE INDEX notifications_due ON notifications (status, due_ms, id);
CREATE INDEX notifications_newest ON notifications (created_ms DESC, id);
CREATE INDEX notifications_of_task ON notifications (task_id);
