//! The state spaces as types.

use super::address::Address;
use super::executing::{LaneTrap, Memories};
use super::order::StoreOrder;
use super::word::Word;
use super::{block, global};
use crate::trap::TrapKind;
use ::lanes::registers::LANES;

/// How an access ends.
pub(super) type Done = Result<(), LaneTrap>;

/// A state space as a type.
pub(super) trait Memory {
    /// Whether 32-bit addresses are common here.
    const NARROW: bool;
    /// Whether addresses without a register are common here.
    const FIXED: bool;
    /// The bytes of a whole warp at neighbouring elements, if it is one and they lie together; nobody is told that they are
    /// read.
    fn row<'m, W: Word, A: Address>(memories: &'m mut Memories<'_>, at: A, mask: u32) -> Option<&'m [u8]>;
    /// Loads an element for the lanes of the mask.
    fn gather<W: Word, A: Address>(memories: &mut Memories<'_>, at: A, mask: u32, words: &mut [W; LANES]) -> Done;
    /// Stores an element for the lanes of the mask in an order.
    fn scatter<W: Word, A: Address>(
        memories: &mut Memories<'_>,
        at: A,
        mask: u32,
        words: &[W; LANES],
        order: StoreOrder,
    ) -> Done;
}

macro_rules! memory {
    ($name:ident, $narrow:literal, $fixed:literal, |$m:ident, $at:ident, $mask:ident, $words:ident, $order:ident| $row:expr, $gather:expr, $scatter:expr) => {
        pub(super) struct $name;
        impl Memory for $name {
            const NARROW: bool = $narrow;
            const FIXED: bool = $fixed;
            #[inline(always)]
            fn row<'m, W: Word, A: Address>($m: &'m mut Memories<'_>, $at: A, $mask: u32) -> Option<&'m [u8]> {
                $row
            }
            #[inline(always)]
            fn gather<W: Word, A: Address>($m: &mut Memories<'_>, $at: A, $mask: u32, $words: &mut [W; LANES]) -> Done {
                $gather
            }
            #[inline(always)]
            fn scatter<W: Word, A: Address>(
                $m: &mut Memories<'_>,
                $at: A,
                $mask: u32,
                $words: &[W; LANES],
                $order: StoreOrder,
            ) -> Done {
                $scatter
            }
        }
    };
}
memory!(
    Global,
    false,
    false,
    |m, at, mask, words, order| global::row::<W, A>(m.global, at, mask),
    global::gather(m.global, at, mask, words),
    global::scatter(m.global, at, mask, words, order)
);
memory!(
    Const,
    false,
    true,
    |m, at, mask, words, order| global::row::<W, A>(m.global, at, mask),
    global::gather_const(m.global, at, mask, words),
    global::scatter(m.global, at, mask, words, order)
);
memory!(
    Shared,
    true,
    false,
    |m, at, mask, words, order| block::row::<W, A>(m.shared, at, mask),
    block::gather(m.shared, at, mask, words),
    block::scatter(m.shared, at, mask, words, order)
);
memory!(
    Local,
    false,
    false,
    |m, at, mask, words, order| {
        let _ = (m, at, mask);
        None
    },
    block::gather_local(m, at, mask, words),
    {
        // Each lane has its own.
        let _ = order;
        block::scatter_local(m, at, mask, words)
    }
);
memory!(
    Params,
    false,
    true,
    |m, at, mask, words, order| block::row::<W, A>(m.params, at, mask),
    block::gather(m.params, at, mask, words),
    {
        // Kernel parameters are read-only.
        let (_, lane) = ((m, words, order), mask.trailing_zeros() as usize % LANES);
        Err(LaneTrap::at(TrapKind::IllegalAddress, lane, at.at(lane)))
    }
);
