//! Zeroing unused bytes, so that the files show no more than the rows do. It works on a few pages at a time,
//! so that no caller waits long.
//!
//! Owns: the bytes of a page that no row uses. Never: rows.
//!
//! Zeroing deleted rows (`secure_delete`) is not enough: when `SQLite` balances a tree it moves rows to a
//! neighbour page and leaves their bytes in the gap of the old one, and deleting the row later cleans only
//! the new one. So after a sweep every page of every tree is read, and the bytes between its rows are zeroed.
//! Writes meanwhile can leave behind only rows that still exist. Free pages and the ends of long rows are
//! zero already, by `secure_delete`.

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::failure::{Failure, LedgerResult};
use crate::statement::Statements as _;

/// Number of pages cleaned before waiting callers get a turn; a few milliseconds of work.
const PAGES_AT_A_TIME: u32 = 128;
/// The first page begins with the file's own header.
const FILE_HEADER_BYTES: usize = 100;
/// In a file of fewer pages the first byte tells whether a page belongs to a tree: it is zero in all others.
const PAGES_MAX: u32 = 1 << 24;

/// Cleaning of the whole file, in progress.
#[derive(Debug)]
pub(crate) struct Scrub {
    next_page: u32,
    /// The newest sweep that it covers.
    erasures_max: i64,
}

impl Scrub {
    /// Begins the cleaning for all sweeps so far; none when there is nothing to clean.
    pub(crate) fn begin(connection: &Connection) -> LedgerResult<Option<Self>> {
        let latest: Option<i64> = connection.value("SELECT max(id) FROM erasures", [])?;
        Ok(latest.map(|erasures_max| Self {
            next_page: 1,
            erasures_max,
        }))
    }

    /// Cleans a part; true when that was the last.
    pub(crate) fn step(&mut self, connection: &Connection) -> LedgerResult<bool> {
        let pages: u32 = connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
        if pages >= PAGES_MAX {
            scrub_file(connection)?;
            return Ok(true);
        }
        let end = pages.min(self.next_page + PAGES_AT_A_TIME - 1);
        let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Deferred)?;
        for page in self.next_page..=end {
            clean(&transaction, page)?;
        }
        transaction.commit()?;
        self.next_page = end + 1;
        if end < pages {
            return Ok(false);
        }
        empty_log(connection)?;
        connection.run("DELETE FROM erasures WHERE id <= ?1", [self.erasures_max])?;
        Ok(true)
    }
}

/// Whether files may still show deleted text.
pub(crate) fn is_due(connection: &Connection) -> LedgerResult<bool> {
    connection.has("SELECT 1 FROM erasures", [])
}

/// Cleans the whole file at once, while no caller waits.
pub(crate) fn scrub_file(connection: &Connection) -> LedgerResult<()> {
    connection.execute_batch("VACUUM")?;
    empty_log(connection)?;
    connection.execute_batch("DELETE FROM erasures")?;
    Ok(())
}

/// Empties the log, which holds pages as they were before.
fn empty_log(connection: &Connection) -> LedgerResult<()> {
    if connection.value("PRAGMA wal_checkpoint(TRUNCATE)", [])? {
        Err(Failure::LogInUse)
    } else {
        Ok(())
    }
}

fn clean(connection: &Connection, number: u32) -> LedgerResult<()> {
    let sql = "SELECT data FROM sqlite_dbpage('main') WHERE pgno = ?1";
    let mut page: Vec<u8> = connection.value(sql, [number])?;
    let start = if number == 1 { FILE_HEADER_BYTES } else { 0 };
    if zero_unused(&mut page, start) {
        let sql = "UPDATE sqlite_dbpage SET data = ?2 WHERE pgno = ?1";
        connection.run(sql, (number, page))?;
    }
    Ok(())
}

/// Zeroes the unused bytes of a tree's page, where `start` is the page's own header; returns whether there
/// were any. Leaves a page alone if it belongs to no tree or violates the file format.
fn zero_unused(page: &mut [u8], start: usize) -> bool {
    let number = |page: &[u8], at: usize| {
        let bytes = page.get(at..at + 2)?;
        Some(usize::from(u16::from_be_bytes([bytes[0], bytes[1]])))
    };
    let header_bytes = match page.get(start) {
        Some(2 | 5) => 12,
        Some(10 | 13) => 8,
        _ => return false,
    };
    let (Some(free), Some(rows), Some(content)) = (
        number(page, start + 1),
        number(page, start + 3),
        number(page, start + 5),
    ) else {
        return false;
    };
    // 65,536 is the one size that does not fit; the format writes it as 0.
    let content = if content == 0 { 1 << 16 } else { content };
    let gap = start + header_bytes + 2 * rows..content;
    let mut unused: Vec<std::ops::Range<usize>> = Vec::from([gap]);
    let mut block = free;
    while block != 0 {
        let (Some(next), Some(bytes)) = (number(page, block), number(page, block + 2)) else {
            return false;
        };
        // Blocks are in order; the first four bytes of each are in use.
        if (next != 0 && next < block + bytes) || bytes < 4 {
            return false;
        }
        unused.push(block + 4..block + bytes);
        block = next;
    }
    let mut changed = false;
    for range in unused {
        let Some(bytes) = page.get_mut(range) else {
            return changed;
        };
        changed |= bytes.iter().any(|byte| *byte != 0);
        bytes.fill(0);
    }
    changed
}

#[cfg(test)]
mod tests;
