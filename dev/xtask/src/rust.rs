//! The Rust files of the workspace without their tests, as `syn` reads them.
//!
//! Owns: which code is for tests, and on how many lines the rest stands. Never: a rule about it.

mod reader;

use std::collections::BTreeSet;
use std::str::FromStr;

use anyhow::anyhow;
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use crate::tidy::{SourceFile, is_rust, is_test};
pub(crate) use reader::{Contents, Item};

/// A Rust file of a member that is not for tests alone.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) path: String,
    /// The module that the file is; none is the crate's root.
    pub(crate) module: Option<String>,
    /// Lines that hold more than a comment.
    pub(crate) code_lines: usize,
    pub(crate) contents: Contents,
}

impl Source {
    pub(crate) fn is_product(&self) -> bool {
        self.path.starts_with("crates/")
    }

    /// The folder of the member, which has the name of its package.
    pub(crate) fn member(&self) -> &str {
        self.path.split('/').nth(1).unwrap_or_default()
    }

    /// The name of the crate in code.
    pub(crate) fn crate_name(&self) -> String {
        self.member().replace('-', "_")
    }
}

/// The Rust files of members. A file that cannot be read as Rust is an error.
pub(crate) fn sources(files: &[SourceFile]) -> anyhow::Result<Vec<Source>> {
    let mut product = Vec::new();
    let mut for_tests = BTreeSet::new();
    let is_member = |path: &str| path.starts_with("crates/") || path.starts_with("dev/");
    for file in files
        .iter()
        .filter(|file| is_rust(&file.path) && is_member(&file.path))
    {
        let path = file.path.as_str();
        if is_test(path) || path.contains("/examples/") {
            continue;
        }
        let tokens = TokenStream::from_str(&file.text).map_err(|error| anyhow!("{path}: {error}"))?;
        let mut modules = Vec::new();
        let tokens = without_tests(tokens, &mut modules);
        for_tests.extend(modules.iter().map(|module| format!("{}/{module}/", stem(path))));
        product.push((file, tokens));
    }
    product.retain(|(file, _)| {
        let folder = format!("{}/", stem(&file.path));
        !for_tests.iter().any(|module| folder.starts_with(module))
    });
    product
        .into_iter()
        .map(|(file, tokens)| source(file, tokens))
        .collect()
}

fn source(file: &SourceFile, tokens: TokenStream) -> anyhow::Result<Source> {
    let path = file.path.clone();
    let module = stem(&path).rsplit_once("/src/").map(|(_, below)| below);
    let module = module.map(|below| below.rsplit('/').next().unwrap_or(below).to_owned());
    let code_lines = code_lines(&file.text, tokens.clone());
    // Of the tools, only `testkit` counts as a user.
    let is_read = path.starts_with("crates/") || path.starts_with("dev/testkit/");
    let tokens = if is_read { tokens } else { TokenStream::new() };
    let contents = reader::read(module.clone(), tokens).map_err(|error| anyhow!("{path}: {error}"))?;
    Ok(Source {
        path,
        module,
        code_lines,
        contents,
    })
}

/// The path of a module without the ending of its file: the folder of its children.
pub(crate) fn stem(path: &str) -> &str {
    let path = path.strip_suffix(".rs").unwrap_or(path);
    let endings = ["/lib", "/main", "/mod"];
    endings
        .iter()
        .find_map(|ending| path.strip_suffix(ending))
        .unwrap_or(path)
}

/// The tokens outside `#[cfg(test)]`. The modules that are declared there are added to `modules`.
fn without_tests(tokens: TokenStream, modules: &mut Vec<String>) -> TokenStream {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let mut kept = Vec::new();
    let mut at = 0;
    while let Some(tree) = trees.get(at) {
        if let Some((attribute, end)) = attribute(&trees, at)
            && is_for_tests(attribute)
        {
            while let [.., TokenTree::Punct(mark), TokenTree::Group(_)] = kept.as_slice()
                && mark.as_char() == '#'
            {
                kept.truncate(kept.len() - 2);
            }
            at = item_end(&trees, end);
            if let [.., word, module, _] = &trees[..at]
                && word.to_string() == "mod"
            {
                modules.push(module.to_string());
            }
            continue;
        }
        kept.push(match tree {
            TokenTree::Group(group) => {
                let inside = without_tests(group.stream(), modules);
                let mut kept = Group::new(group.delimiter(), inside);
                kept.set_span(group.span());
                TokenTree::Group(kept)
            }
            tree => tree.clone(),
        });
        at += 1;
    }
    kept.into_iter().collect()
}

/// The brackets of the attribute that begins here, and the index after them.
fn attribute(trees: &[TokenTree], at: usize) -> Option<(&Group, usize)> {
    match (trees.get(at)?, trees.get(at + 1)?) {
        (TokenTree::Punct(mark), TokenTree::Group(group)) if mark.as_char() == '#' => Some((group, at + 2)),
        _ => None,
    }
}

/// Whether an attribute keeps its item for tests.
fn is_for_tests(attribute: &Group) -> bool {
    let text = attribute.stream().to_string();
    let has = |wanted: &str| {
        text.split(|c: char| !c.is_alphanumeric())
            .any(|word| word == wanted)
    };
    let is_condition = text.starts_with("cfg ") || text.starts_with("cfg(");
    is_condition && has("test") && !has("not")
}

const ITEM_WORDS: [&str; 13] = [
    "async", "const", "enum", "extern", "fn", "impl", "mod", "pub", "static", "struct", "trait", "type",
    "use",
];

/// The index after the item, statement or field that begins here, with its further attributes.
fn item_end(trees: &[TokenTree], mut at: usize) -> usize {
    while let Some((_, end)) = attribute(trees, at) {
        at = end;
    }
    let is_item =
        matches!(trees.get(at), Some(TokenTree::Ident(word)) if ITEM_WORDS.iter().any(|item| word == item));
    let is_last = |tree: &TokenTree| match tree {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(punct) => punct.as_char() == ';' || (punct.as_char() == ',' && !is_item),
        _ => false,
    };
    let last = trees.iter().skip(at).position(is_last);
    last.map_or(trees.len(), |last| at + last + 1)
}

/// The lines that the tokens stand on. A blank line inside a string does not count.
fn code_lines(text: &str, tokens: TokenStream) -> usize {
    let mut marked = BTreeSet::new();
    mark_lines(text, tokens, &mut marked);
    let lines = (1..).zip(text.lines());
    lines
        .filter(|(number, line)| marked.contains(number) && !line.trim().is_empty())
        .count()
}

/// Marks the lines of the tokens, without those that stand for a comment of documentation.
fn mark_lines(text: &str, tokens: TokenStream, marked: &mut BTreeSet<usize>) {
    let mut in_comment = false;
    for tree in tokens {
        match tree {
            TokenTree::Punct(punct)
                if punct.as_char() == '#' && text[punct.span().byte_range()].starts_with('/') =>
            {
                in_comment = true;
            }
            TokenTree::Group(_) if in_comment => in_comment = false,
            _ if in_comment => {}
            TokenTree::Group(group) => {
                marked.insert(group.span_open().start().line);
                marked.insert(group.span_close().end().line);
                mark_lines(text, group.stream(), marked);
            }
            tree => marked.extend(tree.span().start().line..=tree.span().end().line),
        }
    }
}

#[cfg(test)]
mod tests;
