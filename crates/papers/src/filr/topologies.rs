//! The seven networks of Table 6.1 by their convolutions: what they compute, without weights.

use crate::statements::{Judged, Statement, Verdict};
use study::{Cell, Table};

/// A convolution of each row, as `crates/nn/train/topologies.py` writes them.
const CONVOLUTIONS: &str = include_str!("topologies.csv");

/// Table 6.1: convolutions, feature maps and neurons.
const TABLE: [(&str, [u64; 3]); 7] = [
    ("AlexNet", [5, 1_152, 484_992]),
    ("GoogleNet", [57, 7_280, 3_226_160]),
    ("MobileNet", [52, 17_056, 6_678_112]),
    ("ShuffleNet", [56, 8_090, 1_950_200]),
    ("SqueezeNet", [26, 3_944, 2_589_352]),
    ("ResNet50", [53, 26_560, 11_113_984]),
    ("VGG19", [16, 5_504, 14_852_096]),
];

/// The sizes of a network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sizes {
    convolutions: u64,
    maps: u64,
    neurons: u64,
    macs: u64,
    /// Multiplications of the feature map that has the most.
    largest_map: u64,
}

impl Sizes {
    fn of(network: &str) -> Self {
        let mut sizes = Self::default();
        for line in CONVOLUTIONS.lines().filter(|line| line.split(',').next() == Some(network)) {
            let numbers: Vec<u64> = line.split(',').skip(1).filter_map(|it| it.parse().ok()).collect();
            let [inputs, filters, rows, columns, kernel_rows, kernel_columns, groups] = numbers[..] else { continue };
            let macs = rows * columns * kernel_rows * kernel_columns * inputs / groups;
            sizes.convolutions += 1;
            sizes.maps += filters;
            sizes.neurons += filters * rows * columns;
            sizes.macs += filters * macs;
            sizes.largest_map = sizes.largest_map.max(macs);
        }
        sizes
    }

    fn counts(self) -> [u64; 3] {
        [self.convolutions, self.maps, self.neurons]
    }
}

/// The table.
pub(super) fn table() -> Table {
    let columns =
        ["network", "convolutions", "feature maps", "neurons", "neurons per map", "10⁶ MACs", "costliest feature map"];
    let mut table = Table::new("Networks of Table 6.1", &columns);
    let row = |(name, _): &(&str, [u64; 3])| {
        let it = Sizes::of(name);
        vec![
            Cell::text(*name),
            Cell::Count(it.convolutions),
            Cell::Count(it.maps),
            Cell::Count(it.neurons),
            Cell::Count(it.neurons / it.maps.max(1)),
            Cell::Number(it.macs as f64 / 1e6),
            Cell::Share(it.largest_map as f64 / it.macs.max(1) as f64),
        ]
    };
    table.rows = TABLE.iter().map(row).collect();
    table.notes = vec![
        "As torchvision makes them for images of 224 x 224; MACs are those of convolutions. The last column is what it costs to make this one feature \
         map twice."
            .to_owned(),
    ];
    table
}

/// The statement of Table 6.1.
pub(super) fn statement() -> Statement {
    let equal = TABLE.iter().filter(|(name, counts)| Sizes::of(name).counts() == *counts).count();
    Statement {
        claim: "seven networks have these convolutions, feature maps and neurons (Table 6.1)".to_owned(),
        paper: "AlexNet 5; 1,152; 484,992, …".to_owned(),
        ours: format!("equal for {}", crate::words::of(equal, TABLE.len())),
        judged: Judged::by("all three numbers are equal for each network", Verdict::plain(equal == TABLE.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_added_up_from_convolutions() {
        let alexnet = Sizes::of("AlexNet");
        assert_eq!(alexnet.counts(), [5, 1152, 484_992]);
        // By hand: 64 × 55² × 3 × 11², 192 × 27² × 64 × 5², 384 × 13² × 192 × 3², 256 × 13² × 384 × 3², 256 × 13² × 256 × 3².
        assert_eq!(alexnet.macs, 70_276_800 + 223_948_800 + 112_140_288 + 149_520_384 + 99_680_256);
        assert_eq!(Sizes::of("none"), Sizes::default());
    }
}
