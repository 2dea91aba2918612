//! The families of the machine's own instructions, as the words that their spellings are put together from.
//!
//! [`spelling`] decides what is read; this lists what to ask it, for tests that go through every spelling and for the
//! page of what is supported.

use super::spelling;

/// Instructions that are spelled alike.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// What they are for, with the section of the PTX ISA.
    pub title: &'static str,
    /// The words of a spelling in order, alternatives between `|`: `["ld", ".a|", ".x|.y"]` stands for `ld.a.x`,
    /// `ld.a.y`, `ld.x`, `ld.y`. Some put together what the instruction set does not have.
    pub parts: &'static [&'static str],
}

const TYPES: &str = ".b8|.b16|.b32|.b64|.b128|.u8|.u16|.u32|.u64|.s8|.s16|.s32|.s64|.f16|.f32|.f64|.pred";
const ATOMIC: &str = ".b16|.b32|.b64|.b128|.u32|.u64|.s32|.s64|.f16|.f16x2|.bf16|.bf16x2|.f32|.f64";
const COMPARED: &str = ".b16|.b32|.b64|.u16|.u32|.u64|.s16|.s32|.s64|.f16|.f16x2|.bf16|.bf16x2|.f32|.f64";
const ORDERS: &str = "|.weak|.volatile|.relaxed|.acquire|.release|.acq_rel";
const SCOPES: &str = "|.cta|.cluster|.gpu|.sys";
const SPACES: &str = "|.global|.shared|.local|.const|.param";
const HINTS: &str = "|.nc|.ca|.cg|.cs|.lu|.cv|.wb|.wt|.L1::no_allocate.L2::128B";
const OPERATIONS: &str = ".add|.min|.max|.inc|.dec|.and|.or|.xor|.exch|.cas";
const COMPARISONS: &str = ".eq|.ne|.lt|.le|.gt|.ge|.lo|.ls|.hi|.hs|.equ|.neu|.ltu|.leu|.gtu|.geu|.num|.nan";
const EXTENTS: &str = ".m8n8k4|.m8n8k16|.m16n8k4|.m16n8k8|.m16n8k16|.m16n8k32|.m16n16k8|.m16n16k16|.m32n8k16|.m8n32k16";
const ELEMENTS: &str = ".f16|.bf16|.tf32|.f32|.f64|.u8|.s8|.s32";
const MULTIPLIED: &str = ".f16.f16.f16.f16|.f32.f16.f16.f16|.f32.f16.f16.f32|.f16.f16.f16.f32|.f32.bf16.bf16.f32|\
    .f32.tf32.tf32.f32|.f64.f64.f64.f64|.s32.s8.s8.s32|.s32.u8.u8.s32|.s32.s8.u8.s32|.s32.u8.s8.s32|.f16.f16|.f32.f16|\
    .f16.f32|.f32.f32";

/// All of them.
pub const FAMILIES: &[Family] = &[
    family("loads and stores (§9.7.9)", &["ld|st", "|.mmio", ORDERS, SCOPES, SPACES, HINTS, "|.v2|.v4|.v8", TYPES]),
    family("loads that are the same in all lanes", &["ldu.global", "|.v2|.v4", TYPES]),
    family(
        "atomic operations (§9.7.13)",
        &["atom|red", ORDERS, SCOPES, SPACES, OPERATIONS, "|.noftz", "|.v2|.v4|.v8", ATOMIC],
    ),
    family("comparisons into predicates (§9.7.6)", &["setp", COMPARISONS, "|.and|.or|.xor", "|.ftz", COMPARED]),
    family(
        "comparisons into registers",
        &[
            "set",
            COMPARISONS,
            "|.and|.or|.xor",
            "|.ftz",
            ".u16|.s16|.u32|.s32|.f16|.bf16|.f32|.f16x2|.bf16x2",
            COMPARED,
        ],
    ),
    family("logic functions of three words, combined with a predicate (§9.7.8)", &["lop3", ".and|.or", ".b32"]),
    family("numbers of several words (§9.7.2)", &["add|addc|sub|subc|mad|madc", "|.lo|.hi", "|.cc", TYPES]),
    family("asynchronous copies (§9.7.9.25)", &["cp.async", ".ca|.cg", ".shared.global", "|.L2::cache_hint|.L2::128B"]),
    family("waiting for them", &["cp.async", ".commit_group|.wait_group|.wait_all"]),
    family("barrier objects that wait for them", &["cp.async.mbarrier.arrive", "|.noinc", SPACES, ".b64"]),
    family(
        "barrier objects (§9.7.13.15)",
        &[
            "mbarrier",
            ".init|.inval|.arrive|.arrive.noComplete|.arrive_drop|.arrive_drop.noComplete|.test_wait|.test_wait.parity|\
             .try_wait|.try_wait.parity|.pending_count",
            ORDERS,
            SCOPES,
            SPACES,
            ".b64",
        ],
    ),
    family(
        "tiles of matrices (§9.7.14)",
        &["ldmatrix|stmatrix", ".sync.aligned.m8n8", ".x1|.x2|.x4", "|.trans", "|.shared", ".b16"],
    ),
    family("a tile transposed", &["movmatrix.sync.aligned.m8n8.trans.b16"]),
    family("products of matrices", &["mma.sync.aligned", EXTENTS, ".row|.col", ".row|.col", "|.satfinite", MULTIPLIED]),
    family(
        "products of fragments",
        &["wmma.mma.sync.aligned", ".row|.col", ".row|.col", EXTENTS, MULTIPLIED, "|.satfinite"],
    ),
    family(
        "fragments",
        &[
            "wmma.load.a|wmma.load.b|wmma.load.c|wmma.store.d",
            ".sync.aligned",
            ".row|.col",
            EXTENTS,
            "|.global|.shared",
            ELEMENTS,
        ],
    ),
    family("textures (§9.7.10)", &["tex", "|.level", ".1d|.2d|.3d|.a1d|.a2d", ".v4", ".f32|.s32|.u32", ".f32|.s32"]),
    family("four elements of a texture", &["tld4", ".r|.g|.b|.a", ".2d.v4", ".f32|.s32|.u32", ".f32"]),
    family(
        "surfaces (§9.7.11)",
        &["suld|sust", ".b", ".1d|.2d|.3d|.a1d|.a2d", "|.v2|.v4", ".b8|.b16|.b32|.b64", ".trap|.clamp|.zero"],
    ),
    family("registers of other lanes (§9.7.9.6)", &["shfl.sync", ".up|.down|.bfly|.idx", ".b32"]),
    family("votes (§9.7.13.10)", &["vote.sync", ".all|.any|.uni|.ballot", ".pred|.b32"]),
    family("lanes that agree", &["match", ".all|.any", ".sync", ".b32|.b64"]),
    family("reductions over lanes", &["redux.sync", ".add|.min|.max|.and|.or|.xor", ".u32|.s32|.b32"]),
    family("lanes and warps", &["activemask.b32|elect.sync|bar.warp.sync"]),
    family(
        "barriers (§9.7.13.1)",
        &["bar|barrier", "|.cta", ".sync|.arrive|.red.popc|.red.and|.red.or", "|.aligned", "|.u32|.pred"],
    ),
    family("addresses (§9.7.9)", &["cvta", "|.to", SPACES, ".u32|.u64"]),
    family("which space an address is in", &["isspacep", SPACES]),
    family("addresses of a cluster", &["mapa|getctarank", "|.shared::cluster", ".u32|.u64"]),
    family("local memory of a thread's choice", &["alloca|stacksave|stackrestore", ".u32|.u64"]),
    family("fences, without effect", &["membar|fence", "|.sc|.acq_rel", ".cta|.gl|.cluster|.gpu|.sys"]),
    family(
        "hints, without effect",
        &[
            "prefetch.global.L1|prefetch.L2|prefetchu.L1|applypriority.global.L2::evict_normal|discard.global.L2|pmevent",
        ],
    ),
    family("control flow (§9.7.12)", &["bra|brx.idx|call|ret", "|.uni"]),
    family("ends and pauses", &["exit|trap|brkpt|nanosleep.u32|griddepcontrol.wait|griddepcontrol.launch_dependents"]),
];

const fn family(title: &'static str, parts: &'static [&'static str]) -> Family {
    Family { title, parts }
}

impl Family {
    /// Every spelling that is read and printed as it is; the rest of what can be put together drops out.
    #[must_use]
    pub fn spellings(&self) -> Vec<String> {
        let all = self.parts.iter().fold(vec![String::new()], |heads, part| {
            heads.iter().flat_map(|head| part.split('|').map(move |word| format!("{head}{word}"))).collect()
        });
        all.into_iter().filter(|word| spelling::parse(word).is_some_and(|op| op.to_string() == *word)).collect()
    }

    /// The words of each part that some spelling holds, in order.
    #[must_use]
    pub fn words(&self) -> Vec<Vec<&'static str>> {
        let spellings = self.spellings();
        let holds = |word: &str| spellings.iter().any(|spelling| has(spelling, word));
        self.parts.iter().map(|part| part.split('|').filter(|word| word.is_empty() || holds(word)).collect()).collect()
    }
}

/// Whether a spelling holds these words as whole words.
fn has(spelling: &str, words: &str) -> bool {
    spelling.match_indices(words).any(|(at, _)| {
        let rest = &spelling[at + words.len()..];
        rest.is_empty() || rest.starts_with('.')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_has_spellings() {
        for family in FAMILIES {
            assert!(!family.spellings().is_empty(), "{}", family.title);
        }
    }

    #[test]
    fn words_that_no_spelling_has_drop_out() {
        let family = family("", &["redux.sync", ".add|.popc", ".u32|.f64"]);
        assert_eq!(family.words(), [vec!["redux.sync"], vec![".add"], vec![".u32"]]);
    }
}
