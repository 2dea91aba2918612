//! Libraries: modules that the application loads itself, with kernels and variables that it asks for by name.

use super::Runtime;
use super::modules::Handle;
use crate::code::Code;
use crate::report::fails;

fn missing(what: &str, name: &str) -> Code {
    fails(Code::SYMBOL_NOT_FOUND, format_args!("the library has no {what} {name}"))
}

impl Runtime {
    /// Loads a library at once, so that what is wrong with it shows; its handle.
    pub(crate) fn load_library(&mut self, parts: Vec<&'static [u8]>) -> Result<u64, Code> {
        self.check()?;
        let handle = self.modules.register(parts);
        let loaded = self.modules.loaded(handle, &mut self.gpu, &mut self.memory).map(drop);
        if loaded.is_err() {
            self.modules.unregister(handle);
        }
        loaded.map(|()| handle.0)
    }

    /// The names of a library's kernels.
    pub(crate) fn library_kernels(&mut self, library: Handle) -> Result<Vec<String>, Code> {
        let modules = self.modules.loaded(library, &mut self.gpu, &mut self.memory)?;
        Ok(modules.into_iter().flat_map(|module| self.gpu.kernels(module)).collect())
    }

    /// A kernel of a library, by a handle that is as good as the address of a stub.
    pub(crate) fn library_kernel(&mut self, library: Handle, name: &str) -> Result<u64, Code> {
        let known = self.library_kernels(library)?.iter().any(|kernel| kernel == name);
        if known { Ok(self.modules.function_named(library, name)) } else { Err(missing("kernel", name)) }
    }

    /// A variable of a library.
    pub(crate) fn library_variable(&mut self, library: Handle, name: &str) -> Result<(u64, u64), Code> {
        let found = self.modules.variable_named(library, name, &mut self.gpu, &mut self.memory)?;
        found.ok_or_else(|| missing("variable", name))
    }
}
