-- What workers used, call by call. A row is open while a later line of its session may sum it up, and superseded when one
-- has; such rows stay, so that a log that is read again does not count them. Nothing here goes with its worker, attempt
-- or project: money is history.
CREATE TABLE calls (
    key                TEXT    NOT NULL PRIMARY KEY,
    standing           TEXT    NOT NULL,
    session            TEXT    NOT NULL,
    source             TEXT    NOT NULL,
    worker_id          TEXT    NOT NULL,
    workspace          TEXT,
    bead               TEXT,
    actor              TEXT,
    attempt_id         TEXT    REFERENCES attempts (id) ON DELETE SET NULL,
    project_id         TEXT    REFERENCES projects (id) ON DELETE SET NULL,
    executor           TEXT,
    model              TEXT    NOT NULL,
    day                TEXT    NOT NULL,
    at_ms              INTEGER NOT NULL,
    call_count         INTEGER NOT NULL,
    input_tokens       INTEGER NOT NULL,
    output_tokens      INTEGER NOT NULL,
    cache_read_tokens  INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    reasoning_tokens   INTEGER NOT NULL,
    cost_microusd      INTEGER,
    cost_source        TEXT,
    latency_ms         INTEGER
) STRICT;
CREATE INDEX calls_of_session ON calls (session, standing);
CREATE INDEX calls_of_attempt ON calls (attempt_id, standing, cost_microusd);
CREATE INDEX calls_of_project ON calls (project_id, day, standing, cost_microusd);
CREATE INDEX calls_by_day ON calls (day, standing, cost_microusd);
CREATE INDEX calls_of_lease ON calls (workspace, bead, actor, standing, cost_microusd);

-- How far each file was read, by the file and not by its name.
CREATE TABLE log_offsets (
    device    INTEGER NOT NULL,
    inode     INTEGER NOT NULL,
    worker_id TEXT    NOT NULL,
    path      TEXT    NOT NULL,
    body      TEXT    NOT NULL,
    PRIMARY KEY (device, inode)
) STRICT;
CREATE INDEX log_offsets_of_worker ON log_offsets (worker_id);

-- The one ledger: what runs and workers used. What was done for a bead is the bead's, whoever did it.
CREATE VIEW spending AS
SELECT usage.run_id AS session, NULL AS worker_id, bead_tasks.workspace AS workspace, bead_tasks.bead AS bead,
    usage.attempt_id AS attempt_id, usage.project_id AS project_id, usage.executor AS executor, usage.model AS model,
    usage.day AS day, usage.input_tokens AS input_tokens, usage.output_tokens AS output_tokens,
    usage.cache_read_tokens AS cache_read_tokens, usage.cache_write_tokens AS cache_write_tokens,
    usage.reasoning_tokens AS reasoning_tokens, usage.cost_microusd AS cost_microusd, NULL AS call_count,
    NULL AS latency_ms, NULL AS at_ms
FROM usage
LEFT JOIN attempts ON attempts.id = usage.attempt_id
LEFT JOIN bead_tasks ON bead_tasks.task_id = attempts.task_id
UNION ALL
SELECT session, worker_id, workspace, bead, attempt_id, project_id, executor, model, day, input_tokens, output_tokens,
    cache_read_tokens, cache_write_tokens, reasoning_tokens, cost_microusd, call_count, latency_ms, at_ms
FROM calls WHERE standing <> 'superseded';

-- Whether a conversation was that of a run.
CREATE INDEX runs_by_session ON runs (session_id) WHERE session_id IS NOT NULL;
