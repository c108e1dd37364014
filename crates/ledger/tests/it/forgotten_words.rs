//! However talks are forgotten and sent again: no forgotten sentence is stored, and no other message is left
//! out.

use ledger::SqliteLedger;
use model::{Content, Message, MessageId, SessionKey};
use ports::{NewMessage, Sweep, Transcripts};
use proptest::collection::vec;
use proptest::prelude::*;
use testkit::ledger::samples::{at, new, replies, says, scope, session};

const REPLIES: [&str; 5] = [
    "yes",
    "ok",
    "Noted.",
    "Gladly.",
    "Is there anything else that I can do for you?",
];

/// A talk of unique sentences, each with one of the same few replies, and the part of it to forget.
#[derive(Debug, Clone)]
struct Talk {
    replies: Vec<usize>,
    /// The sentences to forget; none forgets the whole session.
    gone: Option<Vec<bool>>,
    /// The position from which the client sends it again.
    from: usize,
}

fn talk() -> impl Strategy<Value = Talk> {
    let replies = vec(0..REPLIES.len(), 1..5);
    let gone = prop::option::of(vec(any::<bool>(), 5));
    (replies, gone, 0..8_usize).prop_map(|(replies, gone, from)| Talk { replies, gone, from })
}

fn sentence(talk: usize, n: usize) -> String {
    format!("Sentence {n} of the talk {talk} is nobody else's.")
}

/// The messages of a talk as one session has them.
fn messages(s: &SessionKey, start: i64, number: usize, talk: &Talk) -> Vec<NewMessage> {
    let start = start + 1_000 * i64::try_from(number).expect("few");
    let lines = talk.replies.iter().enumerate();
    let lines = lines.flat_map(|(n, reply)| [sentence(number, n), REPLIES[*reply].to_owned()]);
    lines
        .enumerate()
        .map(|(n, line)| message(s, start, n, line))
        .collect()
}

fn message(s: &SessionKey, start: i64, n: usize, line: String) -> NewMessage {
    let (id, millis) = (
        format!("{}-{n}", s.session),
        start + i64::try_from(n).expect("few"),
    );
    let said = match n % 2 {
        0 => says(s, "ann", &id, millis),
        _ => replies(s, "bot", &id, millis),
    };
    new(Message {
        content: Content::Text(line).into(),
        ..said
    })
}

async fn append(ledger: &SqliteLedger, s: &SessionKey, said: Vec<NewMessage>) -> Vec<bool> {
    let outcome = ledger.append(s, said, at(1)).await.expect("answered");
    outcome.accepted.iter().map(|one| one.forgotten).collect()
}

async fn forget_and_send_again(talks: Vec<Talk>) {
    let folder = tempfile::tempdir().expect("a folder");
    let ledger = SqliteLedger::open(&folder.path().join("ledger.db")).expect("opens");
    let of = |kind: &str, number: usize| session("a", &format!("{kind}{number}"));
    for (number, talk) in talks.iter().enumerate() {
        let s = of("old", number);
        let left_out = append(&ledger, &s, messages(&s, 0, number, talk)).await;
        assert!(!left_out.contains(&true), "a talk of its own: {talk:?}");
        let sweep = match &talk.gone {
            None => Sweep::Session(s),
            Some(gone) => {
                let gone = (0..talk.replies.len()).filter(|n| gone[*n]);
                let ids = gone.map(|n| MessageId::new(format!("{}-{}", s.session, 2 * n)));
                Sweep::Messages(scope("a"), ids.collect())
            }
        };
        ledger.sweep(sweep).await.expect("swept");
    }
    for (number, talk) in talks.iter().enumerate() {
        let is_gone = |n: usize| talk.gone.as_ref().is_none_or(|gone| gone[n]);
        let s = of("again", number);
        let mut list = messages(&s, 1_000_000, number, talk);
        let from = talk.from.min(list.len() - 2);
        list.push(message(
            &s,
            2_000_000,
            list.len(),
            format!("And now to talk {number}, anew."),
        ));
        let left_out = append(&ledger, &s, list.split_off(from)).await;
        for (n, is_left_out) in (from..).zip(left_out) {
            let was_forgotten =
                n / 2 < talk.replies.len() && (talk.gone.is_none() || (n % 2 == 0 && is_gone(n / 2)));
            assert_eq!(is_left_out, was_forgotten, "message {n} of {talk:?}");
        }
        // The same sentence on another day, with other neighbours.
        let s = of("anew", number);
        let anew = [
            "So.",
            "Well?",
            &sentence(number, 0),
            "A reply that nobody gave before.",
            "yes",
            "Fine.",
        ];
        let anew = (0..)
            .zip(anew)
            .map(|(n, line)| message(&s, 3_000_000, n, line.to_owned()));
        let left_out = append(&ledger, &s, anew.collect()).await;
        assert!(!left_out.contains(&true), "{talk:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn forgotten_sentences_stay_out_and_other_messages_are_stored(talks in vec(talk(), 1..6)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(forget_and_send_again(talks));
    }
}
