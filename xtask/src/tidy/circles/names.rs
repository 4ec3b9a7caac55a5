//! Reads one file: which names each of its modules declares, imports and mentions. Resolves
//! nothing.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use syn::{
    Attribute, Ident, ImplItemFn, Item, ItemMod, ItemUse, Macro, Meta, Path, UseTree, Visibility,
    ext::IdentExt as _, visit::Visit,
};

/// A module, in a file of its own or within one.
#[derive(Debug, Default)]
pub(super) struct Module {
    /// From the crate's root, which is empty.
    pub(super) path: Vec<String>,
    pub(super) items: BTreeSet<String>,
    pub(super) children: BTreeSet<String>,
    pub(super) imports: Vec<Import>,
    pub(super) mentions: Vec<Mention>,
}

/// One name of a `use`.
#[derive(Debug)]
pub(super) struct Import {
    pub(super) name: Imported,
    pub(super) path: Vec<String>,
    pub(super) line: usize,
    /// Others see the name too, so that it says nothing of this module's own needs.
    pub(super) is_exported: bool,
}

/// The name that an import gives to the module.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Imported {
    As(String),
    All,
    Unnamed,
}

/// A path in code.
#[derive(Debug)]
pub(super) struct Mention {
    pub(super) path: Vec<String>,
    pub(super) line: usize,
}

/// The modules of a file, its own one first. Those in other files are among `children` only.
pub(super) fn read(path: Vec<String>, text: &str) -> syn::Result<Vec<Module>> {
    let file = syn::parse_file(text)?;
    let mut reader = Reader {
        open: vec![Module {
            path,
            ..Module::default()
        }],
        closed: Vec::new(),
    };
    reader.visit_file(&file);
    let Reader { mut open, closed } = reader;
    open.extend(closed);
    Ok(open)
}

struct Reader {
    /// The module that is being read, and those around it.
    open: Vec<Module>,
    closed: Vec<Module>,
}

impl Reader {
    fn module(&mut self) -> &mut Module {
        self.open
            .last_mut()
            .expect("the file's own module is never closed")
    }

    fn mention(&mut self, path: Vec<String>, line: usize) {
        self.module().mentions.push(Mention { path, line });
    }

    fn import(&mut self, tree: &UseTree, mut prefix: Vec<String>, is_exported: bool) {
        let (name, ident) = match tree {
            UseTree::Path(path) => {
                prefix.push(text(&path.ident));
                return self.import(&path.tree, prefix, is_exported);
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(tree, prefix.clone(), is_exported);
                }
                return;
            }
            UseTree::Name(name) => (None, Some(&name.ident)),
            UseTree::Rename(rename) => (Some(&rename.rename), Some(&rename.ident)),
            UseTree::Glob(_) => (None, None),
        };
        let line = ident.map_or(0, |ident| ident.span().start().line);
        prefix.extend(ident.map(text).filter(|name| name != "self"));
        let name = match (name, ident) {
            (None, None) => Imported::All,
            (Some(name), _) if name == "_" => Imported::Unnamed,
            (Some(name), _) => Imported::As(text(name)),
            (None, Some(_)) => Imported::As(prefix.last().cloned().unwrap_or_default()),
        };
        let import = Import {
            name,
            path: prefix,
            line,
            is_exported,
        };
        self.module().imports.push(import);
    }

    /// The paths in code that only a macro understands. A single word there may be anything, so
    /// that only those written like types count.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path = Vec::new();
        let (mut line, mut colons) = (0, 0);
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons < 2 {
                        self.mention_token(std::mem::take(&mut path), line);
                        line = ident.span().start().line;
                    }
                    path.push(text(&ident));
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' && !path.is_empty() => {
                    colons += 1
                }
                TokenTree::Group(group) => {
                    self.mention_token(std::mem::take(&mut path), line);
                    self.tokens(group.stream());
                    colons = 0;
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {
                    self.mention_token(std::mem::take(&mut path), line);
                    colons = 0;
                }
            }
        }
        self.mention_token(path, line);
    }

    fn mention_token(&mut self, path: Vec<String>, line: usize) {
        let is_type = |word: &String| word.starts_with(|c: char| c.is_ascii_uppercase());
        if path.len() > 1 || path.first().is_some_and(is_type) {
            self.mention(path, line);
        }
    }

    /// The functions that serde's attributes name as text.
    fn quoted_paths(&mut self, tokens: TokenStream) {
        for token in tokens {
            let TokenTree::Literal(literal) = token else {
                continue;
            };
            let line = literal.span().start().line;
            let literal = literal.to_string();
            let path = syn::parse_str::<Path>(literal.trim_matches('"'));
            if let Ok(path) = path {
                self.mention(words(&path), line);
            }
        }
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast Item) {
        let (attributes, name) = head(item);
        if is_test(attributes) {
            return;
        }
        if let Some(name) = name {
            self.module().items.insert(text(name));
        }
        syn::visit::visit_item(self, item);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        if !is_test(&function.attrs) {
            syn::visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        let name = text(&item.ident);
        self.module().children.insert(name.clone());
        let Some((_, items)) = &item.content else {
            return;
        };
        let mut path = self.module().path.clone();
        path.push(name);
        self.open.push(Module {
            path,
            ..Module::default()
        });
        for item in items {
            self.visit_item(item);
        }
        let module = self.open.pop();
        self.closed.extend(module);
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if item.leading_colon.is_none() {
            let is_exported = !matches!(item.vis, Visibility::Inherited);
            self.import(&item.tree, Vec::new(), is_exported);
        }
    }

    fn visit_path(&mut self, path: &'ast Path) {
        if path.leading_colon.is_none() {
            let line = path
                .segments
                .first()
                .map_or(0, |first| first.ident.span().start().line);
            self.mention(words(path), line);
        }
        syn::visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        syn::visit::visit_macro(self, call);
        self.tokens(call.tokens.clone());
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        let Meta::List(list) = &attribute.meta else {
            return;
        };
        self.tokens(list.tokens.clone());
        if list.path.is_ident("serde") {
            self.quoted_paths(list.tokens.clone());
        }
    }
}

/// The attributes of an item and the name it declares, unless that is a module's.
fn head(item: &Item) -> (&[Attribute], Option<&Ident>) {
    match item {
        Item::Const(item) => (&item.attrs, Some(&item.ident)),
        Item::Enum(item) => (&item.attrs, Some(&item.ident)),
        Item::Fn(item) => (&item.attrs, Some(&item.sig.ident)),
        Item::Impl(item) => (&item.attrs, None),
        Item::Macro(item) => (&item.attrs, item.ident.as_ref()),
        Item::Mod(item) => (&item.attrs, None),
        Item::Static(item) => (&item.attrs, Some(&item.ident)),
        Item::Struct(item) => (&item.attrs, Some(&item.ident)),
        Item::Trait(item) => (&item.attrs, Some(&item.ident)),
        Item::TraitAlias(item) => (&item.attrs, Some(&item.ident)),
        Item::Type(item) => (&item.attrs, Some(&item.ident)),
        Item::Union(item) => (&item.attrs, Some(&item.ident)),
        Item::Use(item) => (&item.attrs, None),
        _ => (&[], None),
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let condition = attribute.meta.require_list().ok();
        attribute.path().is_ident("cfg")
            && condition.is_some_and(|list| list.tokens.to_string() == "test")
    })
}

fn words(path: &Path) -> Vec<String> {
    path.segments
        .iter()
        .map(|segment| text(&segment.ident))
        .collect()
}

fn text(ident: &Ident) -> String {
    ident.unraw().to_string()
}
