//! The baseline: plain BM25 over the messages of a case. It shares only the word splitting with the product.
//!
//! Owns: that ranking. Never: a tuned weight.

use std::collections::BTreeMap;

use model::{Role, text};

use crate::cases::Case;
use crate::measure::Ranked;

const K1: f64 = 1.2;
const B: f64 = 0.75;

pub(crate) struct Bm25<'a> {
    case: &'a Case,
    /// By term: the messages that contain it, and how often.
    postings: BTreeMap<String, BTreeMap<usize, f64>>,
    /// Number of terms of each message.
    lengths: Vec<f64>,
}

impl<'a> Bm25<'a> {
    pub(crate) fn of(case: &'a Case) -> Self {
        let mut postings: BTreeMap<String, BTreeMap<usize, f64>> = BTreeMap::new();
        let mut lengths = Vec::new();
        for (at, message) in case.messages.iter().enumerate() {
            let speaker = message.sender_name.as_deref().unwrap_or_default();
            let terms = text::terms(&format!("{speaker}\n{}", message.text()));
            lengths.push(terms.len() as f64);
            for term in terms {
                *postings.entry(term).or_default().entry(at).or_default() += 1.0;
            }
        }
        Self {
            case,
            postings,
            lengths,
        }
    }

    /// Messages that share a term with the question, best first; ties by position, earlier first.
    pub(crate) fn rank(&self, question: &str) -> Vec<Ranked> {
        let messages = self.lengths.len() as f64;
        let mean = self.lengths.iter().sum::<f64>() / messages;
        let mut scores: BTreeMap<usize, f64> = BTreeMap::new();
        for found in text::term_set(question)
            .iter()
            .filter_map(|term| self.postings.get(term))
        {
            let with = found.len() as f64;
            let rarity = (1.0 + (messages - with + 0.5) / (with + 0.5)).ln();
            for (at, count) in found {
                let length = 1.0 - B + B * self.lengths[*at] / mean;
                *scores.entry(*at).or_default() += rarity * count * (K1 + 1.0) / (count + K1 * length);
            }
        }
        let mut best: Vec<(usize, f64)> = scores.into_iter().collect();
        best.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        let ranked = |(at, _): (usize, f64)| {
            let message = &self.case.messages[at];
            Ranked {
                id: message.id.clone(),
                session: message.session.session.clone(),
                is_user: message.role == Role::User,
            }
        };
        best.into_iter().map(ranked).collect()
    }
}

#[cfg(test)]
mod tests {
    use model::{Role, Timestamp};

    use super::Bm25;
    use crate::cases::{Case, CaseMessage};

    #[test]
    fn rare_words_and_short_messages_come_first() {
        let mut case = Case::new("Ann").expect("a name");
        let told = [
            "We talked about the garden, the weather, the trains and a harbour",
            "The harbour is cold",
            "Nothing else",
            "The garden is cold, cold as the garden of a king in winter",
        ];
        for (at, text) in told.into_iter().enumerate() {
            let said = CaseMessage {
                id: &at.to_string(),
                session: "s",
                speaker: "Ann",
                role: Role::User,
                time: Timestamp::default(),
                text: text.to_owned(),
            };
            case.say("p", said).expect("a message");
        }
        let found = Bm25::of(&case).rank("Which harbour is in the garden?");
        let ids: Vec<&str> = found.iter().map(|ranked| ranked.id.as_str()).collect();
        assert_eq!(ids, ["0", "3", "1"]);
    }
}
