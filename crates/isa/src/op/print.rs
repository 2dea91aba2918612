//! How instructions are written: [`Op`] to `ld.global.nc.v4.f32`. The reverse of [`spelling`](super::spelling).

use super::modifiers::{dotted, space, vector};
use super::{Barrier, BarrierMode, Cluster, Comparison, Extended, LoadStore, Op, Reduction, Vote};
use std::borrow::Cow;
use std::fmt;

impl Op {
    /// How it is spelled. Lines of the table have their spellings already.
    #[must_use]
    pub fn spelling(&self) -> Cow<'static, str> {
        match self {
            Self::Alu(form) => Cow::Borrowed(form.spelling()),
            Self::Setp(Comparison { compare, combine: None, pair: false }) => Cow::Borrowed(compare.spelling()),
            other => Cow::Owned(other.to_string()),
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alu(form) => f.write_str(form.spelling()),
            Self::Setp(comparison) => f.write_str(&comparison.print()),
            Self::Set(comparison, to) => {
                let setp = comparison.print();
                let (head, from) = setp.rsplit_once('.').unwrap_or((&setp, ""));
                write!(f, "{}.{to}.{from}", head.replacen("setp", "set", 1))
            }
            Self::Lop3(combine) => write!(f, "lop3.{combine}.b32"),
            Self::Extended(extended) => write_extended(f, *extended),
            Self::MovVector(ty) => write!(f, "mov.{ty}"),
            Self::Ld(access) => write_access(f, if access.uniform { "ldu" } else { "ld" }, access),
            Self::St(access) => write_access(f, "st", access),
            Self::Atom(atom) => write!(f, "atom{atom}"),
            Self::Red(atom) => write!(f, "red{atom}"),
            Self::CopyAsync(copy) => copy.fmt(f),
            Self::Mbarrier(mbarrier) => mbarrier.fmt(f),
            Self::Fetch(fetch) => fetch.fmt(f),
            Self::Surface(surface) => surface.fmt(f),
            Self::Matrix(matrix) => matrix.fmt(f),
            Self::Alloca(ty) => write!(f, "alloca.{ty}"),
            Self::StackSave(ty) => write!(f, "stacksave.{ty}"),
            Self::StackRestore(ty) => write!(f, "stackrestore.{ty}"),
            Self::Mapa(it) => write_cluster(f, "mapa", *it),
            Self::Getctarank(it) => write_cluster(f, "getctarank", *it),
            Self::CreatePolicy(spelling) | Self::Prefetch(spelling) | Self::Fence(spelling) | Self::Event(spelling) => {
                f.write_str(spelling)
            }
            Self::Cvta { to, space, ty } => write!(f, "cvta{}.{space}.{ty}", if *to { ".to" } else { "" }),
            Self::Isspacep(space) => write!(f, "isspacep.{space}"),
            Self::Shfl(mode) => write!(f, "shfl.sync.{mode}.b32"),
            Self::Vote(Vote::Ballot) => f.write_str("vote.sync.ballot.b32"),
            Self::Vote(mode) => write!(f, "vote.sync.{mode}.pred"),
            Self::Match { all, ty } => write!(f, "match.{}.sync.{ty}", if *all { "all" } else { "any" }),
            Self::Redux(op, ty) => write!(f, "redux.sync.{op}.{ty}"),
            Self::Activemask => f.write_str("activemask.b32"),
            Self::Elect => f.write_str("elect.sync"),
            Self::Barrier(barrier) => write_barrier(f, *barrier),
            Self::WarpSync => f.write_str("bar.warp.sync"),
            Self::Bra { uni, .. } => write_branch(f, "bra", *uni),
            Self::BrxIdx { uni, .. } => write_branch(f, "brx.idx", *uni),
            Self::Call(call) => write_branch(f, "call", call.uni),
            Self::Ret { uni } => write_branch(f, "ret", *uni),
            Self::Exit => f.write_str("exit"),
            Self::Trap => f.write_str("trap"),
            Self::Brkpt => f.write_str("brkpt"),
            Self::Nanosleep => f.write_str("nanosleep.u32"),
        }
    }
}

fn write_branch(f: &mut fmt::Formatter<'_>, head: &str, uni: bool) -> fmt::Result {
    write!(f, "{head}{}", if uni { ".uni" } else { "" })
}

/// `madc.hi.cc.u32`
fn write_extended(f: &mut fmt::Formatter<'_>, extended: Extended) -> fmt::Result {
    let (name, half) = extended.step.word().split_at(3);
    let carry = if extended.reads { "c" } else { "" };
    let cc = if extended.writes { ".cc" } else { "" };
    write!(f, "{name}{carry}{half}{cc}.{}", extended.ty)
}

fn write_access(f: &mut fmt::Formatter<'_>, head: &str, access: &LoadStore) -> fmt::Result {
    let mmio = if access.mmio { ".mmio" } else { "" };
    let (order, scope) = (dotted(access.order), dotted(access.scope));
    let (space, vector) = (space(access.space), vector(access.vector));
    write!(f, "{head}{mmio}{order}{scope}{space}{}{vector}.{}", access.cache, access.ty)
}

fn write_cluster(f: &mut fmt::Formatter<'_>, head: &str, it: Cluster) -> fmt::Result {
    write!(f, "{head}{}.{}", if it.shared { ".shared::cluster" } else { "" }, it.ty)
}

fn write_barrier(f: &mut fmt::Formatter<'_>, barrier: Barrier) -> fmt::Result {
    let head = if barrier.legacy { "bar" } else { "barrier" };
    let cta = if barrier.cta { ".cta" } else { "" };
    let aligned = if barrier.aligned && !barrier.legacy { ".aligned" } else { "" };
    match barrier.mode {
        BarrierMode::Sync => write!(f, "{head}{cta}.sync{aligned}"),
        BarrierMode::Arrive => write!(f, "{head}{cta}.arrive{aligned}"),
        BarrierMode::Reduce(op) => {
            let ty = if op == Reduction::Popc { "u32" } else { "pred" };
            write!(f, "{head}{cta}.red.{op}{aligned}.{ty}")
        }
    }
}
