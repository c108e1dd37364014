//! How the binary is linked: with bounds for what the allocator keeps, and with the code that runs in one place.
//!
//! Owns: what `docs/decisions/0009-what-the-process-keeps.md` decided. Never: what the binary does.
#![expect(clippy::print_stdout, reason = "this is how a build script speaks")]

use std::env;
use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=src/allocator.c");
    println!("cargo::rerun-if-changed=link-order.txt");
    cc::Build::new()
        .file("src/allocator.c")
        // Nothing calls it: it runs before `main`.
        .link_lib_modifier("+whole-archive")
        .compile("allocator");
    let folder = env::var("CARGO_MANIFEST_DIR").expect("cargo says where the package is");
    let order = Path::new(&folder).join("link-order.txt");
    if order.exists() && orders_functions() {
        println!(
            "cargo::rustc-link-arg-bins=-Wl,--symbol-ordering-file={}",
            order.display()
        );
        println!("cargo::rustc-link-arg-bins=-Wl,--no-warn-symbol-ordering");
        // Functions of the same machine code stand once.
        println!("cargo::rustc-link-arg-bins=-Wl,--icf=all");
    }
}

/// Whether the linker is the one that comes with Rust there, which can do it. Where not, or where `make link-order` made no
/// list, the binary only has more pages in memory.
fn orders_functions() -> bool {
    let variable = |name| env::var(name).unwrap_or_default();
    let flags = variable("CARGO_ENCODED_RUSTFLAGS");
    variable("TARGET") == "x86_64-unknown-linux-gnu"
        && variable("PROFILE") == "release"
        && variable("RUSTC_LINKER").is_empty()
        && !flags.contains("linker")
        && !flags.contains("fuse-ld")
}
