//! Random kernels with protection written into them, compared with the kernels as they are, in the simulator.

use crate::random_kernels::Kernel;
use device::Contract;
use facts::Pc;
use isa::FunctionId;
use rewrite::{Protection, Scheme, Technique, Unprotected, protect_each, sharing};
use simt::LevelName;

/// The result of a comparison of a kernel with its hardened form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HardenedKernel {
    /// Both leave the same bytes.
    Same,
    /// A function is left as it is; nothing was executed.
    Refused(Unprotected),
    /// They do not leave the same bytes, or the hardened one cannot be executed.
    Differs(String),
}

/// A kernel, its module and the bytes that it leaves.
#[derive(Debug)]
pub struct OriginalKernel<'k> {
    kernel: &'k Kernel,
    module: isa::Module,
    bytes: Vec<u8>,
}

impl<'k> OriginalKernel<'k> {
    /// Parses and executes a kernel, with the contraction of NVIDIA’s assembler.
    ///
    /// # Errors
    /// If it cannot be parsed, or does not run to its end.
    pub fn new(kernel: &'k Kernel) -> Result<Self, String> {
        let module = ptx::parse("kernel.ptx", &kernel.ptx).map_err(|errors| errors.to_string())?;
        let bytes = kernel.simulate(LevelName::best(), Contract::Ptxas)?;
        Ok(Self { kernel, module, bytes })
    }

    /// Hardens the chosen instructions by a scheme, executes the result, and compares.
    #[must_use]
    pub fn compare(&self, scheme: Scheme, chosen: &dyn Fn(FunctionId, Pc) -> bool) -> HardenedKernel {
        self.compare_by(&|_| scheme.into(), chosen, scheme.doubles_blocks())
    }

    /// The same with loads that are executed twice. None where threads share memory by what the code says.
    #[must_use]
    pub fn compare_with_loads(
        &self,
        scheme: Scheme,
        chosen: &dyn Fn(FunctionId, Pc) -> bool,
    ) -> Option<HardenedKernel> {
        let alone = sharing(&self.module).iter().all(Option::is_none);
        let technique = Technique { scheme, loads: true };
        alone.then(|| self.compare_by(&|_| technique, chosen, scheme.doubles_blocks()))
    }

    fn compare_by(
        &self,
        technique: &dyn Fn(FunctionId) -> Technique,
        chosen: &dyn Fn(FunctionId, Pc) -> bool,
        doubles_blocks: bool,
    ) -> HardenedKernel {
        let text = match self.hardened_text(technique, chosen) {
            Ok(text) => text,
            Err(other) => return other,
        };
        let threads = self.kernel.threads * if doubles_blocks { 2 } else { 1 };
        match self.kernel.simulate_text(&text, threads, LevelName::best(), Contract::Ptxas) {
            Ok(bytes) => {
                self.kernel.difference(&self.bytes, &bytes).map_or(HardenedKernel::Same, HardenedKernel::Differs)
            }
            Err(end) => HardenedKernel::Differs(end),
        }
    }

    /// The PTX of the kernel with protection, which blocks with twice as many threads are for where the scheme doubles them.
    ///
    /// # Errors
    /// The defect of it, or why it is left as it is; never [`HardenedKernel::Same`].
    pub fn hardened_text(
        &self,
        technique: &dyn Fn(FunctionId) -> Technique,
        chosen: &dyn Fn(FunctionId, Pc) -> bool,
    ) -> Result<String, HardenedKernel> {
        let protected = protect_each(&self.module, technique, chosen)
            .map_err(|defect| HardenedKernel::Differs(defect.to_string()))?;
        for protection in protected.functions {
            if let Protection::Refused(reason) = protection {
                return Err(HardenedKernel::Refused(reason));
            }
        }
        let text = ptx::print(&protected.module);
        if ptx::parse("hardened.ptx", &text).ok().as_ref() != Some(&protected.module) {
            return Err(HardenedKernel::Differs(format!("it reads back as something else\n{text}")));
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_that_leaves_other_bytes_than_its_hardened_form_is_found() {
        let kernel = Kernel::of_sums(5, 2);
        let mut original = OriginalKernel::new(&kernel).unwrap();
        assert_eq!(original.compare(Scheme::TldSig, &|_, _| true), HardenedKernel::Same);
        original.bytes[0] ^= 1;
        let found = original.compare(Scheme::TldSig, &|_, _| true);
        assert!(matches!(&found, HardenedKernel::Differs(what) if what.starts_with("1 bytes differ")), "{found:?}");
    }
}
