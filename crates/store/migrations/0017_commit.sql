-- Why the work of this run is not committed; empty when it is, or when there was nothing to commit.
ALTER TABLE runs ADD COLUMN commit_error TEXT;
CREATE INDEX runs_uncommitted ON runs (attempt_id) WHERE commit_error IS NOT NULL;
