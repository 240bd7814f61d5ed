-- What the source said of each thing when it was last taken, so that the next import can tell what changed there. Empty for
-- things that were here before the import, which are never changed by one; NULL in rows of earlier versions. at_ms is when
-- it was taken: what was written here after that is the user's.
ALTER TABLE imports ADD COLUMN seen TEXT;
