//! Making the files show no more than the rows do, a few pages at a time, so that nobody waits long for it.
//!
//! Owns: the bytes of a page that no row uses. Never: rows.
//!
//! Zeroing what is deleted (`secure_delete`) is not enough: when `SQLite` balances a tree it moves rows to a neighbour page
//! and leaves their bytes in the gap of the old one, and deleting the row later cleans only the new one. So after a sweep
//! every page of every tree is looked at, and what lies between its rows is zeroed. What is written meanwhile can leave
//! behind only rows that are still there. Free pages and the ends of long rows are zero already, by `secure_delete`.

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::failure::{Failure, LedgerResult};
use crate::statement::Statements as _;

/// Pages looked at before those who wait get a turn; a few milliseconds of work.
const PAGES_AT_A_TIME: u32 = 128;
/// The first page begins with the file's own header.
const FILE_HEADER_BYTES: usize = 100;
/// Below so many pages the first byte of a page tells whether it is one of a tree: in all others it is zero.
const PAGES_MAX: u32 = 1 << 24;

/// Due work on the whole file, half done.
#[derive(Debug)]
pub(crate) struct Scrub {
    next_page: u32,
    /// The sweeps that it is for.
    erasures_max: i64,
}

impl Scrub {
    /// For all sweeps so far; none when there is nothing to do.
    pub(crate) fn begin(connection: &Connection) -> LedgerResult<Option<Self>> {
        let latest: Option<i64> = connection.value("SELECT max(id) FROM erasures", [])?;
        Ok(latest.map(|erasures_max| Self {
            next_page: 1,
            erasures_max,
        }))
    }

    /// Does a part; whether that was the last.
    pub(crate) fn step(&mut self, connection: &Connection) -> LedgerResult<bool> {
        let pages: u32 = connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
        if pages >= PAGES_MAX {
            whole(connection)?;
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

/// Whether something was deleted that files may still show.
pub(crate) fn is_due(connection: &Connection) -> LedgerResult<bool> {
    connection.has("SELECT 1 FROM erasures", [])
}

/// All of it at once, for a file that nobody waits for.
pub(crate) fn whole(connection: &Connection) -> LedgerResult<()> {
    connection.execute_batch("VACUUM")?;
    empty_log(connection)?;
    connection.execute_batch("DELETE FROM erasures")?;
    Ok(())
}

/// The log holds pages as they were before.
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

/// Zeroes the bytes of a tree's page that belong to no row, where `start` is the page's own header; tells whether there
/// were any. A page that is no tree's, or not what the file format says, is left as it is.
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
    // Of 65,536, the one size that does not fit, 0 is written.
    let content = if content == 0 { 1 << 16 } else { content };
    let gap = start + header_bytes + 2 * rows..content;
    let mut unused: Vec<std::ops::Range<usize>> = Vec::from([gap]);
    let mut block = free;
    while block != 0 {
        let (Some(next), Some(bytes)) = (number(page, block), number(page, block + 2)) else {
            return false;
        };
        // Blocks stand in order; their own first four bytes are in use.
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
