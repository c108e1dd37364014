//! Linking the binary: what the allocator keeps, and the code that runs in one place.
//!
//! Owns: the flags of `docs/decisions/0009-what-the-process-keeps.md` and `0050-jemalloc.md`. Never: what the binary does.
#![expect(clippy::disallowed_methods, reason = "this is how cargo tells a build script")]

use std::env;
use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=src/allocator.c");
    println!("cargo::rerun-if-changed=link-order.txt");
    cc::Build::new()
        .file("src/allocator.c")
        // No Rust code names it: the allocator reads it before `main`.
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
        // Merges functions of identical machine code.
        println!("cargo::rustc-link-arg-bins=-Wl,--icf=all");
    }
}

/// Whether the linker is Rust's own, which can order functions. Otherwise, or without a list made by `make link-order`, the
/// binary only has more pages in memory.
fn orders_functions() -> bool {
    let variable = |name| env::var(name).unwrap_or_default();
    let flags = variable("CARGO_ENCODED_RUSTFLAGS");
    variable("TARGET") == "x86_64-unknown-linux-gnu"
        && variable("PROFILE") == "release"
        && variable("RUSTC_LINKER").is_empty()
        && !flags.contains("linker")
        && !flags.contains("fuse-ld")
}
