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
INSERT INTO sessions VALUES(1,1,'home',2,2,1795813529262,NULL);
INSERT INTO sessions VALUES(2,1,'hives',1,0,1795813531405,NULL);
INSERT INTO sessions VALUES(3,1,'move',1,0,1795813538195,NULL);
INSERT INTO sessions VALUES(4,2,'sails',1,0,1795813555969,NULL);
CREATE TABLE events (
  seq     INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  kind    TEXT NOT NULL,
  payload TEXT NOT NULL, frame BLOB,
  UNIQUE (session, ordinal)
) STRICT;
INSERT INTO events VALUES(1,1,0,'message','',X'28b52ffd208dad0200340434303330315f327372796d30763338386d7877616e6130393238373249206c69766520696e204265726c696e2077697468206d7920736973746572204d69612e227d7d061006f0aa95809f01bc8d3117246705');
INSERT INTO events VALUES(2,1,1,'message','',X'28b52ffd208c2d0200540334303330315f6433727a6b39686a7663796b74303932383732364e6f7465643a204265726c696e2c2077697468204d69612e227d7d0510063b6876082307c65c909c15');
INSERT INTO events VALUES(3,2,0,'message','',X'28b52ffd207e350200440335303830315f35626b666564746d7a79766a35616e6135343033353249206b656570206265657320696e204768656e742e227d7d061006f0aa95809f01bc8d3117246705');
INSERT INTO events VALUES(4,3,0,'message','',X'28b52ffd209aed02000285121980a73adc4187a3c5a65066c92cf74bc2f8572ff9d97730171a730ea41b33cecbedbbec18177ecf4bc2e6bd3a791d18b0e32dcf8bd0eeeaa8d184f62d910a4da0abe720c800538a8202061006f0aa95809f01bc8d3117246705');
INSERT INTO events VALUES(5,4,0,'message','',X'28b52ffd2094dd0200940435313030355f326164386d3537746d77766e6562656e353936393449207361696c206120466f6c6b626f61742063616c6c6564204d6172756c61206f6e2053756e646179732e227d7d061006b0d5f585ef000c8f3117246705');
CREATE TABLE cells (
  seq     INTEGER PRIMARY KEY,
  id      TEXT NOT NULL UNIQUE,
  session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
  reason  TEXT NOT NULL
) STRICT;
INSERT INTO cells VALUES(1,'mc_20250801_ayvxn2xsxj42a',2,'flush');
INSERT INTO cells VALUES(2,'mc_20250901_8fa0wvh5gjvxg',3,'flush');
INSERT INTO cells VALUES(3,'mc_20251005_dgcby6ayz4qzj',4,'flush');
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
INSERT INTO messages VALUES(1,1,1,'m_20240301_2srym0v388mxw',NULL,1709287200000,0,'ana',NULL,X'513a70eda0b1077911b61824f6bc1b0b');
INSERT INTO messages VALUES(2,1,1,'m_20240301_d3rzk9hjvcykt',NULL,1709287260000,1,'assistant',NULL,X'6d6c3b433ccbbcfa06cd45be93b162f8');
INSERT INTO messages VALUES(3,1,2,'m_20250801_5bkfedtmzyvj5',NULL,1754035200000,0,'ana',1,X'953a8f79108ebbe4688fcb1132b92949');
INSERT INTO messages VALUES(4,1,3,'m_20250901_dp5227a7qkw68',NULL,1756717200000,0,'ana',2,X'fba7d020923c08eabd20f04a6a579eba');
INSERT INTO messages VALUES(5,2,4,'m_20251005_2ad8m57tmwvne',NULL,1759694400000,0,'ben',3,X'641d9888d52e7119aca2e76bf05e0d55');
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
INSERT INTO jobs VALUES(1,'af6fb51773d9104af414cb058baf37ed',1,2,'write_cell','mc_20250801_ayvxn2xsxj42a','success',0,1795814131434,1,NULL,1795813531431,1795813536952);
INSERT INTO jobs VALUES(2,'87a81cdc4b096fb00642691e39e5c3f1',1,3,'write_cell','mc_20250901_8fa0wvh5gjvxg','success',0,1795814138435,1,NULL,1795813538394,1795813541593);
INSERT INTO jobs VALUES(3,'d8317e32bdf25ff2331f6b5cd197e4e2',2,4,'write_cell','mc_20251005_dgcby6ayz4qzj','success',0,1795814156003,1,NULL,1795813556000,1795813556581);
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
INSERT INTO files VALUES(1,'default/default/users/ana/facts/2025-08-01.md','default','default',0,'ana',182,1795813531,601379038,NULL);
INSERT INTO files VALUES(2,'default/default/users/ana/episodes/2025-08-01.md','default','default',0,'ana',264,1795813531,622869026,NULL);
INSERT INTO files VALUES(3,'default/default/users/ana/facts/2025-09-01.md','default','default',0,'ana',346,1795813563,10870350,NULL);
INSERT INTO files VALUES(4,'default/default/users/ana/episodes/2025-09-01.md','default','default',0,'ana',330,1795813540,530869402,NULL);
INSERT INTO files VALUES(5,'default/boat/users/ben/episodes/2025-10-05.md','default','boat',0,'ben',333,1795813556,99081985,NULL);
INSERT INTO files VALUES(6,'default/default/users/ana/profile/profile.md','default','default',0,'ana',367,1795813558,418870157,NULL);
CREATE TABLE file_marks (
  file   INTEGER NOT NULL REFERENCES files ON DELETE CASCADE,
  entry  TEXT NOT NULL,
  digest INTEGER NOT NULL,
  docs   TEXT NOT NULL, is_shared INTEGER NOT NULL DEFAULT 0, frame BLOB,
  PRIMARY KEY (file, entry)
) STRICT, WITHOUT ROWID;
INSERT INTO file_marks VALUES(1,'af_20250801_ayvxn2xsxj42a_0',5418566414910005197,'["af_20250801_ayvxn2xsxj42a_0"]',0,NULL);
INSERT INTO file_marks VALUES(2,'ep_20250801_ayvxn2xsxj42a',-2756784024906625564,'["ep_20250801_ayvxn2xsxj42a","m_20250801_5bkfedtmzyvj5"]',0,NULL);
INSERT INTO file_marks VALUES(3,'af_20250901_8fa0wvh5gjvxg_0',-1220814265824310948,'["af_20250901_8fa0wvh5gjvxg_0"]',0,NULL);
INSERT INTO file_marks VALUES(3,'af_20250901_8fa0wvh5gjvxg_1',-3657519796158989769,'["af_20250901_8fa0wvh5gjvxg_1"]',0,NULL);
INSERT INTO file_marks VALUES(3,'af_hand_788b9f146b8a3ae9',-5426740333861804738,'["af_hand_788b9f146b8a3ae9"]',0,NULL);
INSERT INTO file_marks VALUES(4,'ep_20250901_8fa0wvh5gjvxg',-2832656497903722589,'["ep_20250901_8fa0wvh5gjvxg","m_20250901_dp5227a7qkw68"]',0,NULL);
INSERT INTO file_marks VALUES(5,'ep_20251005_dgcby6ayz4qzj',-7088236137163854203,'["ep_20251005_dgcby6ayz4qzj","m_20251005_2ad8m57tmwvne"]',0,NULL);
INSERT INTO file_marks VALUES(6,'pf_53f7683b05ea2c91',1495412898675158958,'["pf_53f7683b05ea2c91"]',0,NULL);
INSERT INTO file_marks VALUES(6,'pf_e8ac6f7a19ecc882',-4119154152738877849,'["pf_e8ac6f7a19ecc882"]',0,NULL);
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
INSERT INTO runs VALUES(1,'r_3c715f7865e2bcc0','extract_user_profile',1,0,'ana','',NULL,'manual','asked for by hand','success',0,1795815957570,1,1795813536939,1795813557570,1795813562741,0,0,0,5162,'2 statements added, 0 removed',NULL);
INSERT INTO runs VALUES(2,'r_2cf493442b83c33c','extract_user_profile',2,0,'ben','','sails','manual','asked for by hand','success',0,1795815957570,1,1795813556575,1795813557570,1795813558282,0,0,0,705,'0 statements added, 0 removed',NULL);
INSERT INTO runs VALUES(3,'r_ea93b9345481e9a0','reflect_episodes',1,NULL,NULL,'',NULL,'cron','the next time of `0 2 * * 1`','queued',1,1796004000001,0,1795813557530,NULL,NULL,0,0,0,0,'',NULL);
INSERT INTO runs VALUES(4,'r_9fdd4579bed4f715','dream',1,NULL,NULL,'',NULL,'cron','the next time of `30 3 * * *`','queued',1,1795836600000,0,1795813557530,NULL,NULL,0,0,0,0,'',NULL);
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
INSERT INTO digest_key VALUES(X'dc144d95d9835c68a7104d9cc32e998fbb56c835c021473f1322ab06705fa3b8');
CREATE TABLE forgotten_words (
  scope  INTEGER NOT NULL REFERENCES scopes ON DELETE CASCADE,
  digest BLOB NOT NULL,
  PRIMARY KEY (scope, digest)
) STRICT, WITHOUT ROWID;
INSERT INTO forgotten_words VALUES(1,X'926afe407f2752e2f3fd5dc49ddfd0938d7dd5e25afa21ee13cf00ced9fa9518');
INSERT INTO forgotten_words VALUES(1,X'96e6accf023d0efba4106123fa29c3f742a8a1176a29e6c37b95a6dfc03d3328');
INSERT INTO forgotten_words VALUES(1,X'f8748f372a02cf3aa6d3a2327bbb02cd1d7f65e7b1acfcb01ac65b0b1e5e4463');
CREATE TABLE changes (
  id       INTEGER PRIMARY KEY AUTOINCREMENT, -- the order; never used again
  at       INTEGER NOT NULL,                  -- milliseconds since 1970
  run      TEXT,                              -- NULL: by a person
  strategy TEXT,
  reason   TEXT,
  undoes   TEXT,                              -- the run that it undoes
  is_open  INTEGER NOT NULL                   -- an undo whose follow-up is not done yet
) STRICT;
INSERT INTO changes VALUES(1,1795813531513,'r_20261127_61gg4a9j8y1ak','remember','new memories of conversations',NULL,0);
INSERT INTO changes VALUES(2,1795813540356,'r_20261127_3ymjkz6bhsd3q','remember','new memories of conversations',NULL,0);
INSERT INTO changes VALUES(5,1795813556069,'r_20261127_cg8tr44hcyxc9','remember','new memories of conversations',NULL,0);
INSERT INTO changes VALUES(6,1795813558367,'r_3c715f7865e2bcc0','extract_user_profile','asked for by hand',NULL,0);
INSERT INTO changes VALUES(7,1795813566570,NULL,NULL,NULL,NULL,0);
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
INSERT INTO versions VALUES(1,1,'af_20250801_ayvxn2xsxj42a_0',1,'hives',NULL,5418566414910005197,130,X'28b52ffd20829503004287191d608b73291c164753bf2dbb34eefc0f93a977b6118f4cd0c07318aa02038082ea72e0f480a4c532cfb220a557d170449dbdf0350a47af7b3b137ff227ec08e4caaef9e6d4c0891d154738b9869c7da9abc638d5002105126f73487ed9bb4b3663f749c786d4020048c296656bee01',0);
INSERT INTO versions VALUES(2,2,'ep_20250801_ayvxn2xsxj42a',1,'hives',NULL,-2756784024906625564,212,X'28b52ffd20d49d0400a2081d1d50c9b40100929bfe4688e4e4e372736cb1a20183c80eb3cf8f9988191fd8641ee27da6c124d3952d1216b408ea499cd61a62a0f0a5416c073c7e0db1c9ecbda468c00aa97bfb07d5457551d480682a9a7f4e30618d39c6aeec39882a9a38754eb59906738b37229ca5f7eef3ae76a93f7e3f8e0a006a8862cc05482910d560a801c921c11c32e01024455d49b5e61e',0);
INSERT INTO versions VALUES(3,3,'af_20250901_8fa0wvh5gjvxg_0',2,'move',NULL,-1220814265824310948,125,X'28b52ffd207d85030032c7191d606d73a3af20943d6063bdc68ee3cc281f279adaf5a4280b548340f01380826a33a038204c6376d5037a4fbb4564c29d2ef27b204fddae33f13bbfb38e58aeebaaf69b6752253624c58894b7a861cbd7d57e59d4540384144056f474489624e422bf6cd0901a010022b28528',0);
INSERT INTO versions VALUES(4,3,'af_20250901_8fa0wvh5gjvxg_1',2,'move',NULL,-3657519796158989769,137,X'28b52ffd2089c50300b2071b1c608b1e256cd4927df3d1ae96f99f0a53ef62d26e9261c979015ca02280027332889e06e288524b3ab8d0a7988ea7fbeac325be43e9a39be856ba15d688d4cc9a37b5e65119cd5ad4a89d495a6ad64bb56a8c3307082bf8c739ac7bd0e3423fa7cbf5750f92ef7c3d1a9603020047c2fec0d63403',0);
INSERT INTO versions VALUES(5,4,'ep_20250901_8fa0wvh5gjvxg',2,'move',NULL,-2832656497903722589,275,X'28b52ffd6013003d050002ca212040856c0e102058b47407a26e97056f08243b40e58dd02e5aaa8fab4671d3eb02edd93d94f1cc20a300965ede53288c9c73ad21d0113915753a7c5e8787eeb4ec3fadb90b5ab66bedd98dd8ac0a724eb5c6fa04b3c3ec348c48781bde4b015843521858c6bd60a2841b561ebf88c6dd00e1939a0c87b16af96b5a56d3f761bce884fd96fde3080a00660b4064a74f6b6122226862301301d130ac868a04a2ae046acd28',0);
INSERT INTO versions VALUES(8,5,'ep_20251005_dgcby6ayz4qzj',5,'sails',NULL,-7088236137163854203,280,X'28b52ffd6018002d05008289212230a5aa0e08d8ff895d4994a2c2a2ea9e985f5483fb4f541df545155cbdcca80c5401ec61beacf3cc8933abc0c04415e06490fda0a5b5c6d8f230d62ea83336c61ee67ba856ba77de375ce31e033a760cff71010c2eab09568c1c1282ce31f0b907452673e2fc5a2d6bb578b56f5a05b4e27252dad1a9b611422de27d2af57de24d9df18a120a00161325da750ccd8423101b6191102648d14e6758a45b8f749d67',0);
INSERT INTO versions VALUES(9,6,'pf_53f7683b05ea2c91',6,NULL,NULL,1495412898675158958,154,X'28b52ffd209a45040012091f1e5065cc031c06054ba58980dbb39a05b3c11708428097c942adae99300935db74b3a4cfdd05b37bd00a591381ebc5f201eae44805bb47f5d0fc8b7a8719d3ca728a0e37bb4db792041c102fbed61c251fe6d09f19b03eaa12d56283fbe2be402f306fe8ed9a3766306af19d4388923c09718f4475170cffac03368c02009c82941781da03',0);
INSERT INTO versions VALUES(10,6,'pf_e8ac6f7a19ecc882',6,NULL,NULL,-4119154152738877849,177,X'28b52ffd20b1cd0400824a23215069ab0323a6755bae783384847cdca3b2088c1f184426dc8a28afc16366ba590347517d7b7dd543718e01369881b776fc3ea1941ccf6f3d236c7c7e01e718641bb89eb117477ff08de1c59573145585506820249ca474886d41bb7671004d3399009b17ec2676136b09d0ea5a3da44d4f4a31d60b71c2403056bd30a2eaa178333bbe3dfec201e358e0081202009c821445042a0a',0);
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
