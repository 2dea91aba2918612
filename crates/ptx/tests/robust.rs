//! No text makes the parser panic, or takes it more than time linear in the text.

use proptest::prelude::*;

const SAMPLES: &[&str] = &[
    include_str!("memory.ptx"),
    include_str!("calls.ptx"),
    include_str!("flow.ptx"),
    include_str!("operands.ptx"),
    include_str!("lines.ptx"),
];

/// Reads a text to its end, whatever it is: shows the mistakes, or prints what was read and reads it back.
fn survive(text: &str) {
    match ptx::parse("fuzz", text) {
        Err(errors) => assert!(!errors.render().is_empty() && !errors.diagnostics().is_empty()),
        Ok(module) => match ptx::parse("printed", &ptx::print(&module)) {
            Ok(again) => assert_eq!(again, module),
            Err(errors) => panic!("{errors}\n{}", ptx::print(&module)),
        },
    }
}

/// Pieces that a mutation puts somewhere.
fn piece() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        ";",
        ",",
        ":",
        "|",
        "@",
        "!",
        "-",
        "+",
        "<",
        "\"",
        "/*",
        "//",
        "\n",
        "0x",
        "0f",
        "%",
        "$",
        "_",
        ".",
        "..",
        "%r1",
        ".reg",
        ".loc 1 2 3",
        "@%p1 ",
        "4294967296",
        "-1",
        "call",
        "\u{1f980}",
        "\0",
    ]);
    prop_oneof![words.prop_map(str::to_owned), any::<char>().prop_map(String::from), "[ -~]{0,6}"]
}

/// The text with the characters from `at` replaced.
fn replaced(text: &str, at: usize, length: usize, piece: &str) -> String {
    let characters: Vec<char> = text.chars().collect();
    let at = at % (characters.len() + 1);
    let end = (at + length).min(characters.len());
    characters[..at].iter().copied().chain(piece.chars()).chain(characters[end..].iter().copied()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_samples_never_panic(
        sample in prop::sample::select(SAMPLES),
        mutations in prop::collection::vec((any::<usize>(), 0usize..12, piece()), 1..4),
    ) {
        let text = mutations.iter().fold(sample.to_owned(), |text, (at, length, piece)| replaced(&text, *at, *length, piece));
        survive(&text);
    }

    #[test]
    fn truncated_samples_never_panic(sample in prop::sample::select(SAMPLES), at in any::<usize>()) {
        survive(&replaced(sample, at, usize::MAX / 2, ""));
    }

    #[test]
    fn arbitrary_text_never_panics(text in "\\PC{0,200}") {
        survive(&text);
        survive(&format!(".version 8.0 .target sm_80 .address_size 64 .entry k() {{ .reg .b32 %r<9>; {text} }}"));
    }
}

/// A quadratic step would take these minutes.
#[test]
fn hostile_texts_take_linear_time() {
    let head = ".version 8.0 .target sm_80 .address_size 64\n";
    let many = 100_000;
    let bodies = [
        "{".repeat(many),
        "{}".repeat(many),
        "mov.u32 %r1, ".to_owned() + &"(".repeat(many),
        "mov.u32 %r1, ".to_owned() + &"-".repeat(many) + "1;",
        "mov.u32 %r1, 1".to_owned() + &"+1".repeat(many) + ";",
        "add.s32 {{{".repeat(many),
        "tex.1d.x y;".repeat(many),
        (0..many).map(|i| format!("tex.{i} y;")).collect(),
        "@@@@@@".repeat(many),
        "}".repeat(many),
        "x: ".repeat(many),
        "{ .reg .b32 %a; mov.u32 %a, 1; }".repeat(many / 10),
        (0..many / 10).map(|i| format!("L{i}: bra L{};", i + 1)).collect(),
        ".reg .b32 %big<4294967295>;".to_owned() + &"mov.u32 %big99, %big4294967290;".repeat(many / 10),
        ".loc 1 1 1\n".repeat(many) + "ret;",
        "\"".repeat(many),
    ];
    for body in &bodies {
        survive(&format!("{head}.entry k() {{ {body} }}"));
    }
    survive(&format!("{head}{}", ".global .u32 x = {".repeat(many)));
    survive(&format!("{head}{}", ".entry k() {".repeat(many)));
    survive(&format!("{head}.global .u8 x[1099511627776][4] = {{ {} }};", "{1},".repeat(many / 10)));
    survive(&format!("{head}.global .u8 x[4][1099511627776] = {{ {} }};", "{1},".repeat(4)));
}
