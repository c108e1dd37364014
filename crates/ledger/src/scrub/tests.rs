//! The bytes of a page that are zeroed.

use rusqlite::Connection;

use super::zero_unused;

/// A leaf of a table of 64 bytes: one row at its end, a free block before it, leftover bytes in the gap and
/// in the block.
fn leaf(start: usize) -> Vec<u8> {
    let mut page = vec![7; start + 64];
    let end = page.len();
    page[start..start + 8].copy_from_slice(&[13, 0, 0, 0, 1, 0, 0, 0]);
    let at = |at: usize| u16::try_from(at).expect("small").to_be_bytes();
    page[start + 1..start + 3].copy_from_slice(&at(end - 20));
    page[start + 5..start + 7].copy_from_slice(&at(end - 30));
    page[start + 8..start + 10].copy_from_slice(&at(end - 10));
    page[end - 20..end - 16].copy_from_slice(&[0, 0, 0, 10]);
    page
}

#[test]
fn the_gap_and_free_blocks_are_zeroed_and_nothing_else() {
    for start in [0, 100] {
        let before = leaf(start);
        let mut page = before.clone();
        assert!(zero_unused(&mut page, start));
        let end = page.len();
        for (at, (byte, was)) in page.iter().zip(&before).enumerate() {
            let is_unused = (start + 10..end - 30).contains(&at) || (end - 16..end - 10).contains(&at);
            assert_eq!(
                *byte,
                if is_unused { 0 } else { *was },
                "byte {at} of a page whose header is at {start}"
            );
        }
        assert!(
            !zero_unused(&mut page, start),
            "a clean page is not written again"
        );
    }
}

#[test]
fn a_page_outside_any_tree_is_left_alone() {
    let mut overflow = vec![7; 64];
    overflow[..4].copy_from_slice(&[0, 0, 0, 9]);
    let mut ring = leaf(0);
    ring[44..48].copy_from_slice(&[0, 44, 0, 10]);
    let mut short = leaf(0);
    short[44..48].copy_from_slice(&[0, 0, 0, 2]);
    for page in [overflow, ring, short, vec![13], Vec::new()] {
        let mut same = page.clone();
        assert!(!zero_unused(&mut same, 0));
        assert_eq!(same, page);
    }
}

#[test]
fn pages_can_be_read_and_written() {
    let connection = Connection::open_in_memory().expect("opens");
    connection.execute_batch("CREATE TABLE t (x)").expect("creates");
    let pages: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_dbpage('main')", [], |row| row.get(0))
        .expect("the build gives SQLite its page table: see `.cargo/config.toml`");
    assert_eq!(pages, 2);
}
