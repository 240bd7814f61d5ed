-- What each run used of each model on each day (UTC). cost_source is told (by the agent) or computed (from prices); both
-- cells are empty when the cost is not known.
CREATE TABLE usage (
    run_id             TEXT    NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    model              TEXT    NOT NULL,
    day                TEXT    NOT NULL,
    attempt_id         TEXT    REFERENCES attempts (id) ON DELETE CASCADE,
    project_id         TEXT    NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    executor           TEXT    NOT NULL,
    input_tokens       INTEGER NOT NULL,
    output_tokens      INTEGER NOT NULL,
    cache_read_tokens  INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    reasoning_tokens   INTEGER NOT NULL,
    cost_microusd      INTEGER,
    cost_source        TEXT,
    PRIMARY KEY (run_id, model, day)
) STRICT;
CREATE INDEX usage_of_attempt ON usage (attempt_id, cost_microusd);
CREATE INDEX usage_of_project ON usage (project_id, day, cost_microusd);
CREATE INDEX usage_by_day ON usage (day, cost_microusd);

ALTER TABLE attempts ADD COLUMN max_cost_microusd INTEGER;
ALTER TABLE projects ADD COLUMN max_cost_microusd INTEGER;

-- Attempts knew only the sum of their runs; it is kept as the use of the newest agent run, of a model without a name.
INSERT INTO usage (run_id, model, day, attempt_id, project_id, executor, input_tokens, output_tokens,
    cache_read_tokens, cache_write_tokens, reasoning_tokens)
SELECT runs.id, '', strftime('%Y-%m-%d', runs.created_ms / 1000, 'unixepoch'), attempts.id, tasks.project_id,
    substr(attempts.executor, 1, instr(attempts.executor || ':', ':') - 1),
    COALESCE(attempts.input_tokens, 0), COALESCE(attempts.output_tokens, 0),
    COALESCE(attempts.cache_read_tokens, 0), COALESCE(attempts.cache_creation_tokens, 0), 0
FROM attempts
JOIN tasks ON tasks.id = attempts.task_id
JOIN runs ON runs.id = (SELECT newest.id FROM runs AS newest
    WHERE newest.attempt_id = attempts.id AND newest.reason = 'codingagent' AND newest.phase = 'ended'
    ORDER BY newest.created_ms DESC, newest.id DESC LIMIT 1)
WHERE attempts.input_tokens IS NOT NULL;
