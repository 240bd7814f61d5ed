-- Somebody has to install the agent, log in or give it a key before it can do anything.
ALTER TABLE runs ADD COLUMN setup_required INTEGER NOT NULL DEFAULT 0;
-- Files, as a JSON list, in which the agent left conflicts open; empty when it left none.
ALTER TABLE runs ADD COLUMN open_conflicts TEXT;
