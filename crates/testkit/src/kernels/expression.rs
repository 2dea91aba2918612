//! Integer expressions over the index of an element: `(i % 32) * 4 + (i < 16 ? 1 : 0)`.
//!
//! Operators and their precedence are C's; numbers have 128 bits, so that nothing wraps before it is stored. Besides
//! them there are `min(a, b)`, `max(a, b)` and `popc(a)`.

/// The value of an expression for an index.
///
/// # Errors
/// If the text is no expression, or divides by zero.
pub(super) fn evaluate(text: &str, index: i128) -> Result<i128, String> {
    let mut reader = Reader { rest: text.trim_start(), index };
    let value = reader.choice()?;
    if reader.rest.is_empty() { Ok(value) } else { Err(format!("`{}` is left over in `{text}`", reader.rest)) }
}

/// Binary operators by precedence, the loosest first; the longer of two that begin alike comes first.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

struct Reader<'a> {
    rest: &'a str,
    index: i128,
}

impl Reader<'_> {
    fn eat(&mut self, token: &str) -> bool {
        let Some(rest) = self.rest.strip_prefix(token) else { return false };
        self.rest = rest.trim_start();
        true
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.eat(token) { Ok(()) } else { Err(format!("expected `{token}` before `{}`", self.rest)) }
    }

    /// `condition ? a : b`
    fn choice(&mut self) -> Result<i128, String> {
        let condition = self.binary(0)?;
        if !self.eat("?") {
            return Ok(condition);
        }
        let yes = self.choice()?;
        self.expect(":")?;
        let no = self.choice()?;
        Ok(if condition != 0 { yes } else { no })
    }

    fn binary(&mut self, level: usize) -> Result<i128, String> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        loop {
            // `a | b` is not the beginning of `a || b`, nor `a < b` of `a << b`.
            let doubled = |op: &str| op.len() == 1 && self.rest[1..].starts_with(op) && "|&<>".contains(op);
            let Some(op) = operators.iter().find(|op| self.rest.starts_with(**op) && !doubled(op)) else {
                return Ok(left);
            };
            self.eat(op);
            left = apply(op, left, self.binary(level + 1)?)?;
        }
    }

    fn unary(&mut self) -> Result<i128, String> {
        if self.eat("-") {
            return Ok(-self.unary()?);
        }
        if self.eat("~") {
            return Ok(!self.unary()?);
        }
        if self.rest.starts_with('!') && !self.rest.starts_with("!=") {
            self.eat("!");
            return Ok(i128::from(self.unary()? == 0));
        }
        self.atom()
    }

    fn atom(&mut self) -> Result<i128, String> {
        if self.eat("(") {
            let value = self.choice()?;
            self.expect(")")?;
            return Ok(value);
        }
        let length = self.rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(self.rest.len());
        let word = &self.rest[..length];
        self.rest = self.rest[length..].trim_start();
        match word {
            "i" => Ok(self.index),
            "min" | "max" | "popc" => self.call(word),
            _ => number(word).ok_or_else(|| format!("`{word}` is no number, `i` or function")),
        }
    }

    fn call(&mut self, name: &str) -> Result<i128, String> {
        self.expect("(")?;
        let first = self.choice()?;
        let value = if name == "popc" {
            i128::from(first.count_ones())
        } else {
            self.expect(",")?;
            let second = self.choice()?;
            if name == "min" { first.min(second) } else { first.max(second) }
        };
        self.expect(")")?;
        Ok(value)
    }
}

/// A decimal or hexadecimal number without a sign.
pub(super) fn number(word: &str) -> Option<i128> {
    match word.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16).ok(),
        None => word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse().ok()).flatten(),
    }
}

fn apply(op: &str, a: i128, b: i128) -> Result<i128, String> {
    let truth = |holds: bool| Ok(i128::from(holds));
    let by = |b: i128| u32::try_from(b).ok().filter(|&by| by < 128).ok_or_else(|| format!("a shift by {b}"));
    match op {
        "||" => truth(a != 0 || b != 0),
        "&&" => truth(a != 0 && b != 0),
        "|" => Ok(a | b),
        "^" => Ok(a ^ b),
        "&" => Ok(a & b),
        "==" => truth(a == b),
        "!=" => truth(a != b),
        "<=" => truth(a <= b),
        ">=" => truth(a >= b),
        "<" => truth(a < b),
        ">" => truth(a > b),
        "<<" => Ok(a << by(b)?),
        ">>" => Ok(a >> by(b)?),
        "+" => Ok(a.wrapping_add(b)),
        "-" => Ok(a.wrapping_sub(b)),
        "*" => Ok(a.wrapping_mul(b)),
        "/" => a.checked_div(b).ok_or_else(|| "a division by zero".to_owned()),
        _ => a.checked_rem(b).ok_or_else(|| "a division by zero".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_bind_as_in_c() {
        for (text, value) in [
            ("1 + 2 * 3", 7),
            ("(1 + 2) * 3", 9),
            ("i % 4 == 2 ? 10 : 20", 10),
            ("i < 6 ? 1 : i < 7 ? 2 : 3", 2),
            ("1 << 4 | 3", 19),
            ("1 | 2 && 0", 0),
            ("-i + ~0", -7),
            ("!i || i == 6", 1),
            ("min(i, 4) + max(i, 8) + popc(0xff)", 20),
            ("7 - 2 - 1", 4),
            ("i >> 1 >= 3", 1),
            ("5 & 3 ^ 1", 0),
        ] {
            assert_eq!(evaluate(text, 6), Ok(value), "{text}");
        }
    }

    #[test]
    fn what_is_no_expression_is_refused() {
        for text in ["", "1 +", "(1", "1 2", "j", "1 / 0", "0xg", "min(1)", "1 << 200", "1 ? 2", "+1"] {
            assert!(evaluate(text, 0).is_err(), "{text}");
        }
    }
}
