-- Whether another file holds a row of the entry: an id can stand in several files, and one of them holds it.
ALTER TABLE file_marks ADD COLUMN is_shared INTEGER NOT NULL DEFAULT 0;
CREATE INDEX shared_marks ON file_marks (file) WHERE is_shared = 1;
