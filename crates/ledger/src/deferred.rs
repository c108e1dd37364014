//! The writer of a ledger that was opened on a disk that accepted no writes.
//!
//! Owns: the root's lock, and the step from a read-only ledger to a writable one. Never: giving up; each
//! write tries again.

use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use ports::{LedgerError, NoRoom};
use rusqlite::Connection;
use tokio::sync::OnceCell;

use crate::copies::Copies;
use crate::failure::{Failure, LedgerResult};
use crate::readers::Readers;
use crate::writer::{self, Writer};
use crate::{make_private, schema, scrub};

/// The writer, opened at the start or by the first write for which the disk has room.
#[derive(Debug)]
pub(crate) struct DeferredWriter {
    // The order of drops: the writer is the last to close the database, so that it removes SQLite's files.
    // Only then may another process open the ledger.
    readers: Arc<Readers>,
    writer: OnceCell<Writer>,
    place: Arc<Place>,
}

#[derive(Debug)]
struct Place {
    path: PathBuf,
    copies: Arc<Copies>,
    /// None on a read-only disk without a lock file.
    lock: Mutex<Option<File>>,
}

impl DeferredWriter {
    /// Opens the ledger; an existing ledger on a full or read-only disk is opened read-only.
    pub(crate) fn open(path: &Path, copies: Arc<Copies>) -> Result<Self, LedgerError> {
        let place = Place {
            path: path.to_owned(),
            copies,
            lock: Mutex::new(lock(path)?),
        };
        let (writer, readers) = match place.open() {
            Ok(connection) => (Some(place.start(connection)?), Readers::open(path, false)?),
            Err(failure) if failure.may_be_for_room() => match Readers::open(path, true) {
                Ok(readers) => {
                    tracing::warn!(
                        error = model::text::chain(&failure),
                        "cannot write to the ledger; it can be read, and each write tries again"
                    );
                    (None, readers)
                }
                Err(newer @ Failure::NewerVersion { .. }) => return Err(newer.into()),
                Err(_) => return Err(failure.into()),
            },
            Err(failure) => return Err(failure.into()),
        };
        Ok(Self {
            readers: Arc::new(readers),
            writer: OnceCell::new_with(writer),
            place: Arc::new(place),
        })
    }

    /// As [`Readers::read`].
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> LedgerResult<T> + Send + 'static,
    ) -> Result<T, LedgerError> {
        self.readers.read(work).await
    }

    /// As [`Writer::call`], with work that erases nothing.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> LedgerResult<T> + Send + 'static,
    ) -> Result<T, LedgerError> {
        self.call(work, false).await
    }

    /// As [`Writer::call`], with work that erases.
    pub(crate) async fn erase<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> LedgerResult<T> + Send + 'static,
    ) -> Result<T, LedgerError> {
        self.call(work, true).await
    }

    /// As [`Writer::call`].
    pub(crate) async fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> LedgerResult<T> + Send + 'static,
        erases: bool,
    ) -> Result<T, LedgerError> {
        let writer = self.writer.get_or_try_init(|| self.try_again()).await?;
        writer.call(work, erases).await
    }

    /// Opens the writer. Meanwhile all reads wait: connections to a frozen file would not see new writes.
    async fn try_again(&self) -> Result<Writer, LedgerError> {
        let place = self.place.clone();
        // Most tries fail here, without a pause for readers.
        blocking(move || place.prepare()).await??;
        let alone = self.readers.alone().await?;
        let place = self.place.clone();
        let opened = blocking(move || {
            alone.close_all();
            let opened = place.open().and_then(|connection| place.start(connection));
            alone.open_all(&place.path, opened.is_err())?;
            opened
        });
        opened.await?.map_err(|failure| match failure.no_room() {
            // SQLite does not report that a file next to the database found no room.
            None if failure.may_be_for_room() => LedgerError::Store(Box::new(NoRoom::Full.because(failure))),
            _ => failure.into(),
        })
    }
}

impl Place {
    /// Prepares the file for writing and locks it. On a read-only disk this fails before the lock, which
    /// readers there share.
    fn prepare(&self) -> LedgerResult<()> {
        make_private(&self.path)?;
        self.lock_alone()
    }

    /// The connection of the writer; creates or upgrades the file if needed.
    fn open(&self) -> LedgerResult<Connection> {
        self.prepare()?;
        let mut connection = Connection::open(&self.path)?;
        writer::keep_pages_small(&connection)?;
        writer::prepare(&connection)?;
        schema::migrate(&mut connection)?;
        writer::make_durable(&connection)?;
        if scrub::is_due(&connection)? {
            match self.copies.remove_all() {
                Ok(()) => scrub::scrub_file(&connection)?,
                Err(error) => {
                    tracing::warn!(%error, "cannot remove copies of the ledger that have deleted text; the next start retries");
                }
            }
        }
        Ok(connection)
    }

    fn start(&self, connection: Connection) -> LedgerResult<Writer> {
        Ok(Writer::start(connection, self.copies.clone())?)
    }

    /// Turns a reader's lock into a writer's.
    fn lock_alone(&self) -> LedgerResult<()> {
        let mut lock = self.lock.lock();
        let Some(file) = &*lock else {
            *lock = self::lock(&self.path)?;
            return Ok(());
        };
        match file.try_lock() {
            Ok(()) => Ok(()),
            Err(TryLockError::WouldBlock) => {
                // The attempt may have lost the reader's lock.
                file.try_lock_shared().ok();
                Err(Failure::InUse)
            }
            Err(TryLockError::Error(error)) => Err(error.into()),
        }
    }
}

/// The lock of the process that may write; the operating system frees it when the process ends, in any way.
/// On a read-only disk all readers share it.
fn lock(path: &Path) -> LedgerResult<Option<File>> {
    let path = path.with_extension("lock");
    let mut options = File::options();
    let locked = match options.create(true).truncate(false).write(true).open(&path) {
        Ok(file) => file.try_lock().map(|()| file),
        Err(error) if error.kind() == ErrorKind::ReadOnlyFilesystem => match File::open(&path) {
            Ok(file) => file.try_lock_shared().map(|()| file),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        },
        Err(error) => return Err(error.into()),
    };
    match locked {
        Ok(file) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Err(Failure::InUse),
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> LedgerResult<T> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| Failure::Stopped)
}
