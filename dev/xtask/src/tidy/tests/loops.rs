//! Loops of files, their limits, and limits that are raised.

use serde_json::{Value, json};

use super::super::ceiling::Earlier;
use super::super::{SourceFile, loops};
use super::file;
use crate::rust;

fn metadata(limits: &Value) -> Value {
    json!({"metadata": {"limits": {"loop_files_max": limits}}})
}

fn problems(limits: &Value, files: &[SourceFile]) -> Vec<String> {
    loops::check(&metadata(limits), &rust::sources(files))
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
    assert_eq!(problems(&json!({"*": 3}), &files), [""; 0]);
    assert_eq!(problems(&json!({"*": 2, "x": 3}), &files), [""; 0]);
    let found = problems(&json!({"*": 2}), &files);
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
        assert_eq!(problems(&json!({"*": 1}), &files).len(), 1, "{child} {parent}");
    }
    let declared = [
        file("crates/x/src/a.rs", "mod b;\npub(crate) use b::Other;\n"),
        file("crates/x/src/a/b.rs", "use super::Part;\n"),
    ];
    assert_eq!(problems(&json!({"*": 1}), &declared), [""; 0]);
}

#[test]
fn a_row_that_allows_too_much_is_named() {
    let files = in_a_loop();
    assert_eq!(
        problems(&json!({"*": 2, "x": 4, "gone": 9}), &files),
        [
            "Cargo.toml: `loop_files_max` names `gone`, which is no product crate",
            "Cargo.toml: the row `x` of `loop_files_max` allows more than is needed: lower it to 3",
        ]
    );
    assert_eq!(
        problems(&json!({"*": 3, "x": 4}), &files),
        ["Cargo.toml: the row `x` of `loop_files_max` allows more than is needed: remove it"]
    );
    assert_eq!(loops::check(&json!({}), &[]).len(), 1);
}

#[test]
fn a_raised_limit_is_named() {
    let earlier = |commit: &str, table: &str| Earlier {
        commit: commit.to_owned(),
        manifest: format!("[workspace.metadata.limits]\n{table}\n"),
    };
    let history = [
        earlier("HEAD", "loop_files_max = { \"*\" = 8, x = 43 }"),
        earlier("c1", "loop_files_max = { \"*\" = 8, x = 20 }"),
        earlier("c2", "product_code_lines_max = 1"),
    ];
    let check = |limits: Value| loops::check_history(&metadata(&limits), &history);
    assert_eq!(check(json!({"*": 8, "x": 20})), [""; 0]);
    assert_eq!(
        check(json!({"*": 9, "x": 21, "new": 9})),
        [
            "Cargo.toml: the row `*` of `loop_files_max` is 9 and was 8 in HEAD; it may only fall",
            "Cargo.toml: the row `x` of `loop_files_max` is 21 and was 20 in c1; it may only fall",
            "Cargo.toml: the row `new` of `loop_files_max` is 9 and was 8 in HEAD; it may only fall",
        ]
    );
}
