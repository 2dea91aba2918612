//! Samples of PTX, the form in which they are printed, and that printing loses nothing.

use expect_test::{ExpectFile, expect_file};

fn check(name: &str, text: &str, printed: &ExpectFile) {
    let module = ptx::parse(name, text).unwrap_or_else(|errors| panic!("{errors}"));
    let first = ptx::print(&module);
    printed.assert_eq(&first);
    let again = ptx::parse("printed", &first).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(again, module, "{name} reads back differently");
    assert_eq!(ptx::print(&again), first, "{name} prints differently the second time");
}

macro_rules! sample {
    ($test:ident, $name:literal) => {
        #[test]
        fn $test() {
            check($name, include_str!(concat!($name, ".ptx")), &expect_file![concat!("printed/", $name, ".ptx")]);
        }
    };
}

sample!(variables_and_their_initial_values_survive_printing, "memory");
sample!(calls_prototypes_and_scopes_survive_printing, "calls");
sample!(labels_and_branches_survive_printing, "flow");
sample!(operands_survive_printing, "operands");
sample!(line_tables_survive_printing, "lines");

#[test]
fn branch_targets_without_a_label_get_one() {
    let mut module = ptx::parse("flow", include_str!("flow.ptx")).unwrap_or_else(|errors| panic!("{errors}"));
    module.functions[0].labels.clear();
    let again = ptx::parse("printed", &ptx::print(&module)).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(again.functions[0].body, module.functions[0].body);
}
