-- Whether another file holds a row of the entry: an id can stand in several files, and one of them holds it.
ALTER TABLE file_marks ADD COLUMN is_shared INTEGER NOT NULL DEFAULT 0;
CREATE INDEX shared_marks ON file_marks (file) WHERE is_shared = 1;

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

-- Hides what the digests of deleted words stand for: without it nobody can try words on them.
CREATE TABLE digest_key (key BLOB NOT NULL) STRICT;
INSERT INTO digest_key VALUES (randomblob(32));

-- What a sweep deleted, by its words, times and neighbours.
CREATE TABLE forgotten_words (
  scope  INTEGER NOT NULL REFERENCES scopes ON DELETE CASCADE,
  digest BLOB NOT NULL,
  PRIMARY KEY (scope, digest)
) STRICT, WITHOUT ROWID;

-- A message without a client id is known by a digest of all that its client sent.
ALTER TABLE messages ADD COLUMN content BLOB;
CREATE INDEX message_contents ON messages (session, content) WHERE content IS NOT NULL;
