//! Tokens, test regions and items of text that is easy to misread.

use super::items::{Visibility, items};
use super::lexer::{split, tokens};

fn words(text: &str) -> Vec<&str> {
    let words = tokens(text).into_iter().filter(super::Token::is_word);
    words.map(|token| token.text).collect()
}

#[test]
fn literals_and_comments_hold_no_words() {
    for text in [
        "a \"x \\\" y\" b",
        "a r#\"x \" y\"# b",
        "a b\"x\" b",
        "a br##\"x\"# y\"## b",
        "a '\"' b /* x /* y */ z */",
        "a '\\'' b // x",
        "a b'x' b",
        "a 'x b",
        "a 1_000u64 0.5e3 0..9 b",
        "a\n\"x\ny\"\nb",
    ] {
        assert_eq!(words(text), ["a", "b"], "{text}");
    }
    assert_eq!(words("r#type br c.0.max()"), ["type", "br", "c", "max"]);
    assert_eq!(tokens("a\n/* x\n */ b")[1].line, 3);
}

#[test]
fn a_path_in_an_attribute_is_code() {
    assert_eq!(
        words("#[serde(with = \"a::b\", rename = \"c d\")] x \"e::f\""),
        ["serde", "with", "a", "b", "rename", "x"]
    );
}

#[test]
fn tests_end_where_their_item_ends() {
    for (text, product) in [
        ("#[cfg(test)] mod t { fn f() { x; } } fn a() {}", "fn a"),
        ("#[cfg(test)] mod t; fn a() {}", "fn a"),
        (
            "#[cfg(test)] #[derive(D)] pub fn f<A, B>(x: [u8; 2]) -> A where A: B { y } fn a() {}",
            "fn a",
        ),
        ("struct S { #[cfg(test)] x: Vec<u8>, y: u8 }", "struct S y u8"),
        ("fn a() { #[cfg(test)] t::x.with(|y| { z }); b }", "fn a b"),
        ("fn a() { #[cfg(test)] t() }", "fn a"),
        ("#[cfg(not(test))] fn a() {}", "cfg not test fn a"),
        ("#![cfg(test)] fn a() {}", ""),
    ] {
        let (found, _) = split(&tokens(text));
        let found = found.into_iter().filter(super::Token::is_word);
        let found: Vec<&str> = found.map(|token| token.text).collect();
        assert_eq!(found.join(" "), product, "{text}");
    }
}

#[test]
fn items_have_owners_and_visibility() {
    let text = "pub struct S<T>(pub T);\nimpl<'a, T: Into<u8>> From<T> for &'a m::S<T> where T: X {\n    type Y = u8;\n    \
                fn f(&mut self) {}\n}\nimpl S<u8> {\n    pub const fn g<F: Fn(&Self) -> u8>(f: F) {}\n}\n\
                macro_rules! m { () => { pub fn hidden() {} } }\nm! { pub(super) enum E { A } }\n\
                trait T { type Z; fn h(); }\nextern \"C\" { }\nconst fn i(f: fn(u8) -> u8) {}\n";
    let tokens = tokens(text);
    let (items, _) = items(&tokens);
    let found: Vec<String> = items
        .iter()
        .map(|item| {
            let visibility = match item.visibility {
                Visibility::Public => "pub ",
                Visibility::Restricted => "pub() ",
                Visibility::Private => "",
            };
            let owner = item.owner.unwrap_or("-");
            format!(
                "{visibility}{} {owner} {} {}",
                item.keyword, item.name, item.takes_self
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            "pub struct - S false",
            "type S Y false",
            "fn S f true",
            "pub fn S g false",
            "pub() enum - E false",
            "trait - T false",
            "fn - i false",
        ]
    );
}
