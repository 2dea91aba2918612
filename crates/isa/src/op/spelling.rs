//! How instructions are spelled: `ld.global.nc.v4.f32` to [`Op`]; [`Op::spelling`] is the reverse.
//!
//! Pure instructions are found in the table by their whole spelling; the families of the machine are read word by
//! word. A word that a family does not know refuses the instruction: nothing is skipped silently.

use super::modifiers::Words;
use super::{Barrier, BarrierMode, Call, CallTarget, Cluster, Comparison, LoadStore, Op, Reduction, Shuffle, Vote};
use super::{atom, comparison, copy, extended, matrix, mbarrier, texture};
use crate::alu::AluForm;
use crate::types::{Space, Type};
use facts::MemoryOrder;
use facts::{FunctionId, Pc};

/// What `spelling` means, or `None` where it is not supported. Branch targets and callees are placeholders that
/// the parser of operands fills in.
#[must_use]
pub fn parse(spelling: &str) -> Option<Op> {
    if let Some(form) = AluForm::from_spelling(spelling).filter(|form| !form.is_extended()) {
        return Some(if form.is_compare() { Op::Setp(Comparison::of(form)) } else { Op::Alu(form) });
    }
    let (head, rest) = spelling.split_once('.').unwrap_or((spelling, ""));
    let mut words = Words { rest };
    match head {
        "setp" => Comparison::parse(words.rest).map(Op::Setp),
        "set" => set(words.rest),
        "lop3" => comparison::lop3(&mut words).map(Op::Lop3),
        "add" | "addc" | "sub" | "subc" | "mad" | "madc" => extended::parse(head, &mut words).map(Op::Extended),
        "ld" | "ldu" => access(&mut words, head == "ldu").map(Op::Ld),
        "st" => access(&mut words, false).map(Op::St),
        "atom" => atom::parse(&mut words, true).map(Op::Atom),
        "red" => atom::parse(&mut words, false).map(Op::Red),
        "prefetch" | "prefetchu" | "applypriority" | "discard" => Some(Op::Prefetch(spelling.to_owned())),
        "createpolicy" => create_policy(spelling),
        "cp" => copy::parse(&mut words).map(Op::CopyAsync),
        "mbarrier" => mbarrier::parse(&mut words).map(Op::Mbarrier),
        "tex" => texture::tex(&mut words).map(Op::Fetch),
        "tld4" => texture::tld4(&mut words).map(Op::Fetch),
        "suld" | "sust" => texture::surface(&mut words, head == "sust").map(Op::Surface),
        "ldmatrix" | "stmatrix" | "movmatrix" | "mma" | "wmma" => matrix::parse(head, &mut words).map(Op::Matrix),
        "alloca" => address_type(&mut words).map(Op::Alloca),
        "stacksave" => address_type(&mut words).map(Op::StackSave),
        "stackrestore" => address_type(&mut words).map(Op::StackRestore),
        "mapa" => cluster(&mut words).map(Op::Mapa),
        "getctarank" => cluster(&mut words).map(Op::Getctarank),
        "elect" => words.word("sync").and_then(|()| words.end(Op::Elect)),
        "cvta" => cvta(&mut words),
        "isspacep" => words.space().filter(|_| words.is_empty()).map(Op::Isspacep),
        "shfl" => {
            words.word("sync")?;
            let mode = words.take(Shuffle::from_word)?;
            words.word("b32")?;
            words.end(Op::Shfl(mode))
        }
        "vote" => {
            // Both orders are written; the second is that of older compilers.
            let first = words.word("sync");
            let mode = words.take(Vote::from_word)?;
            first.or_else(|| words.word("sync"))?;
            words.word(if mode == Vote::Ballot { "b32" } else { "pred" })?;
            words.end(Op::Vote(mode))
        }
        "match" => {
            let all = words.word("all").is_some();
            if !all {
                words.word("any")?;
            }
            words.word("sync")?;
            let ty = words.take(Type::from_word).filter(|ty| matches!(ty, Type::B32 | Type::B64))?;
            words.end(Op::Match { all, ty })
        }
        "redux" => {
            words.word("sync")?;
            let op = words.take(Reduction::from_word)?;
            let ty = words.take(Type::from_word)?;
            let fits = match op {
                Reduction::Add | Reduction::Min | Reduction::Max => matches!(ty, Type::U32 | Type::S32),
                Reduction::And | Reduction::Or | Reduction::Xor => ty == Type::B32,
                Reduction::Popc => false,
            };
            if fits { words.end(Op::Redux(op, ty)) } else { None }
        }
        "activemask" => words.word("b32").and_then(|()| words.end(Op::Activemask)),
        "bar" | "barrier" => barrier(&mut words, head == "bar"),
        "membar" | "fence" | "griddepcontrol" => fence(spelling),
        "bra" => uni(&words).map(|uni| Op::Bra { target: Pc(0), uni }),
        "brx" => {
            words.word("idx")?;
            uni(&words).map(|uni| Op::BrxIdx { targets: Vec::new(), uni })
        }
        "call" => {
            let target = CallTarget::Direct(FunctionId(0));
            uni(&words).map(|uni| Op::Call(Call { target, uni, returns: 0 }))
        }
        "ret" => uni(&words).map(|uni| Op::Ret { uni }),
        "exit" => words.end(Op::Exit),
        "trap" => words.end(Op::Trap),
        "brkpt" => words.end(Op::Brkpt),
        "nanosleep" => words.word("u32").and_then(|()| words.end(Op::Nanosleep)),
        "pmevent" => Some(Op::Event(spelling.to_owned())),
        _ => None,
    }
}

/// The operation with this spelling for `mov` with a vector operand.
#[must_use]
pub fn parse_vector_move(spelling: &str) -> Option<Op> {
    let ty = Type::from_word(spelling.strip_prefix("mov.")?)?;
    matches!(ty.bits(), 16 | 32 | 64 | 128).then_some(Op::MovVector(ty))
}

/// `cmp{.combine}{.ftz}.to.from`
fn set(words: &str) -> Option<Op> {
    let (head, from) = words.rsplit_once('.')?;
    let (head, to) = head.rsplit_once('.')?;
    let to = Type::from_word(to)?;
    let comparison = Comparison::parse(&format!("{head}.{from}"))?;
    comparison.sets(to).then_some(Op::Set(comparison, to))
}

fn access(words: &mut Words<'_>, ldu: bool) -> Option<LoadStore> {
    let mmio = words.word("mmio").is_some();
    let (order, scope, space) = words.ordered_space();
    let cache = words.cache();
    let vector = words.elements();
    let ty = words.take(Type::from_word).filter(|ty| !matches!(ty, Type::Pred | Type::F16x2 | Type::Bf16x2))?;
    // A vector moves at most 16 bytes, or 32 with the newest targets.
    if order == Some(MemoryOrder::AcqRel) || ty.bytes() * u32::from(vector) > 32 || (ldu && space != Space::Global) {
        return None;
    }
    words.end(LoadStore { uniform: ldu, space, ty, vector, order, scope, mmio, cache })
}

fn cvta(words: &mut Words<'_>) -> Option<Op> {
    let to = words.word("to").is_some();
    let space = words.space()?;
    let ty = words.take(Type::from_word).filter(|ty| matches!(ty, Type::U32 | Type::U64))?;
    words.end(Op::Cvta { to, space, ty })
}

/// A policy is computed from what follows, and changes no result.
fn create_policy(spelling: &str) -> Option<Op> {
    let kind = spelling.split('.').nth(1)?;
    let known = matches!(kind, "fractional" | "range" | "cvt") && spelling.ends_with(".b64");
    known.then(|| Op::CreatePolicy(spelling.to_owned()))
}

fn address_type(words: &mut Words<'_>) -> Option<Type> {
    let ty = words.take(Type::from_word).filter(|ty| matches!(ty, Type::U32 | Type::U64))?;
    words.end(ty)
}

fn cluster(words: &mut Words<'_>) -> Option<Cluster> {
    let shared = words.word("shared::cluster").is_some();
    address_type(words).map(|ty| Cluster { shared, ty })
}

fn barrier(words: &mut Words<'_>, legacy: bool) -> Option<Op> {
    if legacy && words.word("warp").is_some() {
        return words.word("sync").and_then(|()| words.end(Op::WarpSync));
    }
    let cta = words.word("cta").is_some();
    let mode = words.take(|word| Some(word.to_owned()))?;
    let mode = match mode.as_str() {
        "sync" => BarrierMode::Sync,
        "arrive" => BarrierMode::Arrive,
        "red" => {
            let op = words.take(Reduction::from_word)?;
            BarrierMode::Reduce(op)
        }
        _ => return None,
    };
    let aligned = words.word("aligned").is_some() || legacy;
    if let BarrierMode::Reduce(op) = mode {
        let ty = words.take(Type::from_word)?;
        let fits = match op {
            Reduction::Popc => ty == Type::U32,
            Reduction::And | Reduction::Or => ty == Type::Pred,
            _ => false,
        };
        if !fits {
            return None;
        }
    }
    words.end(Op::Barrier(Barrier { mode, legacy, cta, aligned }))
}

fn fence(spelling: &str) -> Option<Op> {
    const WORDS: &[&str] = &[
        "membar",
        "fence",
        "cta",
        "cluster",
        "gl",
        "gpu",
        "sys",
        "sc",
        "acq_rel",
        "acquire",
        "release",
        "proxy",
        "async",
        "alias",
        "mbarrier_init",
        "global",
        "shared::cta",
        "shared::cluster",
        "griddepcontrol",
        "wait",
        "launch_dependents",
    ];
    spelling.split('.').all(|word| WORDS.contains(&word)).then(|| Op::Fence(spelling.to_owned()))
}

fn uni(words: &Words<'_>) -> Option<bool> {
    match words.rest {
        "" => Some(false),
        "uni" => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_print_as_they_were_read() {
        for spelling in [
            "setp.lt.s32",
            "setp.lt.and.ftz.f32",
            "set.gt.u32.f32",
            "set.ltu.or.ftz.f32.f32",
            "setp.nan.xor.ftz.f16x2",
            "set.eq.bf16x2.bf16x2",
            "set.eq.u16.f16",
            "add.cc.u32",
            "addc.s64",
            "subc.cc.u32",
            "mad.lo.cc.u64",
            "madc.hi.s32",
            "ld.global.nc.v4.f32",
            "ld.param.u64",
            "ld.volatile.shared.u32",
            "ld.relaxed.gpu.global.L1::no_allocate.L2::128B.b64",
            "ld.s8",
            "st.shared.v2.f64",
            "st.release.sys.global.b32",
            "atom.global.add.u32",
            "atom.acq_rel.gpu.global.cas.b64",
            "atom.add.noftz.f16",
            "atom.relaxed.gpu.global.cas.b128",
            "red.global.add.noftz.L2::cache_hint.v4.bf16x2",
            "red.shared.max.s32",
            "cvta.to.global.u64",
            "cvta.shared.u64",
            "isspacep.shared",
            "shfl.sync.bfly.b32",
            "vote.sync.ballot.b32",
            "vote.sync.any.pred",
            "match.any.sync.b32",
            "redux.sync.add.s32",
            "activemask.b32",
            "bar.sync",
            "bar.red.popc.u32",
            "barrier.cta.sync.aligned",
            "barrier.arrive",
            "bar.warp.sync",
            "membar.gl",
            "fence.acq_rel.gpu",
            "bra.uni",
            "brx.idx",
            "call.uni",
            "ret",
            "exit",
            "nanosleep.u32",
            "prefetch.global.L2",
            "createpolicy.fractional.L2::evict_last.b64",
            "cp.async.cg.shared.global.L2::128B",
            "cp.async.wait_group",
            "cp.async.mbarrier.arrive.noinc.shared.b64",
            "mbarrier.init.shared.b64",
            "mbarrier.arrive.noComplete.release.cta.shared.b64",
            "mbarrier.try_wait.parity.acquire.cta.shared.b64",
            "mbarrier.pending_count.b64",
            "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16",
            "stmatrix.sync.aligned.m8n8.x1.shared.b16",
            "movmatrix.sync.aligned.m8n8.trans.b16",
            "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
            "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32",
            "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16",
            "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16",
            "wmma.mma.sync.aligned.row.col.m16n16k16.s32.u8.u8.s32.satfinite",
            "wmma.store.d.sync.aligned.col.m16n16k16.f32",
            "tex.level.a2d.v4.f32.f32",
            "sust.b.2d.v4.b8.trap",
            "alloca.u64",
            "stackrestore.u64",
            "mapa.shared::cluster.u32",
            "getctarank.u64",
            "elect.sync",
            "griddepcontrol.wait",
        ] {
            assert_eq!(parse(spelling).map(|op| op.to_string()).as_deref(), Some(spelling));
        }
    }

    #[test]
    fn the_order_of_words_that_libcu_writes_is_read_too() {
        let print_again = |spelling| parse(spelling).map(|op| op.to_string());
        assert_eq!(print_again("atom.add.acq_rel.gpu.s32").as_deref(), Some("atom.acq_rel.gpu.add.s32"));
        assert_eq!(print_again("atom.add.global.add.s32"), None);
    }

    #[test]
    fn the_space_may_stand_before_order_and_scope() {
        for (written, printed) in [
            ("red.global.gpu.add.u32", "red.gpu.global.add.u32"),
            ("ld.global.relaxed.sys.u32", "ld.relaxed.sys.global.u32"),
            ("ld.shared::cta.acquire.cta.v2.b32", "ld.acquire.cta.shared.v2.b32"),
            ("ld.global.volatile.u32", "ld.volatile.global.u32"),
            ("st.global.release.sys.u32", "st.release.sys.global.u32"),
            ("atom.global.relaxed.gpu.add.u32", "atom.relaxed.gpu.global.add.u32"),
            ("atom.global.sys.cas.b32", "atom.sys.global.cas.b32"),
            ("atom.shared.cta.add.u32", "atom.cta.shared.add.u32"),
            ("atom.global.gpu.add.noftz.f16x2", "atom.gpu.global.add.noftz.f16x2"),
            ("mbarrier.arrive.shared.release.cta.b64", "mbarrier.arrive.release.cta.shared.b64"),
        ] {
            assert_eq!(parse(written).map(|op| op.to_string()).as_deref(), Some(printed));
        }
        for twice in ["ld.global.relaxed.sys.global.u32", "atom.global.gpu.global.add.u32", "st.global.shared.u32"] {
            assert_eq!(parse(twice), None, "{twice}");
        }
    }

    #[test]
    fn unknown_words_refuse_the_instruction() {
        for spelling in [
            "ld.global.u33",
            "ld.globl.u32",
            "st.shared.v3.f32",
            "atom.global.add.s16",
            "atom.global.add.f16",
            "atom.shared.add.v2.f32",
            "red.global.cas.b32",
            "setp.less.s32",
            "setp.lt.nand.s32",
            "setp.lt.s32x2",
            "set.lt.u16.f32",
            "set.lt.f16x2.f16",
            "addc.lo.u32",
            "mad.cc.u32",
            "sub.cc.u16",
            "shfl.bfly.b32",
            "bar.wait",
            "wgmma.fence",
            "cp.async.bulk.commit_group",
            "mbarrier.arrive.expect_tx.shared.b64",
            "mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32",
            "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f16",
            "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
            "setmaxnreg.inc.sync.aligned.u32",
            "barrier.cluster.arrive",
            "tex.2d.v4.f32.s32",
            "bra.maybe",
            "",
            ".",
        ] {
            assert_eq!(parse(spelling), None, "{spelling}");
        }
    }

    #[test]
    fn orders_that_an_access_cannot_have_are_refused() {
        assert_eq!(parse("ld.acq_rel.gpu.global.u32"), None);
        assert_eq!(parse("atom.weak.global.add.u32"), None);
    }
}
