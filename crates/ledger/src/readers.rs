//! A few read connections, used on blocking threads: readers wait neither for the writer nor for the async workers.
//!
//! Owns: how many reads run at once. Never: writing; its connections cannot.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ports::LedgerError;
use rusqlite::{Connection, OpenFlags};
use tokio::sync::Semaphore;

use crate::failure::{Failure, LedgerResult};
use crate::writer::prepare_once;

/// More would only wait for the same two or four cores.
const READERS: usize = 3;
/// Readers do not block in WAL mode, but for the moment in which another process recovers the file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
const STATEMENTS_MAX: usize = 32;

/// The pool.
#[derive(Debug)]
pub(crate) struct Readers {
    idle: Mutex<Vec<Connection>>,
    /// As many as there are connections: who holds one finds a connection idle.
    places: Arc<Semaphore>,
}

impl Readers {
    pub(crate) fn open(path: &Path) -> rusqlite::Result<Self> {
        let open = |_| {
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            let connection = Connection::open_with_flags(path, flags)?;
            connection.busy_timeout(BUSY_TIMEOUT)?;
            prepare_once(&connection, STATEMENTS_MAX)?;
            Ok(connection)
        };
        Ok(Self {
            idle: Mutex::new((0..READERS).map(open).collect::<rusqlite::Result<_>>()?),
            places: Arc::new(Semaphore::new(READERS)),
        })
    }

    /// Does the work on one state of the database, whatever is written meanwhile.
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
            let connection = lease.connection.as_ref().expect("there until drop");
            let snapshot = connection.unchecked_transaction()?;
            work(&snapshot)
        });
        Ok(reading.await.map_err(|_| Failure::Stopped)??)
    }
}

/// A connection that goes back to the pool however the work ends.
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
