CREATE TABLE scopes (
  id      INTEGER PRIMARY KEY,
  app     TEXT NOT NULL,
  project TEXT NOT NULL,
  UNIQUE (app, project)
) STRICT;

CREATE TABLE sessions (
  id           INTEGER PRIMARY KEY,
  scope        INTEGER NOT NULL REFERENCES scopes ON DELETE CASCADE,
  name         TEXT NOT NULL,
  next_ordinal INTEGER NOT NULL DEFAULT 0,
  buffered     INTEGER NOT NULL DEFAULT 0 CHECK (buffered >= 0),
  touched      INTEGER NOT NULL DEFAULT 0,
  UNIQUE (scope, name)
) STRICT;
CREATE INDEX open_sessions ON sessions (touched) WHERE buffered > 0;

CREATE TABLE events (
  seq     INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  kind    TEXT NOT NULL,
  payload TEXT NOT NULL,
  UNIQUE (session, ordinal)
) STRICT;

CREATE TABLE cells (
  seq     INTEGER PRIMARY KEY,
  id      TEXT NOT NULL UNIQUE,
  session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
  reason  TEXT NOT NULL
) STRICT;
CREATE INDEX session_cells ON cells (session);

CREATE TABLE messages (
  seq          INTEGER PRIMARY KEY REFERENCES events ON DELETE CASCADE,
  scope        INTEGER NOT NULL,
  session      INTEGER NOT NULL,
  id           TEXT NOT NULL,
  client_id    TEXT,
  time         INTEGER NOT NULL,
  speaker_kind INTEGER NOT NULL,
  speaker      TEXT NOT NULL,
  cell         INTEGER REFERENCES cells,
  UNIQUE (scope, id)
) STRICT;
CREATE UNIQUE INDEX client_ids ON messages (session, client_id) WHERE client_id IS NOT NULL;
CREATE INDEX buffers ON messages (session, time) WHERE cell IS NULL;
CREATE INDEX cell_messages ON messages (cell, time) WHERE cell IS NOT NULL;

CREATE TABLE cell_owners (
  cell    INTEGER NOT NULL REFERENCES cells ON DELETE CASCADE,
  place   INTEGER NOT NULL,
  scope   INTEGER NOT NULL,
  kind    INTEGER NOT NULL,
  name    TEXT NOT NULL,
  written INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (cell, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX owner_cells ON cell_owners (scope, kind, name, written);

CREATE TABLE speakers (
  session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
  kind    INTEGER NOT NULL,
  name    TEXT NOT NULL,
  scope   INTEGER NOT NULL,
  open    INTEGER NOT NULL,
  PRIMARY KEY (session, kind, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX owner_sessions ON speakers (scope, kind, name, open);

CREATE TABLE jobs (
  seq      INTEGER PRIMARY KEY,
  id       TEXT NOT NULL UNIQUE,
  scope    INTEGER NOT NULL,
  session  INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
  kind     TEXT NOT NULL,
  subject  TEXT NOT NULL,
  state    TEXT NOT NULL,
  head     INTEGER NOT NULL,
  due      INTEGER NOT NULL,
  attempt  INTEGER NOT NULL DEFAULT 0,
  error    TEXT,
  created  INTEGER NOT NULL,
  finished INTEGER
) STRICT;
CREATE INDEX job_heads ON jobs (seq, due) WHERE head = 1;
CREATE INDEX unfinished_jobs ON jobs (session, seq) WHERE finished IS NULL;
CREATE INDEX session_jobs ON jobs (session);
CREATE INDEX scope_jobs ON jobs (scope);
CREATE INDEX standing_jobs ON jobs (state, created) WHERE state <> 'success';
CREATE INDEX finished_jobs ON jobs (finished) WHERE state = 'success';

CREATE TABLE files (
  id          INTEGER PRIMARY KEY,
  path        TEXT NOT NULL UNIQUE,
  app         TEXT NOT NULL,
  project     TEXT NOT NULL,
  owner_kind  INTEGER NOT NULL,
  owner       TEXT NOT NULL,
  bytes       INTEGER NOT NULL,
  modified_s  INTEGER NOT NULL,
  modified_ns INTEGER NOT NULL,
  problem     TEXT
) STRICT;
CREATE INDEX broken_files ON files (path) WHERE problem IS NOT NULL;

CREATE TABLE file_marks (
  file   INTEGER NOT NULL REFERENCES files ON DELETE CASCADE,
  entry  TEXT NOT NULL,
  digest INTEGER NOT NULL,
  docs   TEXT NOT NULL,
  PRIMARY KEY (file, entry)
) STRICT, WITHOUT ROWID;

CREATE TABLE erasures (
  id INTEGER PRIMARY KEY
) STRICT;
