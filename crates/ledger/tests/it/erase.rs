//! Swept text is in no file any more, not even in bytes that no row uses.

use std::collections::BTreeSet;
use std::path::Path;

use ledger::SqliteLedger;
use model::{Content, Message, MessageId, Owner, SessionId, SessionKey};
use ports::{Sweep, Transcripts};
use testkit::ledger::samples::{at, cell, cut, name, says, scope, session, with_client_id};

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(self.0 >> 33).expect("31 bits") % sides
    }
}

/// Every `tok-…-kot` in the ledger's files.
fn tokens(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(folder).expect("reads") {
        let bytes = std::fs::read(entry.expect("reads").path()).expect("reads");
        let text = String::from_utf8_lossy(&bytes);
        found.extend(text.split("tok-").skip(1).filter_map(|rest| {
            let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
            (number.len() == 6).then_some(number)
        }));
    }
    found
}

/// A message with its number in text, id and client id; from a few bytes to several pages long.
fn message(dice: &mut Dice, s: &SessionKey, user: &str, number: usize) -> Message {
    let length = [0, 3, 60, 700, 5_000, 40_000][dice.roll(6)];
    let token = format!("tok-{number:06}");
    Message {
        content: Content::Text(format!("{token} {} {token}", "x".repeat(length))).into(),
        ..says(
            s,
            user,
            &format!("m-{token}"),
            i64::try_from(dice.roll(1000)).expect("small"),
        )
    }
}

#[tokio::test]
async fn swept_text_is_in_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let ledger = SqliteLedger::open(&folder.path().join("ledger.db")).expect("opens");
    let mut dice = Dice(4);
    let users = ["ann", "bob", "cleo", "dan"];
    let mut number = 0;
    for step in 0..240 {
        let user = users[dice.roll(4)];
        let s = session("a", &format!("{user}-{}", dice.roll(5)));
        let batch: Vec<Message> = (0..=dice.roll(6))
            .map(|_| {
                number += 1;
                message(&mut dice, &s, user, number)
            })
            .collect();
        let batch = batch.into_iter().map(|m| {
            let client_id = format!("client-{}", m.id);
            with_client_id(m, &client_id)
        });
        ledger
            .append(&s, batch.collect(), at(step))
            .await
            .expect("accepted");
        let buffer = ledger.buffer(&s).await.expect("reads");
        if dice.roll(3) == 0 {
            let part = &buffer[..=dice.roll(buffer.len())];
            let wanted = cell(&format!("c{step}"), part, &[user]);
            ledger.cut(cut(vec![wanted])).await.expect("cut");
        }
        let sweep = match dice.roll(12) {
            0 => Sweep::Session(s),
            1 => Sweep::Owner(scope("a"), Owner::user(name(user))),
            2 | 3 => {
                let ids = buffer.iter().map(|m| m.id.clone());
                Sweep::Messages(scope("a"), ids.filter(|_| dice.roll(2) == 0).collect())
            }
            _ => continue,
        };
        ledger.sweep(sweep).await.expect("swept");
        let all: Vec<MessageId> = (0..=number)
            .map(|n| MessageId::new(format!("m-tok-{n:06}")))
            .collect();
        let left = ledger.messages(&scope("a"), &all).await.expect("reads");
        let left: BTreeSet<String> = left.iter().map(|m| m.id.as_str()[6..].to_owned()).collect();
        assert_eq!(tokens(folder.path()), left, "step {step}");
        check_integrity(folder.path());
    }
    assert!(number > 500);
    ledger.sweep(Sweep::Scope(scope("a"))).await.expect("swept");
    assert_eq!(tokens(folder.path()), BTreeSet::new());
}

fn check_integrity(folder: &Path) {
    let raw = rusqlite::Connection::open(folder.join("ledger.db")).expect("opens");
    let sound: String = raw
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .expect("checks");
    assert_eq!(sound, "ok");
}

/// A ledger of many more pages than are cleaned at a time.
async fn large(folder: &Path) -> (SqliteLedger, SessionKey, SessionKey) {
    let ledger = SqliteLedger::open(&folder.join("ledger.db")).expect("opens");
    let (first, second) = (session("a", "first"), session("a", "second"));
    for n in 0..600_usize {
        let s = if n % 2 == 0 { &first } else { &second };
        let id = format!("tok-{n:06}");
        let text = format!("{id} {}", "x".repeat(3_000));
        let message = Message {
            content: Content::Text(text).into(),
            ..says(s, "ann", &id, i64::try_from(n).expect("small"))
        };
        ledger
            .append(s, vec![with_client_id(message, &id)], at(1))
            .await
            .expect("accepted");
    }
    (ledger, first, second)
}

#[tokio::test]
async fn appends_do_not_wait_for_a_sweep() {
    let folder = tempfile::tempdir().expect("a folder");
    let (ledger, first, second) = large(folder.path()).await;
    let mut sweep = ledger.sweep(Sweep::Session(first));
    let mut appended = 0;
    loop {
        let id = format!("new-{appended}");
        let message = with_client_id(says(&second, "ann", &id, 1_000), &id);
        tokio::select! {
            biased;
            swept = &mut sweep => {
                swept.expect("swept");
                break;
            }
            accepted = ledger.append(&second, vec![message], at(2)) => {
                accepted.expect("accepted");
                appended += 1;
            }
        }
    }
    assert!(appended > 0, "no append was accepted during the sweep");
    assert_eq!(tokens(folder.path()).len(), 300);
    check_integrity(folder.path());
}

#[tokio::test]
async fn sweeps_at_the_same_time_all_erase() {
    let folder = tempfile::tempdir().expect("a folder");
    let (ledger, first, second) = large(folder.path()).await;
    let single = (0..600).step_by(7).map(|n| MessageId::new(format!("tok-{n:06}")));
    let (one, two, three) = tokio::join!(
        ledger.sweep(Sweep::Messages(scope("a"), single.collect())),
        async {
            // Meanwhile the pages of the first sweep are cleaned.
            ledger.buffer(&second).await.expect("reads");
            ledger.sweep(Sweep::Session(first)).await
        },
        async {
            for _ in 0..3 {
                ledger.buffer(&second).await.expect("reads");
            }
            let ann = Owner::user(name("ann"));
            ledger.sweep(Sweep::OwnerInSession(second.clone(), ann)).await
        },
    );
    for swept in [one, two, three] {
        assert!(swept.expect("swept").messages > 0);
    }
    assert_eq!(tokens(folder.path()), BTreeSet::new());
    check_integrity(folder.path());
    drop(ledger);
    let raw = rusqlite::Connection::open(folder.path().join("ledger.db")).expect("opens");
    let due: i64 = raw
        .query_row("SELECT count(*) FROM erasures", [], |row| row.get(0))
        .expect("reads");
    assert_eq!(due, 0);
}

#[tokio::test]
async fn a_swept_session_leaves_no_name_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    let ledger = SqliteLedger::open(&folder.path().join("ledger.db")).expect("opens");
    let s = SessionKey {
        session: SessionId::new("tok-000001"),
        scope: scope("tok-000002"),
    };
    let message = says(&s, "tok-000003", "m", 1);
    ledger
        .append(&s, vec![with_client_id(message.clone(), "tok-000004")], at(1))
        .await
        .expect("accepted");
    ledger
        .cut(cut(vec![cell("tok-000005", &[message], &["tok-000003"])]))
        .await
        .expect("cut");
    assert_eq!(tokens(folder.path()).len(), 5);
    ledger.sweep(Sweep::Session(s.clone())).await.expect("swept");
    assert_eq!(tokens(folder.path()), BTreeSet::from(["000002".to_owned()]));
    ledger.sweep(Sweep::Scope(s.scope)).await.expect("swept");
    assert_eq!(tokens(folder.path()), BTreeSet::new());
}

#[tokio::test]
async fn a_sweep_that_a_crash_cut_short_is_finished_at_the_next_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ledger.db");
    let ledger = SqliteLedger::open(&path).expect("opens");
    let s = session("a", "s");
    let messages = (0..9).map(|n| {
        let id = format!("tok-{n:06}");
        with_client_id(says(&s, "ann", &id, n), &id)
    });
    ledger
        .append(&s, messages.collect(), at(1))
        .await
        .expect("accepted");
    drop(ledger);
    // Like the sweep's own commit, followed by the end of the process.
    let raw = rusqlite::Connection::open(&path).expect("opens");
    raw.execute_batch("PRAGMA secure_delete = OFF; DELETE FROM scopes; INSERT INTO erasures DEFAULT VALUES;")
        .expect("deletes");
    raw.close().expect("closes");
    assert_eq!(
        tokens(folder.path()).len(),
        9,
        "the bytes of deleted rows are still there"
    );
    let ledger = SqliteLedger::open(&path).expect("opens");
    assert_eq!(tokens(folder.path()), BTreeSet::new());
    drop(ledger);
    let raw = rusqlite::Connection::open(&path).expect("opens");
    let due: i64 = raw
        .query_row("SELECT count(*) FROM erasures", [], |row| row.get(0))
        .expect("reads");
    assert_eq!(due, 0, "and the start after that has nothing to do");
}
