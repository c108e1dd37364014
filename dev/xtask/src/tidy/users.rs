//! Public items of the product that nobody in the product uses.
//!
//! Owns: who counts as a user, and the list of exceptions. Never: how Rust is read (`crate::rust`).
//!
//! A user of an item is product code in another file that names it. Tests and benchmarks are no users. `dev/` and
//! `fuzz/` are no users, with one exception: `testkit` may use what `ports` declares, because a fake must name what
//! the port names. A re-export is no user; who names the re-export is one. A type also counts as used where a used
//! item of its file shows it: in a signature, a public field, an associated type.
//!
//! Names are compared by crate. So the rule misses an unused item that shares its name with a used one of its crate,
//! and an unused method whose name some other type's method has. `macro_rules!` bodies declare nothing here.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::layers;
use crate::rust::Source;
use crate::rust::items::{Item, Visibility, items};
use crate::rust::uses::{Crates, Named, Reexport, Uses, uses};

/// What `#[serde(with = "…")]` calls without writing the names.
const CALLED_BY_SERDE: [&str; 2] = ["serialize", "deserialize"];

const EXCEPTIONS: &str = "pub_without_user";

/// The names that one file uses, in its product code or in its tests.
#[derive(Debug)]
struct Part<'a> {
    source: &'a Source<'a>,
    in_tests: bool,
    uses: Uses<'a>,
}

#[derive(Debug)]
struct Declared<'a> {
    source: &'a Source<'a>,
    items: Vec<Item<'a>>,
}

#[derive(Debug)]
struct Workspace<'a> {
    parts: Vec<Part<'a>>,
    declared: Vec<Declared<'a>>,
    /// The parts that name an item.
    named: BTreeMap<Named<'a>, BTreeSet<usize>>,
    /// Other names of a type.
    aliases: BTreeMap<&'a str, BTreeSet<&'a str>>,
    /// A crate, and those that can name its methods: itself and all that depend on it.
    reach: BTreeMap<String, BTreeSet<String>>,
}

/// Public items without a user, exceptions without a reason, and exceptions that are none.
pub(crate) fn check(metadata: &Value, sources: &[Source]) -> Vec<String> {
    let workspace = read(metadata, sources);
    let mut exceptions: BTreeMap<&str, &str> = metadata["metadata"][EXCEPTIONS]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, reason)| (name.as_str(), reason.as_str().unwrap_or_default()))
        .collect();
    let mut problems = Vec::new();
    for (name, _) in exceptions.iter().filter(|(_, reason)| reason.trim().is_empty()) {
        problems.push(format!(
            "Cargo.toml: the exception `{name}` in `{EXCEPTIONS}` has no reason"
        ));
    }
    for declared in workspace
        .declared
        .iter()
        .filter(|declared| declared.source.is_product())
    {
        for item in without_user(&workspace, declared) {
            let name = full_name(declared.source, item);
            if exceptions.remove(name.as_str()).is_some() {
                continue;
            }
            let users = others(&workspace, declared.source, item).join(", ");
            let path = declared.source.path;
            let (line, keyword) = (item.line, item.keyword);
            problems.push(if users.is_empty() {
                format!("{path}:{line}: `pub {keyword} {name}` has no user: delete it")
            } else {
                format!(
                    "{path}:{line}: `pub {keyword} {name}` has no user in other product files, only: {users}"
                )
            });
        }
    }
    for name in exceptions.keys() {
        problems.push(format!(
            "Cargo.toml: the exception `{name}` in `{EXCEPTIONS}` is not needed: remove it"
        ));
    }
    problems
}

fn full_name(source: &Source, item: &Item) -> String {
    let owner = item.owner.map_or(String::new(), |owner| format!("{owner}::"));
    format!("{}::{owner}{}", source.name, item.name)
}

fn read<'a>(metadata: &Value, sources: &'a [Source<'a>]) -> Workspace<'a> {
    let crates = crates(metadata);
    let (mut parts, mut declared) = (Vec::new(), Vec::new());
    for source in sources {
        let (product, tests) = (&source.tokens, &source.test_tokens);
        let (found, blocks) = items(product);
        let in_product = uses(&source.name, &crates, product, &blocks, &[]);
        let (_, blocks) = items(tests);
        let in_tests = uses(&source.name, &crates, tests, &blocks, product);
        for (in_tests, uses) in [(false, in_product), (true, in_tests)] {
            parts.push(Part {
                source,
                in_tests,
                uses,
            });
        }
        declared.push(Declared { source, items: found });
    }
    let mut aliases: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (alias, name) in parts.iter().flat_map(|part| &part.uses.aliases) {
        aliases.entry(name).or_default().insert(alias);
    }
    Workspace {
        named: named(&parts),
        reach: reach(metadata),
        aliases,
        parts,
        declared,
    }
}

fn crates(metadata: &Value) -> Crates {
    let packages = layers::packages(metadata);
    let in_code = |name: &str| name.replace('-', "_");
    let members: BTreeSet<String> = packages.iter().map(|p| in_code(layers::name(p))).collect();
    let dependencies = packages
        .iter()
        .flat_map(|p| p["dependencies"].as_array().into_iter().flatten());
    let mut foreign: BTreeSet<String> = dependencies.map(|d| in_code(layers::name(d))).collect();
    foreign.extend(["std", "core", "alloc"].map(str::to_owned));
    foreign.retain(|name| !members.contains(name));
    Crates { members, foreign }
}

/// Who names what, also through re-exports.
fn named<'a>(parts: &[Part<'a>]) -> BTreeMap<Named<'a>, BTreeSet<usize>> {
    let mut named: BTreeMap<Named, BTreeSet<usize>> = BTreeMap::new();
    for (index, part) in parts.iter().enumerate() {
        for name in &part.uses.named {
            named.entry(*name).or_default().insert(index);
        }
    }
    let reexports: BTreeSet<(&str, &Reexport)> = parts
        .iter()
        .filter(|part| !part.in_tests)
        .flat_map(|part| {
            part.uses
                .reexports
                .iter()
                .map(|reexport| (part.source.name.as_str(), reexport))
        })
        .collect();
    loop {
        let mut more: BTreeMap<Named, BTreeSet<usize>> = BTreeMap::new();
        for (own, reexport) in &reexports {
            let from = reexport.from;
            if let Some(users) = named.get(&(own, reexport.alias)) {
                more.entry((from, reexport.name)).or_default().extend(users);
            }
            let may_be_module = reexport.name == "*" || reexport.name.starts_with(char::is_lowercase);
            if may_be_module && from != *own {
                for ((_, name), users) in named.iter().filter(|((root, _), _)| root == own) {
                    more.entry((from, name)).or_default().extend(users);
                }
            }
        }
        let before: usize = named.values().map(BTreeSet::len).sum();
        for (name, users) in more {
            named.entry(name).or_default().extend(users);
        }
        if named.values().map(BTreeSet::len).sum::<usize>() == before {
            return named;
        }
    }
}

fn reach(metadata: &Value) -> BTreeMap<String, BTreeSet<String>> {
    let edges = layers::normal_edges(metadata);
    let names = layers::packages(metadata).into_iter().map(layers::name);
    let mut reach: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for user in names {
        for used in layers::reached(&edges, user) {
            reach
                .entry(used.replace('-', "_"))
                .or_default()
                .insert(user.replace('-', "_"));
        }
    }
    reach
}

/// The public items of a file that nobody uses.
fn without_user<'w, 'a>(workspace: &'w Workspace<'a>, declared: &'w Declared<'a>) -> Vec<&'w Item<'a>> {
    let source = declared.source;
    let counts = |part: &&Part| {
        let product = part.source.is_product() || (source.name == "ports" && part.source.name == "testkit");
        product && !part.in_tests && part.source.path != source.path
    };
    let has_user = |item: &Item| users(workspace, source, item).iter().any(counts);
    let free = |item: &&Item| item.owner.is_none();
    let declares: BTreeSet<&str> = declared.items.iter().filter(free).map(|item| item.name).collect();
    let open = declared
        .items
        .iter()
        .filter(free)
        .filter(|item| item.visibility != Visibility::Private);
    let mut alive: BTreeSet<&str> = open.filter(|item| has_user(item)).map(|item| item.name).collect();
    let is_alive = |alive: &BTreeSet<&str>, name| alive.contains(name) || !declares.contains(name);
    loop {
        let shows = declared.items.iter().filter(|item| match item.owner {
            Some(owner) => {
                is_alive(&alive, owner) && (item.visibility != Visibility::Private || item.keyword == "type")
            }
            None => item.visibility != Visibility::Private && alive.contains(item.name),
        });
        let shown: BTreeSet<&str> = shows.flat_map(|item| &item.interface).copied().collect();
        let more: Vec<&str> = shown.intersection(&declares).copied().collect();
        let before = alive.len();
        alive.extend(more);
        if alive.len() == before {
            break;
        }
    }
    let public = declared
        .items
        .iter()
        .filter(|item| item.visibility == Visibility::Public);
    let public = public.filter(|item| !CALLED_BY_SERDE.contains(&item.name));
    public
        .filter(|item| match item.owner {
            Some(owner) => is_alive(&alive, owner) && !has_user(item),
            None => !alive.contains(item.name),
        })
        .collect()
}

/// The parts that use an item, its own file among them.
fn users<'w, 'a>(workspace: &'w Workspace<'a>, source: &Source, item: &Item) -> Vec<&'w Part<'a>> {
    let Some(owner) = item.owner else {
        let parts = workspace.named.get(&(source.name.as_str(), item.name));
        return parts
            .into_iter()
            .flatten()
            .map(|part| &workspace.parts[*part])
            .collect();
    };
    let mut owners = BTreeSet::from(["", owner]);
    for _ in 0..3 {
        let more = owners.iter().filter_map(|name| workspace.aliases.get(name));
        let more: Vec<&str> = more.flatten().copied().collect();
        owners.extend(more);
    }
    let reach = workspace.reach.get(&source.name);
    let can_name =
        |part: &&Part| reach.is_none_or(|reach| part.in_tests || reach.contains(&part.source.name));
    let names = |part: &&Part| {
        let called = item.takes_self && part.uses.called.contains(item.name);
        called
            || owners
                .iter()
                .any(|owner| part.uses.scoped.contains(&(*owner, item.name)))
    };
    workspace.parts.iter().filter(can_name).filter(names).collect()
}

/// The places that use an item without being users.
fn others(workspace: &Workspace, source: &Source, item: &Item) -> Vec<String> {
    let mut places = BTreeSet::new();
    let in_own = source.tokens.iter().filter(|token| token.is(item.name)).count() > 1;
    let in_own_tests = source.test_tokens.iter().any(|token| token.is(item.name));
    for part in users(workspace, source, item) {
        let own = part.source.path == source.path;
        places.insert(match part.source.area {
            "dev" => format!("dev/{}", part.source.member),
            "fuzz" => "fuzz".to_owned(),
            _ if part.in_tests => "tests".to_owned(),
            _ if own => continue,
            _ => part.source.path.to_owned(),
        });
    }
    places.extend(in_own_tests.then(|| "tests".to_owned()));
    let own = in_own.then(|| "its own file".to_owned());
    own.into_iter().chain(places).collect()
}
