//! Narrower selections than the words of a campaign say: some instructions, or those before which registers have some values.

use facts::{Type, words};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

words! {
    /// A relation of a value that is found to one that is wanted. Of two that begin alike the longer one is first.
    Relation { AtMost = "<=", AtLeast = ">=", Equal = "==", Unequal = "!=", Below = "<", Above = ">" }
}

impl Relation {
    /// Whether the value that is found has the relation to the one that is wanted; NaN is only unequal.
    #[must_use]
    pub fn holds(self, found: f64, wanted: f64) -> bool {
        match self {
            Self::AtMost => found <= wanted,
            Self::AtLeast => found >= wanted,
            Self::Equal => found == wanted,
            Self::Unequal => found != wanted,
            Self::Below => found < wanted,
            Self::Above => found > wanted,
        }
    }

    /// `PLACE RELATION NUMBER`, taken apart; none if a text is not of this form or the number is NaN.
    #[must_use]
    pub fn split(text: &str) -> Option<(&str, Self, f64)> {
        let relation = Self::ALL.iter().copied().find(|it| text.contains(it.word()))?;
        let (place, number) = text.split_once(relation.word())?;
        let number: f64 = number.trim().parse().ok()?;
        (!number.is_nan()).then_some((place.trim(), relation, number))
    }
}

/// A condition on the value that a register of a thread has right before the thread executes an instruction: `%r7 > 3`, or
/// `%r7.f32 > 0.5` with the type of the value. It never holds before the thread has written the register.
#[derive(Clone, Debug, PartialEq)]
pub struct RegisterCondition {
    /// The register, with its `%`.
    pub register: String,
    /// How its bits are read; as the register is declared if nothing is said.
    pub ty: Option<Type>,
    /// How the value is to be to the number.
    pub relation: Relation,
    /// The number. Values are compared as numbers of 64-bit floating point.
    pub wanted: f64,
}

impl FromStr for RegisterCondition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            let relations: Vec<&str> = Relation::ALL.iter().map(|it| it.word()).collect();
            format!(
                "expected %REGISTER, one of {}, and a number, such as %r7 > 3 or %r7.f32 > 0.5",
                relations.join(" ")
            )
        };
        let (place, relation, wanted) = Relation::split(text).ok_or_else(wrong)?;
        let (register, ty) = match place.split_once('.') {
            None => (place, None),
            Some((register, word)) => {
                let ty = Type::from_word(word).filter(|ty| is_number(*ty));
                (register, Some(ty.ok_or_else(|| format!("`{word}` is not a type of a number, such as s32 or f32"))?))
            }
        };
        let named =
            register.strip_prefix('%').is_some_and(|name| !name.is_empty() && !name.contains(char::is_whitespace));
        if named { Ok(Self { register: register.to_owned(), ty, relation, wanted }) } else { Err(wrong()) }
    }
}

impl fmt::Display for RegisterCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.register)?;
        self.ty.map_or(Ok(()), |ty| write!(f, ".{ty}"))?;
        write!(f, " {} {}", self.relation, self.wanted)
    }
}

/// Whether the bits of a type are one number.
#[must_use]
pub fn is_number(ty: Type) -> bool {
    !ty.is_bits() && !matches!(ty, Type::F16x2 | Type::Bf16x2)
}

/// By the name of a kernel and the number of a launch among those of the kernel: instructions, by their index in the program.
pub type LaunchInstructions = BTreeMap<(String, u32), BTreeSet<u32>>;

/// A narrower selection; by default all that the words select.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Narrowing {
    /// Instructions; those of launches that are not there are left out.
    pub instructions: Option<LaunchInstructions>,
    /// Conditions on registers, all of which have to hold.
    pub registers: Vec<RegisterCondition>,
}

impl Narrowing {
    /// The instructions of a launch that it leaves, by the name of the kernel and the number of the launch; none if it leaves all.
    #[must_use]
    pub fn of_launch(&self, kernel: &str, launch: u32) -> Option<&BTreeSet<u32>> {
        static NONE: BTreeSet<u32> = BTreeSet::new();
        let all = self.instructions.as_ref()?;
        Some(all.get(&(kernel.to_owned(), launch)).unwrap_or(&NONE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_on_registers_are_read_as_they_are_written() {
        let condition: RegisterCondition = " %r7.f32>= -0.5".parse().unwrap();
        let expected = RegisterCondition {
            register: "%r7".to_owned(),
            ty: Some(Type::F32),
            relation: Relation::AtLeast,
            wanted: -0.5,
        };
        assert_eq!(condition, expected);
        for text in ["%r7.f32 >= -0.5", "%p1 == 1", "%rd3 != 17"] {
            assert_eq!(text.parse::<RegisterCondition>().unwrap().to_string(), text);
        }
        for (text, part) in [
            ("%r7", "such as %r7 > 3"),
            ("r7 > 3", "such as %r7 > 3"),
            ("% > 3", "such as %r7 > 3"),
            ("%r7 > x", "such as %r7 > 3"),
            ("%r7 > NaN", "such as %r7 > 3"),
            ("%r7 = 3", "such as %r7 > 3"),
            ("%r7.b32 > 3", "`b32` is not a type of a number"),
            ("%r7.f16x2 > 3", "`f16x2` is not a type of a number"),
            ("%tid.x > 3", "`x` is not a type of a number"),
        ] {
            let error = text.parse::<RegisterCondition>().unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn relations_are_those_of_their_words() {
        let holds = |text: &str| {
            let (place, relation, wanted) = Relation::split(text).unwrap();
            relation.holds(place.parse().unwrap(), wanted)
        };
        assert_eq!(
            ["1 < 2", "1 <= 1", "1 != 1", "2 > 2", "2 == 2", "2 >= 3"].map(holds),
            [true, true, false, false, true, false]
        );
        assert_eq!(["NaN < 2", "NaN != 2", "NaN == 2", "1 < inf"].map(holds), [false, true, false, true]);
    }

    #[test]
    fn a_narrowing_leaves_the_instructions_that_it_names() {
        let instructions = [(("k".to_owned(), 1), BTreeSet::from([3, 5]))].into();
        let narrowing = Narrowing { instructions: Some(instructions), ..Narrowing::default() };
        assert_eq!(narrowing.of_launch("k", 1), Some(&BTreeSet::from([3, 5])));
        assert_eq!(narrowing.of_launch("k", 0), Some(&BTreeSet::new()));
        assert_eq!(Narrowing::default().of_launch("k", 0), None);
    }
}
