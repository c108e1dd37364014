//! Insertions into a list, and its contents. Never: ranking.

use super::*;

fn postings(rows: &[(Slot, &[(Term, u16)])]) -> Postings {
    let mut postings = Postings::default();
    for (slot, counts) in rows {
        postings.add(*slot, counts, 3);
    }
    postings
}

fn of(postings: &Postings, term: Term) -> Vec<(Slot, u16)> {
    postings
        .of(term)
        .map(|posting| (posting.slot, posting.count))
        .collect()
}

#[test]
fn a_term_has_its_rows_in_order_of_slot() {
    let mut rows = postings(&[(7, &[(0, 1), (2, 5)]), (2, &[(2, 1)]), (SLOTS_MAX - 1, &[(2, 9)])]);
    assert_eq!(of(&rows, 2), [(2, 1), (7, 5), (SLOTS_MAX - 1, 9)]);
    assert_eq!(of(&rows, 1), []);
    assert_eq!(of(&rows, 3), []);
    assert!(rows.has(2, 7) && rows.has(2, SLOTS_MAX - 1));
    assert!(!rows.has(0, 2) && !rows.has(3, 7));
    rows.remove(7, &[(0, 1), (2, 5)], 3);
    assert_eq!(of(&rows, 2), [(2, 1), (SLOTS_MAX - 1, 9)]);
    assert_eq!((rows.rows(), rows.words_mean()), (2, 3.0));
}

#[test]
fn the_count_of_a_repeated_word_saturates_at_a_byte() {
    let rows = postings(&[(1, &[(0, 255), (1, 256), (2, u16::MAX)])]);
    for term in 0..3 {
        assert_eq!(of(&rows, term), [(1, 255)]);
    }
}
