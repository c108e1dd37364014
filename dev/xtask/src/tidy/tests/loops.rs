//! Loops of files, and their limit.

use serde_json::json;

use super::super::{SourceFile, loops};
use super::{file, read};

fn problems(limit: u64, files: &[SourceFile]) -> Vec<String> {
    let metadata = json!({"metadata": {"limits": {"loop_files_max": limit}}});
    loops::check(&metadata, &read(files))
}

/// `a` imports `b`, `b` imports `c::d`, and that `a`: each in another way.
fn in_a_loop() -> Vec<SourceFile> {
    vec![
        file("crates/x/src/lib.rs", "mod a;\nmod b;\nmod c;\nmod e;\n"),
        file("crates/x/src/a.rs", "use crate::{b::{self, One}, e::Two};\n"),
        file("crates/x/src/b.rs", "fn f() { crate::c::d::g(); }\n"),
        file("crates/x/src/c.rs", "mod d;\n"),
        file("crates/x/src/c/d.rs", "use super::super::a::Three;\n"),
        file(
            "crates/x/src/e.rs",
            "pub(crate) struct Two;\n#[cfg(test)]\nmod tests { use crate::a; }\n",
        ),
        file("crates/x/src/e/tests.rs", "use crate::a::Three;\n"),
        file("crates/y/src/lib.rs", "mod a;\n"),
        file("crates/y/src/a.rs", "use crate::Root;\n"),
        file("dev/z/src/a.rs", "use crate::b::B;\n"),
        file("dev/z/src/b.rs", "use crate::a::A;\n"),
    ]
}

#[test]
fn a_loop_above_the_limit_is_named() {
    let files = in_a_loop();
    assert_eq!(problems(3, &files), [""; 0]);
    let found = problems(2, &files);
    assert_eq!(
        found,
        [
            "crates/x: 3 files import each other in a loop, the limit is 2: let what they share stand below them: a, b, c::d"
        ]
    );
}

#[test]
fn each_kind_of_path_closes_a_loop() {
    for (child, parent) in [
        ("use super::Part;", "use self::b::Other;"),
        ("use super::*;", "fn f() { self::b::g() }"),
        ("use crate::a::{Part as Own, Other};", "use crate::a::b;"),
        ("fn f(part: crate::a::Part) {}", "use crate::{a::b::Other};"),
    ] {
        let files = [
            file("crates/x/src/a.rs", &format!("mod b;\n{parent}\n")),
            file("crates/x/src/a/b.rs", child),
        ];
        assert_eq!(problems(1, &files).len(), 1, "{child} {parent}");
    }
    let declared = [
        file("crates/x/src/a.rs", "mod b;\npub(crate) use b::Other;\n"),
        file("crates/x/src/a/b.rs", "use super::Part;\n"),
    ];
    assert_eq!(problems(1, &declared), [""; 0]);
}

#[test]
fn a_missing_limit_is_named() {
    let found = loops::check(&json!({}), &read(&in_a_loop()));
    assert_eq!(
        found[0],
        "Cargo.toml: `loop_files_max` is missing from the limits"
    );
}
