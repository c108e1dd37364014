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

/// First argument of the process. People do not use it, so the help does not show it.
pub(crate) const COMMAND: &str = "read-document";
/// The variable with the file's name and media type: arguments would be visible to other users of the machine.
pub(super) const ABOUT: &str = "QUIPU_DOCUMENT";
/// Exit code of a Rust process that panics.
pub(super) const PANICKED: i32 = 101;
/// Added niceness: all other processes come first.
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
    // Reading one byte more than the limit shows that a file is too large.
    let max = INPUT_MAX_BYTES + 1;
    let bytes = usize::try_from(input.metadata()?.len()).unwrap_or(max);
    let mut document = Vec::with_capacity(bytes.min(max));
    input.take(max as u64).read_to_end(&mut document)?;
    let read = documents::read(&document, &name, &media_type);
    drop(document);
    answer::send(read, BufWriter::new(io::stdout().lock()))?;
    Ok(())
}

/// Removes the rights and resources that a document does not need.
fn confine() -> io::Result<()> {
    let limits = [
        // Writable memory. Linux counts all of it; on other systems, only the limits of `documents` apply.
        (Resource::Data, MEMORY_MAX_BYTES as u64),
        (Resource::Cpu, PROCESSOR_MAX_SECONDS),
        (Resource::Nofile, 0),
        (Resource::Fsize, 0),
        (Resource::Core, 0),
    ];
    for (resource, max) in limits {
        // SIGXCPU comes a second before the kill.
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
