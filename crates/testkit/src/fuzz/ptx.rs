//! PTX texts: everything that happens to the text of a capsule or an application before its kernels run.

use super::behaviour::ReadResult;
use super::bytes;
use super::dice::Dice;
use super::target::{FuzzTarget, folder, seeds_in};
use super::text::{self, Dictionary};
use ::capsule::ModuleId;
use device::Image;
use device::Modules;
use isa::alu::spellings;
use isa::op::families::FAMILIES;
use simt::memory::GlobalMemory;
use std::path::Path;

/// Words that no seed may hold.
const WORDS: &[&str] = &[
    ".version",
    ".target",
    ".address_size",
    ".visible",
    ".extern",
    ".weak",
    ".common",
    ".entry",
    ".func",
    ".global",
    ".const",
    ".shared",
    ".local",
    ".param",
    ".reg",
    ".align",
    ".ptr",
    ".alias",
    ".branchtargets",
    ".calltargets",
    ".callprototype",
    ".maxntid",
    ".reqntid",
    ".minnctapersm",
    ".maxnreg",
    ".noreturn",
    ".pragma",
    ".section",
    ".file",
    ".loc",
    ".b8",
    ".b16",
    ".b32",
    ".b64",
    ".b128",
    ".u8",
    ".u16",
    ".u32",
    ".u64",
    ".s8",
    ".s16",
    ".s32",
    ".s64",
    ".f16",
    ".f16x2",
    ".f32",
    ".f64",
    ".pred",
    ".texref",
    ".samplerref",
    ".surfref",
    ".v2",
    ".v4",
    ".attribute",
    ".managed",
    ".unified",
    ".reqnctapercluster",
    ".explicitcluster",
    ".maxclusterrank",
    ".inlined_at",
    ".function_name",
    ".x",
    ".y",
    ".z",
    ".w",
    ".unknown",
    "sm_80",
    "sm_90a",
    "sm_10",
    "generic",
    "mask",
    "_",
    "%tid.x",
    "%ctaid.y",
    "%laneid",
    "%clock64",
    "%envreg3",
    "%warpsize",
    "%dynamic_smem_size",
    "WARP_SZ",
    "%r99999",
    "%r<4294967295>",
    "%p<9>",
    "malloc",
    "free",
    "vprintf",
    "__assertfail",
];

/// So many kernels of a text are lowered; each is looked for by name, and takes as long as the module is.
const KERNELS: usize = 64;

/// PTX texts.
pub(super) struct Ptx {
    dictionary: Dictionary,
}

impl Ptx {
    pub(super) fn new() -> Self {
        let seeds = seeds();
        let texts = seeds.iter().filter_map(|seed| std::str::from_utf8(seed).ok());
        let pure = isa::Alu::spelled().flat_map(|alu| spellings(alu.pattern()));
        let families = FAMILIES.iter().flat_map(|family| family.spellings());
        let words = WORDS.iter().map(|&word| word.to_owned());
        Self { dictionary: Dictionary::new(texts, pure.chain(families).chain(words)) }
    }
}

/// The kernel tests, the parser's samples, and the corpus.
fn seeds() -> Vec<Vec<u8>> {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ptx/tests");
    let folders = [crate::filetests("kernels"), samples, folder("corpus/ptx")];
    folders.iter().flat_map(|place| seeds_in(place, "ptx")).collect()
}

impl FuzzTarget for Ptx {
    fn seeds(&self) -> Vec<Vec<u8>> {
        seeds()
    }

    fn mutate(&mut self, input: &[u8], other: &[u8], dice: &mut Dice) -> Vec<u8> {
        if dice.one_in(8) {
            let mut mutated = input.to_vec();
            bytes::mutate(&mut mutated, other, dice);
            mutated.truncate(text::LONGEST);
            return mutated;
        }
        let (input, other) = (String::from_utf8_lossy(input), String::from_utf8_lossy(other));
        text::mutate(&input, &other, &self.dictionary, dice).into_bytes()
    }

    fn read(&self, input: &[u8]) -> ReadResult {
        let text = String::from_utf8_lossy(input);
        match ::ptx::parse("fuzz", &text) {
            Ok(module) => accepted(&text, &module),
            Err(errors) => refused(&errors),
        }
    }
}

fn refused(errors: &::ptx::Errors) -> ReadResult {
    let mut verdict = ReadResult::of_many(errors.render());
    assert!(!verdict.reason().is_empty() && !errors.diagnostics().is_empty(), "refused without a reason");
    for mistake in errors.diagnostics() {
        let (line, column) = errors.position(mistake);
        assert!(line > 0 && column > 0, "a mistake is nowhere");
        verdict.note(&mistake.message);
        verdict.note(mistake.help.as_deref().unwrap_or_default());
    }
    verdict
}

/// What was accepted is sound, means the same when it is printed, and can be loaded and lowered, or is refused there.
fn accepted(text: &str, module: &isa::Module) -> ReadResult {
    let defects = isa::verify::verify(module);
    assert!(defects.is_empty(), "accepted though {}", defects[0]);
    let printed = ::ptx::print(module);
    match ::ptx::parse("printed", &printed) {
        Ok(again) => assert!(again == *module, "means something else when printed"),
        Err(errors) => panic!("prints as what is refused: {}", errors.diagnostics()[0].message),
    }
    let mut verdict = ReadResult::accepted();
    for instruction in module.functions.iter().flat_map(|function| &function.body) {
        verdict.note_exactly(&instruction.op.to_string());
    }
    let (mut modules, mut memory) = (Modules::default(), GlobalMemory::new());
    if let Err(error) = modules.load(ModuleId(0), "fuzz", Image::ptx(text), &mut memory) {
        verdict.note(&error.to_string());
        return verdict;
    }
    for kernel in module.functions.iter().filter(|function| function.kernel).take(KERNELS) {
        if let Err(error) = modules.program(ModuleId(0), &kernel.name) {
            verdict.note(&error.to_string());
        }
    }
    verdict
}
