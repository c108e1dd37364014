//! Finds the names that a file takes from elsewhere.
//!
//! Owns: paths, `use` trees, re-exports, calls of methods. Never: what is declared (`items`).
//!
//! A name is resolved to its crate and to the word before it in its path: `truncate::floor` is no `line::floor`.

use std::collections::{BTreeMap, BTreeSet};

use super::items::Block;
use super::lexer::Token;

/// The crates that a path can begin with, by their names in code.
#[derive(Debug, Default)]
pub(crate) struct Crates {
    pub(crate) members: BTreeSet<String>,
    pub(crate) foreign: BTreeSet<String>,
}

/// The crate that a path begins with, and its last word.
pub(crate) type Named<'a> = (&'a str, &'a str);

/// `pub use from::name as alias`; the name `*` stands for all.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reexport<'a> {
    pub(crate) alias: &'a str,
    pub(crate) from: &'a str,
    pub(crate) name: &'a str,
}

#[derive(Debug, Default)]
pub(crate) struct Uses<'a> {
    /// What is named, and the word before it in the path; `*` where any module may be meant.
    pub(crate) named: BTreeSet<(Named<'a>, &'a str)>,
    pub(crate) reexports: Vec<Reexport<'a>>,
    /// `.name(`
    pub(crate) called: BTreeSet<&'a str>,
    /// `self.name(`, with the type of `self`.
    pub(crate) called_on_self: BTreeSet<(&'a str, &'a str)>,
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
    /// By their alias: the first and the last word of the paths.
    imports: BTreeMap<&'a str, BTreeSet<(&'a str, &'a str)>>,
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
    let globs = scope.imports.get("*").into_iter().flatten();
    let globs: BTreeSet<&str> = globs.flat_map(|(first, _)| scope.roots(first)).collect();
    for (at, token) in tokens.iter().enumerate() {
        if in_use.contains(&at) || !token.is_word() {
            continue;
        }
        let starts = at == 0 || !tokens[at - 1].is("::");
        if starts {
            take_path(&mut uses, &scope, tokens, at);
            let mut roots = globs.clone();
            if kept.contains(token.text) {
                roots.extend(scope.roots(token.text));
            }
            uses.named
                .extend(roots.into_iter().map(|root| ((root, token.text), "*")));
        }
        take_method(&mut uses, tokens, blocks, at);
        take_alias(&mut uses, tokens, at);
    }
    uses
}

impl<'a> Scope<'a, '_> {
    fn add(&mut self, tokens: &[Token<'a>], declarations: &[Declaration<'a>]) {
        for leaf in declarations.iter().flat_map(|declaration| &declaration.leaves) {
            self.imports
                .entry(leaf.alias)
                .or_default()
                .insert((leaf.path[0], leaf.path[leaf.path.len() - 1]));
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

    /// The names of the module that this word means at the start of a path.
    fn modules(&self, word: &'a str) -> BTreeSet<&'a str> {
        let imported = self.imports.get(word).into_iter().flatten();
        imported.map(|(_, last)| *last).chain([word]).collect()
    }

    /// Adds a name with all crates and modules that the path before it can mean.
    fn take(&self, uses: &mut Uses<'a>, before: &[&'a str], name: &'a str) {
        let Some((module, first)) = before.last().zip(before.first()) else {
            return;
        };
        let modules = match before.len() {
            1 => self.modules(module),
            _ => BTreeSet::from([*module]),
        };
        for root in self.roots(first) {
            uses.named
                .extend(modules.iter().map(|module| ((root, name), *module)));
        }
    }

    fn follow(&self, word: &'a str, depth: usize, roots: &mut BTreeSet<&'a str>) {
        if ["crate", "self", "super"].contains(&word) || self.modules.contains(word) {
            roots.insert(self.own);
        }
        let imports = self.imports.get(word);
        let firsts = imports.into_iter().flatten().map(|(first, _)| *first);
        for first in firsts.filter(|first| *first != word && depth > 0) {
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
        let Some((last, before)) = leaf.path.split_last() else {
            continue;
        };
        for (at, module) in before.iter().enumerate().filter(|(_, word)| is_module(word)) {
            scope.take(uses, &before[..at], module);
        }
        for root in scope.roots(leaf.path[0]) {
            // `pub(crate) use` of another crate's item is an import of the whole crate.
            if declaration.public || (declaration.restricted && root == scope.own) {
                uses.reexports.push(Reexport {
                    alias: leaf.alias,
                    from: root,
                    name: last,
                });
            } else {
                scope.take(uses, before, last);
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
    let mut path = vec![first];
    let mut here = at;
    while tokens.get(here + 1).is_some_and(|token| token.is("::")) {
        let Some(name) = tokens.get(here + 2).filter(|token| token.is_word()) else {
            return;
        };
        scope.take(uses, &path, name.text);
        if !is_module(name.text) {
            return;
        }
        path.push(name.text);
        here += 2;
    }
}

/// Takes `.name(`, `.name::<` and `Type::name`.
fn take_method<'a>(uses: &mut Uses<'a>, tokens: &[Token<'a>], blocks: &[Block<'a>], at: usize) {
    let name = tokens[at].text;
    let is = |distance: usize, text: &str| at.checked_sub(distance).is_some_and(|at| tokens[at].is(text));
    let next_is = |text| tokens.get(at + 1).is_some_and(|token| token.is(text));
    let own = || {
        let block = blocks.iter().rev().find(|block| block.tokens.contains(&at));
        block.and_then(|block| block.owner).unwrap_or_default()
    };
    if is(1, ".") && (next_is("(") || next_is("::")) {
        if is(2, "self") && !is(3, ".") {
            uses.called_on_self.insert((own(), name));
        } else {
            uses.called.insert(name);
        }
    }
    if is(1, "::") {
        let before = at.checked_sub(2).map(|at| tokens[at]);
        let before = before.filter(|token| token.is_word() && !is(3, "$"));
        let scope = before.map_or("", |token| if token.is("Self") { own() } else { token.text });
        uses.scoped.insert((scope, name));
    }
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
        if captures {
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
