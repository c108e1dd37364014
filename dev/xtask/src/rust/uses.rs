//! Finds the names that a file takes from elsewhere.
//!
//! Owns: paths, `use` trees, re-exports, calls of methods. Never: what is declared (`items`).
//!
//! Names are resolved to a crate, not to a module. Two items of one crate that share a name share their users.

use std::collections::{BTreeMap, BTreeSet};

use super::items::Block;
use super::lexer::{Token, attribute};

/// The crates that a path can begin with, by their names in code.
#[derive(Debug, Default)]
pub(crate) struct Crates {
    pub(crate) members: BTreeSet<String>,
    pub(crate) foreign: BTreeSet<String>,
}

/// A name, and the crate that its path begins with.
pub(crate) type Named<'a> = (&'a str, &'a str);

/// `pub use from::name as alias`; the name `*` stands for all.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Reexport<'a> {
    pub(crate) alias: &'a str,
    pub(crate) from: &'a str,
    pub(crate) name: &'a str,
}

#[derive(Debug, Default)]
pub(crate) struct Uses<'a> {
    pub(crate) named: BTreeSet<Named<'a>>,
    pub(crate) reexports: Vec<Reexport<'a>>,
    /// `.name(`
    pub(crate) called: BTreeSet<&'a str>,
    /// `Type::name`; the type is empty where it cannot be told.
    pub(crate) scoped: BTreeSet<(&'a str, &'a str)>,
    /// `use Type as alias` and `type alias = Type`.
    pub(crate) aliases: BTreeSet<(&'a str, &'a str)>,
}

#[derive(Debug)]
struct Leaf<'a> {
    path: Vec<&'a str>,
    alias: &'a str,
}

/// One `use` declaration.
#[derive(Debug)]
struct Declaration<'a> {
    leaves: Vec<Leaf<'a>>,
    public: bool,
    restricted: bool,
    tokens: std::ops::Range<usize>,
}

/// The `use` declarations and modules of a file: what the first word of a path can mean there.
#[derive(Debug)]
struct Scope<'a, 'c> {
    own: &'a str,
    crates: &'c Crates,
    imports: BTreeMap<&'a str, BTreeSet<&'a str>>,
    modules: BTreeSet<&'a str>,
}

/// The names that `tokens` take from elsewhere. `more` are other tokens of the file, whose imports hold here too.
pub(crate) fn uses<'a>(
    own: &'a str,
    crates: &Crates,
    tokens: &[Token<'a>],
    blocks: &[Block<'a>],
    more: &[Token<'a>],
) -> Uses<'a> {
    let declarations = declarations(tokens);
    let mut scope = Scope {
        own,
        crates,
        imports: BTreeMap::new(),
        modules: BTreeSet::new(),
    };
    scope.add(tokens, &declarations);
    scope.add(more, &self::declarations(more));
    let mut uses = Uses::default();
    for declaration in &declarations {
        take_declaration(&mut uses, &scope, declaration);
    }
    let in_use: BTreeSet<usize> = declarations.iter().flat_map(|d| d.tokens.clone()).collect();
    let kept: BTreeSet<&str> = declarations
        .iter()
        .filter(|d| d.public || d.restricted)
        .flat_map(|d| d.leaves.iter().map(|leaf| leaf.alias))
        .collect();
    let globs: BTreeSet<&str> = scope.imports.get("*").into_iter().flatten().copied().collect();
    let globs: BTreeSet<&str> = globs.iter().flat_map(|first| scope.roots(first)).collect();
    for (at, token) in tokens.iter().enumerate() {
        if in_use.contains(&at) || !token.is_word() {
            continue;
        }
        let starts = at == 0 || !tokens[at - 1].is("::");
        if starts {
            take_path(&mut uses, &scope, tokens, at);
            if kept.contains(token.text) {
                uses.named
                    .extend(scope.roots(token.text).into_iter().map(|root| (root, token.text)));
            }
            uses.named.extend(globs.iter().map(|root| (*root, token.text)));
        }
        take_method(&mut uses, tokens, blocks, at);
        take_alias(&mut uses, tokens, at);
    }
    uses
}

impl<'a> Scope<'a, '_> {
    fn add(&mut self, tokens: &[Token<'a>], declarations: &[Declaration<'a>]) {
        for leaf in declarations.iter().flat_map(|declaration| &declaration.leaves) {
            self.imports.entry(leaf.alias).or_default().insert(leaf.path[0]);
        }
        for (at, _) in tokens.iter().enumerate().filter(|(_, token)| token.is("mod")) {
            self.modules.extend(tokens.get(at + 1).map(|name| name.text));
        }
    }

    /// The members that a path can lead to which begins with this word.
    fn roots(&self, word: &'a str) -> BTreeSet<&'a str> {
        let mut roots = BTreeSet::new();
        self.follow(word, 4, &mut roots);
        roots
    }

    fn follow(&self, word: &'a str, depth: usize, roots: &mut BTreeSet<&'a str>) {
        if ["crate", "self", "super", "Self"].contains(&word) || self.modules.contains(word) {
            roots.insert(self.own);
        }
        let imports = self.imports.get(word);
        for first in imports
            .into_iter()
            .flatten()
            .filter(|first| **first != word && depth > 0)
        {
            self.follow(first, depth - 1, roots);
        }
        if self.crates.members.contains(word) {
            roots.insert(word);
        } else if imports.is_none() && !self.crates.foreign.contains(word) {
            roots.insert(self.own);
        }
    }
}

fn take_declaration<'a>(uses: &mut Uses<'a>, scope: &Scope<'a, '_>, declaration: &Declaration<'a>) {
    for leaf in &declaration.leaves {
        let Some((last, modules)) = leaf.path.split_last() else {
            continue;
        };
        for root in scope.roots(leaf.path[0]) {
            let modules = modules.iter().filter(|word| is_module(word));
            uses.named.extend(modules.map(|module| (root, *module)));
            // `pub(crate) use` of another crate's item is an import of the whole crate.
            if declaration.public || (declaration.restricted && root == scope.own) {
                uses.reexports.push(Reexport {
                    alias: leaf.alias,
                    from: root,
                    name: last,
                });
            } else {
                uses.named.insert((root, last));
            }
        }
        if leaf.alias != *last {
            uses.aliases.insert((leaf.alias, last));
        }
    }
}

fn is_module(word: &str) -> bool {
    !word.starts_with(char::is_uppercase)
}

/// Takes the names of `a::b::Name` that begins at `at`. What follows a type is no item.
fn take_path<'a>(uses: &mut Uses<'a>, scope: &Scope<'a, '_>, tokens: &[Token<'a>], at: usize) {
    let first = tokens[at].text;
    if !is_module(first) {
        return;
    }
    let mut here = at;
    while tokens.get(here + 1).is_some_and(|token| token.is("::")) {
        let Some(name) = tokens.get(here + 2).filter(|token| token.is_word()) else {
            return;
        };
        uses.named
            .extend(scope.roots(first).into_iter().map(|root| (root, name.text)));
        if !is_module(name.text) {
            return;
        }
        here += 2;
    }
}

/// Takes `.name(`, `.name::<` and `Type::name`.
fn take_method<'a>(uses: &mut Uses<'a>, tokens: &[Token<'a>], blocks: &[Block<'a>], at: usize) {
    let name = tokens[at].text;
    let before = |distance: usize| at.checked_sub(distance).map(|at| tokens[at]);
    let next_is = |text| tokens.get(at + 1).is_some_and(|token| token.is(text));
    if before(1).is_some_and(|token| token.is(".")) && (next_is("(") || next_is("::")) {
        uses.called.insert(name);
    }
    if !before(1).is_some_and(|token| token.is("::")) {
        return;
    }
    let in_macro = before(3).is_some_and(|token| token.is("$"));
    let scope = match before(2) {
        Some(token) if token.is("Self") => {
            let block = blocks.iter().rev().find(|block| block.tokens.contains(&at));
            block.and_then(|block| block.owner).unwrap_or_default()
        }
        Some(token) if token.is_word() && !in_macro => token.text,
        _ => "",
    };
    uses.scoped.insert((scope, name));
}

/// Takes `type alias = Type;`, also where it belongs to a trait.
fn take_alias<'a>(uses: &mut Uses<'a>, tokens: &[Token<'a>], at: usize) {
    let Some(alias) = tokens.get(at + 1).filter(|_| tokens[at].is("type")) else {
        return;
    };
    let body = tokens[at + 1..]
        .iter()
        .take_while(|token| !token.is(";") && !token.is("{"));
    let words = body.filter(|token| token.is_word() && token.text != alias.text);
    uses.aliases.extend(words.map(|word| (alias.text, word.text)));
}

fn declarations<'a>(tokens: &[Token<'a>]) -> Vec<Declaration<'a>> {
    let mut found = Vec::new();
    for (at, _) in tokens.iter().enumerate().filter(|(_, token)| token.is("use")) {
        let end = (at..tokens.len())
            .find(|&at| tokens[at].is(";"))
            .unwrap_or(tokens.len());
        let captures = tokens.get(at + 1).is_some_and(|token| token.is("<"));
        if captures || attribute(tokens, at).is_some() {
            continue;
        }
        let mut leaves = Vec::new();
        tree(&tokens[at + 1..end], 0, &[], &mut leaves);
        let before = |distance: usize| at.checked_sub(distance).map(|at| tokens[at]);
        found.push(Declaration {
            leaves,
            public: before(1).is_some_and(|token| token.is("pub")),
            restricted: before(1).is_some_and(|token| token.is(")")),
            tokens: at..end,
        });
    }
    found
}

/// Reads one branch of a `use` tree. Gives the index after it.
fn tree<'a>(tokens: &[Token<'a>], mut at: usize, prefix: &[&'a str], leaves: &mut Vec<Leaf<'a>>) -> usize {
    let mut path = prefix.to_vec();
    while let Some(token) = tokens.get(at) {
        if token.is("{") {
            at += 1;
            while tokens.get(at).is_some_and(|token| !token.is("}")) {
                at = tree(tokens, at, &path, leaves);
                at += usize::from(tokens.get(at).is_some_and(|token| token.is(",")));
            }
            return at + 1;
        }
        at += 1;
        if token.is_word() || token.is("*") {
            path.push(token.text);
        }
        let ends = |at: usize| {
            tokens
                .get(at)
                .is_none_or(|token| [",", "}"].contains(&token.text))
        };
        let renamed = tokens.get(at).is_some_and(|token| token.is("as"));
        if path.is_empty() || !(renamed || ends(at)) {
            continue;
        }
        if path.len() > 1 && path.last() == Some(&"self") {
            path.pop();
        }
        let last = path[path.len() - 1];
        let alias = tokens
            .get(at + 1)
            .filter(|_| renamed)
            .map_or(last, |token| token.text);
        leaves.push(Leaf { path, alias });
        return at + if renamed { 2 } else { 0 };
    }
    at
}
