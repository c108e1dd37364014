//! Edges that nobody takes, crates that nobody reaches, and what `make lint-all` leaves out.

use serde_json::{Value, json};

use super::super::{layers, makefile};

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

const MAKEFILE: &str = "\
SLOW := --exclude b
LINTED := --workspace $(SLOW)
lint-all: LINTED := --workspace
lint-all: tools tidy clippy doc ## Lint
clippy:
\tcargo clippy $(LINTED) --all-targets -- --deny warnings
doc: ## Document
\tRUSTDOCFLAGS=\"--deny warnings\" cargo doc --no-deps \\
\t  $(LINTED)
";

#[test]
fn a_member_that_lint_all_leaves_out_is_named() {
    let metadata = json!({"packages": [package("a", &[]), package("b", &[])]});
    assert_eq!(makefile::check(&metadata, MAKEFILE), Vec::<String>::new());
    for (good, bad, problem) in [
        (
            "lint-all: LINTED := --workspace",
            "lint-all: LINTED := --workspace $(SLOW)",
            "`lint-all` leaves out `b`",
        ),
        (
            "lint-all: LINTED := --workspace",
            "lint-all: LINTED := --workspace --exclude=a",
            "`lint-all` leaves out `a`",
        ),
        (
            "lint-all: LINTED := --workspace",
            "",
            "`lint-all` must set `LINTED` to `--workspace`",
        ),
        ("tidy clippy doc", "tidy clippy", "`lint-all` must need `doc`"),
        ("tidy clippy doc", "tidy doc", "`lint-all` must need `clippy`"),
        ("--all-targets", "", "`clippy` must pass `--all-targets`"),
        (
            "--all-targets -- --deny warnings",
            "--all-targets",
            "`clippy` must pass `--deny warnings`",
        ),
        (
            "RUSTDOCFLAGS=\"--deny warnings\" ",
            "",
            "`doc` must pass `--deny warnings`",
        ),
        (
            "clippy $(LINTED)",
            "clippy $(LINTED) --exclude a",
            "`clippy` leaves out `a`",
        ),
        (
            "clippy $(LINTED)",
            "clippy --package a",
            "`clippy` must run `cargo clippy $(LINTED)`",
        ),
    ] {
        let planted = MAKEFILE.replace(good, bad);
        assert_eq!(
            makefile::check(&metadata, &planted),
            [format!("Makefile: {problem}")],
            "{bad}"
        );
    }
}
