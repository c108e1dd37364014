//! Reads documents in a process of its own, as port [`DocumentReader`].
//!
//! Owns: the process: its start, its turn, the end of its patience, what its end means. Never: a file's format (`documents`), its
//! limits (`child`).

mod answer;
pub(crate) mod child;

use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use documents::Unreadable;
use parking_lot::Mutex;
use ports::{Clock, DocumentReader, FileBytes, ReadDocument, ReadError};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, waitid};
use tokio::sync::Semaphore;

/// A process that takes longer is ended. Its own limit counts processor time alone, and it gives way to everything else.
const PATIENCE: Duration = Duration::from_mins(2);
/// Who waits longer for the files before is sent away.
const TURN_WAIT: Duration = Duration::from_mins(1);
/// The longest answer that is read.
const ANSWER_MAX_BYTES: u64 = 64 << 20;

/// One process for each file, one at a time.
#[derive(Debug)]
pub(crate) struct ChildReader {
    program: PathBuf,
    arguments: Vec<String>,
    /// Where files wait that have no place on a disk yet.
    folder: PathBuf,
    clock: Arc<dyn Clock>,
    turn: Arc<Semaphore>,
}

impl ChildReader {
    /// A reader that starts this program again.
    #[cfg_attr(test, expect(dead_code, reason = "a test is another program"))]
    pub(crate) fn new(folder: PathBuf, clock: Arc<dyn Clock>) -> io::Result<Self> {
        // An update may put another build in this program's place.
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
            turn: Arc::new(Semaphore::new(1)),
        }
    }

    fn command(&self, name: &str, media_type: &str) -> Command {
        let mut command = Command::new(&self.program);
        command
            .arg0("quipu")
            .args(&self.arguments)
            .env_clear()
            .env(child::ABOUT, answer::about(name, media_type))
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        command
    }
}

#[async_trait]
impl DocumentReader for ChildReader {
    async fn read(&self, file: FileBytes, name: &str, media_type: &str) -> Result<ReadDocument, ReadError> {
        let turn = tokio::select! {
            turn = self.turn.clone().acquire_owned() => turn.expect("it is never closed"),
            () = self.clock.sleep(TURN_WAIT) => return Err(ReadError::Unavailable { source: None }),
        };
        let (mut command, folder) = (self.command(name, media_type), self.folder.clone());
        let running = Running::default();
        let process = running.process.clone();
        let talk = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            let input = on_disk(file, folder).map_err(unavailable)?;
            command.stdin(input.try_clone().map_err(unavailable)?);
            talk(&mut command, &process)
        });
        tokio::select! {
            read = talk => read.unwrap_or_else(|error| Err(unavailable(error))),
            () = self.clock.sleep(PATIENCE) => Err(Unreadable::NeedsTime.into()),
        }
    }
}

fn unavailable(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> ReadError {
    let source = error.into();
    tracing::warn!(
        error = text::chain(&*source),
        "cannot read a document in another process"
    );
    ReadError::Unavailable { source: Some(source) }
}

/// The file, at its first byte.
fn on_disk(file: FileBytes, folder: PathBuf) -> io::Result<Arc<File>> {
    let file = match file {
        FileBytes::Disk(file) => file,
        FileBytes::Memory(bytes) => {
            let mut file = tempfile::tempfile_in(folder)?;
            file.write_all(&bytes)?;
            Arc::new(file)
        }
    };
    (&*file).rewind()?;
    Ok(file)
}

/// A process, which ends with it.
#[derive(Debug, Default)]
struct Running {
    process: Arc<Mutex<Process>>,
}

#[derive(Debug, Default)]
enum Process {
    #[default]
    NotStarted,
    Started(Child),
    Ended,
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut process = self.process.lock();
        if let Process::Started(child) = &mut *process {
            // The thread that talks to it takes its end. It may have ended by itself.
            child.kill().ok();
        } else {
            *process = Process::Ended;
        }
    }
}

/// Starts a process unless nobody waits for it any more.
fn started(command: &mut Command, process: &Mutex<Process>) -> io::Result<ChildStdout> {
    let mut process = process.lock();
    if matches!(*process, Process::Ended) {
        return Err(io::Error::from(io::ErrorKind::Interrupted));
    }
    let mut child = command.spawn()?;
    let output = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
    *process = Process::Started(child);
    Ok(output)
}

/// Takes the end of a process: of one that has answered, at once; of another, when it comes, which says why there is no answer.
fn ended(process: &Mutex<Process>, has_answered: bool) -> io::Result<ExitStatus> {
    let gone = || io::Error::from(io::ErrorKind::NotFound);
    let pid = match &mut *process.lock() {
        Process::Started(child) if has_answered => {
            child.kill().ok();
            Pid::from_child(child)
        }
        Process::Started(child) => Pid::from_child(child),
        _ => return Err(gone()),
    };
    // Without the lock, so that it can be killed meanwhile; its number stays its own until the wait below.
    waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).ok();
    match std::mem::replace(&mut *process.lock(), Process::Ended) {
        Process::Started(mut child) => child.wait(),
        _ => Err(gone()),
    }
}

fn talk(command: &mut Command, process: &Mutex<Process>) -> Result<ReadDocument, ReadError> {
    let output = started(command, process).map_err(unavailable)?;
    let read = answer::received(BufReader::new(output.take(ANSWER_MAX_BYTES)));
    let status = ended(process, read.is_ok()).map_err(unavailable)?;
    read.unwrap_or_else(|error| Err(meaning(status, error)))
}

/// Why there is no answer.
fn meaning(status: ExitStatus, error: serde_json::Error) -> ReadError {
    let by = |signal: Signal| status.signal() == Some(signal.as_raw());
    if by(Signal::XCPU) {
        Unreadable::NeedsTime.into()
    } else if by(Signal::ABORT) || by(Signal::KILL) {
        // It has no memory left, or the machine has none.
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
