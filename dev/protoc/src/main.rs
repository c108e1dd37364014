//! Puts the Protocol Buffers compiler that LanceDB's build needs into a folder of the project.
//!
//! Owns: copying the vendored `protoc` and its include files. Never: touching anything outside that folder.

use std::fs;
use std::path::Path;

#[cfg(all(target_os = "linux", target_arch = "aarch64"))]
use protoc_bin_vendored_linux_aarch_64 as vendored;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
use protoc_bin_vendored_linux_x86_64 as vendored;
#[cfg(all(target_os = "macos", target_arch = "aarch64"))]
use protoc_bin_vendored_macos_aarch_64 as vendored;
#[cfg(all(target_os = "macos", target_arch = "x86_64"))]
use protoc_bin_vendored_macos_x86_64 as vendored;

fn copy_tree(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_tree(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args_os().nth(1).ok_or("usage: protoc FOLDER")?;
    let folder = Path::new(&folder);
    fs::create_dir_all(folder.join("bin"))?;
    fs::copy(vendored::protoc_bin_path(), folder.join("bin/protoc"))?;
    copy_tree(&vendored::include_path(), &folder.join("include"))?;
    Ok(())
}
