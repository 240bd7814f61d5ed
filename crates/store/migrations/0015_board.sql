-- A list of words as JSON.
ALTER TABLE tasks ADD COLUMN labels TEXT NOT NULL DEFAULT '[]';

-- What an attempt changed against its target; empty until it was counted.
ALTER TABLE attempts ADD COLUMN files_changed INTEGER;
ALTER TABLE attempts ADD COLUMN additions INTEGER;
ALTER TABLE attempts ADD COLUMN deletions INTEGER;
