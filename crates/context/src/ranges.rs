//! Sets of item ids as ascending, disjoint ranges with both ends included.
//!
//! Owns: their set operations. Never: their meaning.

use std::collections::BTreeSet;

use transcript::ItemId;

/// Whether a set contains an id.
pub fn contains(ranges: &[(ItemId, ItemId)], id: ItemId) -> bool {
    let at = ranges.partition_point(|(_, last)| *last < id);
    ranges.get(at).is_some_and(|(first, _)| *first <= id)
}

/// The ids that are in one of two sets.
pub fn union(one: &[(ItemId, ItemId)], other: &[(ItemId, ItemId)]) -> Vec<(ItemId, ItemId)> {
    let mut all: Vec<(ItemId, ItemId)> = one.iter().chain(other).copied().collect();
    all.sort_unstable();
    let mut joined: Vec<(ItemId, ItemId)> = Vec::with_capacity(all.len());
    for (first, last) in all {
        match joined.last_mut() {
            Some((_, end)) if first.0 <= end.0 + 1 => *end = (*end).max(last),
            _ => joined.push((first, last)),
        }
    }
    joined
}

/// A set without some ids.
pub fn without(ranges: &[(ItemId, ItemId)], ids: &BTreeSet<ItemId>) -> Vec<(ItemId, ItemId)> {
    let mut left = Vec::with_capacity(ranges.len());
    for &(first, last) in ranges {
        let mut from = first;
        for id in ids.range(first..=last) {
            if from < *id {
                left.push((from, ItemId(id.0 - 1)));
            }
            from = ItemId(id.0 + 1);
        }
        if from <= last {
            left.push((from, last));
        }
    }
    left
}

/// The set of some ids.
pub fn of(ids: impl IntoIterator<Item = ItemId>) -> Vec<(ItemId, ItemId)> {
    let ids: Vec<(ItemId, ItemId)> = ids.into_iter().map(|id| (id, id)).collect();
    union(&ids, &[])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_contain_exactly_their_ids() {
        let ids = |numbers: &[u64]| numbers.iter().copied().map(ItemId).collect::<Vec<_>>();
        let set = union(&of(ids(&[7, 1, 2])), &of(ids(&[3, 9])));
        assert_eq!(
            set,
            vec![
                (ItemId(1), ItemId(3)),
                (ItemId(7), ItemId(7)),
                (ItemId(9), ItemId(9))
            ]
        );
        let held: Vec<u64> = (0..12).filter(|&id| contains(&set, ItemId(id))).collect();
        assert_eq!(held, vec![1, 2, 3, 7, 9]);
        let fewer = without(&set, &BTreeSet::from([ItemId(2), ItemId(7)]));
        assert_eq!(fewer, of(ids(&[1, 3, 9])));
    }
}
