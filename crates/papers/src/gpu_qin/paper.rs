//! What the paper measured, to stand beside what we measure: its Tables I to VI and the numbers of its text.

use facts::Space;

/// A kernel of the paper's Tables I, II, III and V.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaperKernel {
    /// Its name in Table III.
    pub name: &'static str,
    /// The name of its CUDA function, in Table II.
    pub function: &'static str,
    /// The bundled workload that stands for its program.
    pub workload: &'static str,
    /// The kernel of the workload that stands for it.
    pub kernel: &'static str,
    /// Table I: the category, by its numeral.
    pub category: &'static str,
    /// Table II: approximate lines of code.
    pub lines: u32,
    /// Table II: blocks of a grid and threads of a block.
    pub scale: (&'static str, &'static str),
    /// Table II: threads of a launch.
    pub threads: u64,
    /// Table II: launches.
    pub launches: u32,
    /// Table III: injected runs, activated runs, the activation rate, seconds of a run.
    pub injected: u64,
    /// Table III.
    pub activated: u64,
    /// Table III.
    pub activation: f64,
    /// Table III.
    pub seconds: u32,
}

/// Table III has a row for each, in this order.
pub const KERNELS: [PaperKernel; 17] = [
    kernel(
        "AES",
        "aesEncrypt256",
        "aes",
        "encrypt",
        "I",
        400,
        ("257×1×1", "256×1×1"),
        65_792,
        1,
        (2351, 2042, 0.87, 84),
    ),
    kernel(
        "HashGPU-md5",
        "md5 kernel overlap",
        "hash",
        "md5",
        "II",
        1000,
        ("64×1×1", "64×1×1"),
        4096,
        1,
        (2699, 2683, 0.99, 13),
    ),
    kernel(
        "HashGPU-sha1",
        "sha1 kernel overlap",
        "hash",
        "sha1",
        "II",
        1000,
        ("64×1×1", "64×1×1"),
        4096,
        1,
        (2400, 2305, 0.96, 27),
    ),
    kernel(
        "MRI-Q",
        "ComputeQ_GPU",
        "mriq",
        "accumulate",
        "I",
        50,
        ("128×1×1", "256×1×1"),
        32_768,
        3,
        (2830, 2475, 0.87, 123),
    ),
    kernel("MAT", "matrixMul", "matmul", "matmul", "I", 110, ("4×6×1", "32×32×1"), 98_304, 1, (2575, 2186, 0.85, 82)),
    kernel(
        "Transpose",
        "transposeDiagonal",
        "transpose",
        "transpose",
        "I",
        40,
        ("64×64×1", "16×16×1"),
        1_048_576,
        1,
        (2395, 2160, 0.90, 44),
    ),
    kernel(
        "SAD-k0",
        "mb_sad_calc",
        "sad",
        "blocks_4",
        "II",
        220,
        ("44×36×1", "61×1×1"),
        96_624,
        1,
        (2671, 2435, 0.91, 76),
    ),
    kernel(
        "SAD-k1",
        "larger_sad_calc_8",
        "sad",
        "blocks_8",
        "II",
        60,
        ("44×36×1", "61×1×1"),
        96_624,
        1,
        (2208, 2195, 0.99, 26),
    ),
    kernel(
        "SAD-k2",
        "larger_sad_calc_16",
        "sad",
        "blocks_16",
        "II",
        50,
        ("11×9×1", "32×4×1"),
        13_464,
        1,
        (2627, 2618, 1.00, 12),
    ),
    kernel(
        "Stencil",
        "block2D_hybrid_coarsen_x",
        "stencil",
        "sweep",
        "II",
        100,
        ("2×32×1", "32×4×1"),
        8192,
        5,
        (2426, 2148, 0.89, 31),
    ),
    kernel(
        "SCAN-block",
        "scanExclusiveShared",
        "scan",
        "scan_tiles",
        "II",
        70,
        ("6656×1×1", "256×32×1"),
        54_525_952,
        1,
        (1083, 1080, 0.99, 710),
    ),
    kernel(
        "MonteCarlo",
        "MonteCarloOneBlockPerOption",
        "montecarlo",
        "simulate",
        "II",
        40,
        ("32×1×1", "256×1×1"),
        8192,
        1,
        (3744, 2723, 0.73, 66),
    ),
    kernel(
        "MergeSort-k0",
        "mergeSortSharedKernel",
        "mergesort",
        "sort_tiles",
        "I",
        50,
        ("4096×1×1", "512×1×1"),
        2_097_152,
        1,
        (1930, 1884, 0.98, 359),
    ),
    kernel("BFS", "Kernel", "bfs", "expand", "III", 20, ("8×1×1", "512×1×1"), 4096, 8, (2334, 2330, 1.00, 22)),
    kernel(
        "PageRank",
        "page_rank_incoming_kernel",
        "pagerank",
        "pull",
        "III",
        40,
        ("9468×1×1", "512×1×1"),
        4_847_616,
        5,
        (2039, 1740, 0.8537, 68),
    ),
    kernel(
        "SSSP",
        "sssp_vwarp_kernel",
        "sssp",
        "relax",
        "III",
        40,
        ("9×1×1", "512×1×1"),
        3708,
        9,
        (1845, 1572, 0.85, 14),
    ),
    kernel(
        "LBM",
        "performStreamCollide",
        "lbm",
        "stream_collide",
        "II",
        150,
        ("120×150×1", "120×1×1"),
        2_160_000,
        100,
        (1895, 1845, 0.97, 165),
    ),
];

#[expect(clippy::too_many_arguments, reason = "the columns of a table")]
const fn kernel(
    name: &'static str,
    function: &'static str,
    workload: &'static str,
    kernel: &'static str,
    category: &'static str,
    lines: u32,
    scale: (&'static str, &'static str),
    threads: u64,
    launches: u32,
    (injected, activated, activation, seconds): (u64, u64, f64, u32),
) -> PaperKernel {
    PaperKernel {
        name,
        function,
        workload,
        kernel,
        category,
        lines,
        scale,
        threads,
        launches,
        injected,
        activated,
        activation,
        seconds,
    }
}

/// Table I: a category, its groups, the groups that are profiled, the share of the threads that they cover.
pub const CATEGORIES: [(&str, &str, &str, &str); 3] =
    [("I", "1", "1", "100 %"), ("II", "2–10", "1–4", "95–100 %"), ("III", "> 10", "2", "> 60 %")];

/// A group of threads in Table IV.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MonteGroup {
    /// The share of the threads.
    pub share: f64,
    /// Dynamic instructions of a thread.
    pub instructions: u32,
    /// Activated trials; none of the group that is left out.
    pub trials: Option<u64>,
    /// The SDC rate.
    pub sdc: Option<f64>,
    /// The crash rate.
    pub crash: Option<f64>,
}

/// Table IV: the groups of MONTE.
pub const MONTE: [MonteGroup; 5] = [
    MonteGroup { share: 0.5, instructions: 2006, trials: Some(1368), sdc: Some(0.006), crash: Some(0.238) },
    MonteGroup { share: 0.25, instructions: 2013, trials: Some(1122), sdc: Some(0.0044), crash: Some(0.218) },
    MonteGroup { share: 0.125, instructions: 2020, trials: Some(970), sdc: Some(0.0046), crash: Some(0.215) },
    MonteGroup { share: 0.1211, instructions: 2067, trials: Some(854), sdc: Some(0.0052), crash: Some(0.226) },
    MonteGroup { share: 0.0039, instructions: 2076, trials: None, sdc: None, crash: None },
];

/// The SDC rate of MONTE with equations 4 and 5, in the text beside Table IV.
pub const MONTE_BOUNDS: (f64, f64) = (0.003, 0.011);

/// Table V: a class, its kernels, its SDC rates, the operation that explains them.
pub const DWARFS: [(&str, &str, &str, &str); 6] = [
    ("Linear algebra", "Transpose, MAT, LBM, SCAN-block, SAD-k0, SAD-k1, SAD-k2", "15–25 %", "none given"),
    ("Structured grids", "Stencil", "6 %", "average-out effect"),
    ("Graph traversal", "BFS, PageRank, SSSP", "2.5–11 %", "overwrite"),
    ("Monte Carlo", "MONTE", "1 %", "average-out effect"),
    ("Combinational logic", "HashGPU-md5, HashGPU-sha1, AES", "25–38 %", "bit-wise operation"),
    ("Backtrack and branch+bound", "MergeSort-k0", "6 %", "search-based"),
];

/// An exception of Table VI.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exception {
    /// Its name there.
    pub name: &'static str,
    /// When it occurs.
    pub meaning: &'static str,
    /// The word for it in our rows.
    pub word: &'static str,
    /// The state spaces that the paper speaks of; empty for any.
    pub spaces: &'static [Space],
}

/// Table VI.
pub const EXCEPTIONS: [Exception; 4] = [
    Exception {
        name: "Lane user stack overflow",
        meaning: "a thread exceeds its stack memory limit",
        word: "stack_overflow",
        spaces: &[],
    },
    Exception {
        name: "Warp out-of-range address",
        meaning: "a thread of a warp accesses an out-of-bounds local or shared address",
        word: OUT_OF_RANGE,
        spaces: &[Space::Local, Space::Shared],
    },
    Exception {
        name: "Warp misaligned address",
        meaning: "a thread of a warp accesses an incorrectly aligned local or shared address",
        word: MISALIGNED,
        spaces: &[Space::Local, Space::Shared],
    },
    Exception {
        name: "Device illegal address",
        meaning: "a thread accesses an out-of-bounds global address",
        word: ILLEGAL,
        spaces: &[Space::Global],
    },
];

/// Our word for the warp's out-of-range address.
pub const OUT_OF_RANGE: &str = "out_of_range_address";
/// Our word for the warp's misaligned address.
pub const MISALIGNED: &str = "misaligned_address";
/// Our word for the device's illegal address.
pub const ILLEGAL: &str = "illegal_address";

/// Fig. 9: a kernel, the shares of its crashes that are out-of-range and illegal addresses together, and misaligned ones. Which of the
/// first two is which (46 and 53 % of AES, 33 and 50 % of MAT) does not follow from the text of the figure; nor does whether the
/// last hundredth of AES is misaligned or a stack overflow.
pub const CAUSES: [(&str, f64, Option<f64>); 2] = [("AES", 0.99, None), ("MAT", 0.83, Some(0.16))];

/// The most iterations of a loop that the text names (§IV-B, Fig. 5).
pub const ITERATIONS: [(&str, u32); 2] = [("MAT", 128), ("MRI-Q", 512)];
/// Faults that are not read within the window (§IV-B), of the injected ones of Table III.
pub const OVERRUNS: [(&str, u64); 3] = [("HashGPU-sha1", 2), ("MAT", 36), ("MRI-Q", 29)];
/// By how much crash rates vary between groups (§IV-B).
pub const GROUP_SPREADS: [(&str, f64); 4] = [("Stencil", 0.05), ("LBM", 0.10), ("SCAN-block", 0.10), ("BFS", 0.25)];
/// Groups that the text counts (§III-A, §IV-B).
pub const GROUPS: [(&str, u64); 4] = [("SAD-k0", 5), ("MonteCarlo", 5), ("LBM", 2), ("BFS", 79)];
/// Shares of the most popular group that the text names (§III-A); of BFS, about.
pub const POPULAR: [(&str, f64); 2] = [("LBM", 0.84), ("BFS", 0.60)];
/// The least share of threads that do the same (§III-A).
pub const UNIFORM: (f64, [&str; 2]) = (0.90, ["PageRank", "SSSP"]);
/// Two groups of SAD-k0 (§IV-B): the difference of their instructions, as a share, and of their rates.
pub const SAD_GROUPS: (f64, f64) = (0.02, 0.01);
/// The most runs that are discarded, as a share (§III-C).
pub const DISCARDED: f64 = 0.01;
/// The largest hang rate (§IV-C).
pub const HANGS: f64 = 0.01;

/// The paper's ranges over all kernels (§IV-C): SDC, crash, and failure of any kind.
pub const SDC_RANGE: (f64, f64) = (0.007, 0.38);
/// Crash rates, from the least to the most.
pub const CRASH_RANGE: (f64, f64) = (0.06, 0.71);
/// Failures: SDC, crash or hang; the least of Monte Carlo, the most of SCAN.
pub const FAILURE_RANGE: (f64, f64) = (0.24, 0.91);
/// The mean failure rate.
pub const FAILURE_MEAN: f64 = 0.65;
/// SDC rates that the text names (§IV-D): merge sort; Monte Carlo, at most.
pub const LOW_SDC: (f64, f64) = (0.06, 0.01);
/// Kernels whose SDC rates are said to be similar (§IV-C).
pub const SIMILAR: [(&str, &str); 2] = [("HashGPU-md5", "HashGPU-sha1"), ("SAD-k1", "SAD-k2")];
/// Share of state that can be injected into (appendix B): mean, most (MAT), least (SCAN).
pub const INJECTABLE: (f64, f64, f64) = (0.9423, 0.9630, 0.8540);
/// The best linear model of SDC rates by instruction mix (§IV-D): R² and p.
pub const REGRESSION: (f64, f64) = (0.5, 0.04);

/// The name in Table III of a kernel that Table V may call by the name of its program.
#[must_use]
pub fn kernel_name(name: &str) -> &str {
    if name == "MONTE" { "MonteCarlo" } else { name }
}
