//! The facts from which consolidation can learn.
//!
//! Owns: the rule that only people teach. Never: reading a store.

use std::collections::{BTreeMap, BTreeSet};

use model::{Doc, MessageId, Name, Origin, SessionId, Timestamp, Zone};
use recall::time::{Tense, expressions};

use crate::succession::{Remark, is_another_day, said_words};

/// A fact as consolidation sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownFact<'a> {
    pub id: &'a str,
    pub text: &'a str,
    pub time: Timestamp,
    pub sources: &'a [MessageId],
    pub session: Option<&'a SessionId>,
    /// The person wrote it into a file, or confirmed it in a review.
    pub is_by_hand: bool,
    /// Whether it holds at the time of the call: nothing supersedes it, it has no end, the events
    /// it announces are not over, and nothing puts it in doubt.
    pub is_current: bool,
}

/// Whether a memory of this origin comes from a person, who said, wrote or imported it.
pub(crate) fn is_taught(origin: Origin) -> bool {
    match origin {
        Origin::User | Origin::Import | Origin::Hand => true,
        Origin::Assistant | Origin::Tool | Origin::Web => false,
    }
}

/// The fact of a row, if it is a person's statement about themselves: from a person, and by `owner` if the row names a
/// speaker. `is_superseded`: another row supersedes it.
pub fn of_row<'a>(row: &'a Doc, owner: &Name, is_superseded: bool, now: Timestamp) -> Option<KnownFact<'a>> {
    let is_own = row.senders.is_empty() || row.senders.contains(owner);
    let is_fact = row.is_fact() && !row.is_withdrawn();
    let is_learnt = is_fact && is_taught(row.origin) && is_own;
    is_learnt.then(|| KnownFact {
        id: &row.key.id,
        text: &row.text,
        time: row.time,
        sources: &row.sources,
        session: row.session.as_ref(),
        is_by_hand: row.origin == Origin::Hand || row.is_confirmed(),
        is_current: !is_superseded
            && row.valid_until.is_none_or(|until| now < until)
            && !has_passed(&row.text, row.time, now),
    })
}

/// The ids of facts, and of their messages, that are sure enough for every prompt: the person wrote
/// the fact into a file, confirmed it, or said it on two days in two sessions that share no
/// message, in the same words.
pub fn earned<'a>(facts: &[KnownFact<'a>]) -> BTreeSet<&'a str> {
    let mut same: BTreeMap<(BTreeSet<String>, bool), Vec<&KnownFact<'a>>> = BTreeMap::new();
    for fact in facts.iter().filter(|fact| fact.is_current) {
        same.entry(said_words(fact.text)).or_default().push(fact);
    }
    let is_again = |one: &KnownFact<'_>, other: &KnownFact<'_>| {
        is_another_day(one.time, other.time)
            && one.session != other.session
            && !one.sources.iter().any(|source| other.sources.contains(source))
    };
    let lasts = |facts: &&Vec<&KnownFact<'a>>| {
        let mut one = facts.iter();
        facts.iter().any(|fact| fact.is_by_hand)
            || one.any(|one| facts.iter().any(|other| is_again(one, other)))
    };
    let lasting = same.values().filter(lasts).flatten();
    let ids = |fact: &&KnownFact<'a>| {
        let (id, messages) = (fact.id, fact.sources.iter().map(MessageId::as_str));
        messages.chain([id])
    };
    lasting.flat_map(ids).collect()
}

/// Marks earned facts as no longer current if a later statement of their person puts them in doubt,
/// and returns their texts. Facts that the person wrote or confirmed stay current.
pub fn leave_doubted<'a>(facts: &mut [KnownFact<'a>], said: &[Remark<'_>]) -> BTreeSet<&'a str> {
    let lasting: BTreeSet<String> = earned(facts).into_iter().map(str::to_owned).collect();
    let mut doubted = BTreeSet::new();
    for fact in facts
        .iter_mut()
        .filter(|fact| !fact.is_by_hand && lasting.contains(fact.id))
    {
        let earlier = Remark::new(fact.text, fact.time);
        if said.iter().any(|later| later.doubts(&earlier)) {
            fact.is_current = false;
            doubted.insert(fact.text);
        }
    }
    doubted
}

/// Whether every event that a statement announces ended at least a day ago, in any time zone.
fn has_passed(text: &str, said_at: Timestamp, now: Timestamp) -> bool {
    const DAY_MS: i64 = 24 * 60 * 60 * 1000;
    let dates = expressions(text, said_at, &Zone::utc());
    let to_come = |date: &recall::time::Expression| date.tense == Some(Tense::Future);
    dates.iter().any(to_come) && dates.iter().all(|date| date.span.to.plus_millis(DAY_MS) < now)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact<'a>(
        id: &'a str,
        text: &'a str,
        day: i64,
        session: &'a SessionId,
        sources: &'a [MessageId],
    ) -> KnownFact<'a> {
        KnownFact {
            id,
            text,
            time: Timestamp::from_millis(day * 86_400_000),
            sources,
            session: Some(session),
            is_by_hand: false,
            is_current: true,
        }
    }

    #[test]
    fn a_statement_is_earned_by_two_days_in_two_sessions_or_by_hand() {
        let (one, two) = (SessionId::new("one"), SessionId::new("two"));
        let (m, n) = ([MessageId::new("m")], [MessageId::new("n")]);
        let said = "I live in Porto.";
        let first = fact("a", said, 1, &one, &m);
        for (other, is_earned) in [
            (fact("b", "I live in Porto!", 2, &two, &n), true),
            (fact("b", said, 1, &two, &n), false),
            (fact("b", said, 2, &one, &n), false),
            (fact("b", said, 2, &two, &m), false),
            (fact("b", "I lived in Faro.", 2, &two, &n), false),
            (fact("b", "I don't live in Porto.", 2, &two, &n), false),
        ] {
            let facts = [first.clone(), other];
            let earned = earned(&facts);
            assert_eq!(earned.contains("a"), is_earned, "{facts:?}");
            assert_eq!(earned.contains("m"), is_earned, "and its message");
        }
        let by_hand = KnownFact {
            is_by_hand: true,
            ..first
        };
        assert!(earned(&[by_hand]).contains("a"));
    }

    /// Whether a fact stated on two days stays earned after a later statement.
    fn is_left(said: &str, later: &str) -> bool {
        let (one, two) = (SessionId::new("one"), SessionId::new("two"));
        let (m, n) = ([MessageId::new("m")], [MessageId::new("n")]);
        let mut facts = [fact("a", said, 1, &one, &m), fact("b", said, 3, &two, &n)];
        let later = Remark::new(later, Timestamp::from_millis(5 * 86_400_000));
        let doubted = leave_doubted(&mut facts, &[later]);
        let is_earned = earned(&facts).contains("a");
        assert_eq!(is_earned, doubted.is_empty(), "{said}");
        is_earned
    }

    #[test]
    fn a_later_doubt_removes_a_fact_from_the_earned_ones() {
        for (said, later) in [
            (
                "I'm allergic to almonds.",
                "correction: I'm not allergic to almonds, it's cashews",
            ),
            (
                "I work at Acme.",
                "I don't work at Acme any more, I'm at Globex now.",
            ),
            (
                "My cat is called Tom.",
                "no, my cat was never called Tom, her name is Ida",
            ),
            ("My size is 39.", "My size is 41."),
            ("I'm 170 cm tall.", "oops, I'm 176 cm tall"),
            ("I drive a Saab.", "I sold the Saab, I drive a bus now."),
            ("Ich wohne in Ulm.", "Ich wohne nicht mehr in Ulm."),
        ] {
            assert!(!is_left(said, later), "{said} => {later}");
        }
        for (said, later) in [
            ("I work at Acme.", "I work at Acme."),
            ("I work at Acme.", "I'm not hungry."),
            ("I play the harp on Tuesdays.", "I'm not at home on Tuesdays."),
            ("I like tea.", "I like trains."),
            ("My sister is Eva.", "My brother is Tim."),
        ] {
            assert!(is_left(said, later), "{said} => {later}");
        }
        let (one, m) = (SessionId::new("one"), [MessageId::new("m")]);
        let mut by_hand = [KnownFact {
            is_by_hand: true,
            ..fact("a", "I work at Acme.", 1, &one, &m)
        }];
        let later = Remark::new(
            "I don't work at Acme now.",
            Timestamp::from_millis(5 * 86_400_000),
        );
        assert!(
            leave_doubted(&mut by_hand, &[later]).is_empty(),
            "the person's word stands"
        );
    }

    #[test]
    fn an_announced_event_passes_and_a_past_event_stays() {
        let zone = Zone::utc();
        let [said_at, now, later] = [
            "2026-04-22T10:00:00Z",
            "2026-04-27T10:00:00Z",
            "2026-11-26T10:00:00Z",
        ]
        .map(|time| zone.parse(time).expect("a time"));
        for text in [
            "I have an interview in Bristol on Tuesday (28 April 2026) at 10.",
            "My sister is getting married on 19 September 2026 in Lagos.",
        ] {
            assert!(!has_passed(text, said_at, now), "{text}");
            assert!(has_passed(text, said_at, later), "{text}");
        }
        for text in [
            "I moved to Bristol yesterday (21 April 2026).",
            "I have been vegan since March 2026.",
            "My sister is getting married on 19 September 2027.",
            "I live in Hull.",
        ] {
            assert!(!has_passed(text, said_at, later), "{text}");
        }
    }
}
