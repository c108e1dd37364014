-- What a model server stores for an owner: the ids of responses and their items, in order of arrival.
CREATE TABLE objects (
  seq        INTEGER PRIMARY KEY,
  scope      INTEGER NOT NULL REFERENCES scopes ON DELETE CASCADE,
  owner_kind INTEGER NOT NULL,
  owner      TEXT NOT NULL,
  id         TEXT NOT NULL,
  UNIQUE (scope, owner_kind, owner, id)
) STRICT;
CREATE INDEX objects_of_owner ON objects (scope, owner_kind, owner, seq);
