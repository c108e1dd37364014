//! Ids keep every bit, sort as their numbers, and are derived from the segment's id.

use model::{CellId, EntryId, Timestamp, Zone};
use ports::Ids;

use super::{cell_id, cell_of, episode_id, fact_id, job_of, letters, message_id, number};

#[derive(Debug)]
struct Same(u64);

impl Ids for Same {
    fn next(&self) -> u64 {
        self.0
    }
}

#[test]
fn letters_keep_every_bit_and_the_order() {
    let numbers = [0, 1, 31, 32, 1 << 40, u64::MAX - 1, u64::MAX];
    for pair in numbers.windows(2) {
        assert_eq!(number(&letters(pair[1])), pair[1]);
        assert!(letters(pair[0]) < letters(pair[1]));
    }
}

#[test]
fn a_message_id_is_dated_in_utc_and_a_segment_id_in_the_zone() {
    let late = Zone::utc().parse("2024-05-08T23:30:00Z").expect("a time");
    let berlin = Zone::named("Europe/Berlin").expect("a zone");
    assert_eq!(message_id(&Same(7), late).as_str(), "m_20240508_0000000000007");
    assert_eq!(
        cell_id(&Same(7), late, &berlin).as_str(),
        "mc_20240509_0000000000007"
    );
}

#[test]
fn the_ids_of_entries_and_job_follow_from_the_segment_id() {
    let cell = cell_id(&Same(u64::MAX), Timestamp::default(), &Zone::utc());
    assert_eq!(episode_id(&cell).as_str(), "ep_19700101_fzzzzzzzzzzzz");
    assert_eq!(fact_id(&cell, 2).as_str(), "af_19700101_fzzzzzzzzzzzz_2");
    let job = job_of(&cell).0;
    assert_eq!(job.len(), 32);
    assert!(job.starts_with("ffffffffffffffff"));
    assert_ne!(job, job_of(&CellId::new("mc_19700102_fzzzzzzzzzzzz")).0);
}

#[test]
fn only_the_ids_of_episodes_and_facts_give_their_segment() {
    let cell = CellId::new("mc_20260921_2zccr93yskw8g");
    assert_eq!(cell_of(&episode_id(&cell)), Some(cell.clone()));
    assert_eq!(cell_of(&fact_id(&cell, 12)), Some(cell));
    for other in [
        "ep_20260921_0001",
        "ep_0f3a6c1d2b4e5f60",
        "af_hand_0f3a6c1d2b4e5f60",
        "ac_20260921_2zccr93yskw8g",
        "af_20260921_2zccr93yskw8g",
        "peanuts",
    ] {
        assert_eq!(cell_of(&EntryId::new(other)), None, "{other}");
    }
}
