//! Edges that nobody takes, and crates that nobody reaches.

use serde_json::{Value, json};

use super::super::layers;

fn package(name: &str, dependencies: &[(&str, Option<&str>)]) -> Value {
    let dependency = |(name, kind): &(&str, Option<&str>)| json!({"name": name, "kind": kind});
    let dependencies: Vec<Value> = dependencies.iter().map(dependency).collect();
    json!({"name": name, "dependencies": dependencies, "manifest_path": format!("/p/crates/{name}/Cargo.toml")})
}

#[test]
fn an_edge_that_nobody_takes_is_named() {
    let metadata = json!({
        "metadata": {
            "layers": {"a": ["b", "c", "d"], "b": []},
            "tests": {"a": ["e", "f"]},
            "owned": {"sqlite": ["a", "b", "c"]},
        },
        "packages": [
            package("a", &[
                ("b", None),
                ("c", Some("dev")),
                ("d", Some("build")),
                ("e", Some("dev")),
                ("f", None),
                ("sqlite", None),
            ]),
            package("b", &[("sqlite", Some("dev"))]),
            package("c", &[("sqlite", Some("build"))]),
        ],
    });
    assert_eq!(
        layers::check_taken(&metadata),
        [
            "Cargo.toml: `a` may depend on `c` and does not: remove the edge",
            "Cargo.toml: `a` may depend on `d` and does not: remove the edge",
            "Cargo.toml: tests of `a` may depend on `f` and do not: remove the edge",
            "Cargo.toml: `b` owns `sqlite` and does not depend on it: remove the owner",
        ]
    );
}

#[test]
fn a_crate_that_the_binary_does_not_reach_is_named() {
    let metadata = json!({
        "packages": [
            package("quipu", &[("near", None), ("built", Some("build"))]),
            package("near", &[("far", None), ("tested", Some("dev")), ("serde", None)]),
            package("far", &[]),
            package("built", &[]),
            package("tested", &[]),
            {"name": "tool", "dependencies": [], "manifest_path": "/p/dev/tool/Cargo.toml"},
        ],
    });
    assert_eq!(
        layers::check_reached(&metadata),
        [
            "crates/built: `quipu` does not depend on it: use it or delete it",
            "crates/tested: `quipu` does not depend on it: use it or delete it",
        ]
    );
}
