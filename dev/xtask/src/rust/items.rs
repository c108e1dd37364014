//! Finds the items that a file declares.
//!
//! Owns: their names, visibility and interfaces. Never: who uses them (`uses`).

use std::ops::Range;

use super::lexer::{Token, attribute, closing};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visibility {
    Public,
    /// `pub(crate)`, `pub(super)`.
    Restricted,
    Private,
}

#[derive(Debug)]
pub(crate) struct Item<'a> {
    /// `fn`, `struct`, `enum`, `trait`, `const`, `static`, `type` or `mod`.
    pub(crate) keyword: &'a str,
    pub(crate) name: &'a str,
    pub(crate) line: usize,
    pub(crate) visibility: Visibility,
    /// The type whose `impl` block holds it.
    pub(crate) owner: Option<&'a str>,
    /// Whether a `fn` has a `self`.
    pub(crate) takes_self: bool,
    /// Words that a caller of the item meets: signatures and public fields, no bodies.
    pub(crate) interface: Vec<&'a str>,
}

/// An `impl` or `trait` block.
#[derive(Debug)]
pub(crate) struct Block<'a> {
    pub(crate) tokens: Range<usize>,
    /// The type that `Self` means; none in a trait.
    pub(crate) owner: Option<&'a str>,
}

/// The items of a file and its blocks. What `macro_rules!` writes is not looked at.
pub(crate) fn items<'a>(tokens: &[Token<'a>]) -> (Vec<Item<'a>>, Vec<Block<'a>>) {
    let (mut items, mut blocks) = (Vec::new(), Vec::<Block>::new());
    let mut visibility = Visibility::Private;
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if let Some(end) = attribute(tokens, at) {
            at = end;
        } else if token.is("macro_rules") {
            let open = (at..tokens.len()).find(|&at| is(tokens, at, "{"));
            at = open.map_or(tokens.len(), |open| closing(tokens, open) + 1);
        } else if token.is("pub") {
            (visibility, at) = visibility_at(tokens, at);
        } else if token.is("impl") {
            let block = impl_block(tokens, at);
            at = block.tokens.start;
            blocks.push(block);
        } else if let Some(name) = declared(tokens, at) {
            let block = blocks.iter().rev().find(|block| block.tokens.contains(&at));
            let in_trait = block.is_some_and(|block| block.owner.is_none());
            let inner = !matches!(token.text, "struct" | "enum" | "trait");
            let owner = block.and_then(|block| block.owner).filter(|_| inner);
            let end = interface_end(tokens, at);
            if !(in_trait && inner) {
                items.push(Item {
                    keyword: token.text,
                    name,
                    line: token.line,
                    visibility,
                    owner,
                    takes_self: has_self(&tokens[at..end]),
                    interface: interface(tokens, at, end),
                });
            }
            visibility = Visibility::Private;
            if token.is("trait") && is(tokens, end, "{") {
                let tokens = end..closing(tokens, end);
                blocks.push(Block { tokens, owner: None });
            }
            at = after(tokens, at, end);
        } else {
            if !["async", "const", "unsafe", "extern"]
                .iter()
                .any(|word| token.is(word))
            {
                visibility = Visibility::Private;
            }
            at += 1;
        }
    }
    (items, blocks)
}

fn is(tokens: &[Token], at: usize, text: &str) -> bool {
    tokens.get(at).is_some_and(|token| token.is(text))
}

fn visibility_at(tokens: &[Token], at: usize) -> (Visibility, usize) {
    if is(tokens, at + 1, "(")
        && ["crate", "super", "self", "in"]
            .iter()
            .any(|word| is(tokens, at + 2, word))
    {
        (Visibility::Restricted, closing(tokens, at + 1) + 1)
    } else {
        (Visibility::Public, at + 1)
    }
}

/// The name of the item whose keyword stands here.
fn declared<'a>(tokens: &[Token<'a>], at: usize) -> Option<&'a str> {
    let keywords = ["fn", "struct", "enum", "trait", "const", "static", "type", "mod"];
    keywords.iter().find(|word| is(tokens, at, word))?;
    let name = if is(tokens, at + 1, "mut") { at + 2 } else { at + 1 };
    let name = tokens.get(name).filter(|token| token.is_word())?;
    let qualifier = ["fn", "async", "unsafe", "extern"]
        .iter()
        .any(|word| name.is(word));
    (!qualifier).then_some(name.text)
}

/// Where the scan goes on: inside of blocks and bodies, behind fields and signatures.
fn after(tokens: &[Token], at: usize, end: usize) -> usize {
    let has_fields = is(tokens, at, "struct") || is(tokens, at, "enum");
    if has_fields && is(tokens, end, "{") {
        closing(tokens, end) + 1
    } else {
        end.max(at + 1)
    }
}

/// The index of the `{`, `;` or `=` that ends the head of an item.
fn interface_end(tokens: &[Token], at: usize) -> usize {
    let stops_at_equals = is(tokens, at, "const") || is(tokens, at, "static");
    let mut here = at + 1;
    while let Some(token) = tokens.get(here) {
        if token.is("(") || token.is("[") {
            here = closing(tokens, here) + 1;
        } else if token.is("{") || token.is(";") || token.is("}") || (stops_at_equals && token.is("=")) {
            return here;
        } else {
            here += 1;
        }
    }
    tokens.len()
}

fn interface<'a>(tokens: &[Token<'a>], at: usize, end: usize) -> Vec<&'a str> {
    let body = is(tokens, end, "{").then(|| end..closing(tokens, end));
    let mut words = match tokens[at].text {
        "struct" => open_fields(&tokens[at..end]),
        _ => words(&tokens[at + 2..end.max(at + 2).min(tokens.len())]),
    };
    match (tokens[at].text, body) {
        ("enum", Some(body)) => words.extend(self::words(&tokens[body])),
        ("trait", Some(body)) => words.extend(without_bodies(&tokens[body.start + 1..body.end])),
        ("struct", Some(body)) => words.extend(fields(&tokens[body.start + 1..body.end])),
        _ => {}
    }
    words
}

fn words<'a>(tokens: &[Token<'a>]) -> Vec<&'a str> {
    let words = tokens.iter().filter(|token| token.is_word());
    words.map(|token| token.text).collect()
}

fn without_bodies<'a>(tokens: &[Token<'a>]) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if token.is("{") {
            at = closing(tokens, at);
        } else if token.is_word() {
            found.push(token.text);
        }
        at += 1;
    }
    found
}

/// The words of a struct's head: its bounds, and the fields between `(` and `)` that are not private.
fn open_fields<'a>(head: &[Token<'a>]) -> Vec<&'a str> {
    let open = head.iter().position(|token| token.is("("));
    let Some(open) = open.filter(|&open| !head[..open].iter().any(|token| token.is("where"))) else {
        return words(head.get(2..).unwrap_or_default());
    };
    let close = closing(head, open);
    let mut found = words(&head[2..open]);
    found.extend(fields(&head[open + 1..close]));
    found.extend(words(&head[close..]));
    found
}

/// The words of the fields that are not private.
fn fields<'a>(tokens: &[Token<'a>]) -> Vec<&'a str> {
    let mut found = Vec::new();
    let (mut at, mut angle, mut starts, mut open) = (0, 0_usize, true, false);
    while let Some(token) = tokens.get(at) {
        if let Some(end) = attribute(tokens, at).filter(|_| starts) {
            at = end;
            continue;
        }
        if starts {
            open = token.is("pub");
            starts = false;
        }
        let end = if token.is("(") || token.is("[") {
            closing(tokens, at)
        } else {
            at
        };
        if open {
            found.extend(words(&tokens[at..=end]));
        }
        match token.text {
            "<" => angle += 1,
            ">" => angle = angle.saturating_sub(1),
            "," if angle == 0 => starts = true,
            _ => {}
        }
        at = end + 1;
    }
    found
}

fn has_self(head: &[Token]) -> bool {
    let open = head.iter().position(|token| token.is("("));
    open.is_some_and(|open| head.iter().skip(open).take(5).any(|token| token.is("self")))
}

/// The block of the `impl` that stands here.
fn impl_block<'a>(tokens: &[Token<'a>], at: usize) -> Block<'a> {
    let (mut angle, mut owner, mut here) = (0_usize, None, at + 1);
    let mut named = true;
    while let Some(token) = tokens.get(here) {
        match token.text {
            "<" => angle += 1,
            ">" => angle = angle.saturating_sub(1),
            "{" | ";" | ")" => break,
            "where" => named = false,
            "for" if angle == 0 && !is(tokens, here + 1, "<") => {}
            _ if angle == 0 && named && token.is_word() => owner = Some(token.text),
            _ => {}
        }
        here += 1;
    }
    let end = if is(tokens, here, "{") {
        closing(tokens, here)
    } else {
        here
    };
    Block {
        tokens: here..end,
        owner,
    }
}
