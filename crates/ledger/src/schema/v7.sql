-- What a sweep deleted and no import may bring back: digests of client ids, and of sessions that lost their title.
CREATE TABLE forgotten (
  scope  INTEGER NOT NULL REFERENCES scopes ON DELETE CASCADE,
  digest BLOB NOT NULL,
  PRIMARY KEY (scope, digest)
) STRICT, WITHOUT ROWID;
