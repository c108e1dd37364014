//! The vectors of the latest queries: people and agents repeat a query within minutes.
//!
//! Owns: which queries are cached. Never: passages, which are embedded once.

use std::collections::VecDeque;

use model::Vector;
use parking_lot::Mutex;

/// Few enough that a scan costs less than hashing would.
const QUERIES_MAX: usize = 128;

/// The least recently used query is dropped first.
#[derive(Debug, Default)]
pub(super) struct QueryCache(Mutex<VecDeque<(String, Vector)>>);

impl QueryCache {
    /// The vector of a recent query.
    pub(super) fn get(&self, text: &str) -> Option<Vector> {
        let mut kept = self.0.lock();
        let place = kept.iter().position(|(known, _)| known == text)?;
        let entry = kept.remove(place)?;
        let vector = entry.1.clone();
        kept.push_back(entry);
        Some(vector)
    }

    /// Stores the vector of a query.
    pub(super) fn put(&self, text: &str, vector: &Vector) {
        let mut kept = self.0.lock();
        kept.retain(|(known, _)| known != text);
        if kept.len() == QUERIES_MAX {
            kept.pop_front();
        }
        kept.push_back((text.to_owned(), vector.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_query_is_dropped_first() {
        let cache = QueryCache::default();
        let vector: Vector = vec![1.0].into();
        for i in 0..QUERIES_MAX {
            cache.put(&i.to_string(), &vector);
        }
        assert!(cache.get("0").is_some());
        cache.put("new", &vector);
        assert!(cache.get("0").is_some() && cache.get("new").is_some());
        assert!(cache.get("1").is_none());
    }
}
