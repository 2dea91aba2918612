//! The times that protection was measured to cost, on a GPU and on a CPU.

use study::{Cell, Table};

/// As `crates/nn/gpu/filr_cost.cu` writes it; records/filr.md says on which GPU.
const GPU: &str = include_str!("../../../../records/filr/gpu_cost.csv");

/// As `crates/nn/train/protected_cost.py` writes it.
const CPU: &str = include_str!("../../../../records/filr/cpu_cost.csv");

/// A measured overhead: of what, and the median with its interval.
struct Overhead {
    network: String,
    protection: String,
    /// Images at once.
    batch: u64,
    /// The overhead in multiplications, 0 to 1.
    macs: f64,
    time: [f64; 3],
}

/// The rows of a GPU, launched as graphs.
fn gpu() -> Vec<Overhead> {
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |at: usize| cells.get(at)?.parse::<f64>().ok();
        (cells.get(10) == Some(&"graph")).then_some(())?;
        let protection = match *cells.get(1)? {
            "filr" => "FILR".to_owned(),
            share => format!("FLR at {} %", share.parse::<f64>().ok()? * 100.0),
        };
        let (network, batch) = ((*cells.first()?).to_owned(), cells.get(2)?.parse().ok()?);
        Some(Overhead { network, protection, batch, macs: number(3)?, time: [number(7)?, number(8)?, number(9)?] })
    };
    GPU.lines().filter_map(row).collect()
}

/// The rows of a CPU.
fn cpu() -> Vec<Overhead> {
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |at: usize| cells.get(at)?.parse::<f64>().ok();
        let protection = match *cells.get(1)? {
            "filr" => "FILR".to_owned(),
            _ => format!("FLR at {} %", number(2)? * 100.0),
        };
        let network = (*cells.first()?).to_owned();
        Some(Overhead { network, protection, batch: 1, macs: number(3)?, time: [number(6)?, number(7)?, number(8)?] })
    };
    CPU.lines().filter_map(row).collect()
}

/// Figure 6.18: overheads in multiplications and in time.
pub(super) fn table() -> Table {
    let columns = [
        "network",
        "feature maps made twice",
        "MACs",
        "time, GPU, 1 image",
        "GPU, 64 images",
        "GPU, 1 024 images",
        "CPU, 1 image",
    ];
    let mut table = Table::new("Overhead of duplicates", &columns);
    let (gpu, cpu) = (gpu(), cpu());
    for it in gpu.iter().filter(|it| it.batch == 1) {
        let of = |all: &[Overhead], batch: u64| {
            let same = |other: &&Overhead| {
                (&other.network, &other.protection, other.batch) == (&it.network, &it.protection, batch)
            };
            let found = all.iter().find(same).map(|it| it.time.map(|share| share * 100.0));
            found.map_or(Cell::None, |[median, low, high]| Cell::Text(format!("{median:.1} ({low:.1} to {high:.1}) %")))
        };
        table.rows.push(vec![
            Cell::text(&it.network),
            Cell::text(&it.protection),
            Cell::Share(it.macs),
            of(&gpu, 1),
            of(&gpu, 64),
            of(&gpu, 1024),
            of(&cpu, 1),
        ]);
    }
    table.notes = vec![
        "Medians of paired ratios less 1, with intervals of at least 95 %. On the GPU only convolutions run, by our INT8 kernels, and are compared in a second \
         stream; on the CPU ONNX Runtime runs the whole protected file on one thread, in samples whose plain times differ by up to a factor of two. FILR without its reruns. \
         2 048 injections into each feature map chose what is made twice: more of them choose more for FILR, as above, which then costs more."
            .to_owned(),
    ];
    table
}

/// The times of the combinations of FILR, in words.
pub(super) fn summary() -> String {
    let of = |all: Vec<Overhead>| {
        let filr = all.into_iter().filter(|it| it.protection == "FILR" && it.batch == 1);
        filr.map(|it| format!("{} {:.1} %", it.network, it.time[0] * 100.0)).collect::<Vec<_>>().join(", ")
    };
    format!("CPU: {}; GPU: {}", of(cpu()), of(gpu()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_measured_row_is_read() {
        let rows = |text: &str| text.lines().filter(|line| !line.starts_with('#')).count() - 1;
        assert_eq!((gpu().len() * 2, cpu().len()), (rows(GPU), rows(CPU)));
        assert!(gpu().iter().chain(&cpu()).all(|it| it.time[1] <= it.time[0] && it.time[0] <= it.time[2]));
        assert_eq!(table().rows.len(), 12);
    }
}
