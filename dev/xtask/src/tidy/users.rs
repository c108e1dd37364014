//! Public items of the product that nobody in the product uses.
//!
//! Owns: who counts as a user. Never: how Rust is read (`crate::rust`), nor items that are not `pub`: rustc finds those.
//!
//! A user of an item is product code in another file that names it. Tests and benchmarks are no users. `dev/` is none, with one
//! exception: `testkit` may use what `ports` declares, because a fake must name what the port names. A re-export is no user; who
//! names the re-export is one. A type also counts as used where another open item of its file shows it: in a signature, an
//! open field, an associated type.
//!
//! A name is compared with the word before it in its path: `truncate::floor` is no `line::floor`. So the rule misses an unused
//! item whose namesake is imported through `super` or `crate`, and an unused method that has the name of a used one.
//! `macro_rules!` bodies declare nothing here.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::layers;
use crate::rust::{Item, Source};

/// What `#[serde(with = "…")]` calls without writing the names.
const CALLED_BY_SERDE: [&str; 2] = ["serialize", "deserialize"];
/// The words that mean a module of the own crate.
const OWN: [&str; 3] = ["crate", "self", "super"];

/// A name, and the word before it in a path.
type Named<'a> = (&'a str, &'a str);
/// The places of the files that name something.
type Users = BTreeSet<usize>;

#[derive(Debug)]
struct Reexport<'a> {
    /// The module that holds it, and the crate.
    places: [&'a str; 2],
    /// The module that has the item.
    module: &'a str,
    alias: &'a str,
}

#[derive(Debug, Default)]
struct Workspace<'a> {
    sources: &'a [Source],
    /// The names of the sources' crates.
    crates: &'a [String],
    named: BTreeMap<Named<'a>, Users>,
    called: BTreeMap<&'a str, Users>,
    /// By the last word of their paths.
    reexports: BTreeMap<&'a str, Vec<Reexport<'a>>>,
    /// A crate, and those that can name its items: itself and all that depend on it.
    reach: BTreeMap<String, BTreeSet<String>>,
}

/// Public items without a user.
pub(crate) fn check(metadata: &Value, sources: &[Source]) -> Vec<String> {
    let crates: Vec<String> = sources.iter().map(Source::crate_name).collect();
    let workspace = workspace(metadata, sources, &crates);
    let mut problems = Vec::new();
    for (place, source) in sources
        .iter()
        .enumerate()
        .filter(|(_, source)| source.is_product())
    {
        for item in without_user(&workspace, place) {
            let owner = item.owner.iter().map(|owner| format!("{owner}::"));
            let name = format!("{}::{}{}", crates[place], owner.collect::<String>(), item.name);
            let (path, line, keyword) = (&source.path, item.line, item.keyword);
            problems.push(format!(
                "{path}:{line}: `pub {keyword} {name}` has no user in another file of the product: delete it or drop `pub`"
            ));
        }
    }
    problems
}

fn workspace<'a>(metadata: &Value, sources: &'a [Source], crates: &'a [String]) -> Workspace<'a> {
    let mut found = Workspace {
        sources,
        crates,
        reach: reach(metadata),
        ..Workspace::default()
    };
    for (place, source) in sources.iter().enumerate() {
        take_imports(&mut found, place);
        for path in &source.contents.paths {
            for path in expanded(source, words(path), 4) {
                take_path(&mut found, place, &path);
            }
        }
        for name in &source.contents.calls {
            found.called.entry(name).or_default().insert(place);
        }
        for (of, name) in &source.contents.own_calls {
            found.named.entry((of, name)).or_default().insert(place);
            let mut items = source.contents.items.iter();
            if !items.any(|item| item.owner.as_ref() == Some(of) && item.name == *name) {
                found.called.entry(name).or_default().insert(place);
            }
        }
    }
    found
}

/// An import names its item. A re-export does not, but the modules on its way.
fn take_imports(found: &mut Workspace, place: usize) {
    let source = &found.sources[place];
    let own = found.crates[place].as_str();
    for import in &source.contents.imports {
        // `pub(crate) use` of another crate's item is an import of the whole crate.
        let is_of_own = own == import.path[0] || !found.reach.contains_key(&import.path[0]);
        let is_reexport = import.is_public || (!import.is_private && is_of_own);
        for path in expanded(source, words(&import.path), 4) {
            if !is_reexport {
                take_path(found, place, &path);
            } else if let [before @ .., module, name] = path.as_slice() {
                take_path(found, place, &path[..=before.len()]);
                found.reexports.entry(*name).or_default().push(Reexport {
                    places: [source.module.as_deref().unwrap_or(own), own],
                    module: if OWN.contains(module) { own } else { module },
                    alias: &import.alias,
                });
            }
        }
    }
}

/// Takes each word of a path with the one before it. The words for a module of the own crate mean the crate.
fn take_path<'a>(found: &mut Workspace<'a>, place: usize, path: &[&'a str]) {
    let own = found.crates[place].as_str();
    for pair in path.windows(2) {
        let module = if OWN.contains(&pair[0]) { own } else { pair[0] };
        found.named.entry((module, pair[1])).or_default().insert(place);
    }
}

fn words(path: &[String]) -> Vec<&str> {
    path.iter().map(String::as_str).collect()
}

/// The path with what its first word is imported from, in every way that the file knows.
fn expanded<'a>(source: &'a Source, path: Vec<&'a str>, depth: usize) -> Vec<Vec<&'a str>> {
    let imports = || {
        source
            .contents
            .imports
            .iter()
            .filter(|import| import.path[0] != path[0])
    };
    let joined = |before: &'a [String], rest: &[&'a str]| -> Vec<&'a str> {
        before
            .iter()
            .map(String::as_str)
            .chain(rest.iter().copied())
            .collect()
    };
    let named = imports().filter(|import| import.alias == path[0]);
    let mut all: Vec<Vec<&str>> = named
        .filter(|_| depth > 0)
        .flat_map(|import| expanded(source, joined(&import.path, &path[1..]), depth - 1))
        .collect();
    if all.is_empty() && !OWN.contains(&path[0]) {
        let globs = imports().filter(|import| import.alias == "*");
        all.extend(globs.map(|import| joined(&import.path[..import.path.len() - 1], &path)));
    }
    all.push(path);
    all
}

fn reach(metadata: &Value) -> BTreeMap<String, BTreeSet<String>> {
    let edges = layers::normal_edges(metadata);
    let mut reach: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for user in edges.keys() {
        for used in layers::reached(&edges, user) {
            let users = reach.entry(used.replace('-', "_")).or_default();
            users.insert(user.replace('-', "_"));
        }
    }
    reach
}

/// The public items of a file that nobody uses, and that no open item of the file shows.
fn without_user<'a>(workspace: &Workspace<'a>, place: usize) -> Vec<&'a Item> {
    let items = &workspace.sources[place].contents.items;
    let is_private = |of: &String| {
        let mut free = items
            .iter()
            .filter(|item| item.owner.is_none() && item.name == *of);
        free.any(|item| item.is_private)
    };
    let is_shown = |name: &String| {
        let is_other = |other: &&Item| other.owner.is_some() || other.name != *name;
        let mut others = items
            .iter()
            .filter(is_other)
            .filter(|other| other.owner.as_ref() != Some(name));
        others.any(|other| (!other.is_private || other.keyword == "type") && other.shown.contains(name))
    };
    let public = items.iter().filter(|item| item.is_public);
    public
        .filter(|item| !CALLED_BY_SERDE.contains(&item.name.as_str()))
        .filter(|item| match &item.owner {
            Some(owner) => !is_private(owner),
            None => !is_shown(&item.name),
        })
        .filter(|item| !has_user(workspace, place, item))
        .collect()
}

/// Whether product code in another file uses an item.
fn has_user(workspace: &Workspace, place: usize, item: &Item) -> bool {
    let own = &workspace.crates[place];
    let reach = workspace.reach.get(own);
    let counts = |&user: &usize| {
        let source = &workspace.sources[user];
        let is_product = source.is_product() || (own == "ports" && source.member() == "testkit");
        is_product && user != place && reach.is_none_or(|reach| reach.contains(&workspace.crates[user]))
    };
    let name = item.name.as_str();
    let ways = match &item.owner {
        Some(owner) => BTreeSet::from([("", name), (owner, name)]),
        None => names_of(workspace, place, item),
    };
    let called = workspace.called.get(name).filter(|_| item.takes_self);
    let named = ways.iter().filter_map(|way| workspace.named.get(way));
    named.chain(called).flatten().any(counts)
}

/// The ways to name an item, by the word before it.
fn names_of<'a>(workspace: &'a Workspace, place: usize, item: &'a Item) -> BTreeSet<Named<'a>> {
    let name = item.name.as_str();
    let mut ways = BTreeSet::from([(workspace.crates[place].as_str(), name)]);
    ways.extend(item.module.as_deref().map(|module| (module, name)));
    loop {
        let mut more = ways.clone();
        for (module, name) in &ways {
            let of_name = [*name, "*"]
                .into_iter()
                .filter_map(|leaf| workspace.reexports.get(leaf));
            for reexport in of_name.flatten().filter(|reexport| reexport.module == *module) {
                let alias = if reexport.alias == "*" {
                    *name
                } else {
                    reexport.alias
                };
                more.extend(reexport.places.map(|place| (place, alias)));
            }
        }
        if more.len() == ways.len() {
            return ways;
        }
        ways = more;
    }
}
