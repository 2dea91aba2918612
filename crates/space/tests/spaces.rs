//! Spaces as users write them.

use proptest::prelude::*;
use space::{InputLimits, Space, Value};

const TEXT: &str = r#"
arguments = ["{rows}", "--mode={mode}", "{seed}", "{step}"]

[[parameters]]
name = "rows"
kind = "int"
range = [2, 400]
scale = "log"
reference = 43

[[parameters]]
name = "mode"
kind = "choice"
values = ["fast", "exact"]
reference = "exact"

[[parameters]]
name = "seed"
kind = "seed"
reference = 7

[[parameters]]
name = "step"
kind = "float"
range = [0.5, 2]
reference = 1
"#;

#[test]
fn a_point_is_read_as_it_prints_and_becomes_arguments() {
    let space = Space::read(TEXT).unwrap();
    let reference = space.reference();
    assert_eq!(reference.to_string(), "rows=43,mode=exact,seed=7,step=1");
    assert_eq!(space.arguments(&reference), ["43", "--mode=exact", "7", "1"]);
    assert_eq!(space.parse("mode=fast").unwrap().to_string(), "rows=43,mode=fast,seed=7,step=1");
    assert_eq!(space.parse("").unwrap(), reference);
}

#[test]
fn what_is_wrong_is_named() {
    let space = Space::read(TEXT).unwrap();
    for (text, part) in [
        ("rows=1", "set `rows` to `1`: expected a whole number from 2 to 400"),
        ("rows=x", "expected a whole number"),
        ("cols=1", "expected rows=VALUE,mode=VALUE,seed=VALUE,step=VALUE"),
        ("rows=3,rows=4", "expected rows=VALUE"),
        ("mode=slow", "expected one of fast, exact"),
        ("step=NaN", "expected a number from 0.5 to 2"),
        ("rows", "read the input `rows`"),
    ] {
        let error = space.parse(text).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    for (from, to, part) in [
        ("{rows}", "{lines}", "there is no parameter `lines`; there are rows, mode, seed, step"),
        ("\"{seed}\", ", "", "no argument and no file has {seed}"),
        ("range = [2, 400]", "range = [400, 2]", "its range ends below its begin"),
        ("range = [2, 400]", "range = [0, 400]", "begins above 0"),
        ("range = [0.5, 2]", "range = [-1.7e308, 1.7e308]", "its range is wider than the largest number"),
        ("range = [2, 400]", "", "it has no `range"),
        ("reference = 43", "reference = 1", "set `rows` to `1`"),
        ("kind = \"seed\"", "kind = \"rows\"", "its kind is none of"),
        ("name = \"mode\"", "name = \"rows\"", "it is declared twice"),
        ("name = \"mode\"", "name = \"a b\"", "other characters"),
        ("kind = \"seed\"", "kind = \"seed\"\nsize = 3", "unknown field `size`"),
        ("kind = \"seed\"", "kind = \"seed\"\nstep = 3", "only whole numbers"),
        ("kind = \"seed\"", "kind = \"seed\"\nrange = [1, 2]", "only numbers"),
        ("kind = \"seed\"", "kind = \"seed\"\nvalues = [\"1\"]", "only choices"),
        ("\"fast\"", "\"exact\"", "`exact` is twice among its `values`"),
        ("range = [2, 400]", "range = [-9223372036854775808, 400]", "more than 2^63 values"),
        ("\narguments", "\nconstraints = [\"10 / (rows - rows) >= 0\"]\narguments", "cannot be computed"),
        ("range = [2, 400]", "range = [2, 400]\nstep = 0", "its `step` is not above 0"),
        ("range = [2, 400]", "range = [2, 400]\nstep = 16", "expected a whole number from 2 to 386 in steps of 16"),
        ("\narguments", "\nconstraints = [\"rows < lines\"]\narguments", "`lines` is not a parameter"),
        (
            "\narguments",
            "\nconstraints = [\"rows > seed * 7\"]\narguments",
            "take the input rows=43,mode=exact,seed=7,step=1: the constraint `rows > seed * 7` does not hold",
        ),
    ] {
        let error = Space::read(&TEXT.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(error.contains(part), "{to}: {error}");
    }
}

#[test]
fn logarithmic_draws_fill_each_octave_alike_and_reach_both_ends() {
    let space = Space::read(
        "arguments = ['{n}']\n[[parameters]]\nname = 'n'\nkind = 'int'\nrange = [1, 1023]\nscale = 'log'\nreference = 1",
    );
    let space = space.unwrap();
    let mut octaves = [0_u32; 10];
    for number in 0..20_000 {
        let Some(Value::Int(n)) = space.draw(5, number).value(0).cloned() else { panic!("an integer") };
        octaves[n.ilog2() as usize] += 1;
    }
    // ln(1.5 / 0.5) of ln(1023.5 / 0.5) for 1; ln 2 for the others but for the halves at their ends.
    assert!((2_500..3_300).contains(&octaves[0]), "{octaves:?}");
    assert!(octaves[2..].iter().all(|count| (1_500..2_200).contains(count)), "{octaves:?}");
}

#[test]
fn constraints_and_steps_hold_for_every_draw() {
    let text = "arguments = ['{a}', '{b}']\nconstraints = ['a <= b', 'a + b < 400']\n";
    let parameter = |name, scale| {
        let numbers = "range = [16, 512]\nstep = 16\nreference = 48";
        format!("[[parameters]]\nname = '{name}'\nkind = 'int'\nscale = '{scale}'\n{numbers}\n")
    };
    let space = Space::read(&format!("{text}{}{}", parameter("a", "log"), parameter("b", "linear"))).unwrap();
    for number in 0..500 {
        let point = space.draw(3, number);
        let values: Vec<Value> = point.values().cloned().collect();
        let [Value::Int(a), Value::Int(b)] = values[..] else { panic!("integers") };
        assert!(a % 16 == 0 && b % 16 == 0 && 16 <= a && a <= b && a + b < 400, "{point}");
    }
    let error = space.parse("a=64").unwrap_err().to_string();
    assert_eq!(error, "take the input a=64,b=48: the constraint `a <= b` does not hold");
    let middle = space.parameters()[1].middle(&Value::Int(16), &Value::Int(64));
    assert_eq!(middle, Some(Value::Int(32)));
}

#[test]
fn numbers_that_are_not_whole_are_halved_until_they_are_close() {
    let step = &Space::read(TEXT).unwrap().parameters()[3].clone();
    let (low, mut high, mut halves) = (Value::Float(0.5), Value::Float(2.0), 0);
    while let Some(middle) = step.middle(&low, &high) {
        assert!(low < middle && middle < high);
        (high, halves) = (middle, halves + 1);
    }
    assert_eq!(halves, 7);
}

proptest! {
    #[test]
    fn a_draw_is_in_the_space_and_the_same_again(seed: u64, number: u64) {
        let space = Space::read(TEXT).unwrap();
        let point = space.draw(seed, number);
        prop_assert_eq!(&space.draw(seed, number), &point);
        prop_assert!(space.parameters().iter().zip(point.values()).all(|(parameter, value)| parameter.holds(value)));
        prop_assert_eq!(space.parse(&point.to_string()), Ok(point));
    }

    #[test]
    fn the_middle_lies_between(low in 2_i64..400, high in 2_i64..400) {
        let space = Space::read(TEXT).unwrap();
        let middle = space.parameters()[0].middle(&Value::Int(low), &Value::Int(high));
        match middle {
            Some(Value::Int(middle)) => prop_assert!(low < middle && middle < high),
            _ => prop_assert!(high - low < 2),
        }
    }
}

#[test]
fn limits_are_those_of_the_file_and_have_defaults() {
    let limits = |text: &str| Space::read(&format!("{TEXT}\n{text}")).map(|space| space.limits());
    assert_eq!(limits("").unwrap(), InputLimits { seconds: 60.0, instructions: 200_000_000 });
    assert_eq!(limits("[limits]\nseconds = 0.5").unwrap(), InputLimits { seconds: 0.5, instructions: 200_000_000 });
    for text in ["seconds = 0", "seconds = nan", "seconds = 1e9", "instructions = 0"] {
        let error = limits(&format!("[limits]\n{text}")).unwrap_err().to_string();
        assert!(error.contains("take `limits`"), "{text}: {error}");
    }
    assert!(limits("[limits]\nminutes = 1").is_err());
}
