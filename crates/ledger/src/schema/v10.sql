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
