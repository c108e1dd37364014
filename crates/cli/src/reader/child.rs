//! The process that reads one document: `quipu read-document`, which only [`super::ChildReader`] starts.
//!
//! Owns: its limits, which it sets before it reads the first byte. Never: opening a file; the document is its standard input.

use std::fs::File;
use std::io::{self, BufWriter, Read as _};
use std::os::fd::AsFd as _;

use documents::{INPUT_MAX_BYTES, MEMORY_MAX_BYTES, PROCESSOR_MAX_SECONDS};
use rustix::process::{Resource, Rlimit, nice, setrlimit};

use super::answer;
use crate::error::Exit;

/// Its first argument. No person uses it, so the help does not show it.
pub(crate) const COMMAND: &str = "read-document";
/// The variable that holds the file's name and media type: other users of the machine see arguments.
pub(super) const ABOUT: &str = "QUIPU_DOCUMENT";
/// How Rust ends a process that panics.
pub(super) const PANICKED: i32 = 101;
/// What it adds to its niceness: everything else comes first.
const GIVES_WAY: i32 = 19;

/// Reads the document and writes the answer.
pub(crate) fn run() -> Exit {
    let about = crate::environment::variable(ABOUT).unwrap_or_default();
    match serve(&about) {
        Ok(()) => Exit::Ok,
        Err(_) => Exit::Failed,
    }
}

fn serve(about: &str) -> io::Result<()> {
    let (name, media_type): (String, String) = serde_json::from_str(about)?;
    let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    confine()?;
    // One byte more than is read, which tells a file that is too large.
    let max = INPUT_MAX_BYTES + 1;
    let bytes = usize::try_from(input.metadata()?.len()).unwrap_or(max);
    let mut document = Vec::with_capacity(bytes.min(max));
    input.take(max as u64).read_to_end(&mut document)?;
    let read = documents::read(&document, &name, &media_type);
    drop(document);
    answer::send(read, BufWriter::new(io::stdout().lock()))?;
    Ok(())
}

/// Takes away from this process what a document does not need.
fn confine() -> io::Result<()> {
    let limits = [
        // Memory that it can write to. Linux counts it all; elsewhere the bounds of `documents` hold alone.
        (Resource::Data, MEMORY_MAX_BYTES as u64),
        (Resource::Cpu, PROCESSOR_MAX_SECONDS),
        (Resource::Nofile, 0),
        (Resource::Fsize, 0),
        (Resource::Core, 0),
    ];
    for (resource, max) in limits {
        // The signal for too much processor time comes before the kill.
        let spare = u64::from(resource == Resource::Cpu);
        let limit = Rlimit {
            current: Some(max),
            maximum: Some(max + spare),
        };
        setrlimit(resource, limit)?;
    }
    nice(GIVES_WAY)?;
    Ok(())
}
