//! The defects of PyTorchFI's repository, and the tests that we have not got them.

use study::{Cell, Table};

/// The behaviour there, ours, and the name of a test in `crates/nn/tests/it/pytorchfi.rs`.
pub(super) const DEFECTS: [[&str; 3]; 6] = [
    [
        "each declaration of a fault copies the model; on ResNet20 an injection takes 4.4 to 5 times a forward run",
        "faults share one network, and a run computes only what differs",
        "a_fault_costs_a_small_part_of_a_forward_run_and_copies_no_network",
    ],
    [
        "a random location draws the layer first, so that neurons of small layers are hit more often",
        "each neuron has the same chance",
        "a_layer_is_hit_as_often_as_it_has_neurons",
    ],
    [
        "a bit flip is computed on a float within a range that the user names; a value outside of it ends the program",
        "the stored byte flips, whatever its value; numbers are stored as near as they can be",
        "a_flip_is_one_bit_of_the_stored_byte_whatever_the_value_and_numbers_are_stored_as_near_as_they_can_be",
    ],
    [
        "a convolution with a module within it is passed over: of EfficientNet-Lite no layer is found",
        "layers are the operators of the file",
        "every_convolution_of_a_file_is_a_layer_that_is_hit",
    ],
    [
        "with models of values, the second forward run of the same faulty model ends with an IndexError",
        "a fault is data, and a worker runs it again with the same result",
        "a_fault_may_be_run_again_and_again",
    ],
    [
        "only what modules make can be hit, neither sums nor functions",
        "outputs and inputs of all layers can be hit",
        "sums_averages_and_inputs_of_any_layer_are_hit",
    ],
];

/// All of them.
pub(super) fn table() -> Table {
    let mut table = Table::new("Defects of PyTorchFI", &["PyTorchFI (version of 2023-04-04)", "here", "tested by"]);
    table.rows = DEFECTS.map(|[there, here, test]| vec![Cell::text(there), Cell::text(here), Cell::text(test)]).into();
    table
}
