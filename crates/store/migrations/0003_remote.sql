-- auto_pr is waiting, opened or failed; its note is the address of the pull request or why there is none.
ALTER TABLE attempts ADD COLUMN auto_pr TEXT;
ALTER TABLE attempts ADD COLUMN auto_pr_note TEXT;
CREATE INDEX attempts_to_publish ON attempts (created_ms, id) WHERE auto_pr = 'waiting';

CREATE INDEX merges_open ON merges (created_ms, id) WHERE pr_status = 'open';

-- Where a task came from. One task per issue and project.
CREATE TABLE issues (
    task_id    TEXT    NOT NULL PRIMARY KEY REFERENCES tasks (id) ON DELETE CASCADE,
    project_id TEXT    NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    repository TEXT    NOT NULL,
    number     INTEGER NOT NULL,
    url        TEXT    NOT NULL,
    UNIQUE (project_id, repository, number)
) STRICT;
