//! A few read connections, used on blocking threads: readers wait neither for the writer nor for the async
//! workers.
//!
//! Owns: the number of concurrent reads, and reading on a disk that accepts no writes. Never: writing; its
//! connections cannot.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use ports::LedgerError;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::BUSY_TIMEOUT;
use crate::failure::{Failure, LedgerResult};
use crate::schema;
use crate::writer::prepare_once;

/// More readers would only wait for the same two or four cores.
const READERS: usize = 3;
const STATEMENTS_MAX: usize = 32;

/// The pool.
#[derive(Debug)]
pub(crate) struct Readers {
    idle: Mutex<Vec<Connection>>,
    /// One permit for each connection: a reader with a permit always finds an idle connection.
    places: Arc<Semaphore>,
}

impl Readers {
    /// Opens the pool. Readers of a frozen file, which nobody writes, create none of SQLite's files next to
    /// it: the disk accepts none.
    pub(crate) fn open(path: &Path, is_frozen: bool) -> LedgerResult<Self> {
        Ok(Self {
            idle: Mutex::new(open_all(path, is_frozen)?),
            places: Arc::new(Semaphore::new(READERS)),
        })
    }

    /// Waits until nobody reads; then nobody can read until the result is dropped.
    pub(crate) async fn alone(self: &Arc<Self>) -> Result<Alone, LedgerError> {
        let all = u32::try_from(READERS).expect("a handful");
        let places = Arc::clone(&self.places).acquire_many_owned(all).await;
        Ok(Alone {
            readers: Arc::clone(self),
            _places: places.map_err(|_| Failure::Stopped)?,
        })
    }

    /// Runs the work on one state of the database, whatever is written meanwhile.
    pub(crate) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Connection) -> LedgerResult<T> + Send + 'static,
    ) -> Result<T, LedgerError> {
        let place = Arc::clone(&self.places);
        let place = place.acquire_owned().await.map_err(|_| Failure::Stopped)?;
        let readers = Arc::clone(self);
        let reading = tokio::task::spawn_blocking(move || {
            let _place = place;
            let lease = ReaderLease::new(readers);
            let connection = lease.connection.as_ref().ok_or(Failure::Stopped)?;
            let snapshot = connection.unchecked_transaction()?;
            work(&snapshot)
        });
        Ok(reading.await.map_err(|_| Failure::Stopped)??)
    }
}

fn open_all(path: &Path, is_frozen: bool) -> LedgerResult<Vec<Connection>> {
    let open = if is_frozen { open_one_frozen } else { open_one };
    (0..READERS).map(|_| open(path)).collect()
}

fn open_one(path: &Path) -> LedgerResult<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    prepare_once(&connection, STATEMENTS_MAX)?;
    Ok(connection)
}

fn open_one_frozen(path: &Path) -> LedgerResult<Connection> {
    let connection = frozen(path)?;
    prepare_once(&connection, STATEMENTS_MAX)?;
    schema::check(&connection)?;
    Ok(connection)
}

/// A connection to a file that nobody writes.
///
/// SQLite keeps the index of its log in a file, or in the memory of a connection that locks nothing and has
/// the database alone. A database without a log needs no index.
pub(crate) fn frozen(path: &Path) -> LedgerResult<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    if std::fs::metadata(&log).is_ok_and(|log| log.len() > 0) {
        let connection = Connection::open_with_flags_and_vfs(path, flags, c"unix-none")?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        connection.pragma_update_and_check(None, "locking_mode", "exclusive", |_| Ok(()))?;
        Ok(connection)
    } else {
        let flags = flags | OpenFlags::SQLITE_OPEN_URI;
        Ok(Connection::open_with_flags(immutable(path), flags)?)
    }
}

fn immutable(path: &Path) -> String {
    use std::fmt::Write as _;
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                uri.push(char::from(*byte));
            }
            byte => write!(uri, "%{byte:02X}").expect("a string takes all"),
        }
    }
    uri + "?immutable=1"
}

/// The right to replace all connections.
pub(crate) struct Alone {
    readers: Arc<Readers>,
    _places: OwnedSemaphorePermit,
}

impl Alone {
    pub(crate) fn close_all(&self) {
        self.idle().clear();
    }

    pub(crate) fn open_all(&self, path: &Path, is_frozen: bool) -> LedgerResult<()> {
        let opened = open_all(path, is_frozen)?;
        *self.idle() = opened;
        Ok(())
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.readers.idle.lock().expect("nothing panics in between")
    }
}

/// A connection that returns to the pool however the work ends.
struct ReaderLease {
    readers: Arc<Readers>,
    connection: Option<Connection>,
}

impl ReaderLease {
    fn new(readers: Arc<Readers>) -> Self {
        let connection = readers.idle.lock().expect("nothing panics in between").pop();
        Self { readers, connection }
    }
}

impl Drop for ReaderLease {
    fn drop(&mut self) {
        let mut idle = self.readers.idle.lock().expect("nothing panics in between");
        idle.extend(self.connection.take());
    }
}
