-- What version 10 of the ledger held in this root. Never edited: it stands for roots out there.
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
INSERT INTO sessions VALUES(1,1,'home',2,2,1795816212546,NULL);
INSERT INTO sessions VALUES(2,1,'hives',1,0,1795816212637,NULL);
INSERT INTO sessions VALUES(3,1,'move',1,0,1795816212873,NULL);
INSERT INTO sessions VALUES(4,2,'sails',1,0,1795816213621,NULL);
CREATE TABLE events (
  seq     INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  kind    TEXT NOT NULL,
  payload TEXT NOT NULL,
  UNIQUE (session, ordinal)
) STRICT;
INSERT INTO events VALUES(1,1,0,'message','{"id":"m_20240301_bh8ntpmtn5mnc","sender":"ana","role":"user","time":1709287200000,"content":{"text":"I live in Berlin with my sister Mia."}}');
INSERT INTO events VALUES(2,1,1,'message','{"id":"m_20240301_de1w5ymh2xyr4","sender":"assistant","role":"assistant","time":1709287260000,"content":{"text":"Noted: Berlin, with Mia."}}');
INSERT INTO events VALUES(3,2,0,'message','{"id":"m_20250801_2amgaxwh9j94f","sender":"ana","role":"user","time":1754035200000,"content":{"text":"I keep bees in Ghent."}}');
INSERT INTO events VALUES(4,3,0,'message','{"id":"m_20250901_5tysweyah3f38","sender":"ana","role":"user","time":1756717200000,"content":{"text":"I moved to Lisbon. I adopted a parrot named Kiko."}}');
INSERT INTO events VALUES(5,4,0,'message','{"id":"m_20251005_deb77dhyc8brs","sender":"ben","role":"user","time":1759694400000,"content":{"text":"I sail a Folkboat called Marula on Sundays."}}');
CREATE TABLE cells (
  seq     INTEGER PRIMARY KEY,
  id      TEXT NOT NULL UNIQUE,
  session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
  reason  TEXT NOT NULL
) STRICT;
INSERT INTO cells VALUES(1,'mc_20250801_0c1zq6sc2d25a',2,'flush');
INSERT INTO cells VALUES(2,'mc_20250901_09tg9d7fjbj1q',3,'flush');
INSERT INTO cells VALUES(3,'mc_20251005_7ykn6x439cch0',4,'flush');
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
INSERT INTO messages VALUES(1,1,1,'m_20240301_bh8ntpmtn5mnc',NULL,1709287200000,0,'ana',NULL,X'e0e63e3cf1302aa3cf3af9ed1ede2df3');
INSERT INTO messages VALUES(2,1,1,'m_20240301_de1w5ymh2xyr4',NULL,1709287260000,1,'assistant',NULL,X'b4c9dffc04a8651d3aec87ff140d94c2');
INSERT INTO messages VALUES(3,1,2,'m_20250801_2amgaxwh9j94f',NULL,1754035200000,0,'ana',1,X'4d7b9363c0d1247dbb19211b903d8aee');
INSERT INTO messages VALUES(4,1,3,'m_20250901_5tysweyah3f38',NULL,1756717200000,0,'ana',2,X'63d4c33c7ab4dc440bd6afc2e50a8e88');
INSERT INTO messages VALUES(5,2,4,'m_20251005_deb77dhyc8brs',NULL,1759694400000,0,'ben',3,X'f380681e0ec3b4586e4c3eae38b01a4e');
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
INSERT INTO jobs VALUES(1,'0607f736582688aa30a455b0cb43d18a',1,2,'write_cell','mc_20250801_0c1zq6sc2d25a','success',0,1795816812643,1,NULL,1795816212641,1795816212758);
INSERT INTO jobs VALUES(2,'04ea0969df25c837f9be48eb4f62a0a4',1,3,'write_cell','mc_20250901_09tg9d7fjbj1q','success',0,1795816812879,1,NULL,1795816212877,1795816213004);
INSERT INTO jobs VALUES(3,'7f4ea6e9069632202e3b2e3b6fca078b',2,4,'write_cell','mc_20251005_7ykn6x439cch0','success',0,1795816813629,1,NULL,1795816213627,1795816213697);
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
INSERT INTO files VALUES(1,'default/default/users/ana/facts/2025-08-01.md','default','default',0,'ana',182,1795816212,684649510,NULL);
INSERT INTO files VALUES(2,'default/default/users/ana/episodes/2025-08-01.md','default','default',0,'ana',264,1795816212,688614237,NULL);
INSERT INTO files VALUES(3,'default/default/users/ana/facts/2025-09-01.md','default','default',0,'ana',346,1795816214,2982165,NULL);
INSERT INTO files VALUES(4,'default/default/users/ana/episodes/2025-09-01.md','default','default',0,'ana',330,1795816212,973145158,NULL);
INSERT INTO files VALUES(5,'default/boat/users/ben/episodes/2025-10-05.md','default','boat',0,'ben',333,1795816213,651331726,NULL);
INSERT INTO files VALUES(6,'default/default/users/ana/profile/profile.md','default','default',0,'ana',367,1795816213,894967682,NULL);
CREATE TABLE file_marks (
  file   INTEGER NOT NULL REFERENCES files ON DELETE CASCADE,
  entry  TEXT NOT NULL,
  digest INTEGER NOT NULL,
  docs   TEXT NOT NULL, is_shared INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (file, entry)
) STRICT, WITHOUT ROWID;
INSERT INTO file_marks VALUES(1,'af_20250801_0c1zq6sc2d25a_0',7017099661759249040,'["af_20250801_0c1zq6sc2d25a_0"]',0);
INSERT INTO file_marks VALUES(2,'ep_20250801_0c1zq6sc2d25a',8900214019952619980,'["ep_20250801_0c1zq6sc2d25a","m_20250801_2amgaxwh9j94f"]',0);
INSERT INTO file_marks VALUES(3,'af_20250901_09tg9d7fjbj1q_0',-8726203456985829636,'["af_20250901_09tg9d7fjbj1q_0"]',0);
INSERT INTO file_marks VALUES(3,'af_20250901_09tg9d7fjbj1q_1',9025441699058464287,'["af_20250901_09tg9d7fjbj1q_1"]',0);
INSERT INTO file_marks VALUES(3,'af_hand_788b9f146b8a3ae9',-5426740333861804738,'["af_hand_788b9f146b8a3ae9"]',0);
INSERT INTO file_marks VALUES(4,'ep_20250901_09tg9d7fjbj1q',7307856183303670997,'["ep_20250901_09tg9d7fjbj1q","m_20250901_5tysweyah3f38"]',0);
INSERT INTO file_marks VALUES(5,'ep_20251005_7ykn6x439cch0',5993079337879404287,'["ep_20251005_7ykn6x439cch0","m_20251005_deb77dhyc8brs"]',0);
INSERT INTO file_marks VALUES(6,'pf_53f7683b05ea2c91',-8876054752194105198,'["pf_53f7683b05ea2c91"]',0);
INSERT INTO file_marks VALUES(6,'pf_e8ac6f7a19ecc882',-7276127846826363101,'["pf_e8ac6f7a19ecc882"]',0);
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
INSERT INTO runs VALUES(1,'r_3a7c5189e2e475f7','extract_user_profile',1,0,'ana','',NULL,'manual','asked for by hand','success',0,1795818613826,1,1795816212756,1795816213826,1795816213961,0,0,0,130,'2 statements added, 0 removed',NULL);
INSERT INTO runs VALUES(2,'r_281bb8f88b08713d','extract_user_profile',2,0,'ben','','sails','manual','asked for by hand','success',0,1795818613826,1,1795816213695,1795816213826,1795816213877,0,0,0,47,'0 statements added, 0 removed',NULL);
INSERT INTO runs VALUES(3,'r_37df80eda2b0707d','reflect_episodes',1,NULL,NULL,'',NULL,'cron','the next time of `0 2 * * 1`','queued',1,1796004000000,0,1795816213825,NULL,NULL,0,0,0,0,'',NULL);
INSERT INTO runs VALUES(4,'r_ed6210bde30778cc','dream',1,NULL,NULL,'',NULL,'cron','the next time of `30 3 * * *`','queued',1,1795836600000,0,1795816213825,NULL,NULL,0,0,0,0,'',NULL);
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
INSERT INTO digest_key VALUES(X'2e6fa003bbf4f077a05d836e01d744cac685b7faf7ab97a8dda78877bdfb0a25');
CREATE TABLE forgotten_words (
  scope  INTEGER NOT NULL REFERENCES scopes ON DELETE CASCADE,
  digest BLOB NOT NULL,
  PRIMARY KEY (scope, digest)
) STRICT, WITHOUT ROWID;
INSERT INTO forgotten_words VALUES(1,X'53e22818c0085cd48976722e5ae0f41fe84e57c925ddc903d2f6be7cb1ea4029');
INSERT INTO forgotten_words VALUES(1,X'790ca897c85628358f1ae55ddb39a365a46b55a394ced4686528c6a197ff0b81');
INSERT INTO forgotten_words VALUES(1,X'fd37d9bacb084d8717f816ec7f8730c4af75dc97b4400fe367aa13025bf46f08');
CREATE TABLE changes (
  id       INTEGER PRIMARY KEY AUTOINCREMENT, -- the order; never used again
  at       INTEGER NOT NULL,                  -- milliseconds since 1970
  run      TEXT,                              -- NULL: by a person
  strategy TEXT,
  reason   TEXT,
  undoes   TEXT,                              -- the run that it undoes
  is_open  INTEGER NOT NULL                   -- an undo whose follow-up is not done yet
) STRICT;
INSERT INTO changes VALUES(1,1795816212680,'r_20261127_ajsasc2h14qz4','remember','new memories of conversations',NULL,0);
INSERT INTO changes VALUES(2,1795816212960,'r_20261127_23mzrs9ff4g9a','remember','new memories of conversations',NULL,0);
INSERT INTO changes VALUES(5,1795816213646,'r_20261127_70aj68e1vdt5x','remember','new memories of conversations',NULL,0);
INSERT INTO changes VALUES(6,1795816213889,'r_3a7c5189e2e475f7','extract_user_profile','asked for by hand',NULL,0);
INSERT INTO changes VALUES(7,1795816214327,NULL,NULL,NULL,NULL,0);
CREATE TABLE versioned_files (
  id         INTEGER PRIMARY KEY,
  path       TEXT NOT NULL UNIQUE,
  app        TEXT, project TEXT, owner_kind INTEGER, owner TEXT -- NULL: of no owner
) STRICT;
INSERT INTO versioned_files VALUES(1,'default/default/users/ana/facts/2025-08-01.md','default','default',0,'ana');
INSERT INTO versioned_files VALUES(2,'default/default/users/ana/episodes/2025-08-01.md','default','default',0,'ana');
INSERT INTO versioned_files VALUES(3,'default/default/users/ana/facts/2025-09-01.md','default','default',0,'ana');
INSERT INTO versioned_files VALUES(4,'default/default/users/ana/episodes/2025-09-01.md','default','default',0,'ana');
INSERT INTO versioned_files VALUES(5,'default/boat/users/ben/episodes/2025-10-05.md','default','boat',0,'ben');
INSERT INTO versioned_files VALUES(6,'default/default/users/ana/profile/profile.md','default','default',0,'ana');
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
INSERT INTO versions VALUES(1,1,'af_20250801_0c1zq6sc2d25a_0',1,'hives',NULL,7017099661759249040,130,replace('- Ana keeps bees in Ghent. <!--af_20250801_0c1zq6sc2d25a_0 2025-08-01T08:00:00Z session=hives sources=m_20250801_2amgaxwh9j94f-->\n','\n',char(10)),0);
INSERT INTO versions VALUES(2,2,'ep_20250801_0c1zq6sc2d25a',1,'hives',NULL,8900214019952619980,212,replace('## ana keeps bees in Ghent <!--ep_20250801_0c1zq6sc2d25a 2025-08-01T08:00:00Z session=hives-->\n\n*ana, 08:00*\n\n> ana: I keep bees in Ghent.\n\n**ana** 08:00 I keep bees in Ghent. <!--_2amgaxwh9j94f-->\n\n<!-- end -->\n','\n',char(10)),0);
INSERT INTO versions VALUES(3,3,'af_20250901_09tg9d7fjbj1q_0',2,'move',NULL,-8726203456985829636,125,replace('- Ana moved to Lisbon. <!--af_20250901_09tg9d7fjbj1q_0 2025-09-01T09:00:00Z session=move sources=m_20250901_5tysweyah3f38-->\n','\n',char(10)),0);
INSERT INTO versions VALUES(4,3,'af_20250901_09tg9d7fjbj1q_1',2,'move',NULL,9025441699058464287,137,replace('- Ana adopted a parrot named Kiko. <!--af_20250901_09tg9d7fjbj1q_1 2025-09-01T09:00:00Z session=move sources=m_20250901_5tysweyah3f38-->\n','\n',char(10)),0);
INSERT INTO versions VALUES(5,4,'ep_20250901_09tg9d7fjbj1q',2,'move',NULL,7307856183303670997,275,X'28b52ffd601300450500020a222140856c0e60ed48aa17dbe86a07ebc36902d2884b9508e35328d5c795199eac7101edd93d94f1bb864358a665d1591ca0596522e75c6b0874444e895287cf7a78e8cdd39abba065bbd69edd2830ad829c14a5913ec1dc30378f1109efe37d405249d534804f511f47093f661456a22bee1ace270065388c56cbd789617dbd0f63bd26ecb7ec1f470a0022137dda05131141138399088886613534c81d8280a82b815a330a',0);
INSERT INTO versions VALUES(8,5,'ep_20251005_7ykn6x439cch0',5,'sails',NULL,5993079337879404287,280,X'28b52ffd6018001d0500720921214085aa0eb1d0168afd46617b065e87b3124be11a179af62998d96589515cf135010b311fce78e6e3a99ce15d126c1a17619430c6761368975d30a363bb1073454c3ad51aeb01dae9a5c134b7c26fe9bdc380305098d4d5444cb7c22cbd440191f9785eaf06a7c5f8a46fd2aadae2304ad9de051a7594a489b7cba9d52beecce88e20010a00169b27dac50ccdd823101b6191102648d14e6758a45b8f749d67',0);
INSERT INTO versions VALUES(9,6,'pf_53f7683b05ea2c91',6,NULL,NULL,-8876054752194105198,154,replace('## Home <!--pf_53f7683b05ea2c91 2025-09-01T09:00:00Z sources=m_20250901_5tysweyah3f38-->\n\n> Said on 1 September 2025.\n\nAna moved to Lisbon.\n\n<!-- end -->\n','\n',char(10)),0);
INSERT INTO versions VALUES(10,6,'pf_e8ac6f7a19ecc882',6,NULL,NULL,-7276127846826363101,177,replace('## Family and pets <!--pf_e8ac6f7a19ecc882 2025-09-01T09:00:00Z sources=m_20250901_5tysweyah3f38-->\n\n> Said on 1 September 2025.\n\nAna adopted a parrot named Kiko.\n\n<!-- end -->\n','\n',char(10)),0);
INSERT INTO versions VALUES(11,3,'af_hand_788b9f146b8a3ae9',7,NULL,NULL,-5426740333861804738,115,replace('- My brother is called Tom. <!--af_hand_788b9f146b8a3ae9 2025-09-01T00:00:00Z origin=hand author parent senders-->\n','\n',char(10)),0);
CREATE TABLE other_files (
  path        TEXT PRIMARY KEY,
  bytes       INTEGER NOT NULL,
  modified_s  INTEGER NOT NULL,
  modified_ns INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('changes',7);
INSERT INTO sqlite_sequence VALUES('versions',11);
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
CREATE INDEX changes_of_run ON changes (run) WHERE run IS NOT NULL;
CREATE INDEX changes_undoing ON changes (undoes) WHERE undoes IS NOT NULL;
CREATE INDEX changes_open ON changes (id) WHERE is_open = 1;
CREATE INDEX versioned_of_owner ON versioned_files (app, project, owner_kind, owner);
CREATE INDEX versions_of_part ON versions (file, entry, id);
CREATE INDEX versions_of_change ON versions (change);
CREATE INDEX versions_unsettled ON versions (id) WHERE is_unsettled = 1;
COMMIT;
PRAGMA user_version = 10;
