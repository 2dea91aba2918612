//! What Rust text names: its imports, and the paths in its types, bodies, macros and attributes.

use proc_macro2::{Span, TokenStream, TokenTree};
use std::collections::BTreeSet;
use syn::visit::{self, Visit};
use syn::{Attribute, ItemFn, ItemUse, LitStr, Macro, Pat, PatIdent, UseTree, Visibility};

/// One name of a `use`.
#[derive(Debug)]
pub(super) struct Import {
    pub(super) path: Vec<String>,
    /// What it is called here; all names of the path are meant without.
    pub(super) name: Option<String>,
    /// Whether it is handed on to others.
    pub(super) exported: bool,
    pub(super) line: usize,
}

/// A path somewhere else.
#[derive(Debug)]
pub(super) struct Mention {
    pub(super) path: Vec<String>,
    /// Whether it names a macro, which may be defined around the module.
    pub(super) is_macro: bool,
    pub(super) line: usize,
}

/// The names of a `use`.
pub(super) fn imports(item: &ItemUse) -> Vec<Import> {
    let mut found = Vec::new();
    if item.leading_colon.is_none() {
        let exported = !matches!(item.vis, Visibility::Inherited);
        flatten(&item.tree, &mut Vec::new(), exported, &mut found);
    }
    found
}

fn flatten(tree: &UseTree, prefix: &mut Vec<String>, exported: bool, found: &mut Vec<Import>) {
    let mut add = |last: Option<String>, name: Option<String>, span: Span| {
        let path = prefix.iter().cloned().chain(last.filter(|last| last != "self")).collect();
        found.push(Import { path, name, exported, line: span.start().line });
    };
    match tree {
        UseTree::Path(inner) => {
            prefix.push(inner.ident.to_string());
            flatten(&inner.tree, prefix, exported, found);
            prefix.pop();
        }
        UseTree::Group(group) => group.items.iter().for_each(|tree| flatten(tree, prefix, exported, found)),
        UseTree::Glob(glob) => add(None, None, glob.star_token.spans[0]),
        UseTree::Rename(renamed) => {
            add(Some(renamed.ident.to_string()), Some(renamed.rename.to_string()), renamed.ident.span());
        }
        UseTree::Name(named) => {
            let last = named.ident.to_string();
            let name = if last == "self" { prefix.last().cloned() } else { Some(last.clone()) };
            add(Some(last), name, named.ident.span());
        }
    }
}

/// Collects what an item names.
#[derive(Debug, Default)]
pub(super) struct Mentions {
    pub(super) imports: Vec<Import>,
    pub(super) paths: Vec<Mention>,
    /// The variables of the function that is read: their names name nothing else.
    variables: BTreeSet<String>,
}

impl Mentions {
    fn add(&mut self, path: Vec<String>, is_macro: bool, span: Span) {
        let variable = path.len() == 1 && self.variables.contains(&path[0]);
        if !variable && path[0] != "Self" {
            self.paths.push(Mention { path, is_macro, line: span.start().line });
        }
    }

    /// The paths in what a macro or an attribute is given.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut place = Span::call_site();
        let mut colons = 0;
        let mut after_dot = false;
        for token in tokens {
            match &token {
                TokenTree::Punct(punct) if punct.as_char() == ':' && !path.is_empty() => {
                    colons += 1;
                    continue;
                }
                TokenTree::Ident(ident) if colons == 2 => {
                    path.push(ident.to_string());
                    colons = 0;
                    continue;
                }
                _ => {}
            }
            if !path.is_empty() {
                let is_macro = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '!');
                self.add(std::mem::take(&mut path), is_macro, place);
            }
            colons = 0;
            match token {
                TokenTree::Ident(ident) if !after_dot => {
                    place = ident.span();
                    path.push(ident.to_string());
                }
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Punct(punct) => {
                    after_dot = punct.as_char() == '.';
                    continue;
                }
                _ => {}
            }
            after_dot = false;
        }
        if !path.is_empty() {
            self.add(path, false, place);
        }
    }
}

impl<'ast> Visit<'ast> for Mentions {
    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.imports.append(&mut imports(item));
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.variables.clear();
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.variables.clear();
        visit::visit_impl_item_fn(self, item);
    }

    /// What a name is bound to is said before there is the name.
    fn visit_local(&mut self, local: &'ast syn::Local) {
        if let Some(init) = &local.init {
            visit::visit_local_init(self, init);
        }
        self.visit_pat(&local.pat);
    }

    fn visit_pat(&mut self, pat: &'ast Pat) {
        // A name with a capital is a constant or a variant, not a variable.
        if let Pat::Ident(PatIdent { ident, .. }) = pat
            && ident.to_string().starts_with(|first: char| first.is_lowercase() || first == '_')
        {
            self.variables.insert(ident.to_string());
        } else if let Pat::Ident(PatIdent { ident, .. }) = pat {
            self.add(vec![ident.to_string()], false, ident.span());
        }
        visit::visit_pat(self, pat);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none()
            && let Some(first) = path.segments.first()
        {
            let names = path.segments.iter().map(|segment| segment.ident.to_string());
            self.add(names.collect(), false, first.ident.span());
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &'ast Macro) {
        if let Some(first) = called.path.segments.first() {
            let names = called.path.segments.iter().map(|segment| segment.ident.to_string());
            self.add(names.collect(), true, first.ident.span());
        }
        self.tokens(called.tokens.clone());
    }

    /// An attribute may name something of ours in its arguments, and in texts such as `with = "crate::hex"`.
    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        let Ok(list) = attribute.meta.require_list() else { return };
        let mut named = Self::default();
        named.tokens(list.tokens.clone());
        // A single word is one of the attribute's own.
        self.paths.extend(named.paths.into_iter().filter(|mention| mention.path.len() > 1));
        for token in list.tokens.clone() {
            let TokenTree::Literal(literal) = token else { continue };
            let Ok(text) = syn::parse_str::<LitStr>(&literal.to_string()) else { continue };
            if let Ok(path) = text.parse::<syn::Path>() {
                let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
                if names.len() > 1 {
                    self.add(names, false, literal.span());
                }
            }
        }
    }

    /// Where something can be seen is not what it uses.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}
}
