//! Public items of the product that nobody in the product uses.
//!
//! Owns: who counts as a user, and the list of exceptions. Never: how Rust is read (`crate::rust`).
//!
//! A user of an item is product code in another file that names it. Tests and benchmarks are no users. `dev/` and
//! `fuzz/` are no users, with one exception: `testkit` may use what `ports` declares, because a fake must name what
//! the port names. A re-export is no user; who names the re-export is one. A type also counts as used where a used
//! item of its file shows it: in a signature, a public field, an associated type.
//!
//! Names are compared by their crate and the module before them. So the rule misses an unused item whose namesake in
//! the same crate is imported through `super` or `crate`, and an unused method that has the name of a used one.
//! `macro_rules!` bodies declare nothing here.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::layers;
use crate::rust::Source;
use crate::rust::items::{Item, Visibility, items};
use crate::rust::uses::{Crates, Named, Reexport, Uses, uses};

/// What `#[serde(with = "…")]` calls without writing the names.
const CALLED_BY_SERDE: [&str; 2] = ["serialize", "deserialize"];

const OWN_FILE: &str = "its own file";

/// The table of items that may lack a user: `"crate::Type::name" = "reason"`.
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

/// A re-export, its crate and the module that holds it.
#[derive(Debug)]
struct Place<'a> {
    own: &'a str,
    module: &'a str,
    reexport: Reexport<'a>,
}

#[derive(Debug)]
struct Workspace<'a> {
    parts: Vec<Part<'a>>,
    declared: Vec<Declared<'a>>,
    /// The parts that name an item, and the module before it in their paths.
    named: BTreeMap<Named<'a>, BTreeSet<(usize, &'a str)>>,
    reexports: Vec<Place<'a>>,
    /// The parts that call something of this name, on a value or a type.
    calls: BTreeMap<&'a str, BTreeSet<usize>>,
    /// The crate, the type and the name of each method.
    methods: BTreeSet<(&'a str, &'a str, &'a str)>,
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
            let cure = match users.as_str() {
                "" if keyword != "mod" => "nothing uses it: delete it".to_owned(),
                "" | OWN_FILE => "only its own file uses it: delete it or drop `pub`".to_owned(),
                users => format!("only these use it: {users}"),
            };
            problems.push(format!(
                "{path}:{line}: `pub {keyword} {name}` has no user: {cure}"
            ));
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
    let mut calls: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for (index, Part { uses, .. }) in parts.iter().enumerate() {
        let of_types = uses.called_on_self.iter().chain(&uses.scoped);
        for name in of_types.map(|(_, name)| name).chain(&uses.called) {
            calls.entry(name).or_default().insert(index);
        }
    }
    let reexports = reexports(&parts);
    Workspace {
        calls,
        named: named(&parts, &reexports),
        reach: reach(metadata),
        methods: methods(&declared),
        reexports,
        aliases,
        parts,
        declared,
    }
}

fn reexports<'a>(parts: &[Part<'a>]) -> Vec<Place<'a>> {
    let parts = parts.iter().filter(|part| !part.in_tests);
    let places = parts.flat_map(|part| {
        part.uses.reexports.iter().map(|reexport| Place {
            own: &part.source.name,
            module: module(part.source),
            reexport: *reexport,
        })
    });
    places.collect()
}

/// The name of the module that a file is.
fn module<'a>(source: &Source<'a>) -> &'a str {
    let path = source.path.trim_end_matches(".rs").trim_end_matches("/mod");
    match path.rsplit_once('/') {
        Some((_, "lib" | "main")) | None => source.member,
        Some((_, module)) => module,
    }
}

fn methods<'a>(declared: &[Declared<'a>]) -> BTreeSet<(&'a str, &'a str, &'a str)> {
    let of_file = |declared: &Declared<'a>| {
        let name = declared.source.name.as_str();
        let items = declared.items.iter();
        let methods = items.filter_map(move |item| Some((name, item.owner?, item.name)));
        methods.collect::<Vec<_>>()
    };
    declared.iter().flat_map(of_file).collect()
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
fn named<'a>(parts: &[Part<'a>], reexports: &[Place<'a>]) -> BTreeMap<Named<'a>, BTreeSet<(usize, &'a str)>> {
    let mut named: BTreeMap<Named, BTreeSet<(usize, &str)>> = BTreeMap::new();
    for (index, part) in parts.iter().enumerate() {
        for (name, module) in &part.uses.named {
            named.entry(*name).or_default().insert((index, module));
        }
    }
    loop {
        let mut more: BTreeMap<Named, BTreeSet<(usize, &str)>> = BTreeMap::new();
        for Place { own, reexport, .. } in reexports {
            let from = reexport.from;
            if let Some(users) = named.get(&(own, reexport.alias)) {
                let users = users.iter().map(|(index, _)| (*index, "*"));
                let renamed = from != *own || reexport.alias != reexport.name;
                more.entry((from, reexport.name))
                    .or_default()
                    .extend(users.filter(|_| renamed));
            }
            let may_be_module = reexport.name == "*" || reexport.name.starts_with(char::is_lowercase);
            if may_be_module && from != *own {
                let of_own = named.range((*own, "")..).take_while(|((root, _), _)| root == own);
                for ((_, name), users) in of_own {
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
    let counts = |part: &usize| {
        let part = &workspace.parts[*part];
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
fn users(workspace: &Workspace, source: &Source, item: &Item) -> BTreeSet<usize> {
    let Some(owner) = item.owner else {
        let parts = workspace.named.get(&(source.name.as_str(), item.name));
        let modules = modules(workspace, source, item);
        let named = parts
            .into_iter()
            .flatten()
            .filter(|(_, module)| modules.contains(module));
        return named.map(|(part, _)| *part).collect();
    };
    let mut owners = BTreeSet::from(["", owner]);
    for _ in 0..3 {
        let more = owners.iter().filter_map(|name| workspace.aliases.get(name));
        let more: Vec<&str> = more.flatten().copied().collect();
        owners.extend(more);
    }
    let reach = workspace.reach.get(&source.name);
    let uses = |part: &Part| {
        let own = part.source.name.as_str();
        let on_self = part.uses.called_on_self.iter().any(|(to, name)| {
            let of_another = !owners.contains(to) && workspace.methods.contains(&(own, *to, *name));
            *name == item.name && !of_another
        });
        let called = item.takes_self && (on_self || part.uses.called.contains(item.name));
        let can_name = part.in_tests || reach.is_none_or(|reach| reach.contains(own));
        let scoped = || {
            owners
                .iter()
                .any(|owner| part.uses.scoped.contains(&(*owner, item.name)))
        };
        can_name && (called || scoped())
    };
    let parts = workspace.calls.get(item.name).into_iter().flatten().copied();
    parts.filter(|part| uses(&workspace.parts[*part])).collect()
}

/// The words that can stand before an item in a path: its module, and those that export it again.
fn modules<'a>(workspace: &Workspace<'a>, source: &'a Source, item: &Item) -> BTreeSet<&'a str> {
    let mut modules = BTreeSet::from(["crate", "self", "super", "*", &source.name, module(source)]);
    let declared = workspace
        .declared
        .iter()
        .filter(|declared| declared.source.path == source.path);
    let inner = declared
        .flat_map(|declared| &declared.items)
        .filter(|item| item.keyword == "mod");
    modules.extend(inner.map(|item| item.name));
    for Place { module, reexport, .. } in &workspace.reexports {
        if reexport.name == item.name || reexport.name == "*" {
            modules.insert(module);
        }
    }
    let renamed = workspace.reexports.iter().map(|place| &place.reexport);
    let renamed = renamed.filter(|reexport| modules.contains(reexport.name));
    let aliases: Vec<&str> = renamed.map(|reexport| reexport.alias).collect();
    modules.extend(aliases);
    modules
}

/// The places that use an item without being users.
fn others(workspace: &Workspace, source: &Source, item: &Item) -> Vec<String> {
    let mut places = BTreeSet::new();
    let in_own = source.tokens.iter().filter(|token| token.is(item.name)).count() > 1;
    let in_own_tests = source.test_tokens.iter().any(|token| token.is(item.name));
    for part in users(workspace, source, item) {
        let part = &workspace.parts[part];
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
    let own = in_own.then(|| OWN_FILE.to_owned());
    own.into_iter().chain(places).collect()
}
