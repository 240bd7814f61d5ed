-- What a request led to, under the key that its client gave it. Written together with what it led to.
CREATE TABLE idempotency (
    key TEXT PRIMARY KEY,
    -- Method and path, and the hash of the body: a key belongs to one request.
    route TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    -- What was made, as JSON.
    effect TEXT NOT NULL,
    -- What the client was answered, as JSON; empty while that is not known.
    answer TEXT,
    created_ms BIGINT NOT NULL
);
CREATE INDEX idempotency_created ON idempotency (created_ms);
