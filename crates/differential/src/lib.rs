//! The same faults on the simulator and on a real GPU, one by one: differential testing of the machine.
//!
//! ```text
//! faults ─▶ batches: those of one operand of one static instruction share a rewritten module   (plan)
//!        ─▶ observations of the simulator                                                    (simulated)
//! batches ─▶ worker processes, each with a machine: load, repeat with each fault, tell         (pool, worker)
//!        ─▶ rows, kept as they come                                                           (rows)
//!        ─▶ where both agree, and where they do not                                           (agreement)
//! ```
//!
//! A fault is [written into the kernel](rewrite) and the capsule repeated from its start, on a [`Machine`]: the GPU
//! through its driver, or the simulator, where both sides must see the same, which proves the rewriting. What a run left
//! is judged by the code that judges the simulator's. A crash costs the machine's session, a hang the process.
//! What a machine said is kept, and put beside what the simulator says at any time (`again`).
//!
//! Why it is so: `docs/design/gpu-faults.md`.

mod again;
mod agreement;
mod compare;
mod hardware;
mod machine;
mod placement;
mod plan;
mod pool;
mod protocol;
mod row;
mod rows;
mod simulated;
mod simulator;
mod texts;
mod worker;

pub use again::again;
pub use agreement::{Agreement, CodePair, Disagreement, EndPair, Share};
pub use compare::{CompareError, Progress, compare};
pub use hardware::Hardware;
pub use machine::{Armed, Ended, Machine, Next, Repeated, Session};
pub use placement::check_relocatable;
pub use plan::{Plan, PlannedBatch, PlannedFault, plan};
pub use pool::{Pool, PoolError, PoolEvent};
pub use protocol::{Answer, BatchOrder, FaultOrder, HardwareEnd, MachineInfo};
pub use row::{LATE, Row, Simulated, SimulatedEnd};
pub use rows::{Header, Rows, RowsError};
pub use simulated::simulate;
pub use simulator::Simulator;
pub use texts::Texts;
pub use worker::work;
