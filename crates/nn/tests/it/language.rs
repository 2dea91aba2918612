//! The bundled language model: its reference, and faults of its generations by both engines.

use campaign::{Engine, Engines as _, Planner as _, RunIndex, SelectionWords};
use nn::LanguageSource;
use nn::ValueFormat;
use nn::language::prompts::{Prompt, text};
use nn::language::safetensors::read_tensors;
use nn::language::{GenerationFault, LanguageTarget};
use outcome::{Observation, Tier};

fn target(format: ValueFormat) -> LanguageTarget {
    LanguageSource { model: "language".to_owned(), prompts: None, format }.open().unwrap()
}

#[test]
fn greedy_decoding_is_that_of_pytorch_on_all_prompts() {
    let target = target(ValueFormat::Fp32);
    let prompts: Vec<Prompt> = serde_json::from_slice(include_bytes!("../../networks/language/prompts.json")).unwrap();
    assert_eq!(prompts.len(), 64);
    for (number, prompt) in prompts.iter().enumerate() {
        assert_eq!(text(&target.prompts()[number]), prompt.prompt);
        assert_eq!(Some(text(&target.golden_run(number).unwrap().tokens)), prompt.continuation, "prompt {number}");
    }
}

#[test]
fn logits_are_those_of_pytorch_but_for_the_order_of_sums() {
    let target = target(ValueFormat::Fp32);
    let reference = read_tensors(include_bytes!("../../networks/language/reference.safetensors")).unwrap();
    let logits = &reference.tensors["logits"];
    assert_eq!(logits.shape, [4, 48, 96]);
    for (number, expected) in logits.values.chunks_exact(48 * 96).enumerate() {
        let found = &target.golden_run(number).unwrap().logits;
        let largest = expected.iter().fold(0.0, |largest: f32, logit| largest.max(logit.abs()));
        let error = found.iter().zip(expected).fold(0.0, |error: f32, (a, b)| error.max((a - b).abs()));
        assert!(error <= 1e-4 * largest, "prompt {number}: {error} of {largest}");
    }
}

fn observe(target: &LanguageTarget, engine: &str, operand: &str, runs: u64) -> Vec<Observation> {
    let selection = SelectionWords { target: Some(operand.to_owned()), ..SelectionWords::default() };
    let runs: Vec<RunIndex> = (0..runs).map(RunIndex).collect();
    let sites = target.plan(&runs, &selection, 7).unwrap();
    let mut worker = target.worker(&Engine::from(engine.to_owned())).unwrap();
    for site in &sites {
        let id = site.fault().unwrap();
        assert_eq!(GenerationFault::parse(id).unwrap().to_string(), id);
        assert_eq!(target.site(id).unwrap().labels, site.labels);
    }
    sites.iter().map(|site| worker.run(site).unwrap()).collect()
}

#[test]
fn runs_from_the_stored_state_equal_runs_from_the_prompt() {
    for (format, runs) in [(ValueFormat::Fp32, 300), (ValueFormat::Fp16, 60), (ValueFormat::Bf16, 60)] {
        let target = target(format);
        for operand in ["activation", "weight", "bias", "cache"] {
            let delta = observe(&target, "delta", operand, runs);
            let stopped = delta.iter().filter(|it| it.tier == Tier::Stopped).count();
            let full = observe(&target, "full", operand, runs);
            let faster: u64 = delta.iter().map(|it| it.instructions).sum();
            let all: u64 = full.iter().map(|it| it.instructions).sum();
            assert!(faster * 2 < all, "{operand}: {faster} of {all}");
            assert_eq!(stopped > 0, operand == "activation" || operand == "weight", "{operand}: {stopped}");
            for (run, (delta, full)) in delta.into_iter().zip(full).enumerate() {
                assert!(delta.landed.is_some(), "{operand} {run}");
                assert_eq!(delta.seen(), full.seen(), "{operand} {run}");
            }
        }
    }
}
