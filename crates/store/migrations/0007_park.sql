-- When the provider, which does not serve this run for now, will serve it again; kept after the run went on.
ALTER TABLE runs ADD COLUMN parked_until_ms INTEGER;
-- The agent says that it is done, and nothing shows that it did anything.
ALTER TABLE runs ADD COLUMN unverified INTEGER NOT NULL DEFAULT 0;
