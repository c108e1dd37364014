//! Reads documents in a separate process, as port [`DocumentReader`].
//!
//! Owns: the process: its start, its turn, its time limit, the meaning of its exit. Never: a file's format (`documents`), its
//! limits (`child`).

mod answer;
pub(crate) mod child;

use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use documents::Unreadable;
use ports::{Clock, DocumentReader, FileBytes, ReadDocument, ReadError};
use rustix::process::Signal;
use tokio::io::AsyncReadExt as _;
use tokio::process::Command;
use tokio::sync::Semaphore;

/// Maximum time of the process; after it, the process is killed. The process's own limit counts only processor time, and its
/// priority is the lowest.
const PATIENCE: Duration = Duration::from_mins(2);
/// Maximum wait for earlier files; after it, the file is refused.
const TURN_WAIT: Duration = Duration::from_mins(1);
/// Maximum bytes of an answer.
const ANSWER_MAX_BYTES: u64 = 64 << 20;

/// Starts one process for each file, one at a time.
#[derive(Debug)]
pub(crate) struct ChildReader {
    program: PathBuf,
    arguments: Vec<String>,
    /// Folder for files that are only in memory so far.
    folder: PathBuf,
    clock: Arc<dyn Clock>,
    turn: Semaphore,
}

impl ChildReader {
    /// A reader that starts this program again.
    #[cfg_attr(test, expect(dead_code, reason = "a test is another program"))]
    pub(crate) fn new(folder: PathBuf, clock: Arc<dyn Clock>) -> io::Result<Self> {
        // An update may have replaced this program's file by another build.
        let running = PathBuf::from("/proc/self/exe");
        let program = if running.exists() {
            running
        } else {
            crate::environment::program()?
        };
        Ok(Self::of(program, vec![child::COMMAND.to_owned()], folder, clock))
    }

    fn of(program: PathBuf, arguments: Vec<String>, folder: PathBuf, clock: Arc<dyn Clock>) -> Self {
        Self {
            program,
            arguments,
            folder,
            clock,
            turn: Semaphore::new(1),
        }
    }

    /// Lets a process read the file. Dropping the future kills the process.
    async fn talk(&self, file: FileBytes, name: &str, media_type: &str) -> Result<ReadDocument, ReadError> {
        let folder = self.folder.clone();
        let input = tokio::task::spawn_blocking(move || on_disk(file, folder)).await;
        let mut child = Command::new(&self.program)
            .arg0("quipu")
            .args(&self.arguments)
            .env_clear()
            .env(child::ABOUT, answer::about(name, media_type))
            .stdin(input.map_err(unavailable)?.map_err(unavailable)?)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .map_err(unavailable)?;
        let (output, mut told) = (child.stdout.take().expect("it is piped"), Vec::new());
        let all = output.take(ANSWER_MAX_BYTES).read_to_end(&mut told).await;
        all.map_err(unavailable)?;
        let read = tokio::task::spawn_blocking(move || answer::received(&told)).await;
        match read.map_err(unavailable)? {
            Ok(read) => read,
            // The exit status shows why there is no answer.
            Err(error) => Err(meaning(child.wait().await.map_err(unavailable)?, error)),
        }
    }
}

#[async_trait]
impl DocumentReader for ChildReader {
    async fn read(&self, file: FileBytes, name: &str, media_type: &str) -> Result<ReadDocument, ReadError> {
        let _turn = tokio::select! {
            turn = self.turn.acquire() => turn.expect("it is never closed"),
            () = self.clock.sleep(TURN_WAIT) => return Err(ReadError::Unavailable { source: None }),
        };
        tokio::select! {
            read = self.talk(file, name, media_type) => read,
            () = self.clock.sleep(PATIENCE) => Err(Unreadable::NeedsTime.into()),
        }
    }
}

fn unavailable(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> ReadError {
    let source = error.into();
    tracing::warn!(
        error = model::text::chain(&*source),
        "cannot read a document in another process"
    );
    ReadError::Unavailable { source: Some(source) }
}

/// The file on disk, at its first byte.
fn on_disk(file: FileBytes, folder: PathBuf) -> io::Result<File> {
    let file = match file {
        FileBytes::Disk(file) => file,
        FileBytes::Memory(bytes) => {
            let mut file = tempfile::tempfile_in(folder)?;
            file.write_all(&bytes)?;
            Arc::new(file)
        }
    };
    (&*file).rewind()?;
    file.try_clone()
}

/// The reason for a missing answer.
fn meaning(status: ExitStatus, error: serde_json::Error) -> ReadError {
    let by = |signal: Signal| status.signal() == Some(signal.as_raw());
    if by(Signal::XCPU) {
        Unreadable::NeedsTime.into()
    } else if by(Signal::ABORT) || by(Signal::KILL) {
        // The process or the machine ran out of memory.
        Unreadable::NeedsMemory.into()
    } else if status.signal().is_some() || status.code() == Some(child::PANICKED) {
        tracing::warn!(%status, "a document ended the process that read it");
        Unreadable::Damaged.into()
    } else {
        unavailable(error)
    }
}

#[cfg(test)]
mod tests;
