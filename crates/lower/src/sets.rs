//! The sets of instructions that other tools have names for, so that campaigns can be compared: data in the folder
//! `profiles/sets` at the root, in terms of PTX.

use facts::{Facts, Group, NamedSet, Sets, Space};
use isa::Op;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The files, in the order of their tools.
const FILES: [&str; 3] = [
    include_str!("../../../profiles/sets/sassifi.json"),
    include_str!("../../../profiles/sets/nvbitfi.json"),
    include_str!("../../../profiles/sets/instruction-types.json"),
];

/// The sets and their rules, read once.
static TABLE: LazyLock<Table> = LazyLock::new(|| Table::read(&FILES).unwrap_or_else(|why| panic!("{why}")));

/// The sets, in the order of their files.
#[must_use]
pub fn sets() -> &'static [NamedSet] {
    TABLE.names
}

/// A file of sets.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SetFile {
    #[expect(dead_code, reason = "the source is for readers of the file")]
    source: String,
    sets: Vec<SetText>,
}

/// A set as a file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SetText {
    name: String,
    meaning: String,
    rules: Vec<RuleText>,
}

/// A rule as a file has it; `sassifi.json` explains its keys.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct RuleText {
    groups: Vec<String>,
    names: Vec<String>,
    without_names: Vec<String>,
    loads: Vec<String>,
    general: Option<bool>,
    predicates: Option<bool>,
    float: Option<bool>,
    float_operands: Option<bool>,
    stores: Option<bool>,
    atomics: Option<bool>,
    in_none_of: Vec<String>,
}

/// All sets.
struct Table {
    names: &'static [NamedSet],
    rules: Vec<Vec<Rule>>,
}

/// A rule: an instruction keeps to it if it keeps to each part that is there.
struct Rule {
    groups: Vec<Group>,
    loads: Vec<Space>,
    /// Sets before this one, a bit each.
    in_none_of: u64,
    text: RuleText,
}

/// The properties of an instruction that decide in which sets it is.
struct SetQuery<'a> {
    op: &'a Op,
    group: Group,
    /// The spelling up to its first point.
    name: &'a str,
    /// Whether the spelling ends with a floating-point type.
    float_operands: bool,
    /// Whether it writes a general-purpose register.
    general: bool,
    /// Whether it writes a predicate.
    predicates: bool,
    /// The sets before this one that it is in, a bit each.
    members: u64,
}

impl Table {
    fn read(files: &[&str]) -> Result<Self, String> {
        let (mut names, mut rules, mut bits) = (Vec::new(), Vec::new(), BTreeMap::new());
        for text in files {
            let file: SetFile = serde_json::from_str(text).map_err(|error| format!("read a file of sets: {error}"))?;
            for SetText { name, meaning, rules: texts } in file.sets {
                let compiled = texts.into_iter().map(|text| Rule::new(text, &bits));
                rules.push(
                    compiled.collect::<Result<Vec<_>, _>>().map_err(|why| format!("read the set {name}: {why}"))?,
                );
                if bits.len() == 64 || bits.insert(name.clone(), 1_u64 << bits.len()).is_some() {
                    return Err(format!("read the set {name}: it is there twice, or there are more than 64"));
                }
                names.push(NamedSet { name: name.leak(), meaning: meaning.leak() });
            }
        }
        Ok(Self { names: names.leak(), rules })
    }
}

impl Rule {
    fn new(text: RuleText, bits: &BTreeMap<String, u64>) -> Result<Self, String> {
        let group = |word: &String| Group::from_word(word).ok_or_else(|| format!("the group `{word}` is unknown"));
        let space = |word: &String| Space::from_word(word).ok_or_else(|| format!("the space `{word}` is unknown"));
        let bit = |name: &String| bits.get(name).copied().ok_or_else(|| format!("the set `{name}` is not before it"));
        Ok(Self {
            groups: text.groups.iter().map(group).collect::<Result<_, _>>()?,
            loads: text.loads.iter().map(space).collect::<Result<_, _>>()?,
            in_none_of: text.in_none_of.iter().try_fold(0, |bits, name| Ok::<_, String>(bits | bit(name)?))?,
            text,
        })
    }

    fn holds(&self, it: &SetQuery<'_>) -> bool {
        let named = |names: &[String]| names.iter().any(|name| name == it.name);
        let is = |wanted: Option<bool>, found: bool| wanted.is_none_or(|wanted| wanted == found);
        let loads = || matches!(it.op, Op::Ld(access) if self.loads.contains(&access.space));
        let computes_float = || matches!(it.op, Op::Alu(form) if form.destination().is_float());
        (self.groups.is_empty() || self.groups.contains(&it.group))
            && (self.text.names.is_empty() || named(&self.text.names))
            && !named(&self.text.without_names)
            && (self.loads.is_empty() || loads())
            && is(self.text.general, it.general)
            && is(self.text.predicates, it.predicates)
            && is(self.text.float_operands, it.float_operands)
            && is(self.text.stores, matches!(it.op, Op::St(_)))
            && is(self.text.atomics, matches!(it.op, Op::Atom(_)))
            && self.text.float.is_none_or(|wanted| wanted == computes_float())
            && it.members & self.in_none_of == 0
    }
}

/// The sets that an instruction is in, of which all else is known.
pub(crate) fn of(op: &Op, facts: &Facts) -> Sets {
    let (general, predicates) = facts.writes_general_and_predicates();
    let spelling = op.spelling();
    let name = spelling.split_once('.').map_or(&*spelling, |(name, _)| name);
    let float_operands =
        spelling.rsplit('.').next().is_some_and(|last| last.starts_with('f') || last.starts_with("bf"));
    let mut query = SetQuery { op, group: facts.group, name, float_operands, general, predicates, members: 0 };
    for (at, rules) in TABLE.rules.iter().enumerate() {
        query.members |= u64::from(rules.iter().any(|rule| rule.holds(&query))) << at;
    }
    Sets::new(TABLE.names, query.members)
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::{Operand, Reg, Role};
    use isa::op::spelling;

    /// The sets of an instruction that writes a register of 32 bits, or a predicate.
    fn sets(text: &str, predicate: bool) -> Vec<&'static str> {
        let op = spelling::parse(text).unwrap();
        let bits = if predicate { 1 } else { 32 };
        let written = Operand { role: Role::Destination, position: 0, register: Reg(0), bits, offset: 0, ty: None };
        let facts = Facts { operands: vec![written], ..Facts::new(op.spelling(), op.group()) };
        of(&op, &facts).names().collect()
    }

    #[test]
    fn instructions_are_in_the_sets_that_their_tools_put_them_in() {
        let examples = include_str!("../../../profiles/sets/examples.txt");
        let mut compared = 0;
        for line in examples.lines().filter(|line| !line.starts_with('#')) {
            let (text, expected) = line.split_once(": ").unwrap();
            let predicate = text.strip_prefix("predicate ");
            assert_eq!(sets(predicate.unwrap_or(text), predicate.is_some()).join(" "), expected, "{text}");
            compared += 1;
        }
        assert_eq!(compared, 15);
    }

    #[test]
    fn the_sets_that_divide_all_instructions_hold_each_once() {
        for text in ["add.s32", "mul.lo.s32", "mad.lo.s32", "add.f32", "fma.rn.f64", "add.f64", "xor.b32", "ld.u32"] {
            for range in [2..13, 13..19] {
                let held = super::sets()[range.clone()].iter().filter(|set| sets(text, false).contains(&set.name));
                assert_eq!(held.count(), 1, "{text} in {range:?}");
            }
        }
    }

    #[test]
    fn what_is_wrong_in_a_file_of_sets_is_named() {
        let set = |rule: &str| format!("{{\"name\":\"a:b\",\"meaning\":\"it\",\"rules\":[{{{rule}}}]}}");
        for (text, part) in [
            (set("\"groups\":[\"sums\"]"), "the set a:b: the group `sums` is unknown"),
            (set("\"loads\":[\"disk\"]"), "the set a:b: the space `disk` is unknown"),
            (set("\"in-none-of\":[\"a:c\"]"), "the set a:b: the set `a:c` is not before it"),
            (set("\"colour\":1"), "unknown field `colour`"),
            ([set("\"general\":true"), set("")].join(","), "the set a:b: it is there twice"),
        ] {
            let why = Table::read(&[&format!("{{\"source\":\"\",\"sets\":[{text}]}}")]).err().unwrap();
            assert!(why.contains(part), "{why}");
        }
    }
}
