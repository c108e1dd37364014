//! The binary: brings LanceDB to the commands of `cli`, and nothing else.

use std::process::ExitCode;
use std::sync::Arc;

use index::LanceIndex;
use ports::Index;
use tikv_jemallocator::Jemalloc;

/// A quarter less processor time than the system's allocator, which locks where threads free what others allocated.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

fn main() -> ExitCode {
    let exit = cli::run(std::env::args_os(), |folder, embedder| {
        Ok(Arc::new(LanceIndex::open(folder, embedder)?) as Arc<dyn Index>)
    });
    ExitCode::from(exit as u8)
}
