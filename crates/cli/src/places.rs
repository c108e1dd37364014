//! The agent's own files beside the vault: instruction files that open a session, and the file of flushed facts.
//!
//! Owns: reading what may be anything (a link, a FIFO, a device, a file without end) and writing what is private. Never:
//! which files, or what stands in them; `context` says so.

mod instructions;
mod memory_file;

pub use instructions::Instructions;
pub use memory_file::MemoryFile;
