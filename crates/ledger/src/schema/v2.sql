CREATE TABLE conversations (
  id         INTEGER PRIMARY KEY,
  scope      INTEGER NOT NULL REFERENCES scopes ON DELETE CASCADE,
  name       TEXT NOT NULL,
  owner_kind INTEGER NOT NULL,
  owner      TEXT NOT NULL,
  records    INTEGER NOT NULL DEFAULT 0,
  UNIQUE (scope, name)
) STRICT;
CREATE INDEX owner_conversations ON conversations (scope, owner_kind, owner);

CREATE TABLE records (
  seq          INTEGER PRIMARY KEY,
  conversation INTEGER NOT NULL REFERENCES conversations ON DELETE CASCADE,
  position     INTEGER NOT NULL,
  item         INTEGER,
  body         ANY NOT NULL,
  UNIQUE (conversation, position)
) STRICT;
CREATE UNIQUE INDEX items ON records (conversation, item) WHERE item IS NOT NULL;

CREATE TABLE texts (
  record INTEGER PRIMARY KEY REFERENCES records ON DELETE CASCADE,
  text   ANY NOT NULL
) STRICT;

CREATE TABLE append_keys (
  conversation INTEGER NOT NULL REFERENCES conversations ON DELETE CASCADE,
  key          TEXT NOT NULL,
  records      INTEGER NOT NULL,
  PRIMARY KEY (conversation, key)
) STRICT, WITHOUT ROWID;
