//! The binary: brings LanceDB to the commands of `cli`, and nothing else.

use std::process::ExitCode;
use std::sync::Arc;

use index::LanceIndex;
use ports::Index;

fn main() -> ExitCode {
    let exit = cli::run(std::env::args_os(), |folder, embedder| {
        Ok(Arc::new(LanceIndex::open(folder, embedder)?) as Arc<dyn Index>)
    });
    ExitCode::from(exit as u8)
}
