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
        self.compare_by(scheme.into(), chosen)
    }

    /// The same with loads that are executed twice. None where threads share memory by what the code says.
    #[must_use]
    pub fn compare_with_loads(
        &self,
        scheme: Scheme,
        chosen: &dyn Fn(FunctionId, Pc) -> bool,
    ) -> Option<HardenedKernel> {
        let alone = sharing(&self.module).iter().all(Option::is_none);
        alone.then(|| self.compare_by(Technique { scheme, loads: true }, chosen))
    }

    fn compare_by(&self, technique: Technique, chosen: &dyn Fn(FunctionId, Pc) -> bool) -> HardenedKernel {
        let text = match KernelText::hardened(self.kernel, &self.module, technique, chosen) {
            Ok(text) => text,
            Err(other) => return other,
        };
        match self.kernel.simulate_text(&text.ptx, text.threads, LevelName::best(), Contract::Ptxas) {
            Ok(bytes) => {
                self.kernel.difference(&self.bytes, &bytes).map_or(HardenedKernel::Same, HardenedKernel::Differs)
            }
            Err(end) => HardenedKernel::Differs(end),
        }
    }
}

/// A text that does what a kernel does, and the threads of its blocks.
#[derive(Clone, Debug)]
pub struct KernelText {
    /// PTX.
    pub ptx: String,
    /// Twice as many as the kernel's where the scheme doubles blocks.
    pub threads: u32,
}

impl KernelText {
    /// A kernel, of which this is the module, with the chosen instructions protected.
    ///
    /// # Errors
    /// Why it is not protected, or the defect of the protected one; never [`HardenedKernel::Same`].
    pub fn hardened(
        kernel: &Kernel,
        module: &isa::Module,
        technique: Technique,
        chosen: &dyn Fn(FunctionId, Pc) -> bool,
    ) -> Result<Self, HardenedKernel> {
        let protected = protect_each(module, &|_| technique, chosen)
            .map_err(|defect| HardenedKernel::Differs(defect.to_string()))?;
        for protection in protected.functions {
            if let Protection::Refused(reason) = protection {
                return Err(HardenedKernel::Refused(reason));
            }
        }
        let ptx = ptx::print(&protected.module);
        if ptx::parse("hardened.ptx", &ptx).ok().as_ref() != Some(&protected.module) {
            return Err(HardenedKernel::Differs(format!("it reads back as something else\n{ptx}")));
        }
        let times = if technique.scheme.doubles_blocks() { 2 } else { 1 };
        Ok(Self { ptx, threads: kernel.threads * times })
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
