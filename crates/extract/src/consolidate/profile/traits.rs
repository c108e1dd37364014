//! Traits of a person: subjects that return on several days.
//!
//! Owns: when repetition makes a trait. Never: a judgement of character; the evidence is quoted.

use std::collections::{BTreeMap, BTreeSet};

use text::{is_stop_word, term_set, terms};

use super::ProfileStatement;
use crate::consolidate::known::KnownFact;

/// Minimum number of facts, at this number of times at least a day apart, for a trait.
const FACTS_MIN: usize = 3;
const DAYS_MIN: usize = 2;
const TRAITS_MAX: usize = 5;
const QUOTES_MAX: usize = 3;
const DAY_MILLIS: i64 = 86_400_000;
const WORD_CHARS_MIN: usize = 4;

/// Words of many facts that say nothing of a person.
const COMMON: &str = "have has had been with from their they them that this about after before will would could year \
     years month months week weeks today yesterday tomorrow time times name lives live living moved work works working \
     like likes love loves start starts started want wants going make makes made take takes took monday tuesday \
     wednesday thursday friday saturday sunday january february march april june july august september october \
     november december just really very also more most much many some every first last next good great went goes \
     said says told thing things people person called home house favourite prefers plans currently";

/// The traits that an owner's current facts show, the most repeated first.
pub(super) fn traits(name: &str, facts: &[&KnownFact<'_>]) -> Vec<ProfileStatement> {
    let own = term_set(name);
    let mut by_term: BTreeMap<String, (String, Vec<&KnownFact<'_>>)> = BTreeMap::new();
    for fact in facts {
        let mut seen = BTreeSet::new();
        for word in fact.text.split(|c: char| !c.is_alphanumeric()) {
            let lower = word.to_lowercase();
            let is_telling = word.chars().count() >= WORD_CHARS_MIN
                && !word.chars().any(char::is_numeric)
                && !is_stop_word(&lower)
                && !COMMON.split_whitespace().any(|common| common == lower);
            let Some(term) = terms(&lower).into_iter().next().filter(|_| is_telling) else {
                continue;
            };
            if !own.contains(&term) && seen.insert(term.clone()) {
                by_term
                    .entry(term)
                    .or_insert_with(|| (lower, Vec::new()))
                    .1
                    .push(fact);
            }
        }
    }
    let mut shown: Vec<(String, Vec<&KnownFact<'_>>)> = by_term
        .into_values()
        .filter(|(_, facts)| is_repeated(facts))
        .collect();
    shown.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then_with(|| a.0.cmp(&b.0)));
    let mut used: BTreeSet<&str> = BTreeSet::new();
    let mut items = Vec::new();
    for (word, facts) in &shown {
        // Two words of the same facts are one trait.
        if facts.iter().all(|fact| used.contains(fact.id)) || items.len() == TRAITS_MAX {
            continue;
        }
        used.extend(facts.iter().map(|fact| fact.id));
        let quotes: Vec<&str> = facts
            .iter()
            .rev()
            .take(QUOTES_MAX)
            .map(|fact| fact.text)
            .collect();
        let body = format!("{name} keeps coming back to this: {word}.");
        let item = ProfileStatement::new(word, &body, &quotes.join(" "), facts);
        items.extend(item.map(|item| ProfileStatement {
            is_trait: true,
            ..item
        }));
    }
    items
}

fn is_repeated(facts: &[&KnownFact<'_>]) -> bool {
    let mut days = 0;
    let mut last = None;
    for fact in facts {
        let time = fact.time.millis();
        if last.is_none_or(|last: i64| time - last >= DAY_MILLIS) {
            days += 1;
            last = Some(time);
        }
    }
    facts.len() >= FACTS_MIN && days >= DAYS_MIN
}
