//! Constraints between parameters: comparisons of sums and products, joined by `and` and `or`.
//!
//! ```text
//! any := all ("or" all)*          all := comparison ("and" comparison)*
//! comparison := sum (< | <= | > | >= | == | !=) sum, or "(" any ")"
//! sum := product ((+ | -) product)*      product := factor ((* | / | %) factor)*
//! factor := number | parameter | "-" factor | "(" sum ")"
//! ```
//!
//! Whole numbers stay whole: `7 / 2` is 3. A division by zero and a result beyond 64 bits hold in no comparison.

use std::cmp::Ordering;
use std::fmt;

use crate::parameter::Value;

/// Words and signs of a constraint, at most: brackets and signs nest, and a stack ends.
const MOST_WORDS: usize = 400;

/// A condition that the values of a point have to fulfil.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Constraint {
    text: String,
    condition: Condition,
}

#[derive(Clone, Debug, PartialEq)]
enum Condition {
    Any(Vec<Self>),
    All(Vec<Self>),
    Compare(Sum, Comparison, Sum),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    Unequal,
}

#[derive(Clone, Debug, PartialEq)]
enum Sum {
    Number(Number),
    /// The parameter with this number.
    Parameter(usize),
    Negated(Box<Self>),
    Joined(Box<Self>, char, Box<Self>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Number {
    Int(i64),
    Float(f64),
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Constraint {
    /// Reads a constraint on the parameters of these names.
    ///
    /// # Errors
    /// If it is not one, with the reason.
    pub(crate) fn read(text: &str, names: &[&str]) -> Result<Self, String> {
        let words = words(text)?;
        if words.len() > MOST_WORDS {
            return Err(format!("it has {} words and signs, and {MOST_WORDS} are the most", words.len()));
        }
        let mut reader = Reader { words: &words, at: 0, names };
        let condition = reader.any()?;
        match reader.next() {
            None => Ok(Self { text: text.to_owned(), condition }),
            Some(word) => Err(format!("nothing is expected after its end, where `{word}` stands")),
        }
    }

    /// Whether all its sums can be computed of the values: none divides by zero or is beyond 64 bits.
    pub(crate) fn is_computed(&self, values: &[&Value]) -> bool {
        self.condition.is_computed(values)
    }

    /// Whether the values, in the order of the parameters, fulfil it.
    pub(crate) fn holds(&self, values: &[&Value]) -> bool {
        self.condition.holds(values)
    }
}

impl Condition {
    fn is_computed(&self, values: &[&Value]) -> bool {
        match self {
            Self::Any(of) | Self::All(of) => of.iter().all(|it| it.is_computed(values)),
            Self::Compare(left, _, right) => left.value(values).is_some() && right.value(values).is_some(),
        }
    }

    fn holds(&self, values: &[&Value]) -> bool {
        match self {
            Self::Any(of) => of.iter().any(|it| it.holds(values)),
            Self::All(of) => of.iter().all(|it| it.holds(values)),
            Self::Compare(left, comparison, right) => {
                let order = left.value(values).zip(right.value(values)).and_then(|(left, right)| left.compare(right));
                order.is_some_and(|order| comparison.holds(order))
            }
        }
    }
}

impl Comparison {
    fn read(word: &str) -> Option<Self> {
        Some(match word {
            "<" => Self::Less,
            "<=" => Self::LessOrEqual,
            ">" => Self::Greater,
            ">=" => Self::GreaterOrEqual,
            "==" => Self::Equal,
            "!=" => Self::Unequal,
            _ => return None,
        })
    }

    fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
            Self::Equal => order.is_eq(),
            Self::Unequal => order.is_ne(),
        }
    }
}

impl Sum {
    fn value(&self, values: &[&Value]) -> Option<Number> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Parameter(number) => match values.get(*number)? {
                Value::Int(value) => Some(Number::Int(*value)),
                Value::Float(value) => Some(Number::Float(*value)),
                Value::Text(text) => text.parse().map(Number::Int).or_else(|_| text.parse().map(Number::Float)).ok(),
            },
            Self::Negated(of) => Number::Int(0).join('-', of.value(values)?),
            Self::Joined(left, operator, right) => left.value(values)?.join(*operator, right.value(values)?),
        }
    }
}

impl Number {
    fn float(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::Float(value) => value,
        }
    }

    fn compare(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Int(left), Self::Int(right)) => Some(left.cmp(&right)),
            _ => self.float().partial_cmp(&other.float()),
        }
    }

    fn join(self, operator: char, other: Self) -> Option<Self> {
        if let (Self::Int(left), Self::Int(right)) = (self, other) {
            let whole = match operator {
                '+' => left.checked_add(right),
                '-' => left.checked_sub(right),
                '*' => left.checked_mul(right),
                '/' => left.checked_div(right),
                _ => left.checked_rem(right),
            };
            return whole.map(Self::Int);
        }
        let (left, right) = (self.float(), other.float());
        Some(Self::Float(match operator {
            '+' => left + right,
            '-' => left - right,
            '*' => left * right,
            '/' => left / right,
            _ => left % right,
        }))
    }
}

/// The names, numbers and marks of a text.
fn words(text: &str) -> Result<Vec<&str>, String> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let length = if plain(first) {
            rest.find(|c| !plain(c)).unwrap_or(rest.len())
        } else if ["<=", ">=", "==", "!="].iter().any(|mark| rest.starts_with(mark)) {
            2
        } else if "<>+-*/%()".contains(first) {
            1
        } else {
            return Err(format!("`{first}` means nothing; there are + - * / % ( ) < <= > >= == !=, and, or"));
        };
        words.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    Ok(words)
}

struct Reader<'t> {
    words: &'t [&'t str],
    at: usize,
    names: &'t [&'t str],
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Option<&'t str> {
        let word = self.words.get(self.at).copied();
        self.at += usize::from(word.is_some());
        word
    }

    /// Takes a word if it is the next one.
    fn take(&mut self, word: &str) -> bool {
        let found = self.words.get(self.at) == Some(&word);
        self.at += usize::from(found);
        found
    }

    fn any(&mut self) -> Result<Condition, String> {
        let mut of = vec![self.all()?];
        while self.take("or") {
            of.push(self.all()?);
        }
        Ok(Condition::Any(of))
    }

    fn all(&mut self) -> Result<Condition, String> {
        let mut of = vec![self.comparison()?];
        while self.take("and") {
            of.push(self.comparison()?);
        }
        Ok(Condition::All(of))
    }

    fn comparison(&mut self) -> Result<Condition, String> {
        let begin = self.at;
        // A bracket begins a condition or a sum: which one is known behind its end.
        if self.take("(")
            && let Ok(inner) = self.any()
            && self.take(")")
        {
            return Ok(inner);
        }
        self.at = begin;
        let left = self.sum()?;
        let found = self.next();
        let comparison = found.and_then(Comparison::read).ok_or_else(|| {
            let found = found.map_or_else(|| "its end".to_owned(), |word| format!("`{word}`"));
            format!("one of < <= > >= == != is expected where {found} stands")
        })?;
        Ok(Condition::Compare(left, comparison, self.sum()?))
    }

    fn sum(&mut self) -> Result<Sum, String> {
        self.joined(&["+", "-"], &mut |reader| reader.joined(&["*", "/", "%"], &mut Self::factor))
    }

    fn joined(
        &mut self,
        operators: &[&str],
        part: &mut dyn FnMut(&mut Self) -> Result<Sum, String>,
    ) -> Result<Sum, String> {
        let mut left = part(self)?;
        while let Some(operator) = operators.iter().find(|operator| self.take(operator)) {
            let operator = operator.chars().next().unwrap_or('+');
            left = Sum::Joined(Box::new(left), operator, Box::new(part(self)?));
        }
        Ok(left)
    }

    fn factor(&mut self) -> Result<Sum, String> {
        if self.take("-") {
            return Ok(Sum::Negated(Box::new(self.factor()?)));
        }
        if self.take("(") {
            let inner = self.sum()?;
            return if self.take(")") { Ok(inner) } else { Err("a bracket is not closed".to_owned()) };
        }
        let word = self.next().ok_or("a number or a parameter is expected at its end")?;
        if let Some(number) = self.names.iter().position(|name| *name == word) {
            return Ok(Sum::Parameter(number));
        }
        let number = word.parse().map(Number::Int).or_else(|_| word.parse().map(Number::Float));
        let digit = word.starts_with(|c: char| c.is_ascii_digit());
        number
            .ok()
            .filter(|_| digit)
            .map(Sum::Number)
            .ok_or_else(|| format!("`{word}` is not a parameter; there are {}", self.names.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 3] = ["a", "b", "word"];

    #[test]
    fn constraints_hold_or_do_not() {
        let values = [Value::Int(7), Value::Float(2.5), Value::Text("16".to_owned())];
        let values: Vec<&Value> = values.iter().collect();
        for (text, expected) in [
            ("a <= 7", true),
            ("a < 7", false),
            ("b * 2 == 5 and a % 2 == 1", true),
            ("a / 2 == 3", true),
            ("a - 2 - 3 == 2", true),
            ("2 + 3 * a != 35", true),
            ("(a + 1) * 2 == word", true),
            ("(a > 9 or b > 2) and word >= 16", true),
            ("a > 9 or b > 3", false),
            ("-a < -6", true),
            ("a % (word - 16) == 0", false),
            ("a * 9223372036854775807 > 0", false),
        ] {
            assert_eq!(Constraint::read(text, &NAMES).unwrap().holds(&values), expected, "{text}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_constraint_is_named() {
        for (text, part) in [
            ("a", "one of < <= > >= == != is expected where its end stands"),
            ("a = b", "`=` means nothing"),
            ("a < c", "`c` is not a parameter; there are a, b, word"),
            ("a <", "a number or a parameter is expected at its end"),
            ("(a + 1 < 2", "a bracket is not closed"),
            (&format!("{}a{} < 1", "(".repeat(30_000), ")".repeat(30_000)), "it has 60003 words and signs"),
            (&format!("{}a < 1", "-".repeat(30_000)), "it has 30003 words and signs"),
            ("a < b b", "nothing is expected after its end, where `b` stands"),
        ] {
            let error = Constraint::read(text, &NAMES).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
