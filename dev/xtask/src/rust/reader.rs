//! What a file declares, and what it names.
//!
//! Owns: items, paths, imports, calls of methods, included texts. Never: where a name leads to.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{
    Attribute, Block, Expr, ExprMethodCall, Field, File, Ident, ImplItem, ImplItemType, Item as SynItem,
    ItemUse, LitStr, Macro, Meta, Path, Type, UseTree, Variant, Visibility,
};

/// The words of a path: `["crate", "a", "B"]`.
pub(crate) type Words = Vec<String>;

#[derive(Debug)]
pub(crate) struct Item {
    /// `fn`, `struct`, `enum`, `trait`, `const`, `static`, `type` or `mod`.
    pub(crate) keyword: &'static str,
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) is_public: bool,
    pub(crate) is_private: bool,
    /// The type whose `impl` block holds it.
    pub(crate) owner: Option<String>,
    /// The module that holds it; none is the crate's root.
    pub(crate) module: Option<String>,
    /// Whether a `fn` has a `self`.
    pub(crate) takes_self: bool,
    /// Words that a caller of the item meets: signatures and open fields, no bodies.
    pub(crate) shown: BTreeSet<String>,
}

impl Item {
    pub(crate) fn is_type(&self) -> bool {
        matches!(self.keyword, "struct" | "enum" | "trait" | "type") && self.owner.is_none()
    }
}

/// One leaf of a `use` declaration. The last word and the alias of `use a::*` are `*`.
#[derive(Debug)]
pub(crate) struct Import {
    pub(crate) path: Words,
    pub(crate) alias: String,
    pub(crate) is_public: bool,
    pub(crate) is_private: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub(crate) items: Vec<Item>,
    pub(crate) imports: Vec<Import>,
    /// Every path outside `use`, with the type of an `impl` in place of `Self`.
    pub(crate) paths: BTreeSet<Words>,
    /// `.name(`
    pub(crate) calls: BTreeSet<String>,
    /// `self.name(`, with the type of `self`.
    pub(crate) own_calls: BTreeSet<(String, String)>,
    /// The arguments of `include_str!`.
    pub(crate) included: Vec<String>,
}

pub(crate) fn read(module: Option<String>, tokens: TokenStream) -> syn::Result<Contents> {
    let file: File = syn::parse2(tokens)?;
    let mut reader = Reader {
        module,
        ..Reader::default()
    };
    reader.visit_file(&file);
    Ok(reader.contents)
}

#[derive(Debug, Default)]
struct Reader {
    contents: Contents,
    module: Option<String>,
    /// The type that `Self` means; empty in a trait.
    owner: String,
}

impl Reader {
    fn declare(&mut self, item: (&'static str, &Visibility, &Ident), owner: Option<String>, shown: Shown) {
        let (keyword, visibility, name) = item;
        self.contents.items.push(Item {
            keyword,
            name: word(name),
            line: name.span().start().line,
            is_public: matches!(visibility, Visibility::Public(_)),
            is_private: matches!(visibility, Visibility::Inherited),
            owner,
            module: self.module.clone(),
            takes_self: shown.takes_self,
            shown: shown.words,
        });
    }

    fn take_path(&mut self, mut path: Words) {
        if path[0] == "Self" {
            path[0].clone_from(&self.owner);
        }
        self.contents.paths.insert(path);
    }

    fn take_call(&mut self, name: String, on_self: bool) {
        if on_self {
            self.contents.own_calls.insert((self.owner.clone(), name));
        } else {
            self.contents.calls.insert(name);
        }
    }

    /// Takes the names in tokens that no grammar is known for.
    fn take_tokens(&mut self, tokens: TokenStream, in_attribute: bool) {
        let mut words = Vec::new();
        flatten(tokens, in_attribute, &mut words);
        let is = |at: usize, text: &str| words.get(at).is_some_and(|word| word == text);
        let is_name = |at: usize| {
            words
                .get(at)
                .is_some_and(|word| word.starts_with(|c: char| c.is_alphabetic() || c == '_'))
        };
        for at in (0..words.len()).filter(|&at| is_name(at)) {
            let before = |distance: usize, text| at.checked_sub(distance).is_some_and(|at| is(at, text));
            if is(at, "include_str") && is(at + 1, "!") {
                self.contents
                    .included
                    .extend(words.get(at + 3).and_then(|text| unquoted(text)));
            }
            if before(1, ".") {
                if is(at + 1, "(") || is(at + 1, "::") {
                    self.take_call(words[at].clone(), before(2, "self") && !before(3, "."));
                }
            } else if !before(1, "::") {
                let mut end = at;
                while is(end + 1, "::") && is_name(end + 2) {
                    end += 2;
                }
                self.take_path(words[at..=end].iter().step_by(2).cloned().collect());
            }
        }
    }

    fn take_use(&mut self, tree: &UseTree, before: &[String], visibility: &Visibility) {
        let with = |name: &Ident| {
            let name = (name != "self").then(|| word(name));
            before.iter().cloned().chain(name).collect::<Words>()
        };
        let (path, alias) = match tree {
            UseTree::Path(tree) => {
                let mut path = before.to_vec();
                path.push(word(&tree.ident));
                return self.take_use(&tree.tree, &path, visibility);
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.take_use(tree, before, visibility);
                }
                return;
            }
            UseTree::Name(tree) => (with(&tree.ident), None),
            UseTree::Rename(tree) => (with(&tree.ident), Some(word(&tree.rename))),
            UseTree::Glob(_) => (before.iter().cloned().chain(["*".to_owned()]).collect(), None),
        };
        if let Some(last) = path.last() {
            self.contents.imports.push(Import {
                alias: alias.unwrap_or_else(|| last.clone()),
                path,
                is_public: matches!(visibility, Visibility::Public(_)),
                is_private: matches!(visibility, Visibility::Inherited),
            });
        }
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast SynItem) {
        let declared = match item {
            SynItem::Const(item) => Some(("const", &item.vis, &item.ident)),
            SynItem::Enum(item) => Some(("enum", &item.vis, &item.ident)),
            SynItem::Fn(item) => Some(("fn", &item.vis, &item.sig.ident)),
            SynItem::Mod(item) => Some(("mod", &item.vis, &item.ident)),
            SynItem::Static(item) => Some(("static", &item.vis, &item.ident)),
            SynItem::Struct(item) => Some(("struct", &item.vis, &item.ident)),
            SynItem::Trait(item) => Some(("trait", &item.vis, &item.ident)),
            SynItem::Type(item) => Some(("type", &item.vis, &item.ident)),
            _ => None,
        };
        if let Some(declared) = declared {
            let mut shown = Shown::default();
            if declared.0 != "mod" {
                shown.visit_item(item);
            }
            self.declare(declared, None, shown);
        }
        let (module, owner) = (self.module.clone(), self.owner.clone());
        match item {
            SynItem::Mod(item) => self.module = Some(word(&item.ident)),
            SynItem::Impl(item) => self.owner = last_word(&item.self_ty).unwrap_or_default(),
            SynItem::Trait(_) => self.owner.clear(),
            _ => {}
        }
        match item {
            SynItem::Macro(item) if item.ident.is_some() => self.take_tokens(item.mac.tokens.clone(), false),
            item => visit::visit_item(self, item),
        }
        (self.module, self.owner) = (module, owner);
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        let declared = match item {
            ImplItem::Const(item) => Some(("const", &item.vis, &item.ident)),
            ImplItem::Fn(item) => Some(("fn", &item.vis, &item.sig.ident)),
            ImplItem::Type(item) => Some(("type", &item.vis, &item.ident)),
            _ => None,
        };
        if let Some(declared) = declared {
            let mut shown = Shown::default();
            shown.visit_impl_item(item);
            self.declare(declared, Some(self.owner.clone()), shown);
        }
        visit::visit_impl_item(self, item);
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.take_use(&item.tree, &[], &item.vis);
    }

    fn visit_path(&mut self, path: &'ast Path) {
        self.take_path(words(path));
        visit::visit_path(self, path);
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        let on_self = matches!(&*call.receiver, Expr::Path(path) if path.path.is_ident("self"));
        self.take_call(word(&call.method), on_self);
        visit::visit_expr_method_call(self, call);
    }

    /// Items in a macro are items; other tokens are searched for names.
    fn visit_macro(&mut self, call: &'ast Macro) {
        self.take_path(words(&call.path));
        if call.path.is_ident("include_str") {
            self.contents.included.extend(unquoted(&call.tokens.to_string()));
        }
        match syn::parse2::<File>(call.tokens.clone()) {
            Ok(file) if !file.items.is_empty() => self.visit_file(&file),
            _ => self.take_tokens(call.tokens.clone(), false),
        }
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        self.take_path(words(attribute.path()));
        if let Meta::List(list) = &attribute.meta {
            self.take_tokens(list.tokens.clone(), true);
        }
    }
}

/// Collects the words of an item that its callers meet.
#[derive(Debug, Default)]
struct Shown {
    words: BTreeSet<String>,
    takes_self: bool,
}

impl<'ast> Visit<'ast> for Shown {
    fn visit_ident(&mut self, ident: &'ast Ident) {
        self.words.insert(word(ident));
    }

    fn visit_receiver(&mut self, _: &'ast syn::Receiver) {
        self.takes_self = true;
    }

    fn visit_field(&mut self, field: &'ast Field) {
        if !matches!(field.vis, Visibility::Inherited) {
            self.visit_type(&field.ty);
        }
    }

    fn visit_impl_item_type(&mut self, item: &'ast ImplItemType) {
        self.visit_type(&item.ty);
    }

    fn visit_variant(&mut self, variant: &'ast Variant) {
        for field in &variant.fields {
            self.visit_type(&field.ty);
        }
    }

    fn visit_block(&mut self, _: &'ast Block) {}

    fn visit_expr(&mut self, _: &'ast Expr) {}

    fn visit_attribute(&mut self, _: &'ast Attribute) {}
}

fn word(ident: &Ident) -> String {
    ident.to_string().trim_start_matches("r#").to_owned()
}

fn words(path: &Path) -> Words {
    path.segments.iter().map(|segment| word(&segment.ident)).collect()
}

/// The name of a type, also behind a reference.
fn last_word(of: &Type) -> Option<String> {
    match of {
        Type::Path(of) => words(&of.path).pop(),
        Type::Reference(of) => last_word(&of.elem),
        _ => None,
    }
}

fn unquoted(literal: &str) -> Option<String> {
    Some(syn::parse_str::<LitStr>(literal).ok()?.value())
}

/// The tokens as words and marks; `::` is one of them. A path in a string of an attribute is code: `with = "a::b"`.
fn flatten(tokens: TokenStream, in_attribute: bool, flat: &mut Vec<String>) {
    for tree in tokens {
        match tree {
            TokenTree::Group(group) => {
                let in_attribute = in_attribute || flat.last().is_some_and(|last| last == "#");
                let open = match group.delimiter() {
                    Delimiter::Parenthesis => "(",
                    _ => "{",
                };
                flat.push(open.to_owned());
                flatten(group.stream(), in_attribute, flat);
                flat.push("}".to_owned());
            }
            TokenTree::Punct(mark) => match flat.last_mut() {
                Some(last) if mark.as_char() == ':' && last == ":" => last.push(':'),
                _ => flat.push(mark.as_char().to_string()),
            },
            TokenTree::Ident(ident) => flat.push(word(&ident)),
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                let path =
                    unquoted(&text).filter(|text| in_attribute && syn::parse_str::<Path>(text).is_ok());
                match path.and_then(|path| path.parse().ok()) {
                    Some(path) => flatten(path, false, flat),
                    None => flat.push(text),
                }
            }
        }
    }
}
