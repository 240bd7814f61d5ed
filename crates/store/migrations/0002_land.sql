-- A rebase that is to change an attempt's target branch once it is complete: where the branch was before it, and the
-- commit it goes onto.
CREATE TABLE rebases (
    attempt_id    TEXT    NOT NULL PRIMARY KEY REFERENCES attempts (id) ON DELETE CASCADE,
    target_branch TEXT    NOT NULL,
    tip           TEXT    NOT NULL,
    onto          TEXT    NOT NULL,
    started_ms    INTEGER NOT NULL
) STRICT;
