//! Public items without a user, and items that only look like it.

use serde_json::{Value, json};

use super::super::{SourceFile, users};
use super::{file, read};

/// `a` declares, `b` and `c` depend on it, and `c` also on `b`.
fn metadata() -> Value {
    let to = |names: &[&str]| -> Vec<Value> {
        let dependency = |name: &&str| json!({"name": name, "kind": null});
        names.iter().map(dependency).collect()
    };
    json!({"packages": [
        {"name": "a", "dependencies": to(&["serde"])},
        {"name": "b", "dependencies": to(&["a"])},
        {"name": "c", "dependencies": to(&["b", "a"])},
        {"name": "ports", "dependencies": []},
        {"name": "testkit", "dependencies": to(&["ports"])},
        {"name": "lone", "dependencies": []},
    ]})
}

fn check(metadata: &Value, files: &[(&str, &str)]) -> Vec<String> {
    let files: Vec<SourceFile> = files.iter().map(|(path, text)| file(path, text)).collect();
    users::check(metadata, &read(&files))
}

/// The names that the rule accuses.
fn accused(files: &[(&str, &str)]) -> Vec<String> {
    let problems = check(&metadata(), files);
    let name = |problem: &String| problem.split('`').nth(1).unwrap_or_default().to_owned();
    problems.iter().map(name).collect()
}

const A: &str = "crates/a/src/part.rs";
const LIB: (&str, &str) = ("crates/a/src/lib.rs", "mod part;\npub use part::*;\n");

#[test]
fn every_kind_of_item_without_a_user_is_named() {
    let items = "pub fn f() {}\npub async fn g() {}\npub const fn h() {}\npub struct S;\npub enum E {}\npub trait T {}\n\
                 pub const C: u8 = 0;\npub static X: u8 = 0;\npub type Y = u8;\npub mod m {}\n\
                 pub(crate) fn narrow() {}\nfn own() {}\n#[cfg(test)]\npub fn tested() {}\n";
    let found = accused(&[LIB, (A, items)]);
    let names = [
        "fn a::f", "fn a::g", "fn a::h", "struct a::S", "enum a::E", "trait a::T", "const a::C",
        "static a::X", "type a::Y", "mod a::m",
    ];
    assert_eq!(found, names.map(|name| format!("pub {name}")));
    let user = "use a::{f, g as other, part::{h, S}, E};\nfn all(t: &dyn a::T) -> a::Y { a::C + a::part::X }\nuse a::m;\n";
    assert_eq!(
        accused(&[LIB, (A, items), ("crates/b/src/lib.rs", user)]),
        Vec::<String>::new()
    );
    assert_eq!(accused(&[("dev/a/src/part.rs", items)]), Vec::<String>::new());
}

#[test]
fn the_problem_names_the_place() {
    let items = "//! m\npub fn none() {}\npub fn own() {}\nfn x() { own() }\npub fn tested() {}\n";
    let test = "fn t() { a::tested(); a::part::own(); }\n";
    let found = check(
        &metadata(),
        &[
            (A, items),
            ("crates/a/tests/it/main.rs", test),
            ("dev/eval/src/main.rs", "use a::tested;"),
        ],
    );
    assert_eq!(
        found,
        [
            "crates/a/src/part.rs:2: `pub fn a::none` has no user in another file of the product: delete it or drop `pub`",
            "crates/a/src/part.rs:3: `pub fn a::own` has no user in another file of the product: delete it or drop `pub`",
            "crates/a/src/part.rs:5: `pub fn a::tested` has no user in another file of the product: delete it or drop `pub`",
        ]
    );
}

#[test]
fn tests_tools_comments_and_reexports_are_no_users() {
    let item = (A, "pub fn f() {}\nfn own() { f() }\n");
    for (path, text) in [
        ("crates/b/tests/it/main.rs", "use a::f;"),
        ("crates/b/benches/b.rs", "use a::f;"),
        ("crates/b/src/tests.rs", "use a::f;"),
        (
            "crates/b/src/lib.rs",
            "#[cfg(test)]\nmod tests {\n    use a::f;\n}\n",
        ),
        ("crates/b/src/lib.rs", "#[cfg(all(test, unix))]\nuse a::f;\n"),
        (
            "crates/b/src/lib.rs",
            "// a::f\n/// [`a::f`]\n/* a::f */\nconst X: &str = \"a::f\";\n",
        ),
        ("crates/b/src/lib.rs", "pub use a::f;\n"),
        ("crates/b/src/lib.rs", "pub use a::{f as other};\n"),
        ("crates/a/src/lib.rs", "pub(crate) use crate::part::f;\n"),
        ("dev/testkit/src/lib.rs", "use a::f;"),
        ("fuzz/fuzz_targets/f.rs", "use a::f;"),
        (
            "crates/b/src/lib.rs",
            "fn x(f: u8) { y.f; f; serde::f(); Kind::f; }\n",
        ),
        ("crates/b/src/lib.rs", "use serde::f;\n"),
        ("crates/a/src/other.rs", "impl K {\n    fn g() { Self::f() }\n}\n"),
    ] {
        assert_eq!(accused(&[item, (path, text)]), ["pub fn a::f"], "{path}: {text}");
    }
    let fake = ("crates/b/src/lib.rs", "#[cfg(test)]\nmod fake;\n");
    assert_eq!(
        accused(&[item, fake, ("crates/b/src/fake.rs", "use a::f;")]),
        ["pub fn a::f"]
    );
}

#[test]
fn whoever_names_the_item_by_any_way_is_a_user() {
    let item = (A, "pub fn f() {}\n");
    for (path, text) in [
        ("crates/a/src/other.rs", "use super::part::f;"),
        ("crates/a/src/other.rs", "use super::part::*;\nfn g() { f() }"),
        (
            "crates/a/src/other.rs",
            "use super::part as p;\nfn g() { p::f() }",
        ),
        (
            "crates/a/src/other.rs",
            "#[serde(default = \"crate::part::f\")]\nstruct S;",
        ),
        ("crates/a/src/lib.rs", "pub use part::f;\nfn g() { f() }"),
        (
            "crates/a/src/lib.rs",
            "macro_rules! m { () => { $crate::part::f() } }",
        ),
        ("crates/b/src/lib.rs", "use a::part;\nfn g() { part::f() }"),
        ("crates/b/src/lib.rs", "#[cfg(not(test))]\nuse a::f;"),
        ("crates/b/build.rs", "fn main() { a::f() }"),
    ] {
        assert_eq!(
            accused(&[item, (path, text)]),
            Vec::<String>::new(),
            "{path}: {text}"
        );
    }
    let by_serde = (A, "pub fn serialize() {}\npub fn deserialize() {}\n");
    assert_eq!(accused(&[by_serde]), Vec::<String>::new());
    let facade = ("crates/a/src/facade.rs", "pub use super::part::f;");
    let user = ("crates/b/src/lib.rs", "use a::facade::f;");
    assert_eq!(accused(&[item, facade, user]), Vec::<String>::new());
    for reexport in [
        "pub use a::f as f;",
        "pub use a::f as g;",
        "pub use a::part;",
        "pub use a::*;",
    ] {
        let b = ("crates/b/src/lib.rs", reexport);
        let c = ("crates/c/src/lib.rs", "use b::{f, g, part::f as h};");
        assert_eq!(accused(&[item, b, c]), Vec::<String>::new(), "{reexport}");
    }
}

#[test]
fn a_namesake_is_no_user() {
    let item = (A, "pub fn f() {}\n");
    let other = ("crates/a/src/other.rs", "pub fn f() {}\n");
    let user = ("crates/b/src/lib.rs", "fn g() { a::other::f() }\n");
    assert_eq!(accused(&[item, other, user]), ["pub fn a::f"]);
    let lone = ("crates/lone/src/lib.rs", "pub fn f() {}\n");
    assert_eq!(
        accused(&[item, lone, ("crates/lone/src/main.rs", "use lone::f;")]),
        ["pub fn a::f"]
    );
}

#[test]
fn a_type_that_a_used_item_shows_is_used() {
    let show = "pub struct S {\n    pub field: Map<u8, Field>,\n    pub pair: (u8, Pair),\n    hidden: Hidden,\n}\npub struct Field(pub Inner, Hidden);\n\
                pub enum Inner { A(Deep) }\npub struct Deep;\npub struct Pair;\npub struct Hidden;\npub struct Said;\npub struct Item;\n\
                impl S {\n    pub fn f(&self) -> Said { Hidden }\n}\nimpl Iterator for S {\n    type Item = Item;\n}\n\
                pub fn g() -> Result<S, Error> { loop {} }\npub trait Error { fn e(&self) -> Told { Hidden } }\npub struct Told;\n";
    let user = ("crates/b/src/lib.rs", "fn h() { a::g().f() }\n");
    assert_eq!(accused(&[(A, show), user]), ["pub struct a::Hidden"]);
}

#[test]
fn a_method_without_a_user_is_named() {
    let item = "pub struct S;\nimpl S {\n    pub fn new() -> S { S }\n    pub fn used(&self) {}\n    \
                pub const MAX: u8 = 0;\n    fn own(&self) {}\n    pub fn unused(&self) { self.used() }\n}\n\
                impl Clone for S {\n    fn clone(&self) -> S { S }\n}\n";
    let user = "use a::S;\nstruct Other;\nimpl Other {\n    fn unused(&self) { self.unused(); Self::new(); unused() }\n    \
                fn x(s: S) { s.used(); s.new(); Other::MAX; s.unused; }\n}\n";
    assert_eq!(
        accused(&[(A, item), ("crates/b/src/lib.rs", user)]),
        ["pub fn a::S::new", "pub const a::S::MAX", "pub fn a::S::unused"]
    );
    let user = "use a::S as T;\nfn x(s: T) { T::used; T::new; s.unused::<u8>(); T::MAX; }\n";
    let own = (
        "crates/a/src/other.rs",
        "impl S {\n    fn x(&self) { Self::new(); self.used(); self.unused(); S::MAX; }\n}\n",
    );
    assert_eq!(
        accused(&[(A, item), own, ("crates/b/src/lib.rs", "use a::S;")]),
        Vec::<String>::new()
    );
    assert_eq!(
        accused(&[(A, item), ("crates/b/src/lib.rs", user)]),
        Vec::<String>::new()
    );
    let far = "fn x() { y.used(); y.unused(); S::new(); S::MAX; }\n";
    let near = ("crates/b/src/lib.rs", "use a::S;\n");
    assert_eq!(
        accused(&[(A, item), near, ("crates/lone/src/lib.rs", far)]).len(),
        4
    );
}

#[test]
fn testkit_may_use_what_ports_declares() {
    let item = ("crates/ports/src/lib.rs", "pub struct S;\n");
    assert_eq!(accused(&[item]), ["pub struct ports::S"]);
    assert_eq!(
        accused(&[item, ("dev/testkit/src/lib.rs", "use ports::S;")]),
        Vec::<String>::new()
    );
    assert_eq!(
        accused(&[item, ("dev/sim/src/lib.rs", "use ports::S;")]),
        ["pub struct ports::S"]
    );
}
