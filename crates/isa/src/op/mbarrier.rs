//! Barrier objects in shared memory: `mbarrier`.

use super::modifiers::{self, Words, dotted};
use super::operand::{OperandKind, Signature, sources};
use crate::types::{Space, Type, words};
use facts::{MemoryOrder, MemoryScope};
use std::fmt;

/// An instruction of the `mbarrier` family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mbarrier {
    /// What is done to the barrier object.
    pub op: MbarrierOp,
    /// Promise about order. `None`: not written.
    pub order: Option<MemoryOrder>,
    /// Scope of that promise.
    pub scope: Option<MemoryScope>,
    /// The state space that the object is addressed in.
    pub space: Space,
}

words! {
    /// What is done to a barrier object.
    MbarrierOp {
        Init = "init", Inval = "inval", Arrive = "arrive", ArriveNoComplete = "arrive.noComplete",
        ArriveDrop = "arrive_drop", ArriveDropNoComplete = "arrive_drop.noComplete",
        TestWait = "test_wait", TestWaitParity = "test_wait.parity",
        TryWait = "try_wait", TryWaitParity = "try_wait.parity", PendingCount = "pending_count",
    }
}

/// Reads what follows `mbarrier`.
pub(super) fn parse(words: &mut Words<'_>) -> Option<Mbarrier> {
    let head = words.take(|word| Some(word.to_owned()))?;
    let variant = words.take(|word| matches!(word, "noComplete" | "parity").then(|| format!(".{word}")));
    let op = MbarrierOp::from_word(&format!("{head}{}", variant.unwrap_or_default()))?;
    let (order, scope, space) = words.ordered_space();
    words.word("b64")?;
    let ordered = order.is_some() == scope.is_some()
        && match op {
            MbarrierOp::Init | MbarrierOp::Inval | MbarrierOp::PendingCount => order.is_none(),
            MbarrierOp::TestWait | MbarrierOp::TestWaitParity | MbarrierOp::TryWait | MbarrierOp::TryWaitParity => {
                matches!(order, None | Some(MemoryOrder::Acquire | MemoryOrder::Relaxed))
            }
            _ => matches!(order, None | Some(MemoryOrder::Release | MemoryOrder::Relaxed)),
        };
    let fits = matches!(space, Space::Generic | Space::Shared);
    if ordered && fits { words.end(Mbarrier { op, order, scope, space }) } else { None }
}

impl Mbarrier {
    pub(super) fn signature(&self) -> Signature {
        use OperandKind::{Address, Value};
        let (word, state) = (Value(Type::B32), Value(Type::B64));
        let (dst, src, optional_src) = match self.op {
            MbarrierOp::Init => (vec![], vec![Address, word], 0),
            MbarrierOp::Inval => (vec![], vec![Address], 0),
            MbarrierOp::Arrive | MbarrierOp::ArriveDrop => (vec![state], vec![Address, word], 1),
            MbarrierOp::ArriveNoComplete | MbarrierOp::ArriveDropNoComplete => (vec![state], vec![Address, word], 0),
            MbarrierOp::TestWait => (vec![Value(Type::Pred)], vec![Address, state], 0),
            MbarrierOp::TestWaitParity => (vec![Value(Type::Pred)], vec![Address, word], 0),
            // The last says how long a thread may be suspended.
            MbarrierOp::TryWait => (vec![Value(Type::Pred)], vec![Address, state, word], 1),
            MbarrierOp::TryWaitParity => (vec![Value(Type::Pred)], vec![Address, word, word], 1),
            MbarrierOp::PendingCount => (vec![word], vec![state], 0),
        };
        Signature { optional_src, ..Signature::new(dst, sources(src)) }
    }
}

impl fmt::Display for Mbarrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (order, scope) = (dotted(self.order), dotted(self.scope));
        write!(f, "mbarrier.{}{order}{scope}{}.b64", self.op, modifiers::space(self.space))
    }
}
