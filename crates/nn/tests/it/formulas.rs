//! Faults by formulas: they see the fault-free number of whatever is hit, in bytes and in floating point.

use campaign::{Engine, Engines, Planner, RunIndex, SelectionWords, Site};
use nn::ValueFormat;
use nn::bundled::NETWORKS;

use crate::kit::fashion;

fn selection(operand: &str, model: &str, scope: &str) -> SelectionWords {
    let word = |text: &str| Some(text.to_owned());
    SelectionWords { target: word(operand), model: word(model), scope: word(scope), ..SelectionWords::default() }
}

/// Draws faults, and runs them.
fn check<T: Engines + Planner>(target: &T, name: &str) {
    let sites = |operand: &str, model: &str, scope: &str| -> Vec<Site> {
        let runs: Vec<RunIndex> = (0..40).map(RunIndex).collect();
        target.plan(&runs, &selection(operand, model, scope), 5).unwrap()
    };
    let mut worker = target.worker(&Engine::named("full")).unwrap();
    for operand in ["neuron", "weight", "bias", "input"] {
        // The fault-free number, stored, is what was stored, in every place.
        for site in ["one", "any:3"].iter().flat_map(|scope| sites(operand, "expr:x", scope)) {
            let observed = worker.run(&site).unwrap();
            let (landed, is_masked) = (observed.landed.unwrap(), observed.outputs.iter().all(|it| it.differing == 0));
            assert!(landed.before == landed.after && is_masked, "{name}: {:?}", site.fault());
        }
        let drawn = sites(operand, "expr:x+1000*(u-0.5)", "one").into_iter().map(|site| worker.run(&site).unwrap());
        let changed = drawn.filter(|it| it.landed.is_some_and(|it| it.before != it.after)).count();
        assert!(changed > 20, "{name}, {operand}: {changed}");
    }
}

#[test]
fn formulas_see_the_fault_free_number_of_whatever_is_hit() {
    check(fashion(), "int8");
    for format in ValueFormat::ALL {
        check(&NETWORKS[0].open_float(format).unwrap(), format.word());
    }
}

#[test]
fn a_formula_is_of_each_place_and_what_means_nothing_is_answered() {
    let plan = |model: &str, scope: &str| fashion().plan(&[RunIndex(0)], &selection("neuron", model, scope), 1);
    let bits = |model: &str| plan(model, "channel").unwrap()[0].labels.text(4).unwrap().to_owned();
    assert!(!bits("value:1").contains('/') && bits("expr:x+0.5").contains('/'), "{}", bits("expr:x+0.5"));
    for (model, part) in [("expr:x+y", "`y` is unknown"), ("expr:", "such as expr:2*x+1"), ("expr:2*", "such as")] {
        let error = plan(model, "one").unwrap_err().to_string();
        assert!(error.contains(part) && error.contains(model), "{error}");
    }
}
