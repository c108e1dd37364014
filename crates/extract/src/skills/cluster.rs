//! Clusters of cases about the same kind of task.
//!
//! Owns: how alike two pieces of work are. Never: state; the same cases always give the same
//! clusters.

use std::collections::BTreeSet;

use model::text::term_set;
use model::{EntryId, Timestamp};

use crate::skills::hash;

/// Minimum mean likeness of a case to those of its cluster, from 0 to 1.
const LIKENESS_MIN: f64 = 0.45;

/// A case of the vault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownCase {
    pub id: EntryId,
    pub time: Timestamp,
    pub intent: String,
    pub approach: String,
    pub insight: String,
    pub tools: Vec<String>,
    /// 0 to 100.
    pub quality_percent: u8,
}

/// Cases of one kind, the oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cluster<'a> {
    /// Made from its first case, so it stays the same as the cluster grows.
    pub id: String,
    pub cases: Vec<&'a KnownCase>,
}

impl Cluster<'_> {
    /// The id of the skill made from the cluster.
    pub fn skill_id(&self) -> EntryId {
        EntryId::new(self.id.replacen("cl_", "sk_", 1))
    }
}

/// Features for the comparison of two cases.
struct CaseFeatures {
    tools: BTreeSet<String>,
    words: BTreeSet<String>,
}

impl CaseFeatures {
    fn of(case: &KnownCase) -> Self {
        Self {
            tools: case.tools.iter().cloned().collect(),
            words: term_set(&case.intent),
        }
    }

    fn likeness(&self, other: &Self) -> f64 {
        let share = |a: &BTreeSet<String>, b: &BTreeSet<String>| {
            let both = a.intersection(b).count();
            both as f64 / a.len().min(b.len()).max(1) as f64
        };
        // Most work uses the same few tools, so words weigh more.
        0.3 * share(&self.tools, &other.tools) + 0.7 * share(&self.words, &other.words)
    }
}

/// Clusters cases by kind, in the order of the work.
pub fn clusters(cases: &[KnownCase]) -> Vec<Cluster<'_>> {
    let mut cases: Vec<&KnownCase> = cases.iter().collect();
    cases.sort_by(|a, b| (a.time, &a.id).cmp(&(b.time, &b.id)));
    let mut found: Vec<(Cluster<'_>, Vec<CaseFeatures>)> = Vec::new();
    for case in cases {
        let look = CaseFeatures::of(case);
        let likeness = |looks: &[CaseFeatures]| {
            let sum: f64 = looks.iter().map(|other| look.likeness(other)).sum();
            sum / looks.len() as f64
        };
        let mut best: Option<(usize, f64)> = None;
        for (n, (_, looks)) in found.iter().enumerate() {
            let likeness = likeness(looks);
            // Of equals the first.
            if likeness >= LIKENESS_MIN && best.is_none_or(|(_, most)| likeness > most) {
                best = Some((n, likeness));
            }
        }
        if let Some((n, _)) = best {
            found[n].0.cases.push(case);
            found[n].1.push(look);
        } else {
            let id = format!("cl_{:016x}", hash([case.id.as_str()]));
            let cases = vec![case];
            found.push((Cluster { id, cases }, vec![look]));
        }
    }
    found.into_iter().map(|(cluster, _)| cluster).collect()
}
