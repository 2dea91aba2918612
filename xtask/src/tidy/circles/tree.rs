//! The modules of one crate as they are written: what each defines, imports and mentions. Tests are left out.

use super::mentions::{Import, Mention, Mentions, imports};
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use syn::visit::Visit;
use syn::{Attribute, Item};

/// The Rust files of a crate, by their path below `src`.
pub(super) type Files = BTreeMap<PathBuf, String>;

/// A module's place in its [`Tree`].
pub(super) type ModuleId = usize;

/// The modules of a crate; its root comes first.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) modules: Vec<Module>,
}

#[derive(Debug)]
pub(super) struct Module {
    /// The file that holds it; a module within a file shares the file of the module around it.
    pub(super) file: PathBuf,
    pub(super) parent: Option<ModuleId>,
    /// What a name stands for here. A name may stand for several things: a function and a module, say.
    pub(super) names: BTreeMap<String, Vec<Named>>,
    /// The paths whose every name is imported.
    pub(super) globs: Vec<Vec<String>>,
    pub(super) imports: Vec<Import>,
    pub(super) mentions: Vec<Mention>,
}

/// What a name stands for.
#[derive(Clone, Debug)]
pub(super) enum Named {
    /// Something that is defined here.
    Item,
    Module(ModuleId),
    /// Whatever this path leads to.
    Import(Vec<String>),
}

impl Tree {
    /// Reads the tree that grows from the file `root`.
    ///
    /// # Errors
    /// If a file is no Rust, or a module has no file.
    pub(super) fn read(files: &Files, root: &str) -> Result<Self> {
        let mut tree = Self::default();
        tree.file(files, Path::new(root), None)?;
        Ok(tree)
    }

    fn file(&mut self, files: &Files, path: &Path, parent: Option<ModuleId>) -> Result<ModuleId> {
        let text = files.get(path).with_context(|| format!("find {}", path.display()))?;
        let syntax = syn::parse_file(text).with_context(|| format!("read {} as Rust", path.display()))?;
        let stem = path.file_stem().unwrap_or_default();
        let folder = path.parent().unwrap_or(Path::new(""));
        let owns_folder = parent.is_none() || stem == "mod";
        let children = if owns_folder { folder.to_owned() } else { folder.join(stem) };
        self.module(files, path, &children, parent, &syntax.items)
    }

    /// Adds a module whose children lie in the folder `children`.
    fn module(
        &mut self,
        files: &Files,
        file: &Path,
        children: &Path,
        parent: Option<ModuleId>,
        items: &[Item],
    ) -> Result<ModuleId> {
        let id = self.modules.len();
        self.modules.push(Module::new(file.to_owned(), parent));
        for item in items.iter().filter(|item| !is_test(attributes(item))) {
            match item {
                Item::Mod(child) => {
                    let name = child.ident.to_string();
                    let found = match &child.content {
                        Some((_, items)) => self.module(files, file, &children.join(&name), Some(id), items)?,
                        None => self.file(files, &file_of(files, children, &name)?, Some(id))?,
                    };
                    self.modules[id].name(name, Named::Module(found));
                }
                item => self.modules[id].item(item),
            }
        }
        Ok(id)
    }
}

impl Module {
    fn new(file: PathBuf, parent: Option<ModuleId>) -> Self {
        let (names, globs, imports, mentions) = Default::default();
        Self { file, parent, names, globs, imports, mentions }
    }

    fn name(&mut self, name: String, named: Named) {
        self.names.entry(name).or_default().push(named);
    }

    /// Takes up what an item defines and mentions.
    fn item(&mut self, item: &Item) {
        for name in defined(item) {
            self.name(name, Named::Item);
        }
        let mut seen = Mentions::default();
        if let Item::Use(item) = item {
            seen.imports = imports(item);
        } else {
            seen.visit_item(item);
        }
        for import in &seen.imports {
            match &import.name {
                Some(name) => self.name(name.clone(), Named::Import(import.path.clone())),
                None => self.globs.push(import.path.clone()),
            }
        }
        self.imports.append(&mut seen.imports);
        self.mentions.append(&mut seen.paths);
    }
}

/// The file of a module that is declared with `mod name;`.
fn file_of(files: &Files, folder: &Path, name: &str) -> Result<PathBuf> {
    let candidates = [folder.join(format!("{name}.rs")), folder.join(name).join("mod.rs")];
    match candidates.iter().find(|path| files.contains_key(*path)) {
        Some(path) => Ok(path.clone()),
        None => bail!("find {}: it is declared as a module", candidates[0].display()),
    }
}

/// The names that an item brings into its module.
fn defined(item: &Item) -> Vec<String> {
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::TraitAlias(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        Item::Macro(item) => match &item.ident {
            Some(name) => name,
            None => return made_by_macro(item.mac.tokens.clone()),
        },
        _ => return Vec::new(),
    };
    vec![name.to_string()]
}

/// What a macro that is called in a module likely defines: the names behind the words that define.
fn made_by_macro(tokens: proc_macro2::TokenStream) -> Vec<String> {
    const WORDS: [&str; 8] = ["const", "enum", "fn", "static", "struct", "trait", "type", "union"];
    let words: Vec<String> = tokens.into_iter().map(|token| token.to_string()).collect();
    let pairs = words.windows(2).filter(|pair| WORDS.contains(&pair[0].as_str()));
    pairs.map(|pair| pair[1].clone()).collect()
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Whether what has these attributes is compiled for tests only.
fn is_test(attributes: &[Attribute]) -> bool {
    let is_cfg = |attribute: &&Attribute| attribute.path().is_ident("cfg");
    attributes.iter().filter(is_cfg).any(|attribute| {
        let condition = attribute.meta.require_list().map(|list| list.tokens.to_string()).unwrap_or_default();
        let mut words = condition.split(|c: char| !c.is_alphanumeric() && c != '_');
        !condition.contains("not") && words.any(|word| word == "test")
    })
}
