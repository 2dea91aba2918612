//! What users may write, and the sentences that answer what they may not.

use expect_test::{Expect, expect};

use super::*;

fn settle(text: &str) -> Result<Config, ConfigError> {
    Config::from_toml(text, "my.toml")
}

fn check_error(text: &str, expected: &Expect) {
    let error = settle(text).expect_err("the configuration is refused");
    expected.assert_eq(&format!("failed to {error}"));
}

#[test]
fn a_capsule_alone_is_a_campaign() {
    let config = settle("capsule = 'gemm'").unwrap();
    assert_eq!(config.size, Size::Runs(DEFAULT_RUNS));
    let text = expect![[r#"
        capsule = "gemm"
        runs = 1000
        confidence = 0.95
        interval = "wilson"
        seed = 0
        model = "flip"
        target = "dst"
        scope = "thread"
        engine = "auto"
    "#]];
    text.assert_eq(&config.to_toml().unwrap());
}

#[test]
fn a_method_chooses_what_is_hit_itself() {
    let config = settle("capsule = 'gemm'\nmethod = 'some-method'").unwrap();
    let selection = config.selection;
    assert_eq!(
        (selection.model.as_deref(), selection.target, selection.scope.as_deref()),
        (Some("flip"), None, Some("thread"))
    );
}

#[test]
fn a_comma_divides_a_list_in_a_file_as_on_the_command_line() {
    let config = settle("capsule = 'gemm'\ngroup = ['load,store', 'move']").unwrap();
    assert_eq!(config.selection.group, ["load", "store", "move"]);
}

#[test]
fn the_command_line_of_a_campaign_says_each_choice_where_its_command_takes_it() {
    let args = |text: &str| shell_line(Choices::from_toml(text, "f").unwrap().to_args().iter().map(String::as_str));
    let of_capsule = "capsule = 'a b.capsule'\nruns = 9\ngroup = ['load', 'move']\nfail-if = ['sdc>0.1', 'due>0.2']\n\
        fail-if-undecided = true\njobs = 3\napp = './a 5'\nfile = ['x', 'y']\n[tolerance]\nout = 1e-9\n\
        [quality.'*']\nmetric = 'rel-l2'\nbad = 2.0\nbins = [0.5, 1.0]";
    expect![[r#"campaign 'a b.capsule' --runs 9 --group load,move --fail-if 'sdc>0.1' --fail-if 'due>0.2' --fail-if-undecided --jobs 3 --file x --file y --tolerance out=1e-9 --quality '*:metric=rel-l2,bad=2.0,bins=0.5/1.0' --app './a 5'"#]]
        .assert_eq(&args(of_capsule));
    let of_app = "app = \"./solve 'a b' --n 5\"\nengine = 'cuda-gdb'\nmodel = '-x'\nin-place = true\ntimeout = 2.0";
    expect!["live --model=-x --engine cuda-gdb --timeout 2.0 --in-place -- ./solve 'a b' --n 5"]
        .assert_eq(&args(of_app));
    expect!["campaign --exhaustive -- -x.capsule"].assert_eq(&args("capsule = '-x.capsule'\nexhaustive = true"));
}

#[test]
fn one_run_is_repeated_where_it_was_made() {
    let run = |text: &str| {
        let choices = Choices::from(&settle(text).unwrap());
        shell_line(choices.run_args("launch=0,bits=1").iter().map(String::as_str))
    };
    let capsule = "capsule = 'gemm'\nruns = 9\nfuel = 70\nseed = 4\nfail-if = ['sdc>0.1']";
    expect!["inject gemm launch=0,bits=1 --fuel 70 --explain"].assert_eq(&run(capsule));
    let live = "app = './a 5'\nruns = 9\ntimeout = 2.5\nengine = 'cuda-gdb'\nfile = ['x']";
    expect!["live --fault launch=0,bits=1 --engine cuda-gdb --file x --timeout 2.5 -- ./a 5"].assert_eq(&run(live));
}

#[test]
fn a_limit_of_time_goes_with_every_size_and_makes_no_other_campaign() {
    let config = |more: &str| settle(&format!("capsule = 'gemm'\n{more}")).unwrap();
    let limited = config("exhaustive = true\nseconds = 2.5");
    assert_eq!(limited.seconds, Some(2.5));
    assert_eq!(limited.unsharded(), config("exhaustive = true").unsharded());
    assert_eq!(settle(&limited.to_toml().unwrap()).unwrap(), limited);
    for wrong in ["0.0", "-1.0", "nan", "1e10"] {
        let error = settle(&format!("capsule = 'gemm'\nseconds = {wrong}")).unwrap_err();
        assert!(error.to_string().contains("give `seconds` a number above 0, at most 1000000000"), "{error}");
    }
}

#[test]
fn the_effective_configuration_is_read_back_as_it_was() {
    let text = expect![[r#"
        capsule = "a.capsule"
        runs = 77
        confidence = 0.99
        interval = "clopper-pearson"
        seed = 9
        model = "double-bit"
        target = "dst"
        group = ["fp32 fma", "load"]
        scope = "thread"
        kernel = ["k#2"]
        lines = ["a.cu:3-9"]
        threads = ["0-31"]
        blocks = ["7"]
        engine = "delta"
        jobs = 3
        shard = "2/3"

        [tolerance]
        "*" = 0.1
        grid = 0.001
    "#]];
    let config = settle(text.data()).unwrap();
    text.assert_eq(&config.to_toml().unwrap());
    assert_eq!(settle(&config.to_toml().unwrap()).unwrap(), config);
}

#[test]
fn a_margin_plans_its_worst_case() {
    let config = settle("capsule = 'gemm'\nmargin = 0.05").unwrap();
    assert_eq!(config.planned(), 806);
    assert_eq!(settle(&config.to_toml().unwrap()).unwrap(), config);
}

#[test]
fn runs_beside_a_margin_are_the_most_that_there_may_be() {
    let config = settle("capsule = 'gemm'\nmargin = 0.05\nruns = 300").unwrap();
    assert_eq!((config.planned(), config.sequential().unwrap().looks().len()), (300, 6));
    assert_eq!(settle(&config.to_toml().unwrap()).unwrap(), config);
    assert_eq!(settle("capsule = 'gemm'\nmargin = 0.05\nruns = 3000").unwrap().planned(), 806);
    let by = settle("capsule = 'gemm'\nmargin = 0.05\nmargin-by = 'kernel'\nruns = 3000").unwrap();
    assert_eq!(by.planned(), 3000);
    assert_eq!(settle(&by.to_toml().unwrap()).unwrap(), by);
    // What the command line says of length replaces what a file says.
    let file = Choices::from_toml("capsule = 'gemm'\nmargin = 0.05\nmargin-by = 'kernel'\nruns = 3000", "f").unwrap();
    let line = Choices { runs: Some(9), ..Choices::default() };
    assert_eq!(line.or(file).settle().unwrap().size, Size::Runs(9));
    for runs in ["0", "2000000000"] {
        assert!(settle(&format!("capsule = 'gemm'\nmargin = 0.05\nruns = {runs}")).is_err());
    }
}

#[test]
fn an_exhaustive_campaign_plans_no_runs_of_its_own() {
    let text = expect![[r#"
        capsule = "gemm"
        exhaustive = true
        confidence = 0.95
        interval = "wilson"
        seed = 0
        model = "flip"
        target = "dst"
        scope = "thread"
        engine = "auto"
        shard = "2/3"
    "#]];
    let config = settle(text.data()).unwrap();
    assert_eq!((config.size, config.planned()), (Size::Exhaustive, 0));
    text.assert_eq(&config.to_toml().unwrap());
}

#[test]
fn what_says_how_long_on_the_command_line_overrides_the_file() {
    let file = |text| Choices::from_toml(text, "f").unwrap();
    let line = |choices: Choices| Choices { capsule: Some("gemm".into()), ..choices };
    let all = line(Choices { exhaustive: true, ..Choices::default() });
    assert_eq!(all.or(file("runs = 9")).settle().unwrap().size, Size::Exhaustive);
    let some = line(Choices { runs: Some(9), ..Choices::default() });
    assert_eq!(some.or(file("exhaustive = true")).settle().unwrap().size, Size::Runs(9));
    assert_eq!(line(Choices::default()).or(file("exhaustive = true")).settle().unwrap().size, Size::Exhaustive);
}

#[test]
fn choices_of_the_command_line_override_those_of_the_file() {
    let file = Choices::from_toml("capsule = 'gemm'\nmargin = 0.05\nseed = 3\ngroup = ['load']", "f").unwrap();
    let line = Choices { runs: Some(50), seed: Some(4), ..Choices::default() };
    let config = line.or(file).settle().unwrap();
    assert_eq!((config.size, config.seed), (Size::Runs(50), 4));
    assert_eq!(config.selection.group, ["load"]);
}

#[test]
fn shards_of_one_campaign_are_equal_apart_from_where_they_run() {
    let part = settle("capsule = 'a'\nruns = 10\nshard = '1/2'\njobs = 4").unwrap();
    let whole = settle("capsule = 'b'\nruns = 10").unwrap();
    assert_eq!(part.unsharded(), whole.unsharded());
    let other = settle("capsule = 'b'\nruns = 10\nseed = 1").unwrap();
    assert_ne!(part.unsharded(), other.unsharded());
}

#[test]
fn an_application_may_stand_for_a_capsule() {
    let text = expect![[r#"
        runs = 5
        confidence = 0.95
        interval = "wilson"
        seed = 0
        model = "flip"
        target = "dst"
        scope = "thread"
        engine = "auto"
        jobs = 1
        app = "./solve --grid 'a b'"
        directory = "/data"
        file = ["out/grid.bin"]
        judge = "cmp \"$1\" \"$2\""
        timeout = 2.5
        in-place = true
    "#]];
    let config = settle(&text.data().replace("jobs = 1\n", "")).unwrap();
    assert_eq!(config.to_toml().unwrap().parse::<toml::Table>(), text.data().parse());
    assert_eq!(settle(&config.to_toml().unwrap()).unwrap(), config);
    let live = config.live.unwrap();
    assert_eq!(live.app.words(), ["./solve", "--grid", "a b"]);
    assert!(config.capsule.is_empty() && live.in_place);
}

#[test]
fn choices_for_an_application_must_fit_it_and_each_other() {
    let check = |text: &str, words: &str| {
        let error = settle(text).expect_err(text).to_string();
        assert!(error.contains(words), "{text}: {error}");
    };
    check("capsule = 'gemm'\nfile = ['a']", "use `file`, which is for live runs");
    check("app = 'a'\nfile = ['../a']", "without `.` and `..`");
    check("app = 'a'\nfile = ['/a']", "below the application's directory");
    check("app = 'a'\ntimeout = 0.0", "above 0");
    check("app = 'a'\njobs = 2\nin-place = true", "`jobs = 1`");
    check("app = 'a'\nexhaustive = true", "a process for each");
    check("app = \"a 'b\"", "a quotation is open");
}

#[test]
fn the_engine_is_any_word_since_targets_know_which_there_are() {
    let config = settle("capsule = 'gemm'\nengine = 'warp'").unwrap();
    assert_eq!(config.engine.word(), "warp");
    assert_eq!(settle(&config.to_toml().unwrap()).unwrap(), config);
    assert_eq!(settle("capsule = 'gemm'").unwrap().engine, Engine::AUTO);
}

#[test]
fn fuel_is_for_capsules_and_for_applications() {
    for text in ["capsule = 'gemm'\nfuel = 7", "app = 'a'\nfuel = 7"] {
        assert_eq!(settle(text).unwrap().fuel, Some(7), "{text}");
    }
}

#[test]
fn an_unknown_key_is_answered_with_the_nearest_one() {
    check_error(
        "capsule = 'gemm'\nmodle = 'single-bit'",
        &expect!["failed to read my.toml, line 2: unknown key `modle`; did you mean `model`?"],
    );
    check_error(
        "capsule = 'gemm'\n\n[tolerances]\nx = 1.0",
        &expect!["failed to read my.toml, line 3: unknown key `tolerances`; did you mean `tolerance`?"],
    );
}

#[test]
fn a_value_of_the_wrong_kind_is_answered_with_its_line() {
    check_error(
        "capsule = 'gemm'\nruns = 'many'",
        &expect![[r#"failed to read my.toml, line 2: invalid type: string "many", expected u64"#]],
    );
    check_error(
        "capsule = 'gemm'\nkernel = 'k'",
        &expect![[r#"failed to read my.toml, line 2: invalid type: string "k", expected a sequence"#]],
    );
    check_error(
        "interval = 'wald'",
        &expect!["failed to read my.toml, line 1: unknown interval `wald`: it is one of wilson, clopper-pearson"],
    );
    check_error(
        "shard = '9/8'",
        &expect![
            "failed to read my.toml, line 1: `9/8` is not a shard: write k/n with k from 1 to n, such as 2/8 for the second of eight"
        ],
    );
}

#[test]
fn text_that_is_no_toml_is_answered_with_its_line() {
    check_error(
        "capsule = 'gemm'\nruns = ",
        &expect!["failed to read my.toml, line 2: string values must be quoted, expected literal string"],
    );
    check_error("seed = 1\nseed = 2", &expect!["failed to read my.toml, line 2: duplicate key"]);
}

#[test]
fn contradictions_are_answered_with_what_to_do() {
    check_error(
        "runs = 3",
        &expect!["failed to start a campaign without a capsule: name a file or a bundled workload"],
    );
    check_error(
        "capsule = 'gemm'\nruns = 3\nmargin-by = 'kernel'",
        &expect![
            "failed to stop by kernel rates without a margin: say with `margin` how tight they have to be, or leave `margin-by` out"
        ],
    );
    check_error(
        "capsule = 'gemm'\nmargin = 0.03\nshard = '1/4'",
        &expect![
            "failed to combine `margin` with `shard`: stopping early needs the rows of all shards in one place; use `runs = 1068` instead, which bounds the rates of all runs as tightly"
        ],
    );
    check_error(
        "capsule = 'gemm'\nexhaustive = true\nruns = 3",
        &expect![
            "failed to take both `exhaustive` and `runs`: keep `exhaustive` for every fault there is, `runs` for a sample of them"
        ],
    );
    check_error(
        "capsule = 'gemm'\nexhaustive = true\nmargin = 0.1",
        &expect![
            "failed to take both `exhaustive` and `margin`: the rates of every fault there is are exact; keep `exhaustive` for that, `margin` to stop when rates of a sample are that tight"
        ],
    );
    check_error(
        "capsule = 'gemm'\nexhaustive = true\nmodel = 'zero'",
        &expect![
            "failed to run an exhaustive campaign with the model `zero`: only single bits of `flip` can all be tried; leave `model` out, or sample with `runs` or `margin`"
        ],
    );
    check_error(
        "capsule = 'gemm'\nruns = 3\nshard = '4/4'",
        &expect!["failed to divide 3 runs into 4 shards: shard 4 would have none; use at most 3 shards"],
    );
}

#[test]
fn values_out_of_range_are_answered_with_the_range() {
    check_error(
        "capsule = 'gemm'\nruns = 0",
        &expect!["failed to plan 0 runs: a campaign has from 1 to 1000000000 runs"],
    );
    check_error(
        "capsule = 'gemm'\nmargin = 1e-9",
        &expect![
            "failed to bound rates within ±0.000000001: that takes 3282350287908972032 runs; a campaign has at most 1000000000, so ask for a wider margin"
        ],
    );
    check_error(
        "capsule = 'gemm'\nmargin = 5",
        &expect!["failed to accept 5 as a margin: it must lie strictly between 0 and 0.5"],
    );
    check_error(
        "capsule = 'gemm'\nconfidence = 95",
        &expect!["failed to accept 95 as a confidence: it must lie strictly between 0 and 1"],
    );
    check_error(
        "capsule = 'gemm'\njobs = 0",
        &expect!["failed to run with 0 jobs: give `jobs` a number from 1, or leave it out to use every core"],
    );
    check_error(
        "capsule = 'gemm'\n[tolerance]\ngrid = -1.0",
        &expect!["failed to use -1 as the tolerance of `grid`: a relative error is a number from 0"],
    );
}

#[test]
fn a_seed_that_no_file_could_hold_is_refused() {
    let choices = Choices { capsule: Some("gemm".into()), seed: Some(u64::MAX), ..Choices::default() };
    let error = choices.settle().unwrap_err();
    expect!["use the seed 18446744073709551615: the largest is 9223372036854775807"].assert_eq(&error.to_string());
}

#[test]
fn a_missing_file_is_named() {
    let error = Choices::from_file("no/such.toml".as_ref()).unwrap_err();
    expect!["read no/such.toml"].assert_eq(&error.to_string());
}

#[test]
fn the_quality_of_outputs_is_read_back_as_it_was() {
    let text = expect![[r#"
        capsule = "gemm"
        runs = 1000
        confidence = 0.95
        interval = "wilson"
        seed = 0
        model = "flip"
        target = "dst"
        scope = "thread"
        engine = "auto"

        [tolerance]
        out = 0.001

        [quality."*"]
        bad = 2.0

        [quality.out]
        metric = "rel-l2"
        tolerance = 0.01
        bad = 0.5
        bins = [0.1, 0.2]
        range = [-1.0, 1.0]
        element = "f32"
    "#]];
    let config = settle(text.data()).unwrap();
    text.assert_eq(&config.to_toml().unwrap());
    assert_eq!(config.criteria.of("other").unwrap().bad, 2.0);
}

#[test]
fn a_quality_that_means_nothing_is_answered_with_what_to_do() {
    check_error(
        "capsule = 'gemm'\n[quality.out]\ntolerance = 1.0\nrnage = [0, 1]",
        &expect!["failed to read my.toml, line 4: unknown key `rnage`; did you mean `range`?"],
    );
    let error = settle("capsule = 'gemm'\n[quality.out]\ntolerance = 1.0\nbad = 0.5").unwrap_err();
    let source = std::error::Error::source(&error).map(ToString::to_string);
    expect!["judge `out`: call an error above 0.5 bad and one up to 1 good: `bad` must not be below `tolerance`"]
        .assert_eq(&format!("{error}: {}", source.unwrap_or_default()));
}
