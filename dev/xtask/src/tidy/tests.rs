//! Every rule catches a planted fault, and the tree itself is clean.

mod ceiling;
mod edges;
mod figures;
mod links;
mod loops;
mod runbook;
mod users;

use serde_json::json;

use super::{SourceFile, layers, manifests, text};
use crate::rust::{Source, sources};

fn file(path: &str, text: &str) -> SourceFile {
    SourceFile {
        path: path.to_owned(),
        text: text.to_owned(),
    }
}

/// The sources of files that can be read.
fn read(files: &[SourceFile]) -> Vec<Source> {
    sources(files).expect("the text is Rust")
}

#[test]
fn the_tree_is_tidy() {
    let problems = super::check(&crate::root()).expect("the tree can be read");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn an_edge_outside_the_table_is_named() {
    let metadata = json!({
        "metadata": {"layers": {"a": [], "b": ["a"], "gone": []}, "owned": {"sqlite": ["b"]}},
        "packages": [
            {"name": "a", "dependencies": [{"name": "b", "kind": null}, {"name": "sqlite", "kind": null}]},
            {"name": "b", "dependencies": [{"name": "a", "kind": null}, {"name": "sqlite", "kind": null}]},
            {"name": "c", "dependencies": []},
        ],
    });
    assert_eq!(
        layers::check(&metadata),
        [
            "Cargo.toml: the layer table names `gone`, which is no member",
            "a: the edge to `b` is not in the layer table",
            "a: only b may name `sqlite`",
            "Cargo.toml: `c` is not in the layer table",
        ]
    );
}

#[test]
fn the_map_has_every_member_and_no_ghost() {
    let metadata = json!({"packages": [{"name": "a"}, {"name": "b"}]});
    let map = "<!-- crates -->\n| crate |\n| `a` | … |\n| `z` | … |\n<!-- /crates -->\n| `b` | too late |";
    assert_eq!(
        layers::check_map(&metadata, map),
        [
            "docs/architecture.md: the map leaves out `b`",
            "docs/architecture.md: the map names `z`, which is no member",
        ]
    );
}

#[test]
fn a_member_inherits_everything() {
    let good = "[dependencies]\nserde.workspace = true\n[lints]\nworkspace = true\n";
    let bad = "[dependencies]\nserde = \"1\"\ntoml = { workspace = true, features = [\"x\"] }\n[features]\nx = []\n";
    assert_eq!(
        manifests::check(&[file("a/Cargo.toml", good)]),
        Vec::<String>::new()
    );
    assert_eq!(manifests::check(&[file("b/Cargo.toml", bad)]).len(), 4);
}

#[test]
fn the_lock_has_a_ceiling() {
    let metadata = json!({"metadata": {"limits": {"packages_max": 1}}});
    let lock = "[[package]]\nname = \"a\"\n[[package]]\nname = \"b\"\n";
    assert_eq!(
        manifests::check_lock(&metadata, lock),
        Some("Cargo.lock: 2 packages, the ceiling is 1".to_owned())
    );
    assert_eq!(manifests::check_lock(&metadata, "[[package]]\n"), None);
}

#[test]
fn leftovers_and_places_are_named() {
    let planted = format!("//! m\n// {}{} later\n// {}{}x\n", "TO", "DO", "/ro", "ot/");
    assert_eq!(text::check(&file("a.rs", &planted)).len(), 2);
    assert_eq!(
        text::check(&file("a.rs", "//! m\n// a method and a root\n")),
        Vec::<String>::new()
    );
}

#[test]
fn a_rust_file_has_a_module_comment_and_a_cap() {
    let planted = format!("fn f() {{}}\n{}", "\n".repeat(500));
    assert_eq!(text::check_rust(&file("crates/x/src/a.rs", &planted)).len(), 2);
}

#[test]
fn a_forgotten_test_file_is_named() {
    let files = [
        file("a/tests/it/main.rs", "//! m\nmod kept;\n"),
        file("a/tests/it/kept.rs", "//! m\n"),
        file("a/tests/it/lost.rs", "//! m\n"),
    ];
    assert_eq!(text::check_test_modules(&files).len(), 1);
}

#[test]
fn items_without_a_user_may_only_become_fewer() {
    let metadata = serde_json::json!({"metadata": {"limits": {"pub_without_user_max": 2}}});
    let unused = |count: usize| (0..count).map(|at| format!("item {at}")).collect::<Vec<_>>();
    assert_eq!(super::over(&metadata, unused(2)), [""; 0]);
    assert_eq!(
        super::over(&metadata, unused(3)).len(),
        3,
        "one too many shows all"
    );
    assert_eq!(super::over(&metadata, unused(1)).len(), 1, "the ceiling follows");
    assert_eq!(super::over(&serde_json::json!({}), unused(1)).len(), 1);
}
