-- Half a digest tells the messages of a session apart.
UPDATE messages SET content = substr(content, 1, 16) WHERE content IS NOT NULL;
