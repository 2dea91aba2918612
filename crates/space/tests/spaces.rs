//! Spaces as users write them.

use proptest::prelude::*;
use space::{Space, Value};

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
        ("\"{seed}\", ", "", "no argument has {seed}"),
        ("range = [2, 400]", "range = [400, 2]", "its range ends below its begin"),
        ("range = [2, 400]", "range = [0, 400]", "begins above 0"),
        ("range = [2, 400]", "", "it has no `range"),
        ("reference = 43", "reference = 1", "set `rows` to `1`"),
        ("kind = \"seed\"", "kind = \"rows\"", "its kind is none of"),
        ("name = \"mode\"", "name = \"rows\"", "it is declared twice"),
        ("name = \"mode\"", "name = \"a b\"", "other characters"),
        ("kind = \"seed\"", "kind = \"seed\"\nsize = 3", "unknown field `size`"),
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
