//! Mutations of texts made of words, numbers and punctuation: PTX, and the manifest of a capsule.

use super::dice::Dice;
use std::collections::BTreeSet;
use std::ops::Range;

/// Numbers at which readers go wrong, as PTX and JSON spell them.
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "3",
    "7",
    "16",
    "31",
    "32",
    "33",
    "64",
    "127",
    "128",
    "255",
    "256",
    "1024",
    "65535",
    "65536",
    "16777216",
    "2147483647",
    "2147483648",
    "-2147483648",
    "4294967295",
    "4294967296",
    "1099511627776",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "340282366920938463463374607431768211456",
    "0x",
    "0xffffffffffffffff",
    "0x1ffffffffffffffff",
    "0b11",
    "017",
    "08",
    "1.5",
    "0.1",
    "1e308",
    "1e999",
    "5e-324",
    "1.7976931348623157e308",
    "0f3F800000",
    "0f7F800001",
    "0fFFFFFFFFF",
    "0d7FF0000000000001",
    "0d",
];
/// What nests.
const NESTS: &[(&str, &str)] = &[
    ("{", "}"),
    ("(", ")"),
    ("[", "]"),
    ("-", ""),
    ("!", ""),
    ("~", ""),
    ("{ ", "; }"),
    ("@", ""),
    ("+1", ""),
    (",", ""),
];
/// No mutated text is longer, in bytes.
pub(super) const LONGEST: usize = 64 << 10;
/// What a mutated text usually stays below.
const USUAL: usize = 16 << 10;

/// What a piece of text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Space,
    Word,
    Directive,
    Register,
    Number,
    Mark,
}

impl Kind {
    const ALL: [Self; 6] = [Self::Space, Self::Word, Self::Directive, Self::Register, Self::Number, Self::Mark];

    fn of(piece: &str) -> Self {
        match piece.bytes().next().unwrap_or(b' ') {
            byte if byte.is_ascii_whitespace() => Self::Space,
            b'0'..=b'9' => Self::Number,
            b'.' => Self::Directive,
            b'%' | b'$' => Self::Register,
            byte if in_word(byte) => Self::Word,
            _ => Self::Mark,
        }
    }
}

fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_$%.".contains(&byte)
}

/// A text cut into words with their dots, stretches of space, and single marks.
fn pieces(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let mut pieces = Vec::with_capacity(bytes.len() / 3);
    let mut start = 0;
    while let Some(&first) = bytes.get(start) {
        let run = |belongs: fn(u8) -> bool| bytes[start..].iter().take_while(|&&byte| belongs(byte)).count();
        let length = match first {
            _ if in_word(first) => run(in_word),
            _ if first.is_ascii_whitespace() => run(|byte| byte.is_ascii_whitespace()),
            _ => text[start..].chars().next().map_or(1, char::len_utf8),
        };
        pieces.push(&text[start..start + length]);
        start += length;
    }
    pieces
}

/// Pieces to put somewhere, by their kind.
#[derive(Clone, Debug, Default)]
pub(super) struct Dictionary([Vec<String>; 6]);

impl Dictionary {
    /// The pieces of some texts, and words beside them.
    pub(super) fn new<'a>(texts: impl IntoIterator<Item = &'a str>, words: impl IntoIterator<Item = String>) -> Self {
        let mut known: BTreeSet<String> = words.into_iter().collect();
        known.extend(texts.into_iter().flat_map(pieces).map(str::to_owned));
        known.extend(NUMBERS.iter().map(|&number| number.to_owned()));
        let mut kinds = <[Vec<String>; 6]>::default();
        for piece in known {
            kinds[Kind::of(&piece) as usize].push(piece);
        }
        Self(kinds)
    }

    fn of(&self, kind: Kind) -> &[String] {
        &self.0[kind as usize]
    }
}

/// A text like this one; `other` is where lines and tails come from.
pub(super) fn mutate(text: &str, other: &str, dictionary: &Dictionary, dice: &mut Dice) -> String {
    let mut pieces = pieces(text);
    for _ in 0..1 + dice.below(3) {
        change(&mut pieces, other, dictionary, dice);
    }
    let mut mutated = String::with_capacity(text.len() + 64);
    for piece in pieces {
        if mutated.len() + piece.len() > LONGEST {
            break;
        }
        mutated.push_str(piece);
    }
    mutated
}

fn change<'a>(pieces: &mut Vec<&'a str>, other: &'a str, dictionary: &'a Dictionary, dice: &mut Dice) {
    match dice.below(32) {
        0..=7 => replace(pieces, dictionary, dice),
        8..=12 => exchange(pieces, dice),
        13 => drop(pieces.drain(dice.stretch(pieces.len(), 3))),
        14 => repeat(pieces, 3, dice),
        15 => {
            let (one, another) = (dice.below(pieces.len()), dice.below(pieces.len()));
            if one != another {
                pieces.swap(one, another);
            }
        }
        16..=18 => number(pieces, dice),
        19 | 20 => drop(pieces.drain(line(pieces, dice))),
        21 | 22 => {
            let line = pieces[line(pieces, dice)].to_vec();
            insert(pieces, &line, dice);
        }
        23..=26 => {
            let others = self::pieces(other);
            let line = line(&others, dice);
            insert(pieces, &others[line], dice);
        }
        27 => {
            let others = self::pieces(other);
            pieces.truncate(dice.below(pieces.len() + 1));
            pieces.extend(&others[dice.below(others.len() + 1)..]);
        }
        28 => nest(pieces, dice),
        29 if dice.one_in(16) => amplify(pieces, dice),
        _ => word(pieces, dictionary, dice),
    }
}

/// A place of some piece that is no space, if one is found soon.
fn place(pieces: &[&str], dice: &mut Dice) -> Option<usize> {
    let mut drawn = || Some(dice.below(pieces.len())).filter(|&at| at < pieces.len());
    let solid = |at: &usize| Kind::of(pieces[*at]) != Kind::Space;
    drawn().filter(solid).or_else(&mut drawn)
}

/// One piece becomes another of its kind from the dictionary.
fn replace<'a>(pieces: &mut [&'a str], dictionary: &'a Dictionary, dice: &mut Dice) {
    let Some(at) = place(pieces, dice) else { return };
    let same = dictionary.of(Kind::of(pieces[at]));
    let any = dice.pick(&Kind::ALL).map_or(same, |kind| dictionary.of(*kind));
    let from = if dice.one_in(8) { any } else { same };
    if let Some(piece) = dice.pick(from) {
        pieces[at] = piece;
    }
}

/// One piece becomes another of its kind from the same text.
fn exchange(pieces: &mut [&str], dice: &mut Dice) {
    let Some(at) = place(pieces, dice) else { return };
    let kind = Kind::of(pieces[at]);
    let start = dice.below(pieces.len());
    let found = (start..pieces.len()).find(|&found| Kind::of(pieces[found]) == kind && pieces[found] != pieces[at]);
    if let Some(found) = found {
        pieces[at] = pieces[found];
    }
}

/// The first word of a line becomes another: in PTX, the opcode.
fn word<'a>(pieces: &mut [&'a str], dictionary: &'a Dictionary, dice: &mut Dice) {
    let line = line(pieces, dice);
    let first = pieces[line.clone()].iter().position(|piece| Kind::of(piece) == Kind::Word);
    if let (Some(first), Some(word)) = (first, dice.pick(dictionary.of(Kind::Word))) {
        pieces[line.start + first] = word;
    }
}

/// A number becomes a remarkable one.
fn number(pieces: &mut [&str], dice: &mut Dice) {
    let start = dice.below(pieces.len());
    let found = pieces.iter().skip(start).position(|piece| Kind::of(piece) == Kind::Number);
    if let (Some(found), Some(number)) = (found, dice.pick(NUMBERS)) {
        pieces[start + found] = number;
    }
}

/// The pieces of some line, its end included. A text without lines has statements, which commas end.
fn line(pieces: &[&str], dice: &mut Dice) -> Range<usize> {
    let at = dice.below(pieces.len());
    let ends = |piece: &&str| piece.contains('\n') || *piece == ",";
    let start = pieces[..at].iter().rposition(ends).map_or(0, |before| before + 1);
    let end = pieces[at..].iter().position(ends).map_or(pieces.len(), |after| at + after + 1);
    start..end
}

fn insert<'a>(pieces: &mut Vec<&'a str>, inserted: &[&'a str], dice: &mut Dice) {
    let at = if dice.one_in(4) { dice.below(pieces.len() + 1) } else { line(pieces, dice).start };
    pieces.splice(at..at, inserted.iter().copied());
}

fn repeat(pieces: &mut Vec<&str>, most: usize, dice: &mut Dice) {
    let stretch = dice.stretch(pieces.len(), most);
    let copy = pieces[stretch.clone()].to_vec();
    pieces.splice(stretch.end..stretch.end, copy);
}

/// Puts a piece many times somewhere, and its counterpart behind it.
fn nest(pieces: &mut Vec<&str>, dice: &mut Dice) {
    let &(open, close) = dice.pick(NESTS).unwrap_or(&("{", "}"));
    let deep = if dice.one_in(64) { 1 << 14 } else { 1 << dice.below(6) };
    let at = dice.below(pieces.len() + 1);
    let closed = if dice.one_in(2) { (at + 1).min(pieces.len()) } else { at };
    if !close.is_empty() && !dice.one_in(4) {
        pieces.splice(closed..closed, std::iter::repeat_n(close, deep));
    }
    pieces.splice(at..at, std::iter::repeat_n(open, deep));
}

/// Repeats some lines until the text is long, where steps that are not linear take long.
fn amplify(pieces: &mut Vec<&str>, dice: &mut Dice) {
    let (one, another) = (line(pieces, dice), line(pieces, dice));
    let lines = if one.start <= another.start && another.end - one.start < 64 { one.start..another.end } else { one };
    let copy = pieces[lines.clone()].to_vec();
    let bytes = copy.iter().map(|piece| piece.len()).sum::<usize>().max(1);
    let most = if dice.one_in(8) { LONGEST } else { USUAL };
    let copies = std::iter::repeat_n(copy, most / bytes).flatten();
    pieces.splice(lines.end..lines.end, copies.collect::<Vec<_>>());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_its_pieces() {
        let text = "@%p1 add.s32 \t%r1, -0x1f;\n// é\u{1f980}\n";
        assert_eq!(pieces(text).concat(), text);
        assert_eq!(pieces(text)[1..4], ["%p1", " ", "add.s32"]);
    }

    #[test]
    fn the_same_dice_make_the_same_text() {
        let dictionary = Dictionary::new(["mov.u32 %r1, 5;\nret;"], ["sub.s32".to_owned()]);
        let make =
            |number| mutate("add.s32 %r1, %r2, 3;\nexit;\n", "bar.sync 0;\n", &dictionary, &mut Dice::new(1, number));
        assert!((0..1000).all(|number| make(number) == make(number)));
        assert!((0..1000).any(|number| make(number) != make(number + 1)));
    }
}
