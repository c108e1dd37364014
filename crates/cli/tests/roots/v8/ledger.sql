-- What version 8 of the ledger held in this root. Never edited: it stands for roots out there.
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE scopes (
  id      INTEGER PRIMARY KEY,
  app     TEXT NOT NULL,
  project TEXT NOT NULL,
  UNIQUE (app, project)
) STRICT;
INSERT INTO scopes VALUES(1,'default','default');
INSERT INTO scopes VALUES(2,'default','boat');
CREATE TABLE sessions (
  id           INTEGER PRIMARY KEY,
  scope        INTEGER NOT NULL REFERENCES scopes ON DELETE CASCADE,
  name         TEXT NOT NULL,
  next_ordinal INTEGER NOT NULL DEFAULT 0,
  buffered     INTEGER NOT NULL DEFAULT 0 CHECK (buffered >= 0),
  touched      INTEGER NOT NULL DEFAULT 0, title TEXT,
  UNIQUE (scope, name)
) STRICT;
INSERT INTO sessions VALUES(1,1,'home',2,2,1795795947357,NULL);
INSERT INTO sessions VALUES(2,1,'hives',1,0,1795795947669,NULL);
INSERT INTO sessions VALUES(3,1,'move',1,0,1795795948446,NULL);
INSERT INTO sessions VALUES(4,2,'sails',1,0,1795795950305,NULL);
CREATE TABLE events (
  seq     INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  kind    TEXT NOT NULL,
  payload TEXT NOT NULL,
  UNIQUE (session, ordinal)
) STRICT;
INSERT INTO events VALUES(1,1,0,'message','{"id":"m_20240301_3zsjvrbqbtpf9","sender":"ana","role":"user","time":1709287200000,"content":{"text":"I live in Berlin with my sister Mia."}}');
INSERT INTO events VALUES(2,1,1,'message','{"id":"m_20240301_d5rsfm50h72a4","sender":"assistant","role":"assistant","time":1709287260000,"content":{"text":"Noted: Berlin, with Mia."}}');
INSERT INTO events VALUES(3,2,0,'message','{"id":"m_20250801_3qhtxp99ds36w","sender":"ana","role":"user","time":1754035200000,"content":{"text":"I keep bees in Ghent."}}');
INSERT INTO events VALUES(4,3,0,'message','{"id":"m_20250901_fbdg0ppqbjb76","sender":"ana","role":"user","time":1756717200000,"content":{"text":"I moved to Lisbon. I adopted a parrot named Kiko."}}');
INSERT INTO events VALUES(5,4,0,'message','{"id":"m_20251005_2d426bn1m849p","sender":"ben","role":"user","time":1759694400000,"content":{"text":"I sail a Folkboat called Marula on Sundays."}}');
CREATE TABLE cells (
  seq     INTEGER PRIMARY KEY,
  id      TEXT NOT NULL UNIQUE,
  session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
  reason  TEXT NOT NULL
) STRICT;
INSERT INTO cells VALUES(1,'mc_20250801_5d2wrnjr8neqd',2,'flush');
INSERT INTO cells VALUES(2,'mc_20250901_5a01q0n3yysq8',3,'flush');
INSERT INTO cells VALUES(3,'mc_20251005_8gv9bem1kg8p5',4,'flush');
CREATE TABLE messages (
  seq          INTEGER PRIMARY KEY REFERENCES events ON DELETE CASCADE,
  scope        INTEGER NOT NULL,
  session      INTEGER NOT NULL,
  id           TEXT NOT NULL,
  client_id    TEXT,
  time         INTEGER NOT NULL,
  speaker_kind INTEGER NOT NULL,
  speaker      TEXT NOT NULL,
  cell         INTEGER REFERENCES cells, content BLOB,
  UNIQUE (scope, id)
) STRICT;
INSERT INTO messages VALUES(1,1,1,'m_20240301_3zsjvrbqbtpf9',NULL,1709287200000,0,'ana',NULL,X'ca555dc6404ebabd37914e91820b38c07b36db84fb1710563f61507cd21ac789');
INSERT INTO messages VALUES(2,1,1,'m_20240301_d5rsfm50h72a4',NULL,1709287260000,1,'assistant',NULL,X'2ca8c76115f403208f4bc822353d8f12e9b1a470ba072022685eaf2fd81b0fd1');
INSERT INTO messages VALUES(3,1,2,'m_20250801_3qhtxp99ds36w',NULL,1754035200000,0,'ana',1,X'acb1353abb9daf9cf3fdccb21ad6172068aef6085c6331f459f2f68b629864be');
INSERT INTO messages VALUES(4,1,3,'m_20250901_fbdg0ppqbjb76',NULL,1756717200000,0,'ana',2,X'61d6672cb3fff2dcfc0ad355d519f4bcde73a3381b9ccc92361d0c884c7c48f1');
INSERT INTO messages VALUES(5,2,4,'m_20251005_2d426bn1m849p',NULL,1759694400000,0,'ben',3,X'5d8818f6c25e81fcc97266ca84d2d8e3b178bbf3558d38ec46122871cada68f0');
CREATE TABLE cell_owners (
  cell    INTEGER NOT NULL REFERENCES cells ON DELETE CASCADE,
  place   INTEGER NOT NULL,
  scope   INTEGER NOT NULL,
  kind    INTEGER NOT NULL,
  name    TEXT NOT NULL,
  written INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (cell, place)
) STRICT, WITHOUT ROWID;
INSERT INTO cell_owners VALUES(1,0,1,0,'ana',1);
INSERT INTO cell_owners VALUES(2,0,1,0,'ana',1);
INSERT INTO cell_owners VALUES(3,0,2,0,'ben',1);
CREATE TABLE speakers (
  session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
  kind    INTEGER NOT NULL,
  name    TEXT NOT NULL,
  scope   INTEGER NOT NULL,
  open    INTEGER NOT NULL,
  PRIMARY KEY (session, kind, name)
) STRICT, WITHOUT ROWID;
INSERT INTO speakers VALUES(2,0,'ana',1,0);
INSERT INTO speakers VALUES(3,0,'ana',1,0);
INSERT INTO speakers VALUES(1,0,'ana',1,1);
INSERT INTO speakers VALUES(1,1,'assistant',1,1);
INSERT INTO speakers VALUES(4,0,'ben',2,0);
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
INSERT INTO jobs VALUES(1,'568b98acb08abaede2c2d28f365b27bb',1,2,'write_cell','mc_20250801_5d2wrnjr8neqd','success',0,1795796547699,1,NULL,1795795947698,1795795948110);
INSERT INTO jobs VALUES(2,'5500370547ef66e86cd956d982bbb931',1,3,'write_cell','mc_20250901_5a01q0n3yysq8','success',0,1795796548500,1,NULL,1795795948494,1795795948763);
INSERT INTO jobs VALUES(3,'886d2b75033822c5524871d8fa7d019c',2,4,'write_cell','mc_20251005_8gv9bem1kg8p5','success',0,1795796550356,1,NULL,1795795950354,1795795950587);
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
INSERT INTO files VALUES(1,'default/default/users/ana/facts/2025-08-01.md','default','default',0,'ana',182,1795795947,738127368,NULL);
INSERT INTO files VALUES(2,'default/default/users/ana/episodes/2025-08-01.md','default','default',0,'ana',264,1795795947,750127368,NULL);
INSERT INTO files VALUES(3,'default/default/users/ana/facts/2025-09-01.md','default','default',0,'ana',346,1795795951,482127525,NULL);
INSERT INTO files VALUES(4,'default/default/users/ana/episodes/2025-09-01.md','default','default',0,'ana',330,1795795948,662127406,NULL);
INSERT INTO files VALUES(5,'default/boat/users/ben/episodes/2025-10-05.md','default','boat',0,'ben',333,1795795950,394127480,NULL);
INSERT INTO files VALUES(6,'default/default/users/ana/profile/profile.md','default','default',0,'ana',367,1795795951,162127512,NULL);
CREATE TABLE file_marks (
  file   INTEGER NOT NULL REFERENCES files ON DELETE CASCADE,
  entry  TEXT NOT NULL,
  digest INTEGER NOT NULL,
  docs   TEXT NOT NULL, is_shared INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (file, entry)
) STRICT, WITHOUT ROWID;
INSERT INTO file_marks VALUES(1,'af_20250801_5d2wrnjr8neqd_0',-4564266359490602104,'["af_20250801_5d2wrnjr8neqd_0"]',0);
INSERT INTO file_marks VALUES(2,'ep_20250801_5d2wrnjr8neqd',-753894479599755032,'["ep_20250801_5d2wrnjr8neqd","m_20250801_3qhtxp99ds36w"]',0);
INSERT INTO file_marks VALUES(3,'af_20250901_5a01q0n3yysq8_0',5906916114927161738,'["af_20250901_5a01q0n3yysq8_0"]',0);
INSERT INTO file_marks VALUES(3,'af_20250901_5a01q0n3yysq8_1',2753313084301143549,'["af_20250901_5a01q0n3yysq8_1"]',0);
INSERT INTO file_marks VALUES(3,'af_hand_788b9f146b8a3ae9',-5426740333861804738,'["af_hand_788b9f146b8a3ae9"]',0);
INSERT INTO file_marks VALUES(4,'ep_20250901_5a01q0n3yysq8',-6159420790391283457,'["ep_20250901_5a01q0n3yysq8","m_20250901_fbdg0ppqbjb76"]',0);
INSERT INTO file_marks VALUES(5,'ep_20251005_8gv9bem1kg8p5',-3413937252241131839,'["ep_20251005_8gv9bem1kg8p5","m_20251005_2d426bn1m849p"]',0);
INSERT INTO file_marks VALUES(6,'pf_53f7683b05ea2c91',-3453235214436362444,'["pf_53f7683b05ea2c91"]',0);
INSERT INTO file_marks VALUES(6,'pf_e8ac6f7a19ecc882',2374034796187696133,'["pf_e8ac6f7a19ecc882"]',0);
CREATE TABLE erasures (
  id INTEGER PRIMARY KEY
) STRICT;
CREATE TABLE conversations (
  id         INTEGER PRIMARY KEY,
  scope      INTEGER NOT NULL REFERENCES scopes ON DELETE CASCADE,
  name       TEXT NOT NULL,
  owner_kind INTEGER NOT NULL,
  owner      TEXT NOT NULL,
  records    INTEGER NOT NULL DEFAULT 0,
  UNIQUE (scope, name)
) STRICT;
CREATE TABLE records (
  seq          INTEGER PRIMARY KEY,
  conversation INTEGER NOT NULL REFERENCES conversations ON DELETE CASCADE,
  position     INTEGER NOT NULL,
  item         INTEGER,
  body         ANY NOT NULL,
  UNIQUE (conversation, position)
) STRICT;
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
INSERT INTO runs VALUES(1,'r_5c380105d017f6ed','extract_user_profile',1,0,'ana','',NULL,'manual','asked for by hand','success',0,1795798350919,1,1795795948108,1795795950919,1795795951450,0,0,0,511,'2 statements added, 0 removed',NULL);
INSERT INTO runs VALUES(2,'r_81d1f7f36a4efba4','extract_user_profile',2,0,'ben','','sails','manual','asked for by hand','success',0,1795798350919,1,1795795950557,1795795950919,1795795951119,0,0,0,187,'0 statements added, 0 removed',NULL);
INSERT INTO runs VALUES(3,'r_36b1a7ce18f4e3b5','reflect_episodes',1,NULL,NULL,'',NULL,'cron','the next time of `0 2 * * 1`','queued',1,1796004000000,0,1795795950904,NULL,NULL,0,0,0,0,'',NULL);
INSERT INTO runs VALUES(4,'r_b8189a3b53cee74c','dream',1,NULL,NULL,'',NULL,'cron','the next time of `30 3 * * *`','queued',1,1795836600000,0,1795795950904,NULL,NULL,0,0,0,0,'',NULL);
CREATE TABLE run_counters (
  scope      INTEGER NOT NULL REFERENCES scopes ON DELETE CASCADE,
  strategy   TEXT NOT NULL,
  owner_kind INTEGER,
  owner      TEXT,
  subject    TEXT NOT NULL,
  count      INTEGER NOT NULL,
  fired      INTEGER
) STRICT;
INSERT INTO run_counters VALUES(1,'dream',0,'ana','',3,NULL);
INSERT INTO run_counters VALUES(2,'dream',0,'ben','',1,NULL);
CREATE TABLE spending (
  day               TEXT PRIMARY KEY,
  calls             INTEGER NOT NULL,
  prompt_tokens     INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE forgotten (
  scope  INTEGER NOT NULL REFERENCES scopes ON DELETE CASCADE,
  digest BLOB NOT NULL,
  PRIMARY KEY (scope, digest)
) STRICT, WITHOUT ROWID;
INSERT INTO forgotten VALUES(1,X'b60de3f6c0235fe58b133914cc54fd383226069243e24936b6312a97cd63fbb2');
CREATE TABLE objects (
  seq        INTEGER PRIMARY KEY,
  scope      INTEGER NOT NULL REFERENCES scopes ON DELETE CASCADE,
  owner_kind INTEGER NOT NULL,
  owner      TEXT NOT NULL,
  id         TEXT NOT NULL,
  UNIQUE (scope, owner_kind, owner, id)
) STRICT;
CREATE TABLE digest_key (key BLOB NOT NULL) STRICT;
INSERT INTO digest_key VALUES(X'91f1699e200522141eebecab6e7c47d4b4c398b48aedee17585a8822e8ad43fe');
CREATE TABLE forgotten_words (
  scope  INTEGER NOT NULL REFERENCES scopes ON DELETE CASCADE,
  digest BLOB NOT NULL,
  PRIMARY KEY (scope, digest)
) STRICT, WITHOUT ROWID;
INSERT INTO forgotten_words VALUES(1,X'0cbbb1e3e264b475a55ad7b37e42bc94637c19b0ec62225e62a7c48812a19753');
INSERT INTO forgotten_words VALUES(1,X'2a8d53f4ba8ac37220a3ff5c6713b9bcfb0619e488aa38bd6303aee9bfe80ceb');
INSERT INTO forgotten_words VALUES(1,X'bad7760d01d9f3f72eb724d4a39e17499bb20bceb19913738c4e217561c799b9');
CREATE INDEX open_sessions ON sessions (touched) WHERE buffered > 0;
CREATE INDEX session_cells ON cells (session);
CREATE UNIQUE INDEX client_ids ON messages (session, client_id) WHERE client_id IS NOT NULL;
CREATE INDEX buffers ON messages (session, time) WHERE cell IS NULL;
CREATE INDEX cell_messages ON messages (cell, time) WHERE cell IS NOT NULL;
CREATE INDEX owner_cells ON cell_owners (scope, kind, name, written);
CREATE INDEX owner_sessions ON speakers (scope, kind, name, open);
CREATE INDEX job_heads ON jobs (seq, due) WHERE head = 1;
CREATE INDEX unfinished_jobs ON jobs (session, seq) WHERE finished IS NULL;
CREATE INDEX session_jobs ON jobs (session);
CREATE INDEX scope_jobs ON jobs (scope);
CREATE INDEX standing_jobs ON jobs (state, created) WHERE state <> 'success';
CREATE INDEX finished_jobs ON jobs (finished) WHERE state = 'success';
CREATE INDEX broken_files ON files (path) WHERE problem IS NOT NULL;
CREATE INDEX owner_conversations ON conversations (scope, owner_kind, owner);
CREATE UNIQUE INDEX items ON records (conversation, item) WHERE item IS NOT NULL;
CREATE INDEX run_heads ON runs (due, seq) WHERE head = 1;
CREATE INDEX waiting_work ON runs (scope, strategy, owner_kind, owner, subject) WHERE state <> 'success';
CREATE INDEX owner_runs ON runs (scope, owner_kind, owner);
CREATE INDEX session_runs ON runs (scope, session) WHERE session IS NOT NULL;
CREATE INDEX standing_runs ON runs (state, created) WHERE state <> 'success';
CREATE INDEX finished_runs ON runs (finished) WHERE state = 'success';
CREATE INDEX counters ON run_counters (scope, strategy, owner_kind, owner, subject);
CREATE INDEX owner_counters ON run_counters (scope, owner_kind, owner);
CREATE INDEX lanes ON runs (scope, strategy, owner_kind, owner, state = 'running' DESC,
  cause = 'manual' AND state = 'queued' DESC, due) WHERE finished IS NULL;
CREATE INDEX lane_heads ON runs (scope, strategy, owner_kind, owner) WHERE head = 1;
CREATE INDEX files_of_owner ON files (app, owner_kind, owner, project);
CREATE INDEX shared_marks ON file_marks (file) WHERE is_shared = 1;
CREATE INDEX objects_of_owner ON objects (scope, owner_kind, owner, seq);
CREATE INDEX message_contents ON messages (session, content) WHERE content IS NOT NULL;
COMMIT;
PRAGMA user_version = 8;
