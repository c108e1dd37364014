//! Lines, test regions, items and names of text that is easy to misread.

use std::str::FromStr;

use proc_macro2::TokenStream;

use super::{code_lines, reader, without_tests};

fn tokens(text: &str) -> TokenStream {
    TokenStream::from_str(text).expect("the text is Rust")
}

#[test]
fn comments_blank_lines_and_nothing_else_are_no_code() {
    for (text, lines) in [
        ("//! m\n\n/// d\nfn a() {}\n", 1),
        (
            "/** d\n*/\nfn a() {\n    // c\n    /* x\n     /* y */ z */\n\n    b\n}\n",
            3,
        ),
        ("const A: &str = \"x\n\n// y\";\n", 2),
        ("#[doc = \"d\"]\n#[inline]\nfn a() {}\n", 3),
        ("m! {\n    /// d\n    b\n}\n", 3),
        ("const A: &str = r#\"\nä \" y\"#; // ö\n", 2),
        ("fn a<'a>() { b('\"', b'x', 1 / 2) }\n", 1),
    ] {
        assert_eq!(code_lines(text, tokens(text)), lines, "{text}");
    }
}

#[test]
fn tests_end_where_their_item_ends() {
    for (text, product) in [
        ("#[cfg(test)] mod t { fn f() { x; } } fn a() {}", "fn a() {}"),
        ("#[cfg(test)] mod t; fn a() {}", "fn a() {}"),
        (
            "#[cfg(test)] #[derive(D)] pub fn f<A, B>(x: [u8; 2]) -> A where A: B { y } fn a() {}",
            "fn a() {}",
        ),
        (
            "struct S { #[cfg(test)] x: Vec<u8>, y: u8 }",
            "struct S { y: u8 }",
        ),
        ("fn a() { #[cfg(test)] t::x.with(|y| { z }); b }", "fn a() { b }"),
        ("fn a() { #[cfg(test)] t() }", "fn a() {}"),
        (
            "#[doc = \"cfg(test)\"] fn a() {}",
            "#[doc = \"cfg(test)\"] fn a() {}",
        ),
        ("fn a() {} /// d\n#[x] #[cfg(test)] fn t() {}", "fn a() {}"),
        ("#[cfg(not(test))] fn a() {}", "#[cfg(not(test))] fn a() {}"),
        ("#[cfg_attr(test, x)] fn a() {}", "#[cfg_attr(test, x)] fn a() {}"),
    ] {
        let mut modules = Vec::new();
        let found = without_tests(tokens(text), &mut modules).to_string();
        assert_eq!(found, tokens(product).to_string(), "{text}");
        assert_eq!(modules.len(), usize::from(text.contains("mod t")), "{text}");
    }
}

#[test]
fn items_have_owners_and_visibility() {
    let text = "pub struct S<T>(pub T);\nimpl<'a, T: Into<u8>> From<T> for &'a m::S<T> where T: X {\n    type Y = u8;\n    \
                fn f(&mut self) {}\n}\nimpl S<u8> {\n    pub const fn g<F: Fn(&Self) -> u8>(f: F) {}\n}\n\
                macro_rules! m { () => { pub fn hidden() {} } }\nm! { pub(super) enum E { A } }\n\
                trait T { type Z; fn h(); }\nextern \"C\" { }\nconst fn i(f: fn(u8) -> u8) { struct Inner; }\n";
    let found = reader::read(None, tokens(text)).expect("the text is Rust");
    let shown = found.items.iter().map(|item| {
        let visibility = match (item.is_public, item.is_private) {
            (true, _) => "pub ",
            (false, false) => "pub() ",
            (false, true) => "",
        };
        let owner = item.owner.as_deref().unwrap_or("-");
        let (line, keyword, name, takes_self) = (item.line, item.keyword, &item.name, item.takes_self);
        format!("{line} {visibility}{keyword} {owner} {name} {takes_self}")
    });
    assert_eq!(
        shown.collect::<Vec<_>>(),
        [
            "1 pub struct - S false",
            "3 type S Y false",
            "4 fn S f true",
            "7 pub fn S g false",
            "10 pub() enum - E false",
            "11 trait - T false",
            "13 fn - i false",
            "13 struct - Inner false",
        ]
    );
}

#[test]
fn names_are_found_in_macros_and_attributes() {
    let text = "#[serde(with = \"a::b\", rename = \"c d\")]\nstruct S;\nfn f() {\n    m!(x.y(), self.z::<u8>(), n::<T>::o, p::q \"r::s\", \
                include_str!(\"t.txt\"));\n    \"u::v\";\n}\nmacro_rules! w { () => { #[serde(default = \"y::z\")] $crate::x::y() } }\n";
    let found = reader::read(None, tokens(text)).expect("the text is Rust");
    let long = found.paths.iter().filter(|path| path.len() > 1);
    let long: Vec<String> = long.map(|path| path.join("::")).collect();
    assert_eq!(long, ["a::b", "crate::x::y", "p::q", "y::z"]);
    assert_eq!(found.calls.into_iter().collect::<Vec<_>>(), ["y"]);
    assert_eq!(
        found.own_calls.into_iter().collect::<Vec<_>>(),
        [(String::new(), "z".to_owned())]
    );
    assert_eq!(found.included, ["t.txt"]);
}
