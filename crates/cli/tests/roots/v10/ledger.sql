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
INSERT INTO sessions VALUES(1,1,'home',2,2,1795799736070,NULL);
INSERT INTO sessions VALUES(2,1,'hives',1,0,1795799736108,NULL);
INSERT INTO sessions VALUES(3,1,'move',1,0,1795799736179,NULL);
INSERT INTO sessions VALUES(4,2,'sails',1,0,1795799736402,NULL);
CREATE TABLE events (
  seq     INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  kind    TEXT NOT NULL,
  payload TEXT NOT NULL,
  UNIQUE (session, ordinal)
) STRICT;
INSERT INTO events VALUES(1,1,0,'message','{"id":"m_20240301_8y0s21f58y6hv","sender":"ana","role":"user","time":1709287200000,"content":{"text":"I live in Berlin with my sister Mia."}}');
INSERT INTO events VALUES(2,1,1,'message','{"id":"m_20240301_5x2b29hknhycw","sender":"assistant","role":"assistant","time":1709287260000,"content":{"text":"Noted: Berlin, with Mia."}}');
INSERT INTO events VALUES(3,2,0,'message','{"id":"m_20250801_3whedseccmd9x","sender":"ana","role":"user","time":1754035200000,"content":{"text":"I keep bees in Ghent."}}');
INSERT INTO events VALUES(4,3,0,'message','{"id":"m_20250901_76px7693bdkr0","sender":"ana","role":"user","time":1756717200000,"content":{"text":"I moved to Lisbon. I adopted a parrot named Kiko."}}');
INSERT INTO events VALUES(5,4,0,'message','{"id":"m_20251005_dbrpr6acp7b8n","sender":"ben","role":"user","time":1759694400000,"content":{"text":"I sail a Folkboat called Marula on Sundays."}}');
CREATE TABLE cells (
  seq     INTEGER PRIMARY KEY,
  id      TEXT NOT NULL UNIQUE,
  session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
  reason  TEXT NOT NULL
) STRICT;
INSERT INTO cells VALUES(1,'mc_20250801_4c1pb31k7fygg',2,'flush');
INSERT INTO cells VALUES(2,'mc_20250901_429fnf2ykfm2k',3,'flush');
INSERT INTO cells VALUES(3,'mc_20251005_8ncjdy2cchpp5',4,'flush');
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
INSERT INTO messages VALUES(1,1,1,'m_20240301_8y0s21f58y6hv',NULL,1709287200000,0,'ana',NULL,X'146d1e7c6f6560806a39a43b21159388');
INSERT INTO messages VALUES(2,1,1,'m_20240301_5x2b29hknhycw',NULL,1709287260000,1,'assistant',NULL,X'673b8b0c3993c8d0863aceb6c37d3e0d');
INSERT INTO messages VALUES(3,1,2,'m_20250801_3whedseccmd9x',NULL,1754035200000,0,'ana',1,X'254a76de5a32fa029dafd3b46a2e7bc2');
INSERT INTO messages VALUES(4,1,3,'m_20250901_76px7693bdkr0',NULL,1756717200000,0,'ana',2,X'4bd9e712e6ada7672aca9ed718cfb3f4');
INSERT INTO messages VALUES(5,2,4,'m_20251005_dbrpr6acp7b8n',NULL,1759694400000,0,'ben',3,X'285dfc933cde3918b551bfc93a5c60c6');
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
INSERT INTO jobs VALUES(1,'4606cb186677fa104d477c0fbe7dde9e',1,2,'write_cell','mc_20250801_4c1pb31k7fygg','success',0,1795800336111,1,NULL,1795799736110,1795799736137);
INSERT INTO jobs VALUES(2,'4125f578bd37d0538ebcadb80d3f8e55',1,3,'write_cell','mc_20250901_429fnf2ykfm2k','success',0,1795800336181,1,NULL,1795799736180,1795799736202);
INSERT INTO jobs VALUES(3,'8ab24df098c8dac5c90dbeda3e11ca3f',2,4,'write_cell','mc_20251005_8ncjdy2cchpp5','success',0,1795800336405,1,NULL,1795799736404,1795799736419);
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
INSERT INTO files VALUES(1,'default/default/users/ana/facts/2025-08-01.md','default','default',0,'ana',182,1795799736,114287155,NULL);
INSERT INTO files VALUES(2,'default/default/users/ana/episodes/2025-08-01.md','default','default',0,'ana',264,1795799736,120517575,NULL);
INSERT INTO files VALUES(3,'default/default/users/ana/facts/2025-09-01.md','default','default',0,'ana',346,1795799736,506287171,NULL);
INSERT INTO files VALUES(4,'default/default/users/ana/episodes/2025-09-01.md','default','default',0,'ana',330,1795799736,194287158,NULL);
INSERT INTO files VALUES(5,'default/boat/users/ben/episodes/2025-10-05.md','default','boat',0,'ben',333,1795799736,410545309,NULL);
INSERT INTO files VALUES(6,'default/default/users/ana/profile/profile.md','default','default',0,'ana',367,1795799736,474287170,NULL);
CREATE TABLE file_marks (
  file   INTEGER NOT NULL REFERENCES files ON DELETE CASCADE,
  entry  TEXT NOT NULL,
  digest INTEGER NOT NULL,
  docs   TEXT NOT NULL, is_shared INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (file, entry)
) STRICT, WITHOUT ROWID;
INSERT INTO file_marks VALUES(1,'af_20250801_4c1pb31k7fygg_0',7781484607837870824,'["af_20250801_4c1pb31k7fygg_0"]',0);
INSERT INTO file_marks VALUES(2,'ep_20250801_4c1pb31k7fygg',-7141755359162955924,'["ep_20250801_4c1pb31k7fygg","m_20250801_3whedseccmd9x"]',0);
INSERT INTO file_marks VALUES(3,'af_20250901_429fnf2ykfm2k_0',-9036511863747641318,'["af_20250901_429fnf2ykfm2k_0"]',0);
INSERT INTO file_marks VALUES(3,'af_20250901_429fnf2ykfm2k_1',6052651145435740213,'["af_20250901_429fnf2ykfm2k_1"]',0);
INSERT INTO file_marks VALUES(3,'af_hand_788b9f146b8a3ae9',-5426740333861804738,'["af_hand_788b9f146b8a3ae9"]',0);
INSERT INTO file_marks VALUES(4,'ep_20250901_429fnf2ykfm2k',-2677296099192251265,'["ep_20250901_429fnf2ykfm2k","m_20250901_76px7693bdkr0"]',0);
INSERT INTO file_marks VALUES(5,'ep_20251005_8ncjdy2cchpp5',6122987997817616203,'["ep_20251005_8ncjdy2cchpp5","m_20251005_dbrpr6acp7b8n"]',0);
INSERT INTO file_marks VALUES(6,'pf_53f7683b05ea2c91',-2457106115303401860,'["pf_53f7683b05ea2c91"]',0);
INSERT INTO file_marks VALUES(6,'pf_e8ac6f7a19ecc882',4417722480820101677,'["pf_e8ac6f7a19ecc882"]',0);
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
INSERT INTO runs VALUES(1,'r_e7d610a32f83ce7a','extract_user_profile',1,0,'ana','',NULL,'manual','asked for by hand','success',0,1795802136462,1,1795799736136,1795799736462,1795799736490,0,0,0,26,'2 statements added, 0 removed',NULL);
INSERT INTO runs VALUES(2,'r_f1987e71eafef80b','extract_user_profile',2,0,'ben','','sails','manual','asked for by hand','success',0,1795802136462,1,1795799736418,1795799736462,1795799736474,0,0,0,10,'0 statements added, 0 removed',NULL);
INSERT INTO runs VALUES(3,'r_fa83c211be788c3c','reflect_episodes',1,NULL,NULL,'',NULL,'cron','the next time of `0 2 * * 1`','queued',1,1796003999999,0,1795799736460,NULL,NULL,0,0,0,0,'',NULL);
INSERT INTO runs VALUES(4,'r_121e74b9c47d1eb2','dream',1,NULL,NULL,'',NULL,'cron','the next time of `30 3 * * *`','queued',1,1795836599999,0,1795799736460,NULL,NULL,0,0,0,0,'',NULL);
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
INSERT INTO digest_key VALUES(X'7306a11a822f40e7052cf41e83741ea8e050a7099f432ff58d82a8c8242e0539');
CREATE TABLE forgotten_words (
  scope  INTEGER NOT NULL REFERENCES scopes ON DELETE CASCADE,
  digest BLOB NOT NULL,
  PRIMARY KEY (scope, digest)
) STRICT, WITHOUT ROWID;
INSERT INTO forgotten_words VALUES(1,X'33240cabfdbaeccd48ac9e581a967f9f73260c5776c91317887de737e29b8195');
INSERT INTO forgotten_words VALUES(1,X'3a3755f404575918171108ca578ceeded240c33275269b7db285c1d71ef36730');
INSERT INTO forgotten_words VALUES(1,X'd47ddfe07c9eed14c681b7c707d9245b8d591bf7771eafbc2e8c1255738902ed');
CREATE TABLE changes (
  id       INTEGER PRIMARY KEY AUTOINCREMENT, -- the order; never used again
  at       INTEGER NOT NULL,                  -- milliseconds since 1970
  run      TEXT,                              -- NULL: by a person
  strategy TEXT,
  reason   TEXT,
  undoes   TEXT,                              -- the run that it undoes
  is_open  INTEGER NOT NULL                   -- an undo whose follow-up is not done yet
) STRICT;
INSERT INTO changes VALUES(1,1795799736117,'r_20261127_fcfd6g71z5veb','remember','new memories of conversations',NULL,0);
INSERT INTO changes VALUES(2,1795799736194,'r_20261127_26x58g0wyx408','remember','new memories of conversations',NULL,0);
INSERT INTO changes VALUES(5,1795799736409,'r_20261127_8zh6c3xqfdzb6','remember','new memories of conversations',NULL,0);
INSERT INTO changes VALUES(6,1795799736476,'r_e7d610a32f83ce7a','extract_user_profile','asked for by hand',NULL,0);
INSERT INTO changes VALUES(7,1795799736541,NULL,NULL,NULL,NULL,0);
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
INSERT INTO versions VALUES(1,1,'af_20250801_4c1pb31k7fygg_0',1,'hives',NULL,7781484607837870824,130,replace('- Ana keeps bees in Ghent. <!--af_20250801_4c1pb31k7fygg_0 2025-08-01T08:00:00Z session=hives sources=m_20250801_3whedseccmd9x-->\n','\n',char(10)),0);
INSERT INTO versions VALUES(2,2,'ep_20250801_4c1pb31k7fygg',1,'hives',NULL,-7141755359162955924,212,replace('## ana keeps bees in Ghent <!--ep_20250801_4c1pb31k7fygg 2025-08-01T08:00:00Z session=hives-->\n\n*ana, 08:00*\n\n> ana: I keep bees in Ghent.\n\n**ana** 08:00 I keep bees in Ghent. <!--_3whedseccmd9x-->\n\n<!-- end -->\n','\n',char(10)),0);
INSERT INTO versions VALUES(3,3,'af_20250901_429fnf2ykfm2k_0',2,'move',NULL,-9036511863747641318,125,replace('- Ana moved to Lisbon. <!--af_20250901_429fnf2ykfm2k_0 2025-09-01T09:00:00Z session=move sources=m_20250901_76px7693bdkr0-->\n','\n',char(10)),0);
INSERT INTO versions VALUES(4,3,'af_20250901_429fnf2ykfm2k_1',2,'move',NULL,6052651145435740213,137,replace('- Ana adopted a parrot named Kiko. <!--af_20250901_429fnf2ykfm2k_1 2025-09-01T09:00:00Z session=move sources=m_20250901_76px7693bdkr0-->\n','\n',char(10)),0);
INSERT INTO versions VALUES(5,4,'ep_20250901_429fnf2ykfm2k',2,'move',NULL,-2677296099192251265,275,X'28b52ffd601300250500c249201d50a9ea23c5928cbd0966a2acbab2a0f54304a03a42c0ac1fc130931dd6abd9fd93f04cc507099cb230a8b23c8cb1b510e7889c5095109fd5df9d33cd5aec8196cdd66a76e1624e0639a55a61bd829961661c27125ec7fbd8a628365a2423d7064fc28e098ddb43e12ea0f019a5c31f9c5abe9a14d5f4fd072b3a5fbf65ff38020b00660b4064a74f6b6122226862301301d130ac8606b94310107525506b4601',0);
INSERT INTO versions VALUES(8,5,'ep_20251005_8ncjdy2cchpp5',5,'sails',NULL,6122987997817616203,280,X'28b52ffd6018000d0500828920205067ac0320e3279124ce41b215175e38445b68f8a80fcf4560d46e5c98c92ed489d93decf8dd62e9c419e8e3c2431f079b432995d2c1a4a44ee8e8544acc6e3df4746a8df5034b594ca0ad5dc8be514af01e8b60c1eba4696b218d2dd6d0b85b2caf11c38602def32ca187010ea394fc7ec0d319c889385f3a5c9fb8d2d1dd30020a00161325da750ccd8423101b6191102648d14e6758a45b8f749d67',0);
INSERT INTO versions VALUES(9,6,'pf_53f7683b05ea2c91',6,NULL,NULL,-2457106115303401860,154,replace('## Home <!--pf_53f7683b05ea2c91 2025-09-01T09:00:00Z sources=m_20250901_76px7693bdkr0-->\n\n> Said on 1 September 2025.\n\nAna moved to Lisbon.\n\n<!-- end -->\n','\n',char(10)),0);
INSERT INTO versions VALUES(10,6,'pf_e8ac6f7a19ecc882',6,NULL,NULL,4417722480820101677,177,replace('## Family and pets <!--pf_e8ac6f7a19ecc882 2025-09-01T09:00:00Z sources=m_20250901_76px7693bdkr0-->\n\n> Said on 1 September 2025.\n\nAna adopted a parrot named Kiko.\n\n<!-- end -->\n','\n',char(10)),0);
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
