-- The history of the memory files. A change is what one author did at one time, or a run in all.
CREATE TABLE changes (
  id       INTEGER PRIMARY KEY AUTOINCREMENT, -- the order; never used again
  at       INTEGER NOT NULL,                  -- milliseconds since 1970
  run      TEXT,                              -- NULL: by a person
  strategy TEXT,
  reason   TEXT,
  undoes   TEXT,                              -- the run that it undoes
  is_open  INTEGER NOT NULL                   -- an undo whose follow-up is not done yet
) STRICT;
CREATE INDEX changes_of_run ON changes (run) WHERE run IS NOT NULL;
CREATE INDEX changes_undoing ON changes (undoes) WHERE undoes IS NOT NULL;
CREATE INDEX changes_open ON changes (id) WHERE is_open = 1;

CREATE TABLE versioned_files (
  id         INTEGER PRIMARY KEY,
  path       TEXT NOT NULL UNIQUE,
  app        TEXT, project TEXT, owner_kind INTEGER, owner TEXT -- NULL: of no owner
) STRICT;
CREATE INDEX versioned_of_owner ON versioned_files (app, project, owner_kind, owner);

CREATE TABLE versions (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  file        INTEGER NOT NULL REFERENCES versioned_files,
  entry       TEXT NOT NULL,                  -- '': the whole file
  change      INTEGER REFERENCES changes,     -- NULL: found when the history of the entry began
  session     TEXT,
  before      INTEGER,                        -- digests; NULL: not there
  after       INTEGER,
  bytes       INTEGER NOT NULL,
  body        ANY,                            -- text, or a zstd frame; NULL: not kept
  is_unsettled INTEGER NOT NULL               -- announced; nobody has seen yet whether the file has it
) STRICT;
CREATE INDEX versions_of_part ON versions (file, entry, id);
CREATE INDEX versions_of_change ON versions (change);
CREATE INDEX versions_unsettled ON versions (id) WHERE is_unsettled = 1;

-- Files beside memory, as they were last compared.
CREATE TABLE other_files (
  path        TEXT PRIMARY KEY,
  bytes       INTEGER NOT NULL,
  modified_s  INTEGER NOT NULL,
  modified_ns INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
