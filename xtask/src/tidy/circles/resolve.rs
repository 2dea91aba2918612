//! Which file defines what a path names, through re-exports and globs; and so, the arrows between the files of a crate.

use super::tree::{ModuleId, Named, Tree};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Who imports from whom, and what: `file → file → (line, name)`.
pub(super) type Arrows = BTreeMap<PathBuf, BTreeMap<PathBuf, BTreeSet<(usize, String)>>>;

/// What a path leads to.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Target {
    /// Something that is defined in this module.
    Item(ModuleId),
    Module(ModuleId),
}

/// The names that are being looked up: imports that import each other lead nowhere.
type Open = BTreeSet<(ModuleId, String)>;

/// Every arrow between two files of a crate.
pub(super) fn arrows(tree: &Tree) -> Arrows {
    let mut arrows = Arrows::new();
    for (id, module) in tree.modules.iter().enumerate() {
        let mut draw = |path: &[String], line: usize, target: ModuleId| {
            let to = &tree.modules[target].file;
            if *to != module.file {
                let name = path.last().cloned().unwrap_or_default();
                arrows.entry(module.file.clone()).or_default().entry(to.clone()).or_default().insert((line, name));
            }
        };
        for import in module.imports.iter().filter(|import| import.name.is_some()) {
            for target in tree.items(id, &import.path) {
                // A parent that hands on what a child defines does not depend on it.
                if !(import.exported && tree.is_within(target, id)) {
                    draw(&import.path, import.line, target);
                }
            }
        }
        for mention in &module.mentions {
            let mut targets = tree.items(id, &mention.path);
            if mention.is_macro && targets.is_empty() && mention.path.len() == 1 {
                targets.extend(tree.macro_around(id, &mention.path[0]));
            }
            for target in targets {
                draw(&mention.path, mention.line, target);
            }
        }
    }
    arrows
}

impl Tree {
    /// The modules that define what a path names.
    fn items(&self, from: ModuleId, path: &[String]) -> Vec<ModuleId> {
        let found = self.resolve(from, path, &mut Open::new());
        let items = found.into_iter().filter_map(|target| match target {
            Target::Item(module) => Some(module),
            Target::Module(_) => None,
        });
        items.collect()
    }

    /// What a path leads to; nothing if that is outside of the crate.
    fn resolve(&self, from: ModuleId, path: &[String], open: &mut Open) -> Vec<Target> {
        let Some((first, mut rest)) = path.split_first() else { return Vec::new() };
        let mut here = match first.as_str() {
            "crate" => vec![Target::Module(0)],
            "self" => vec![Target::Module(from)],
            "super" => self.modules[from].parent.map(Target::Module).into_iter().collect(),
            name => self.named(from, name, open).unwrap_or_default(),
        };
        while let Some((next, behind)) = rest.split_first() {
            let module = here.iter().find_map(|target| match target {
                Target::Module(module) => Some(*module),
                Target::Item(_) => None,
            });
            // What follows an item is a variant or a function of it.
            let Some(module) = module else { break };
            here = match next.as_str() {
                "super" => self.modules[module].parent.map(Target::Module).into_iter().collect(),
                // What is not found was made by a macro there.
                name => self.named(module, name, open).unwrap_or_else(|| vec![Target::Item(module)]),
            };
            rest = behind;
        }
        here
    }

    /// What a name stands for in a module, if it is known there.
    fn named(&self, module: ModuleId, name: &str, open: &mut Open) -> Option<Vec<Target>> {
        if !open.insert((module, name.to_owned())) {
            return None;
        }
        let known = self.modules[module].names.get(name);
        let found = match known {
            Some(named) => Some(named.iter().flat_map(|named| self.meant(module, named, open)).collect()),
            None => self.by_glob(module, name, open),
        };
        open.remove(&(module, name.to_owned()));
        found
    }

    fn meant(&self, module: ModuleId, named: &Named, open: &mut Open) -> Vec<Target> {
        match named {
            Named::Item => vec![Target::Item(module)],
            Named::Module(child) => vec![Target::Module(*child)],
            Named::Import(path) => self.resolve(module, path, open),
        }
    }

    fn by_glob(&self, module: ModuleId, name: &str, open: &mut Open) -> Option<Vec<Target>> {
        let globs = self.modules[module].globs.iter();
        let sources: Vec<Target> = globs.flat_map(|path| self.resolve(module, path, open)).collect();
        sources.into_iter().find_map(|source| match source {
            Target::Module(source) => self.named(source, name, open).filter(|found| !found.is_empty()),
            Target::Item(_) => None,
        })
    }

    /// The module around another one that defines a macro of this name.
    fn macro_around(&self, from: ModuleId, name: &str) -> Option<ModuleId> {
        let around = std::iter::successors(self.modules[from].parent, |module| self.modules[*module].parent);
        let defines = |module: &ModuleId| {
            let named = self.modules[*module].names.get(name);
            named.is_some_and(|named| named.iter().any(|named| matches!(named, Named::Item)))
        };
        around.into_iter().find(defines)
    }

    fn is_within(&self, module: ModuleId, around: ModuleId) -> bool {
        let mut chain = std::iter::successors(Some(module), |module| self.modules[*module].parent);
        chain.any(|module| module == around)
    }
}
