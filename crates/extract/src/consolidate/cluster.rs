//! Clusters of episodes with the same subject, by meaning and time.
//!
//! Owns: which episodes belong together. Never: state; the clusters are a function of the episodes,
//! so that every call gives the same, and a new episode only ever joins a cluster or begins one.

use std::collections::VecDeque;

use model::{Timestamp, dot};

use crate::consolidate::text::hash;

/// An episode as clustering sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Member<'a> {
    pub id: &'a str,
    pub time: Timestamp,
    /// Of unit length; an episode with an all-zero vector has no subject and joins no cluster.
    pub vector: &'a [f32],
}

model::defaults! {
    /// Limits within which an episode joins a cluster.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Nearness {
        /// The least cosine between an episode and a cluster's mean.
        pub cosine_min: f32 = 0.55,
        /// The most days since the cluster's last episode.
        pub days_max: u32 = 7,
    }
}

const DAY_MILLIS: i64 = 86_400_000;

/// Maximum number of open clusters, those with the newest episodes: a bound on the work, far above a person's subjects
/// in a week.
const OPEN_MAX: usize = 128;

struct OpenCluster {
    cluster: usize,
    last: Timestamp,
    /// The sum of the members' vectors, and its length.
    sum: Vec<f32>,
    length: f32,
}

/// The clusters, each with its members' places in the input in order of time; the clusters in order of their first.
/// Each episode joins the open cluster that it is nearest to, if it is near enough.
pub fn clusters(members: &[Member<'_>], nearness: Nearness) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..members.len()).collect();
    order.sort_by_key(|at| (members[*at].time, members[*at].id));
    let days_millis = i64::from(nearness.days_max) * DAY_MILLIS;
    let mut found: Vec<Vec<usize>> = Vec::new();
    // The cluster with the newest episode is last, so closed clusters come first.
    let mut open: VecDeque<OpenCluster> = VecDeque::new();
    for at in order {
        let member = &members[at];
        while open
            .front()
            .is_some_and(|first| first.last.plus_millis(days_millis) < member.time)
        {
            open.pop_front();
        }
        let nearest = open
            .iter()
            .enumerate()
            .map(|(place, open)| (place, open.cosine(member.vector)))
            .filter(|(_, cosine)| *cosine >= nearness.cosine_min)
            .fold(None, |best: Option<(usize, f32)>, near| match best {
                Some(best) if best.1 >= near.1 => Some(best),
                _ => Some(near),
            });
        let joined = nearest.and_then(|(place, _)| open.remove(place));
        let mut joined = joined.unwrap_or_else(|| {
            found.push(Vec::new());
            OpenCluster {
                cluster: found.len() - 1,
                last: member.time,
                sum: vec![0.0; member.vector.len()],
                length: 0.0,
            }
        });
        found[joined.cluster].push(at);
        joined.take(member);
        open.push_back(joined);
        if open.len() > OPEN_MAX {
            open.pop_front();
        }
    }
    found
}

impl OpenCluster {
    fn cosine(&self, vector: &[f32]) -> f32 {
        if self.length == 0.0 || vector.len() != self.sum.len() {
            return 0.0;
        }
        dot(&self.sum, vector) / self.length
    }

    fn take(&mut self, member: &Member<'_>) {
        for (sum, number) in self.sum.iter_mut().zip(member.vector) {
            *sum += number;
        }
        self.length = dot(&self.sum, &self.sum).sqrt();
        self.last = member.time;
    }
}

/// A cluster's id: it follows from its members' ids, in any order.
pub fn id<'a>(members: impl IntoIterator<Item = &'a str>) -> String {
    let mut members: Vec<&str> = members.into_iter().collect();
    members.sort_unstable();
    members.dedup();
    format!("cl_{}", hash(&members, 16))
}
