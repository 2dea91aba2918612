//! A short run of the fuzzer, the same every time, and everything that longer ones found.

use testkit::fuzz::{self, FuzzPlan, TARGETS};

/// Fuzzes a target and expects nothing to be found.
fn survives(name: &str, inputs: u64) {
    let mut target = fuzz::target(name).unwrap();
    let summary = fuzz::run(target.as_mut(), FuzzPlan { inputs, seed: 20_261_121, job: 0 }, &mut |_| {});
    let findings: Vec<&str> = summary.findings.iter().map(|finding| finding.what.as_str()).collect();
    assert!(findings.is_empty(), "repeat with `cargo xtask fuzz {name} --seed 20261121`:\n{}", findings.join("\n"));
    let refused = summary.inputs - summary.accepted;
    assert!(
        summary.accepted > inputs / 50 && refused > inputs / 10,
        "{} accepted, {refused} refused",
        summary.accepted
    );
    assert!(summary.behaviours.len() > 40, "{} behaviours", summary.behaviours.len());
}

#[test]
fn mutated_texts_are_read_or_refused() {
    survives("ptx", 2_000);
}

#[test]
fn mutated_fat_binaries_are_read_or_refused() {
    survives("fatbin", 8_000);
}

#[test]
fn mutated_capsules_are_read_or_refused() {
    survives("capsule", 2_500);
}

#[test]
fn every_seed_of_the_corpus_is_accepted() {
    for name in TARGETS {
        let target = fuzz::target(name).unwrap();
        for (path, input) in fuzz::contents(&fuzz::folder(&format!("corpus/{name}"))) {
            let verdict = fuzz::replay(target.as_ref(), &input).unwrap();
            assert!(verdict.is_accepted(), "{}: {}", path.display(), verdict.reason());
        }
    }
}

#[test]
fn what_was_found_once_is_found_no_more() {
    for name in TARGETS {
        let target = fuzz::target(name).unwrap();
        for (path, input) in fuzz::contents(&fuzz::folder(&format!("found-regressions/{name}"))) {
            if let Err(what) = fuzz::replay(target.as_ref(), &input) {
                panic!("{}: {what}", path.display());
            }
        }
    }
}

/// A quadratic step, or a byte of memory for every zero, would take these longer or more than a reader may.
#[test]
fn long_modules_take_linear_time() {
    let lines = |line: fn(u32) -> String| (0..30_000).map(line).collect::<String>();
    let modules = [
        lines(|i| format!(".global .u8 a{i};\n")),
        lines(|i| {
            format!(".func f{i}() {{ {} ret; }}\n", if i == 0 { String::new() } else { format!("call f{};", i - 1) })
        }) + ".entry k() { call f29999; ret; }",
        lines(|i| format!(".shared .u32 s{i};\n"))
            + ".entry k() { .reg .u32 %r; "
            + &lines(|i| format!("ld.shared.u32 %r, [s{i}];\n"))
            + "ret; }",
        ".func f() { ret; }\n.entry k() { .reg .b64 %a; mov.u64 %a, f; p: .callprototype _ ();\n".to_owned()
            + &lines(|_| "call %a, (), p;\n".to_owned())
            + "ret; }",
    ];
    let target = fuzz::target("ptx").unwrap();
    for module in modules {
        let text = format!(".version 8.0\n.target sm_80\n.address_size 64\n{module}");
        let verdict = fuzz::replay(target.as_ref(), text.as_bytes()).unwrap();
        assert!(verdict.is_accepted(), "{}", verdict.reason());
    }
}

#[test]
fn inputs_are_a_function_of_the_seed() {
    let mut target = fuzz::target("capsule").unwrap();
    let mut inputs_of = |seed| {
        let mut inputs = Vec::new();
        fuzz::run(target.as_mut(), FuzzPlan { inputs: 100, seed, job: 0 }, &mut |input| inputs.push(input.to_vec()));
        inputs
    };
    assert_eq!(inputs_of(7), inputs_of(7));
    assert_ne!(inputs_of(7), inputs_of(8));
}
