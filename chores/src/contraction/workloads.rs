//! The kernels of the workloads: whether sums are joined in them, by us and by ptxas.

use super::sass;
use crate::ptxas;
use crate::repo::say;
use crate::tools::Tools;
use anyhow::{Result, ensure};
use isa::Contraction;

/// Compares, and prints those that have any.
pub(super) fn compare(tools: &Tools) -> Result<()> {
    let (mut kernels, mut wrong) = (0, Vec::new());
    for (name, text) in ptxas::recorded()? {
        let module = ptx::parse(&name, &text).map_err(|errors| anyhow::anyhow!("{errors}"))?;
        let text = ptx::print(&module);
        let (joined, apart) = (tools.listing(&text, &[])?, tools.listing(&text, &["--fmad", "false"])?);
        for kernel in module.functions.iter().filter(|function| function.kernel) {
            kernels += 1;
            let contraction = Contraction::of(kernel);
            let fused = |listing| sass::fused(listing, &kernel.name).unwrap_or(0);
            let more = fused(&joined).saturating_sub(fused(&apart));
            let (sums, products) = (contraction.sums.len(), contraction.products.len());
            let what = format!(
                "{name}, {}: we join {sums} sums with {products} products, ptxas makes {more} instructions more fused ones",
                kernel.name
            );
            if (sums == 0) == (more == 0) {
                if sums > 0 {
                    say(&what)?;
                }
            } else {
                wrong.push(what);
            }
        }
    }
    ensure!(wrong.is_empty(), "{} of {kernels} kernels of workloads differ:\n{}", wrong.len(), wrong.join("\n"));
    say(&format!("of the {kernels} kernels of workloads ptxas joins sums in those in which we do"))
}
