//! Packs OpenAI's vocabularies for the binary.
//!
//! Owns: the format that `src/tokens/ranks.rs` reads: the tokens in the order of their ranks, each after its length in
//! one byte, deflated. `bpe-openai` contains the same tokens in tables of 47 MB, which are quicker to search and not
//! worth their size.

use std::env;
use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::DeflateEncoder;

#[expect(
    clippy::disallowed_methods,
    reason = "cargo tells a build script so where to write"
)]
fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = PathBuf::from(env::var("OUT_DIR")?);
    for (name, tokenizer) in [
        ("cl100k", bpe_openai::cl100k_base()),
        ("o200k", bpe_openai::o200k_base()),
    ] {
        let file = File::create(folder.join(name))?;
        let mut packed = DeflateEncoder::new(file, Compression::best());
        for rank in 0..u32::try_from(tokenizer.bpe.num_tokens())? {
            let token = tokenizer.bpe.token_bytes(rank);
            packed.write_all(&[u8::try_from(token.len())?])?;
            packed.write_all(token)?;
        }
        packed.finish()?;
    }
    Ok(())
}
