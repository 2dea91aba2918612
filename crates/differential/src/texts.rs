//! The modules of a capsule as text: as they are run without a fault, and with one.

use capsule::{Capsule, ModuleId};
use isa::Module;
use rewrite::StaticSite;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The modules of a capsule, read once.
#[derive(Clone, Debug)]
pub struct Texts {
    modules: BTreeMap<ModuleId, Module>,
}

impl Texts {
    /// Reads the PTX of every module. Products and sums are rounded by themselves, so that a fault between them changes
    /// nothing else, and variables can be found by name.
    ///
    /// # Errors
    /// If a module has none or it cannot be read; the text follows "failed to".
    pub fn of(capsule: &Capsule) -> Result<Self, String> {
        let mut modules = BTreeMap::new();
        for module in &capsule.modules {
            let number = module.id.0;
            let blob = module.ptx.ok_or_else(|| format!("rewrite module {number}: the capsule holds no PTX for it"))?;
            let bytes = capsule.blobs.get(blob).map_err(|error| error.to_string())?;
            let text: Arc<[u8]> = bytes;
            let text = std::str::from_utf8(&text).map_err(|_| format!("rewrite module {number}: it is no text"))?;
            let parsed = ptx::parse("module", text).map_err(|errors| format!("rewrite module {number}: {errors}"))?;
            let parsed = rewrite::without_contraction(rewrite::with_visible_variables(parsed));
            modules.insert(module.id, parsed);
        }
        Ok(Self { modules })
    }

    /// A module.
    #[must_use]
    pub fn module(&self, id: ModuleId) -> Option<&Module> {
        self.modules.get(&id)
    }

    /// The texts of all modules, one of them with the code for faults in a static operand.
    ///
    /// # Errors
    /// If there is no such module, or such a fault cannot be written; the text follows "failed to".
    pub fn with_fault(&self, id: ModuleId, site: &StaticSite) -> Result<BTreeMap<ModuleId, String>, String> {
        let module = self.module(id).ok_or_else(|| format!("rewrite module {}: there is none", id.0))?;
        let rewritten = rewrite::with_fault(module, site).map_err(|refusal| refusal.to_string())?;
        let text =
            |(&other, module): (&ModuleId, &Module)| (other, ptx::print(if other == id { &rewritten } else { module }));
        Ok(self.modules.iter().map(text).collect())
    }
}
