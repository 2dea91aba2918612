//! The numbers of the chapter: A. Mahmoud's thesis, Chapter 2 (Approxilyzer and gem5-Approxilyzer).

/// A row of Table 2.3.
pub(super) struct PrunedSites {
    /// The application.
    pub(super) application: &'static str,
    /// Its error sites, as the table writes them.
    pub(super) sites: &'static str,
    /// The share that control equivalence prunes.
    pub(super) control: f64,
    /// The share that store equivalence prunes.
    pub(super) store: f64,
    /// The share that all techniques together prune.
    pub(super) all: f64,
}

/// Table 2.3.
pub(super) const PRUNED: [PrunedSites; 5] = [
    PrunedSites { application: "Blackscholes", sites: "232 K", control: 0.1224, store: 0.0945, all: 0.5677 },
    PrunedSites { application: "Swaptions", sites: "10.3 M", control: 0.5247, store: 0.0785, all: 0.9301 },
    PrunedSites { application: "LU", sites: "1.2 M", control: 0.2349, store: 0.2272, all: 0.7791 },
    PrunedSites { application: "FFT", sites: "4.4 M", control: 0.4399, store: 0.2150, all: 0.9505 },
    PrunedSites { application: "Sobel", sites: "85.3 M", control: 0.6274, store: 0.2094, all: 0.9965 },
];

/// The applications of Figures 2.3 to 2.8, which ran on SPARC.
pub(super) const OF_FIGURES: [&str; 5] = ["Blackscholes", "Swaptions", "LU", "Water", "FFT"];

/// The parts of Section 2.5.4 by the keys of our document.
pub(super) const APPROXIMABLE: [(&str, &str); 4] = [
    ("fi", "full instruction"),
    ("pi_fr", "a full register"),
    ("pi_32b", "32 bits of a register"),
    ("pi_8b", "8 bits of a register"),
];
