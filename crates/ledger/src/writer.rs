//! The one writer: a thread that owns the write connection and commits once for all waiting callers.
//!
//! Owns: transactions, group commit, durability. Never: the statements; a request brings its own.
//!
//! A request runs in a savepoint, so its failure undoes only its own work. It gets `Ok` only after the commit
//! with its work is on disk; a request that erases, only after no file shows the deleted text, and other
//! requests do not wait for that. A request is done once it is queued, even if its caller has gone.

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use ports::{LedgerError, NoRoom};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::{mpsc, oneshot};

use crate::BUSY_TIMEOUT;
use crate::copies::Copies;
use crate::failure::{Failure, LedgerResult};
use crate::row::count;
use crate::scrub::Scrub;

/// Maximum number of queued requests; more callers wait for a place.
const QUEUE_MAX: usize = 1024;
/// Maximum number of requests in one commit.
const BATCH_MAX: usize = 256;
/// Callers that were answered together often call again together. Without this pause the first of them would
/// take a whole commit for itself, and the others would wait for two.
const COMPANY_WAIT: Duration = Duration::from_micros(150);
/// Maximum number of statements kept prepared; there are fewer.
const STATEMENTS_MAX: usize = 96;
/// Page cache of the connection, in bytes.
const CACHE_BYTES: usize = 8 << 20;
/// At this size in bytes the log is folded into the database; it shrinks back to about this size.
const WAL_BYTES: i64 = 16_000_000;
/// Page size of a new file. Most tables stay small, and each takes a page, as does each of their indexes.
const PAGE_BYTES: u32 = 1024;

/// Settings that hold before the schema is known.
pub(crate) fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    prepare_once(connection, STATEMENTS_MAX)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // A savepoint that changes many pages keeps the old ones, in memory instead of a file.
    connection.pragma_update(None, "temp_store", "memory")?;
    keep(connection, CACHE_BYTES)
}

fn keep(connection: &Connection, bytes: usize) -> rusqlite::Result<()> {
    connection.pragma_update(None, "cache_size", -count(bytes >> 10))
}

/// Writes `bytes` bytes. Pages beyond the cache go to the disk at once: nobody reads them soon, so no cache
/// keeps them.
pub(crate) fn of_bytes<T>(
    connection: &Connection,
    bytes: usize,
    work: impl FnOnce(&Connection) -> LedgerResult<T>,
) -> LedgerResult<T> {
    if bytes <= CACHE_BYTES {
        return work(connection);
    }
    keep(connection, CACHE_BYTES / 16)?;
    let done = work(connection);
    keep(connection, CACHE_BYTES)?;
    done
}

/// Statements are planned once, not again for other values: planning costs more than our lookups.
pub(crate) fn prepare_once(connection: &Connection, statements_max: usize) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(statements_max);
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)
        .map(drop)
}

/// Sets the page size of a new file.
pub(crate) fn keep_pages_small(connection: &Connection) -> rusqlite::Result<()> {
    let pages: u32 = connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
    if pages == 0 {
        connection.pragma_update(None, "page_size", PAGE_BYTES)?;
    }
    Ok(())
}

/// Settings of the file and of every commit: on disk before it is acknowledged.
pub(crate) fn make_durable(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update_and_check(None, "secure_delete", true, |_| Ok(()))?;
    let page_bytes: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
    connection.pragma_update(None, "wal_autocheckpoint", WAL_BYTES / page_bytes)?;
    connection.pragma_update_and_check(None, "journal_size_limit", WAL_BYTES, |_| Ok(()))
}

/// The handle to the writer's thread; dropping it waits until everything queued is done.
#[derive(Debug)]
pub(crate) struct Writer {
    queue: Option<mpsc::Sender<Box<dyn Request>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(crate) fn start(connection: Connection, copies: Arc<Copies>) -> std::io::Result<Self> {
        let (queue, requests) = mpsc::channel(QUEUE_MAX);
        let thread = std::thread::Builder::new()
            .name("ledger-writer".to_owned())
            .spawn(move || serve(&connection, &copies, requests))?;
        Ok(Self {
            queue: Some(queue),
            thread: Some(thread),
        })
    }

    /// Runs the work in a transaction. The answer comes when the work is on disk and, if it erases, when no
    /// file holds the deleted text.
    pub(crate) async fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> LedgerResult<T> + Send + 'static,
        erases: bool,
    ) -> Result<T, LedgerError> {
        let (reply, answer) = oneshot::channel();
        let call = WriteCall {
            work: Some(work),
            result: None,
            reply,
            erases,
        };
        let queue = self.queue.as_ref().expect("there until drop");
        queue.send(Box::new(call)).await.map_err(|_| Failure::Stopped)?;
        Ok(answer.await.map_err(|_| Failure::Stopped)??)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.queue.take());
        let ended = self.thread.take().map(JoinHandle::join);
        if let Some(Err(_)) = ended {
            tracing::error!("the ledger's writer panicked");
        }
    }
}

trait Request: Send {
    /// Runs the work; returns whether to keep its changes.
    fn run(&mut self, connection: &Connection) -> bool;
    /// The lack of room that made the work fail, if that was the cause.
    fn no_room(&self) -> Option<NoRoom>;
    /// Whether the work deletes text that no file may show afterwards.
    fn erases(&self) -> bool;
    /// Answers the caller; a failed commit is an error for it.
    fn answer(self: Box<Self>, commit: &Result<(), Arc<Failure>>);
}

struct WriteCall<T, F> {
    work: Option<F>,
    result: Option<LedgerResult<T>>,
    reply: oneshot::Sender<LedgerResult<T>>,
    erases: bool,
}

impl<T: Send, F: FnOnce(&Connection) -> LedgerResult<T> + Send> Request for WriteCall<T, F> {
    fn run(&mut self, connection: &Connection) -> bool {
        self.result = self.work.take().map(|work| work(connection));
        matches!(self.result, Some(Ok(_)))
    }

    fn no_room(&self) -> Option<NoRoom> {
        self.result.as_ref()?.as_ref().err()?.no_room()
    }

    fn erases(&self) -> bool {
        self.erases
    }

    fn answer(self: Box<Self>, commit: &Result<(), Arc<Failure>>) {
        let result = match (self.result, commit) {
            (Some(result @ Err(_)), _) | (Some(result), Ok(())) => result,
            (_, Err(error)) => Err(Failure::Commit(Arc::clone(error))),
            (None, Ok(())) => Err(Failure::Stopped),
        };
        // The caller may have gone; then nobody needs the answer.
        drop(self.reply.send(result));
    }
}

fn serve(connection: &Connection, copies: &Copies, mut requests: mpsc::Receiver<Box<dyn Request>>) {
    let mut waiting = VecDeque::new();
    let mut last_batch = 0;
    let mut erasing = ErasingSweeps::default();
    loop {
        if !erasing.is_under_way() {
            let Some(request) = requests.blocking_recv() else {
                return;
            };
            waiting.push_back(request);
        }
        gather(&mut waiting, &mut requests);
        if !waiting.is_empty() && waiting.len() < last_batch {
            std::thread::sleep(COMPANY_WAIT);
            gather(&mut waiting, &mut requests);
        }
        last_batch = waiting.len();
        while !waiting.is_empty() {
            let (done, commit) = commit_batch(connection, &mut waiting);
            for request in done {
                if commit.is_ok() && request.erases() {
                    erasing.next.push(request);
                } else {
                    request.answer(&commit);
                }
            }
        }
        erasing.go_on(connection, copies);
    }
}

/// Committed sweeps that are answered once no file holds the text they deleted.
#[derive(Default)]
struct ErasingSweeps {
    under_way: Option<Scrub>,
    /// Requests that the cleaning under way serves.
    now: Done,
    /// Requests that came later and wait for the next cleaning: pages already cleaned may hold text that they
    /// deleted.
    next: Done,
}

impl ErasingSweeps {
    fn is_under_way(&self) -> bool {
        self.under_way.is_some() || !self.next.is_empty()
    }

    /// Cleans some pages, between the requests of others.
    fn go_on(&mut self, connection: &Connection, copies: &Copies) {
        if !self.is_under_way() {
            return;
        }
        let ended = match self.step(connection, copies) {
            Ok(false) => return,
            Ok(true) => Ok(()),
            // Copies are readable, so the caller must not believe that the text is gone.
            Err(error @ Failure::Copies(_)) => Err(Arc::new(error)),
            Err(error) => {
                // The rows are gone; the next sweep or the next start cleans again.
                tracing::warn!(%error, "cannot erase deleted text from the ledger's files; the next start retries");
                Ok(())
            }
        };
        self.under_way = None;
        for request in self.now.drain(..) {
            request.answer(&ended);
        }
    }

    fn step(&mut self, connection: &Connection, copies: &Copies) -> LedgerResult<bool> {
        if self.under_way.is_none() {
            self.now = std::mem::take(&mut self.next);
            self.under_way = Scrub::begin(connection)?;
            if self.under_way.is_some() {
                copies.remove_all().map_err(Failure::Copies)?;
            }
        }
        match &mut self.under_way {
            Some(scrub) => scrub.step(connection),
            None => Ok(true),
        }
    }
}

fn gather(waiting: &mut VecDeque<Box<dyn Request>>, requests: &mut mpsc::Receiver<Box<dyn Request>>) {
    while waiting.len() < BATCH_MAX
        && let Ok(request) = requests.try_recv()
    {
        waiting.push_back(request);
    }
}

type Done = Vec<Box<dyn Request>>;

/// Runs the waiting requests in one transaction and commits it; returns the finished requests and the outcome
/// of the commit.
fn commit_batch(
    connection: &Connection,
    waiting: &mut VecDeque<Box<dyn Request>>,
) -> (Done, Result<(), Arc<Failure>>) {
    let mut done = Done::new();
    let committed = run_batch(connection, waiting, &mut done);
    if done.is_empty() {
        // No transaction could begin, and a retry would meet the same disk.
        done.extend(waiting.drain(..));
    }
    (done, committed.map_err(Arc::new))
}

/// `SQLite` rolls a transaction back by itself when the disk is full or fails. Then all work so far is lost,
/// and the remaining requests get a transaction of their own.
fn run_batch(
    connection: &Connection,
    waiting: &mut VecDeque<Box<dyn Request>>,
    done: &mut Done,
) -> LedgerResult<()> {
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    while let Some(mut request) = waiting.pop_front() {
        let ended = run_in_savepoint(&transaction, request.as_mut());
        done.push(request);
        ended?;
    }
    Ok(transaction.commit()?)
}

fn run_in_savepoint(connection: &Connection, request: &mut dyn Request) -> LedgerResult<()> {
    let statement = |sql| connection.prepare_cached(sql)?.execute([]);
    statement("SAVEPOINT request")?;
    let stays = request.run(connection);
    if connection.is_autocommit() {
        return Err(Failure::RolledBack(request.no_room()));
    }
    if !stays {
        statement("ROLLBACK TO request")?;
    }
    statement("RELEASE request")?;
    Ok(())
}
