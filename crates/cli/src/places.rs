//! The agent's own files beside the vault: instruction files that open a session, and the file of flushed facts.
//!
//! Owns: safe reading of unknown files (a link, a FIFO, a device, a file without end) and writing private ones. Never:
//! which files, or their content; `context` decides.

mod instructions;
mod memory_file;

pub use instructions::InstructionRoots;
pub use memory_file::MemoryFile;
