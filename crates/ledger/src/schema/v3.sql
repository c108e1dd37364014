CREATE TABLE runs (
  seq               INTEGER PRIMARY KEY,
  id                TEXT NOT NULL UNIQUE,
  strategy          TEXT NOT NULL,
  scope             INTEGER NOT NULL REFERENCES scopes ON DELETE CASCADE,
  owner_kind        INTEGER,
  owner             TEXT,
  subject           TEXT NOT NULL,
  session           TEXT,
  cause             TEXT NOT NULL,
  reason            TEXT NOT NULL,
  state             TEXT NOT NULL,
  head              INTEGER NOT NULL DEFAULT 0,
  due               INTEGER NOT NULL,
  attempt           INTEGER NOT NULL DEFAULT 0,
  created           INTEGER NOT NULL,
  started           INTEGER,
  finished          INTEGER,
  calls             INTEGER NOT NULL DEFAULT 0,
  prompt_tokens     INTEGER NOT NULL DEFAULT 0,
  completion_tokens INTEGER NOT NULL DEFAULT 0,
  millis            INTEGER NOT NULL DEFAULT 0,
  change            TEXT NOT NULL DEFAULT '',
  error             TEXT
) STRICT;
CREATE INDEX run_heads ON runs (due, seq) WHERE head = 1;
CREATE INDEX lanes ON runs (scope, strategy, owner_kind, owner, due) WHERE finished IS NULL;
CREATE INDEX waiting_work ON runs (scope, strategy, owner_kind, owner, subject) WHERE state <> 'success';
CREATE INDEX owner_runs ON runs (scope, owner_kind, owner);
CREATE INDEX session_runs ON runs (scope, session) WHERE session IS NOT NULL;
CREATE INDEX standing_runs ON runs (state, created) WHERE state <> 'success';
CREATE INDEX finished_runs ON runs (finished) WHERE state = 'success';

CREATE TABLE run_counters (
  scope      INTEGER NOT NULL REFERENCES scopes ON DELETE CASCADE,
  strategy   TEXT NOT NULL,
  owner_kind INTEGER,
  owner      TEXT,
  subject    TEXT NOT NULL,
  count      INTEGER NOT NULL,
  fired      INTEGER
) STRICT;
CREATE INDEX counters ON run_counters (scope, strategy, owner_kind, owner, subject);
CREATE INDEX owner_counters ON run_counters (scope, owner_kind, owner);

CREATE TABLE spending (
  day               TEXT PRIMARY KEY,
  calls             INTEGER NOT NULL,
  prompt_tokens     INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
