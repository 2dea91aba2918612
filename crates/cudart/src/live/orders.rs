//! What the process of a live run is told when it starts.

use crate::live::corruption::Corruption;
use device::{AddressProfile, Interleavings};
use std::fmt;
use std::sync::Arc;

/// The variable that holds it.
pub const VARIABLE: &str = "BEAMLINE_LIVE";

/// What the process of a live run is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Orders {
    /// The file that holds the trace, by its number.
    pub trace: i32,
    /// The file that takes the report.
    pub report: i32,
    /// The process that watches. Who was not started by it has nothing to do with the run.
    pub parent: u32,
    /// Instructions that a thread may execute beyond a multiple of its fault-free ones before it is stopped.
    pub fuel: u32,
    /// Instructions that it may execute beyond these in loops of which it is known when they end.
    pub loops: u64,
    /// What becomes of accesses that miss what the program was given.
    pub addresses: Arc<AddressProfile>,
    /// Kernels that have data races: they run with their warps interleaved.
    pub interleaved: Interleavings,
    /// Launches before the faulty one are replayed, not executed.
    pub replay: bool,
    /// The id of the fault; without one the application runs as recorded.
    pub fault: Option<String>,
    /// What becomes of the bytes that the host gets after the last launch of the golden run, in a trial.
    pub corruption: Option<Corruption>,
}

impl fmt::Display for Orders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { trace, report, parent, fuel, loops, addresses, interleaved, replay, fault, corruption } = self;
        write!(
            f,
            "trace={trace} report={report} parent={parent} fuel={fuel} loops={loops} replay={}",
            u8::from(*replay)
        )?;
        // In one word each: names of profiles and of kernels have no spaces.
        write!(f, " addresses={}", serde_json::to_string(&**addresses).map_err(|_| fmt::Error)?)?;
        write!(f, " interleaved={}", serde_json::to_string(interleaved).map_err(|_| fmt::Error)?)?;
        fault.as_ref().map_or(Ok(()), |fault| write!(f, " fault={fault}"))?;
        corruption.map_or(Ok(()), |corruption| write!(f, " corruption={corruption}"))
    }
}

impl Orders {
    /// Reads them; `None` if they are none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let value = |key: &str| text.split(' ').find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
        Some(Self {
            trace: value("trace")?.parse().ok()?,
            report: value("report")?.parse().ok()?,
            parent: value("parent")?.parse().ok()?,
            fuel: value("fuel")?.parse().ok()?,
            loops: value("loops")?.parse().ok()?,
            addresses: serde_json::from_str(value("addresses")?).map(Arc::new).ok()?,
            interleaved: serde_json::from_str(value("interleaved")?).ok()?,
            replay: value("replay")? == "1",
            fault: value("fault").map(str::to_owned),
            corruption: value("corruption").map(str::parse).transpose().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simt::Interleaving;

    #[test]
    fn orders_are_read_as_they_were_given() {
        let fault = Some("launch=3,cta=1,thread=0,dyn=4,target=dst0,model=flip,bits=3".to_owned());
        for fault in [fault, None] {
            let addresses = Arc::new(AddressProfile::strict());
            let (replay, interleaved) = (fault.is_none(), [("k".to_owned(), Interleaving::Warps)].into());
            let orders = Orders {
                trace: 5,
                report: 6,
                parent: 77,
                fuel: 10_000,
                loops: 9,
                addresses,
                interleaved,
                replay,
                fault,
                corruption: replay.then_some(Corruption::Words),
            };
            assert_eq!(Orders::parse(&orders.to_string()), Some(orders));
        }
        assert_eq!(Orders::parse("trace=5 report=x parent=3 fuel=0 loops=0 replay=1"), None);
        assert_eq!(Orders::parse(""), None);
    }
}
