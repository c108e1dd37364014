//! The file itself: one process at a time, every version from the first on, newer ones refused.

use std::path::Path;

use ledger::SqliteLedger;
use model::{CellId, Date, EntryId, Message, MessageId, Owner};
use ports::runs::{Cause, Claim, Cost, NewRun, Run, RunState, Runs, Work};
use ports::{
    Conversations, FileChanges, FileRecord, History, JobKind, JobState, Jobs, LedgerError, NewRecord,
    NewVersion, Sweep, TaskQuery, Touching, Transcripts, VersionKey, VersionQuery, VersionText,
};
use testkit::ledger::contract::conversations::{item, note};
use testkit::ledger::samples::{
    at, cell, cut, file, full, job, name, new, says, scope, session, with_client_id,
};

#[tokio::test]
async fn a_root_is_open_once_and_free_again_after_drop() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ledger.db");
    let ledger = SqliteLedger::open(&path).expect("opens");
    let second = SqliteLedger::open(&path);
    assert!(matches!(second, Err(LedgerError::InUse)), "{second:?}");
    let s = session("a", "s");
    let message = new(says(&s, "ann", "m1", 1));
    Transcripts::append(&ledger, &s, vec![message], at(1))
        .await
        .expect("accepted");
    drop(ledger);
    let left: Vec<_> = std::fs::read_dir(folder.path()).expect("reads").collect();
    assert_eq!(
        left.len(),
        2,
        "the database and its lock: a clean end leaves no log behind"
    );
    let ledger = SqliteLedger::open(&path).expect("opens again");
    assert_eq!(ledger.buffer(&s).await.expect("reads").len(), 1);
}

#[tokio::test]
async fn a_copy_has_everything_accepted_while_the_ledger_is_open() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, copy) = (folder.path().join("ledger.db"), folder.path().join("copy.db"));
    let ledger = SqliteLedger::open(&path).expect("opens");
    let s = session("a", "s");
    let message = new(says(&s, "ann", "m1", 1));
    Transcripts::append(&ledger, &s, vec![message], at(1))
        .await
        .expect("accepted");
    SqliteLedger::copy(&path, &copy).expect("copied");
    SqliteLedger::check(&copy).expect("whole");
    let open = SqliteLedger::open(&copy).expect("opens beside the other");
    assert_eq!(open.buffer(&s).await.expect("reads").len(), 1);
    drop(open);
    let mut bytes = std::fs::read(&copy).expect("reads");
    let middle = bytes.len() / 2;
    bytes[middle..middle + 4096].fill(0xA5);
    std::fs::write(&copy, bytes).expect("writes");
    SqliteLedger::check(&copy).expect_err("damaged");
}

/// The memory files that a backup copies may have the first of the later versions, none, or all.
#[tokio::test]
async fn a_copy_gets_the_history_written_meanwhile() {
    let folder = tempfile::tempdir().expect("a folder");
    let texts = ["", "zero", "one two", "three four five", "six"].map(str::to_owned);
    for found in 1..texts.len() {
        let path = folder.path().join(format!("ledger{found}.db"));
        let ledger = SqliteLedger::open(&path).expect("opens");
        let copy = folder.path().join(format!("copy{found}.db"));
        for (n, pair) in texts.windows(2).enumerate() {
            let state = |text: &String| {
                let digest = text.len() as u64;
                (!text.is_empty()).then(|| VersionText::new(digest, text.clone()))
            };
            let new = NewVersion {
                before: state(&pair[0]),
                after: state(&pair[1]),
                ..versions().remove(0)
            };
            let target = ports::ChangeTarget {
                known: None,
                by: ports::By::Run {
                    run: ports::Run {
                        id: "r_1".into(),
                        strategy: "profile".to_owned(),
                        reason: "nightly".to_owned(),
                    },
                    undoes: None,
                },
                at: at(1),
            };
            let announced = History::announce(&ledger, target, vec![new], Vec::new()).await;
            announced.expect("announced");
            if n == 0 {
                SqliteLedger::copy(&path, &copy).expect("copied");
            }
        }
        SqliteLedger::copy_newer_history(&path, &copy).expect("copied");
        SqliteLedger::check(&copy).expect("whole");
        let restored = SqliteLedger::open(&copy).expect("opens");
        let there = NewVersion {
            before: None,
            after: Some(VersionText::new(texts[found].len() as u64, texts[found].clone())),
            ..versions().remove(0)
        };
        let person = History::find(&restored, vec![there], at(9)).await.expect("found");
        assert_eq!(person, None, "{found}: it is the run's");
        let kept = History::versions(&restored, &VersionQuery::Texts(Touching::All)).await;
        let kept: Vec<_> = kept
            .expect("reads")
            .into_iter()
            .filter_map(|version| version.after?.text)
            .collect();
        assert_eq!(kept, texts[1..=found], "{found}");
    }
}

#[test]
fn a_new_file_has_small_pages_and_an_older_one_keeps_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let [new, old] = ["new.db", "old.db"].map(|name| folder.path().join(name));
    let raw = rusqlite::Connection::open(&old).expect("opens");
    raw.execute_batch(include_str!("../fixtures/v9.sql"))
        .expect("the dump is SQL");
    raw.pragma_update(None, "user_version", 9).expect("sets");
    raw.close().expect("closes");
    for (path, bytes) in [(new, 1024), (old, 4096)] {
        drop(SqliteLedger::open(&path).expect("opens"));
        let raw = rusqlite::Connection::open(&path).expect("opens");
        let found: u32 = raw
            .pragma_query_value(None, "page_size", |row| row.get(0))
            .expect("reads");
        assert_eq!(found, bytes, "{}", path.display());
    }
}

#[test]
fn another_programs_database_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ledger.db");
    for version in [0, 3] {
        let raw = rusqlite::Connection::open(&path).expect("opens");
        raw.execute_batch("CREATE TABLE IF NOT EXISTS accounts (name TEXT)")
            .expect("made");
        raw.pragma_update(None, "user_version", version).expect("sets");
        raw.close().expect("closes");
        let before = std::fs::read(&path).expect("reads");
        let refused = SqliteLedger::open(&path).expect_err("not ours");
        assert!(format!("{refused:?}").contains("Foreign"), "{refused:?}");
        assert_eq!(std::fs::read(&path).expect("reads"), before);
    }
}

#[test]
fn a_newer_file_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ledger.db");
    drop(SqliteLedger::open(&path).expect("opens"));
    let raw = rusqlite::Connection::open(&path).expect("opens");
    let known: u32 = raw
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .expect("reads");
    raw.pragma_update(None, "user_version", known + 1).expect("sets");
    raw.close().expect("closes");
    let before = std::fs::read(&path).expect("reads");
    let refused = SqliteLedger::open(&path);
    assert!(
        matches!(refused, Err(LedgerError::NewerVersion { found, known: k }) if found == known + 1 && k == known),
        "{refused:?}"
    );
    assert_eq!(std::fs::read(&path).expect("reads"), before);
}

#[test]
fn a_file_that_is_no_database_is_an_error_with_its_cause() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ledger.db");
    std::fs::write(
        &path,
        "this is a text, and longer than the head of a database is ".repeat(9),
    )
    .expect("writes");
    let Err(LedgerError::Store(cause)) = SqliteLedger::open(&path) else {
        panic!("opened");
    };
    let chain = format!("{cause}: {}", cause.source().expect("sqlite's own"));
    assert!(chain.contains("not a database"), "{chain}");
}

/// The schema version that this program writes.
const VERSION: u32 = 10;

/// Fills a ledger like every fixture: a conversation from version 2 on, a run from version 3 on, a title from
/// version 5 on, a forgotten client id from version 7 on, an object of a model server and the words of a
/// forgotten message from version 8 on, a history from version 9 on.
async fn fill(ledger: &SqliteLedger) {
    let s = session("a", "s");
    let messages = vec![
        with_client_id(says(&s, "ann", "m1", 10), "c1"),
        new(full(&s, "m2", 20)),
        new(says(&s, "bob", "m3", 20)),
    ];
    Transcripts::append(ledger, &s, messages, at(5))
        .await
        .expect("accepted");
    ledger
        .entitle(&s, "Road bike".to_owned(), false)
        .await
        .expect("is called so");
    let buffer = ledger.buffer(&s).await.expect("reads");
    let cells = vec![
        cell("mc1", &buffer[..1], &["ann"]),
        cell("mc2", &buffer[1..2], &["ann", "bob"]),
    ];
    ledger.cut(cut(cells)).await.expect("cut");
    let claimed = Jobs::claim(ledger, 1, 0, at(30), at(40)).await.expect("claims");
    ledger
        .complete(&[claimed[0].id.clone()], at(31))
        .await
        .expect("done");
    Jobs::claim(ledger, 1, 0, at(32), at(42)).await.expect("claims");
    let queued = job("later", JobKind::MemoryFlush, &s);
    Jobs::enqueue(ledger, vec![queued], at(33)).await.expect("queued");
    ledger.put(record()).await.expect("recorded");
    let appended = Conversations::append(ledger, &s, &bot(), 0, Some("key"), log()).await;
    assert_eq!(appended.expect("appended"), 3);
    let queued = Runs::enqueue(ledger, vec![new_run()], at(40)).await;
    assert_eq!(queued.expect("queued"), [Some("r_1".into())]);
    let claimed = Runs::claim(ledger, claim(41)).await.expect("claims");
    assert_eq!(claimed.runs.len(), 1);
    ledger.charge(&"r_1".into(), DAY, call()).await.expect("kept");
    let gone = session("a", "gone");
    let said = vec![with_client_id(says(&gone, "ann", "m9", 60), "c9")];
    Transcripts::append(ledger, &gone, said, at(6))
        .await
        .expect("accepted");
    ledger.sweep(Sweep::Session(gone)).await.expect("swept");
    let recorded = ledger
        .record_objects(&scope("a"), &bot(), vec!["resp_1".to_owned()])
        .await;
    recorded.expect("recorded");
    History::find(ledger, versions(), at(90)).await.expect("records");
}

async fn check_forgotten(ledger: &SqliteLedger, version: u32) {
    let gone = session("a", "gone");
    let said = vec![with_client_id(says(&gone, "ann", "m9", 60), "c9")];
    let outcome = Transcripts::append(ledger, &gone, said, at(70)).await;
    let accepted = &outcome.expect("answered").accepted[0];
    assert_eq!(accepted.forgotten, version >= 7);
    let elsewhere = session("a", "elsewhere");
    let said = vec![new(Message {
        id: MessageId::new("m10"),
        ..says(&elsewhere, "ann", "m9", 60)
    })];
    let outcome = Transcripts::append(ledger, &elsewhere, said, at(71)).await;
    let accepted = &outcome.expect("answered").accepted[0];
    assert_eq!(accepted.forgotten, version >= 8, "known by its words and time");
}

const DAY: Date = Date::constant(2026, 3, 2);

fn new_run() -> NewRun {
    NewRun {
        id: "r_1".into(),
        work: Work {
            strategy: "profile".to_owned(),
            scope: scope("a"),
            owner: Some(Owner::user(name("ann"))),
            subject: "mc1".to_owned(),
        },
        session: Some(session("a", "s").session),
        cause: Cause::Event,
        reason: "episode ep_1 was written".to_owned(),
        run_at: at(41),
        threshold: None,
    }
}

fn claim(now: i64) -> Claim {
    Claim {
        limit: 9,
        strategies: vec!["profile".to_owned()],
        by_hand: Vec::new(),
        now: at(now),
        lease_until: at(now + 10),
    }
}

fn call() -> Cost {
    Cost {
        calls: 1,
        prompt_tokens: 200,
        completion_tokens: 30,
        millis: 0,
    }
}

async fn check_run(ledger: &SqliteLedger) {
    let released = Runs::release_all(ledger, at(60), at(70)).await;
    assert_eq!(released.expect("released"), 1);
    let claimed = Runs::claim(ledger, claim(61)).await.expect("claims").runs;
    let NewRun {
        id,
        work,
        session,
        cause,
        reason,
        ..
    } = new_run();
    let expected = Run {
        id,
        work,
        session,
        cause,
        reason,
        state: RunState::Running,
        attempt: 2,
        run_at: at(71),
        created: at(40),
        started: Some(at(61)),
        finished: None,
        cost: call(),
        change: String::new(),
        error: None,
    };
    assert_eq!(claimed, [expected]);
    assert_eq!(ledger.spent(DAY).await.expect("reads"), call());
}

fn bot() -> Owner {
    Owner::agent(name("bot"))
}

/// A log with a packed record.
fn log() -> Vec<NewRecord> {
    vec![
        item(0, "Ärger"),
        note("between 🦙"),
        item(1, &"long and packed ".repeat(40)),
    ]
}

fn record() -> FileRecord {
    FileRecord {
        problem: Some("line 7: no id".to_owned()),
        ..file("users/ann/2026-03-02.md", 10, &[("ep_1", 1), ("ep_2", u64::MAX)])
    }
}

async fn check_conversation(ledger: &SqliteLedger) {
    let s = session("a", "s");
    let records = ledger.read(&s, 0, 9).await.expect("reads");
    let bodies = records.into_iter().map(|record| record.body);
    assert!(bodies.eq(log().into_iter().map(|record| record.body)));
    assert_eq!(
        Conversations::find(ledger, &s, "äRG", 9).await.expect("looks"),
        [0]
    );
    assert_eq!(
        Conversations::find(ledger, &s, "packed", 9).await.expect("looks"),
        [1]
    );
    let again = Conversations::append(ledger, &s, &bot(), 0, Some("key"), Vec::new()).await;
    assert_eq!(again.expect("seen"), 3);
}

async fn check_filled(path: &Path, version: u32) {
    let ledger = SqliteLedger::open(path).expect("opens and upgrades");
    let s = session("a", "s");
    assert_eq!(
        ledger.buffer(&s).await.expect("reads"),
        [says(&s, "bob", "m3", 20)]
    );
    let first = ledger.cell(&CellId::new("mc1")).await.expect("reads");
    assert_eq!(first, Some(cell("mc1", &[says(&s, "ann", "m1", 10)], &["ann"])));
    let second = ledger.cell(&CellId::new("mc2")).await.expect("reads");
    assert_eq!(second, Some(cell("mc2", &[full(&s, "m2", 20)], &["ann", "bob"])));
    let ann = Owner::user(name("ann"));
    let tail = ledger.tail(&s.scope, &ann).await.expect("reads");
    assert_eq!(tail, [full(&s, "m2", 20), says(&s, "bob", "m3", 20)]);
    let open = ledger.buffered().await.expect("reads");
    assert_eq!((open.sessions, open.messages), (1, 1));
    let again = with_client_id(says(&s, "ann", "m9", 10), "c1");
    let outcome = Transcripts::append(&ledger, &s, vec![again], at(50))
        .await
        .expect("accepted");
    assert_eq!(
        (&outcome.accepted[0].id, outcome.accepted[0].duplicate),
        (&MessageId::new("m1"), true)
    );
    check_jobs(&ledger).await;
    assert_eq!(
        ledger.record(&record().stat.path).await.expect("reads"),
        Some(record())
    );
    if version > 1 {
        check_conversation(&ledger).await;
    }
    if version > 2 {
        check_run(&ledger).await;
    }
    let title = ledger.title(&s).await.expect("reads");
    assert_eq!(title.as_deref(), (version > 4).then_some("Road bike"));
    check_forgotten(&ledger, version).await;
    let ids = vec!["resp_1".to_owned(), "resp_2".to_owned()];
    let owned = ledger.owned_objects(&scope("a"), &bot(), ids).await;
    assert_eq!(owned.expect("reads").len(), usize::from(version >= 8));
    let kept = History::versions(&ledger, &VersionQuery::Texts(Touching::All))
        .await
        .expect("reads");
    let kept: Vec<_> = kept
        .into_iter()
        .map(|version| (version.key, version.after))
        .collect();
    let expected = versions().into_iter().map(|version| (version.key, version.after));
    assert!(kept.into_iter().eq(expected.filter(|_| version >= 9)));
}

/// Versions with a short text, and with a packed one.
fn versions() -> Vec<NewVersion> {
    let texts = [
        "- I moved to Hull <!--f_1-->\n".to_owned(),
        "long and packed ".repeat(40),
    ];
    let keys = [Some(EntryId::new("f_1")), None];
    let version = |(entry, text): (Option<EntryId>, String)| NewVersion {
        key: VersionKey {
            path: "a/p/users/ann/facts/2026-03-02.md".into(),
            entry,
        },
        owner: Some((scope("a"), Owner::user(name("ann")))),
        session: None,
        before: None,
        after: Some(VersionText::new(text.len() as u64, text)),
    };
    keys.into_iter().zip(texts).map(version).collect()
}

async fn check_jobs(ledger: &SqliteLedger) {
    let everything = TaskQuery {
        scope: scope("a"),
        session: None,
        state: None,
        kinds: Vec::new(),
        made_from: None,
        made_before: None,
        page: 1,
        page_size: 9,
    };
    let page = Jobs::page(ledger, &everything).await.expect("reads");
    let states: Vec<(&str, JobState)> = page
        .jobs
        .iter()
        .map(|job| (job.id.0.as_str(), job.state))
        .collect();
    assert_eq!(
        states,
        [
            ("later", JobState::Queued),
            ("job-mc2", JobState::Processing),
            ("job-mc1", JobState::Success)
        ]
    );
    assert_eq!(Jobs::release_all(ledger, at(1_000)).await.expect("released"), 1);
    let claimed = Jobs::claim(ledger, 9, 0, at(60), at(70)).await.expect("claims");
    assert_eq!((claimed.len(), claimed[0].attempt), (1, 2));
    ledger
        .complete(&[claimed[0].id.clone()], at(61))
        .await
        .expect("done");
    assert_eq!(
        Jobs::claim(ledger, 9, 0, at(62), at(70)).await.expect("claims")[0]
            .id
            .0,
        "later"
    );
}

#[tokio::test]
async fn this_version_has_the_content_of_the_fixtures() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ledger.db");
    let ledger = SqliteLedger::open(&path).expect("opens");
    fill(&ledger).await;
    drop(ledger);
    let raw = rusqlite::Connection::open(&path).expect("opens");
    let written: u32 = raw
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .expect("reads");
    assert_eq!(written, VERSION, "a new version needs a fixture");
    raw.close().expect("closes");
    check_filled(&path, VERSION).await;
}

#[tokio::test]
async fn every_old_version_is_read() {
    let dumps = [
        include_str!("../fixtures/v1.sql"),
        include_str!("../fixtures/v2.sql"),
        include_str!("../fixtures/v3.sql"),
        include_str!("../fixtures/v4.sql"),
        include_str!("../fixtures/v5.sql"),
        include_str!("../fixtures/v6.sql"),
        include_str!("../fixtures/v7.sql"),
        include_str!("../fixtures/v8.sql"),
        include_str!("../fixtures/v9.sql"),
        include_str!("../fixtures/v10.sql"),
    ];
    assert_eq!(
        dumps.len(),
        VERSION as usize,
        "a fixture for each version, kept for ever"
    );
    for (version, dump) in (1..=VERSION).zip(dumps) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ledger.db");
        let raw = rusqlite::Connection::open(&path).expect("opens");
        raw.execute_batch(dump).expect("the dump is SQL");
        raw.pragma_update(None, "user_version", version).expect("sets");
        raw.close().expect("closes");
        check_filled(&path, version).await;
    }
}
