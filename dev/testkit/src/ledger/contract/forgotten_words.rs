//! Deleted words that are sent again, in any session, and messages that are recognised by their content.
//!
//! Owns: the messages that an append leaves out by words. Never: client ids (`sweeps`).

use model::{Content, Message, MessageId, Part, PartKind, SessionKey};
use ports::{LedgerError, NewMessage, Sweep};

use super::Ledger;
use crate::ledger::samples::{accepting, at, name, new, replies, says, scope, session, with_client_id};

const HELLO: &str = "Hello, I want to plan my week.";
const CODE: &str = "The alarm code of my house is Zebra-4711.";

/// Messages, given as sender and text, a minute apart, from `start`.
fn talk(s: &SessionKey, start: i64, said: &[(&str, &str)]) -> Vec<NewMessage> {
    let message = |(at, (who, text)): (usize, &(&str, &str))| {
        let millis = start + i64::try_from(at).expect("few") * 60_000;
        let id = format!("{}-{start}-{at}", s.session);
        let message = match *who {
            "bot" => replies(s, who, &id, millis),
            _ => says(s, who, &id, millis),
        };
        let content = Content::Text((*text).to_owned()).into();
        new(Message { content, ..message })
    };
    said.iter().enumerate().map(message).collect()
}

const TALK: [(&str, &str); 6] = [
    ("ann", HELLO),
    ("bot", "Gladly."),
    ("ann", CODE),
    ("bot", "Noted."),
    ("ann", "yes"),
    ("bot", "Shall I remind you of it every evening?"),
];

/// The positions of the messages that were left out.
async fn left_out(ledger: &impl Ledger, s: &SessionKey, messages: Vec<NewMessage>) -> Vec<usize> {
    let outcome = ledger.append(s, messages, at(1)).await.expect("answered");
    let accepted = outcome.accepted.iter().enumerate();
    accepted
        .filter_map(|(at, one)| one.forgotten.then_some(at))
        .collect()
}

async fn forgotten_talk(ledger: &impl Ledger) {
    let s = session("a", "s");
    assert_eq!(left_out(ledger, &s, talk(&s, 0, &TALK)).await, [0_usize; 0]);
    ledger.sweep(Sweep::Session(s)).await.expect("swept");
}

/// A client that sends its whole list again stores only new messages, in any session.
pub async fn a_list_that_is_sent_again_stays_out(ledger: &impl Ledger) {
    forgotten_talk(ledger).await;
    let fresh = session("a", "fresh");
    let longer: Vec<_> = TALK
        .into_iter()
        .chain([("ann", "What else should I plan?")])
        .collect();
    let list = || talk(&fresh, 9_000_000, &longer);
    assert_eq!(left_out(ledger, &fresh, list()).await, [0, 1, 2, 3, 4, 5]);
    let buffer = ledger.buffer(&fresh).await.expect("reads");
    assert_eq!(buffer.len(), 1);
    // Behind a long text: the two are seldom said together again.
    let pair = [
        ("bot", "Shall I remind you of it every evening?"),
        ("ann", "Yes, at nine in the evening."),
    ];
    let (then, now) = (session("a", "then"), session("a", "now"));
    assert!(left_out(ledger, &then, talk(&then, 0, &pair)).await.is_empty());
    ledger.sweep(Sweep::Session(then)).await.expect("swept");
    assert_eq!(left_out(ledger, &now, talk(&now, 7_000_000, &pair)).await, [0, 1]);
    // The end of the list, after a message of another day.
    let window = [("ann", "Good morning."), TALK[2], TALK[3], TALK[4]];
    let late = session("a", "late");
    assert_eq!(
        left_out(ledger, &late, talk(&late, 99_000_000, &window)).await,
        [1, 2, 3]
    );
    let foreign = session("b", "fresh");
    assert!(
        left_out(ledger, &foreign, talk(&foreign, 0, &TALK))
            .await
            .is_empty()
    );
    let other = talk(&fresh, 0, &[("bob", HELLO), ("bob", CODE)]);
    assert!(
        left_out(ledger, &fresh, other).await.is_empty(),
        "another person's words"
    );
}

/// Forgotten words that are said anew are a new message.
pub async fn words_that_are_said_anew_are_kept(ledger: &impl Ledger) {
    forgotten_talk(ledger).await;
    let day = 90_000_000;
    let kept = [
        vec![("ann", CODE)],
        vec![("ann", "My door?"), ("ann", CODE), ("bot", "I will keep it.")],
        // What is said now, with one neighbour of then that is said often.
        vec![("ann", CODE), ("bot", "Noted.")],
        vec![
            ("ann", "My door?"),
            ("bot", "Gladly."),
            ("ann", CODE),
            ("bot", "I will keep it."),
        ],
        vec![("bot", "Noted."), ("ann", "yes")],
        vec![
            ("bot", "Is it?"),
            ("ann", "yes"),
            ("bot", "Shall I remind you of it every evening?"),
        ],
    ];
    for (n, said) in kept.iter().enumerate() {
        let s = session("a", &format!("anew-{n}"));
        assert_eq!(
            left_out(ledger, &s, talk(&s, day, said)).await,
            [0_usize; 0],
            "{said:?}"
        );
    }
}

/// A single message is recognised by the stored message before it, by its time, and by its client id if text
/// and id are both long.
pub async fn a_single_message_is_known_by_its_neighbour_time_or_id(ledger: &impl Ledger) {
    let (s, fresh) = (session("a", "s"), session("a", "fresh"));
    let first = talk(&s, 0, &TALK[..3]);
    let code = first[2].message.clone();
    ledger.append(&s, first, at(1)).await.expect("accepted");
    let gone = Sweep::Messages(scope("a"), vec![code.id.clone()]);
    ledger.sweep(gone).await.expect("swept");
    let mut next = talk(&s, 5_000_000, &TALK[1..3]);
    let behind = next.split_off(1);
    assert_eq!(left_out(ledger, &s, next).await, [0_usize; 0]);
    assert_eq!(
        left_out(ledger, &s, behind).await,
        [0],
        "behind what the session has"
    );
    let at_its_time = talk(&fresh, code.time.millis(), &TALK[2..3]);
    assert_eq!(left_out(ledger, &fresh, at_its_time).await, [0]);

    let named = |s: &SessionKey, start, text, id| {
        let said = talk(s, start, &[("ann", text)]).remove(0);
        vec![with_client_id(said.message, id)]
    };
    let long = "My sister's birthday is on the third of May.";
    let own_id = "0190b3f1-7a52-7c11-9d3e-4f2a7a9f0c55";
    let cases = [
        (7_000, long, own_id, true),
        (8_000, "no", own_id, false),
        (
            9_000,
            "My brother's birthday is on the ninth of June.",
            "line-3",
            false,
        ),
    ];
    for (start, text, id, is_known) in cases {
        let old = session("a", &format!("old-{start}"));
        let stored = left_out(ledger, &old, named(&old, start, text, id)).await;
        assert!(stored.is_empty(), "{text}");
        ledger.sweep(Sweep::Session(old)).await.expect("swept");
        let again = left_out(ledger, &fresh, named(&fresh, start + 1, text, id)).await;
        assert_eq!(again == [0], is_known, "{text}");
        ledger.sweep(Sweep::Session(fresh.clone())).await.expect("swept");
    }
}

/// A message accepted again is stored, and only then no longer deleted.
pub async fn one_commit_accepts_forgotten_messages(ledger: &impl Ledger) {
    forgotten_talk(ledger).await;
    let fresh = session("a", "fresh");
    let list = || talk(&fresh, 9_000_000, &TALK);
    let taken = MessageId::new("taken");
    let mut other = says(&session("a", "other"), "ann", "taken", 1);
    other.id = taken.clone();
    ledger
        .append(&session("a", "other"), vec![new(other)], at(1))
        .await
        .expect("accepted");
    let mut failing: Vec<NewMessage> = list().into_iter().map(accepting).collect();
    failing[5].message.id = taken;
    let failed = ledger.append(&fresh, failing, at(1)).await;
    assert!(matches!(failed, Err(LedgerError::Store(_))), "{failed:?}");
    assert_eq!(left_out(ledger, &fresh, list()).await, [0, 1, 2, 3, 4, 5]);
    let mut one = list();
    one[2].accept_forgotten = true;
    let outcome = ledger.append(&fresh, one, at(1)).await.expect("accepted");
    let restored: Vec<bool> = outcome.accepted.iter().map(|one| one.restored).collect();
    assert_eq!(restored, [false, false, true, false, false, false]);
    assert_eq!(outcome.buffered, 1);
    assert_eq!(left_out(ledger, &fresh, list()).await, [0, 1, 3, 4, 5]);
    let elsewhere = session("a", "elsewhere");
    assert!(
        !left_out(ledger, &elsewhere, talk(&elsewhere, 0, &TALK))
            .await
            .contains(&2)
    );
}

/// Without a client id a retry is recognised by session, sender, role, time and content.
pub async fn a_retry_without_a_client_id_is_harmless(ledger: &impl Ledger) {
    let s = session("a", "s");
    let same_time = |start, said: &[(&str, &str)]| {
        let mut said = talk(&s, start, said);
        for new in &mut said {
            new.message.time = at(5);
        }
        said
    };
    let twice = [("ann", CODE), ("ann", "no"), ("ann", "no"), ("bot", "no")];
    let first = ledger
        .append(&s, same_time(0, &twice), at(1))
        .await
        .expect("accepted");
    assert_eq!(first.buffered, 4, "what one request repeats was said twice");
    let again = ledger
        .append(&s, same_time(1, &twice), at(2))
        .await
        .expect("accepted");
    assert_eq!(again.buffered, 4);
    assert!(again.accepted.iter().all(|one| one.duplicate && !one.forgotten));
    assert_eq!(again.accepted[0].id, first.accepted[0].id);
    let mut in_parts = same_time(1, &twice);
    for new in &mut in_parts {
        let text = Some(new.message.text());
        let part = Part {
            kind: PartKind::Text,
            text,
            uri: None,
            base64: None,
            ext: None,
            name: None,
            extras_json: None,
        };
        new.message.content = Content::Parts(vec![part]).into();
    }
    let in_parts = ledger.append(&s, in_parts, at(2)).await.expect("accepted");
    assert!(
        in_parts.accepted.iter().all(|one| one.duplicate),
        "text in parts is text"
    );
    let others = [("bob", CODE), ("bot", CODE), ("ann", HELLO)];
    let others = ledger
        .append(&s, same_time(2, &others), at(3))
        .await
        .expect("accepted");
    assert_eq!(others.buffered, 7);
    let later = talk(&s, 6, &[("ann", CODE)]);
    let elsewhere = talk(&session("a", "other"), 5, &[("ann", CODE)]);
    for said in [later, elsewhere] {
        let s = said[0].message.session.clone();
        let outcome = ledger.append(&s, said, at(4)).await.expect("accepted");
        assert!(!outcome.accepted[0].duplicate);
    }
}

/// A repeat key replaces time and content, as long as the message exists.
pub async fn a_repeat_key_stands_for_time_and_content(ledger: &impl Ledger) {
    let s = session("a", "s");
    let add = async |minute: i64, key: &str| -> bool {
        let mut said = talk(&s, minute, &[("ann", CODE)]);
        said[0].repeat_key = Some(key.to_owned());
        let outcome = ledger.append(&s, said, at(minute)).await.expect("accepted");
        assert!(!outcome.accepted[0].forgotten);
        outcome.accepted[0].duplicate
    };
    assert!(!add(1, "monday").await);
    assert!(add(2, "monday").await);
    assert!(!add(3, "tuesday").await);
    let untold = talk(&s, 4, &[("ann", CODE)]);
    let untold = ledger.append(&s, untold, at(4)).await.expect("accepted");
    assert!(!untold.accepted[0].duplicate, "another kind of client");
    ledger.sweep(Sweep::Session(s.clone())).await.expect("swept");
    assert!(!add(60_000_000, "monday").await, "nothing of the key is left");
}

/// An agent's log that begins with a copy of another one adds only the rest, for the same user only.
pub async fn a_log_adds_only_messages_it_did_not_copy(ledger: &impl Ledger) {
    let log = |user: &str, s: &SessionKey, said: &[(&str, &str)]| {
        let mut said = talk(s, 0, said);
        for new in &mut said {
            new.client_id = Some(format!("line-{}", new.message.id));
            new.log_of = Some(name(user));
        }
        said
    };
    let copied = async |user: &str, s: &SessionKey, said: &[(&str, &str)]| -> Vec<usize> {
        let outcome = ledger.append(s, log(user, s, said), at(1)).await;
        let accepted = outcome.expect("accepted").accepted;
        let seen = |(at, id): (usize, &MessageId)| id.as_str().starts_with("s-").then_some(at);
        let duplicates = accepted
            .iter()
            .enumerate()
            .filter(|(_, one)| one.duplicate && !one.forgotten);
        duplicates.filter_map(|(at, one)| seen((at, &one.id))).collect()
    };
    let (s, fork) = (session("a", "s"), session("a", "fork"));
    assert_eq!(copied("ann", &s, &TALK).await, [0_usize; 0]);
    let mut longer = TALK.to_vec();
    longer.push(("ann", "And on Sundays at nine."));
    assert_eq!(copied("ann", &fork, &longer).await, [0, 1, 2, 3, 4, 5]);
    // Also in parts, one of them without a message of the user.
    let resumed = session("a", "resumed");
    for said in longer.chunks(1).skip(1).take(1) {
        let mut part = log("ann", &resumed, said);
        part[0].message.time = at(60_000);
        let outcome = ledger.append(&resumed, part, at(1)).await.expect("accepted");
        assert!(outcome.accepted[0].duplicate && outcome.buffered == 0);
    }
    let twice = [TALK[0], TALK[0]];
    let mut twice = log("ann", &resumed, &twice);
    twice[1].message.time = twice[0].message.time;
    let outcome = ledger.append(&resumed, twice, at(1)).await.expect("accepted");
    assert!(
        outcome.accepted[0].duplicate && !outcome.accepted[1].duplicate,
        "what a log says twice it says twice"
    );
    let bobs = session("a", "bobs");
    assert_eq!(
        copied("bob", &bobs, &TALK).await,
        [0_usize; 0],
        "another user's log"
    );
    let mut unnamed = talk(&session("a", "unnamed"), 0, &TALK);
    unnamed[0].client_id = Some("line-0".to_owned());
    let unnamed = ledger.append(&session("a", "unnamed"), unnamed, at(1)).await;
    let unnamed = unnamed.expect("accepted").accepted;
    assert!(!unnamed.iter().any(|one| one.duplicate), "no log");
    for gone in [s, resumed, bobs, session("a", "unnamed")] {
        ledger.sweep(Sweep::Session(gone)).await.expect("swept");
    }
    longer.push(("ann", "Now something else altogether."));
    let third = session("a", "third");
    let outcome = ledger.append(&third, log("ann", &third, &longer), at(2)).await;
    let outcome = outcome.expect("accepted");
    let forgotten: Vec<bool> = outcome.accepted.iter().map(|one| one.forgotten).collect();
    assert_eq!(forgotten, [true, true, true, true, true, true, false, false]);
    assert!(outcome.accepted[6].duplicate, "the fork still has it");
    assert_eq!(outcome.buffered, 1);
}
