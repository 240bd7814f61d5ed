-- What of an alert has left Forge: a row per severity that it had. A row without a due time is settled; it stays, so that
-- the same is not sent again. Alerts from before this are no news.
CREATE TABLE alert_deliveries (
    alert_id TEXT    NOT NULL REFERENCES alerts (id) ON DELETE CASCADE,
    severity TEXT    NOT NULL,
    tries    INTEGER NOT NULL DEFAULT 0,
    due_ms   INTEGER,
    error    TEXT,
    PRIMARY KEY (alert_id, severity)
) STRICT;
CREATE INDEX alert_deliveries_due ON alert_deliveries (due_ms) WHERE due_ms IS NOT NULL;

INSERT INTO alert_deliveries (alert_id, severity) SELECT id, json_quote(json_extract(body, '$.severity')) FROM alerts;

-- The names under which this installation ever took a bead. Another one on the same machine has names that look the same.
CREATE TABLE lease_actors (
    actor    TEXT    NOT NULL PRIMARY KEY,
    taken_ms INTEGER NOT NULL
) STRICT;
INSERT OR IGNORE INTO lease_actors (actor, taken_ms) SELECT actor, taken_ms FROM leases;
