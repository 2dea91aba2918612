//! How instructions are written: [`Op`] to `ld.global.nc.v4.f32`. The reverse of [`spelling`](super::spelling).

use super::modifiers::{dotted, space, vector};
use super::{Access, Barrier, BarrierMode, Cluster, Comparison, Extended, Op, Reduction, Vote};
use std::borrow::Cow;
use std::fmt;

impl Op {
    /// How it is spelled. Lines of the table have their spellings already.
    #[must_use]
    pub fn spelling(&self) -> Cow<'static, str> {
        match self {
            Self::Alu(form) => Cow::Borrowed(form.spelling()),
            Self::Setp(Comparison { compare, combine: None, pair: false }) => Cow::Borrowed(compare.spelling()),
            other => Cow::Owned(print(other)),
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.spelling())
    }
}

/// The spelling of an operation.
#[must_use]
pub fn print(op: &Op) -> String {
    let dot = |uni: bool| if uni { ".uni" } else { "" };
    match op {
        Op::Alu(form) => form.spelling().to_owned(),
        Op::Setp(comparison) => comparison.print(),
        Op::Set(comparison, to) => {
            let setp = comparison.print();
            let (head, from) = setp.rsplit_once('.').unwrap_or((&setp, ""));
            format!("{}.{to}.{from}", head.replacen("setp", "set", 1))
        }
        Op::Lop3(combine) => format!("lop3.{combine}.b32"),
        Op::Extended(extended) => print_extended(*extended),
        Op::MovVector(ty) => format!("mov.{ty}"),
        Op::Ld(access) => format!("ld{}{}", if access.uniform { "u" } else { "" }, print_access(access)),
        Op::St(access) => format!("st{}", print_access(access)),
        Op::Atom(atom) => format!("atom{atom}"),
        Op::Red(atom) => format!("red{atom}"),
        Op::CopyAsync(copy) => copy.to_string(),
        Op::Mbarrier(mbarrier) => mbarrier.to_string(),
        Op::Fetch(fetch) => fetch.to_string(),
        Op::Surface(surface) => surface.to_string(),
        Op::Matrix(matrix) => matrix.to_string(),
        Op::Alloca(ty) => format!("alloca.{ty}"),
        Op::StackSave(ty) => format!("stacksave.{ty}"),
        Op::StackRestore(ty) => format!("stackrestore.{ty}"),
        Op::Mapa(it) => format!("mapa{}", cluster(*it)),
        Op::Getctarank(it) => format!("getctarank{}", cluster(*it)),
        Op::Elect => "elect.sync".to_owned(),
        Op::CreatePolicy(spelling) | Op::Prefetch(spelling) | Op::Fence(spelling) | Op::Event(spelling) => {
            spelling.clone()
        }
        Op::Cvta { to, space, ty } => format!("cvta{}.{space}.{ty}", if *to { ".to" } else { "" }),
        Op::Isspacep(space) => format!("isspacep.{space}"),
        Op::Shfl(mode) => format!("shfl.sync.{mode}.b32"),
        Op::Vote(Vote::Ballot) => "vote.sync.ballot.b32".to_owned(),
        Op::Vote(mode) => format!("vote.sync.{mode}.pred"),
        Op::Match { all, ty } => format!("match.{}.sync.{ty}", if *all { "all" } else { "any" }),
        Op::Redux(op, ty) => format!("redux.sync.{op}.{ty}"),
        Op::Activemask => "activemask.b32".to_owned(),
        Op::Barrier(barrier) => print_barrier(*barrier),
        Op::WarpSync => "bar.warp.sync".to_owned(),
        Op::Bra { uni, .. } => format!("bra{}", dot(*uni)),
        Op::BrxIdx { uni, .. } => format!("brx.idx{}", dot(*uni)),
        Op::Call(call) => format!("call{}", dot(call.uni)),
        Op::Ret { uni } => format!("ret{}", dot(*uni)),
        Op::Exit => "exit".to_owned(),
        Op::Trap => "trap".to_owned(),
        Op::Brkpt => "brkpt".to_owned(),
        Op::Nanosleep => "nanosleep.u32".to_owned(),
    }
}

/// `madc.hi.cc.u32`
fn print_extended(extended: Extended) -> String {
    let (name, half) = extended.step.word().split_at(3);
    let carry = if extended.reads { "c" } else { "" };
    let cc = if extended.writes { ".cc" } else { "" };
    format!("{name}{carry}{half}{cc}.{}", extended.ty)
}

fn print_access(access: &Access) -> String {
    let mmio = if access.mmio { ".mmio" } else { "" };
    let vector = vector(access.vector);
    let (order, scope) = (dotted(access.order), dotted(access.scope));
    format!("{mmio}{order}{scope}{}{}{vector}.{}", space(access.space), access.cache, access.ty)
}

fn cluster(it: Cluster) -> String {
    format!("{}.{}", if it.shared { ".shared::cluster" } else { "" }, it.ty)
}

fn print_barrier(barrier: Barrier) -> String {
    let head = if barrier.legacy { "bar" } else { "barrier" };
    let cta = if barrier.cta { ".cta" } else { "" };
    let aligned = if barrier.aligned && !barrier.legacy { ".aligned" } else { "" };
    match barrier.mode {
        BarrierMode::Sync => format!("{head}{cta}.sync{aligned}"),
        BarrierMode::Arrive => format!("{head}{cta}.arrive{aligned}"),
        BarrierMode::Reduce(op) => {
            let ty = if op == Reduction::Popc { "u32" } else { "pred" };
            format!("{head}{cta}.red.{op}{aligned}.{ty}")
        }
    }
}
