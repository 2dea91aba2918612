//! From what a profiler counted to the issue rates that `beamline fit` takes.

use crate::repo::{root, say};
use anyhow::{Context, Result, ensure};
use capsule::Capsule;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

/// What `probes/issue.sh` printed, and the profile that is made of it.
const COUNTED: &str = "records/issue/h200.csv";
const PROFILE: &str = "profiles/issue/h200.toml";

/// The head of the profile.
const HEAD: &str = "\
# How many instructions a multiprocessor of an NVIDIA H200 issues in a cycle while a warp is resident, by bundled workload: instructions of
# all its kernels divided by their cycles. `cargo xtask issue` makes this file from records/issue/h200.csv; records/issue.md says how
# that was measured.
name = \"H200\"
source = \"\"\"
sm__inst_issued.sum / sm__cycles_active.sum over all launches, Nsight Compute 2025.3.1 on an NVIDIA H200 (driver 580.159.04), the PTX of
the capsules assembled for sm_90.\"\"\"
";

/// Digits of a capsule's digest that tell it from any other.
const DIGITS: usize = 16;

/// Writes the profile.
pub(crate) fn issue() -> Result<()> {
    let text = fs::read_to_string(root().join(COUNTED)).with_context(|| format!("read {COUNTED}"))?;
    let mut counted: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let parts: Vec<&str> = line.split(',').collect();
        let [workload, _, _, issued, cycles] = *parts else {
            anyhow::bail!("read {COUNTED}: `{line}` has not five columns")
        };
        let all = counted.entry(workload).or_default();
        for (all, part) in all.iter_mut().zip([issued, cycles]) {
            *all += part.parse::<u64>().with_context(|| format!("read {COUNTED}: `{line}`"))?;
        }
    }
    ensure!(!counted.is_empty(), "read {COUNTED}: it has no rows");
    let mut profile = HEAD.to_owned();
    for (name, [issued, cycles]) in counted {
        let path = root().join("workloads").join(name).join(format!("{name}.capsule"));
        let digest: String = Capsule::open(&path)?.digest().to_string().chars().take(DIGITS).collect();
        let rate = issued as f64 / cycles as f64;
        write!(profile, "\n[[workload]]\nname = \"{name}\"\nrate = {rate:.4}\ndigest = \"{digest}\"\n")?;
    }
    fs::write(root().join(PROFILE), profile).with_context(|| format!("write {PROFILE}"))?;
    say(&format!("wrote {PROFILE}"))
}
