//! Numbers as `printf` writes them.

/// Flags and precision of a conversion.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Style {
    /// `-`: padded on the right.
    pub(super) left: bool,
    /// `+`: a sign always.
    pub(super) plus: bool,
    /// ` `: a space where no sign is.
    pub(super) space: bool,
    /// `#`: with `0x` and the like.
    pub(super) alternate: bool,
    /// `0`: padded with zeros.
    pub(super) zeros: bool,
    /// Digits.
    pub(super) precision: Option<usize>,
}

/// What a conversion writes, before it is padded.
#[derive(Debug, Default)]
pub(super) struct Text {
    /// Sign and base.
    pub(super) head: String,
    /// The rest.
    pub(super) body: Vec<u8>,
    /// Whether zeros may stand between them.
    pub(super) fills: bool,
}

impl Text {
    /// Appends the text, padded to a width.
    pub(super) fn pad(&self, width: usize, style: &Style, out: &mut Vec<u8>) {
        let missing = width.saturating_sub(self.head.len() + self.body.len());
        let zeros = style.zeros && self.fills && !style.left;
        let mut fill = |wanted: bool, byte: u8| out.extend(std::iter::repeat_n(byte, if wanted { missing } else { 0 }));
        fill(!style.left && !zeros, b' ');
        out.extend(self.head.as_bytes());
        out.extend(std::iter::repeat_n(b'0', if zeros { missing } else { 0 }));
        out.extend(&self.body);
        out.extend(std::iter::repeat_n(b' ', if style.left { missing } else { 0 }));
    }
}

fn sign(style: &Style, negative: bool) -> &'static str {
    match (negative, style.plus, style.space) {
        (true, ..) => "-",
        (_, true, _) => "+",
        (_, _, true) => " ",
        _ => "",
    }
}

/// An integer in the base of its conversion.
pub(super) fn integer(style: &Style, negative: bool, magnitude: u64, conversion: u8) -> Text {
    let mut body = match conversion {
        b'x' => format!("{magnitude:x}"),
        b'X' => format!("{magnitude:X}"),
        b'o' => format!("{magnitude:o}"),
        _ => magnitude.to_string(),
    };
    if style.precision == Some(0) && magnitude == 0 {
        body.clear();
    }
    let digits = style.precision.unwrap_or(0);
    body.insert_str(0, &"0".repeat(digits.saturating_sub(body.len())));
    let base = match conversion {
        b'x' if style.alternate && magnitude != 0 => "0x",
        b'X' if style.alternate && magnitude != 0 => "0X",
        b'o' if style.alternate && !body.starts_with('0') => "0",
        _ => "",
    };
    let head = format!("{}{base}", sign(style, negative));
    Text { head, body: body.into_bytes(), fills: style.precision.is_none() }
}

/// A floating-point number.
pub(super) fn float(style: &Style, value: f64, conversion: u8) -> Text {
    let upper = conversion.is_ascii_uppercase();
    let cased = |text: String| if upper { text.to_ascii_uppercase() } else { text };
    let mut head = sign(style, value.is_sign_negative()).to_owned();
    let magnitude = value.abs();
    if !magnitude.is_finite() {
        let body = if magnitude.is_nan() { "nan" } else { "inf" };
        return Text { head, body: cased(body.to_owned()).into_bytes(), fills: false };
    }
    let precision = style.precision.unwrap_or(6);
    let body = match conversion.to_ascii_lowercase() {
        b'f' => point(style, format!("{magnitude:.precision$}")),
        b'e' => exponential(style, magnitude, precision),
        b'g' => shortest(style, magnitude, precision.max(1)),
        _ => {
            head.push_str(if upper { "0X" } else { "0x" });
            hexadecimal(style, magnitude)
        }
    };
    Text { head, body: cased(body).into_bytes(), fills: true }
}

/// `#` keeps the point where no digit follows it.
fn point(style: &Style, mut digits: String) -> String {
    if style.alternate && !digits.contains('.') {
        digits.push('.');
    }
    digits
}

fn exponential(style: &Style, magnitude: f64, precision: usize) -> String {
    let text = format!("{magnitude:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", point(style, digits.to_owned()), exponent.abs())
}

/// `%g`: whichever of `%f` and `%e` suits, without zeros at the end.
fn shortest(style: &Style, magnitude: f64, precision: usize) -> String {
    let text = format!("{magnitude:.*e}", precision - 1);
    let exponent: i32 = text.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    let fixed = (-4..precision as i32).contains(&exponent);
    let text = if fixed {
        let decimals = (precision as i32 - 1 - exponent) as usize;
        point(style, format!("{magnitude:.decimals$}"))
    } else {
        exponential(style, magnitude, precision - 1)
    };
    if style.alternate {
        return text;
    }
    let (digits, exponent) = text.split_at(text.find('e').unwrap_or(text.len()));
    let digits = if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits };
    format!("{digits}{exponent}")
}

/// `%a`, behind its `0x`.
fn hexadecimal(style: &Style, magnitude: f64) -> String {
    let bits = magnitude.to_bits();
    let (field, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
    let exponent = if bits == 0 { 0 } else { field.max(1) - 1023 };
    let mut significand = fraction | if field == 0 { 0 } else { 1 << 52 };
    let digits = style.precision.unwrap_or(13);
    if digits < 13 {
        // To the nearest, to even where two are as near.
        let dropped = 4 * (13 - digits as u32);
        let (half, low) = (1u64 << (dropped - 1), significand & ((1 << dropped) - 1));
        let up = low > half || (low == half && (significand >> dropped) & 1 == 1);
        significand = ((significand >> dropped) + u64::from(up)) << dropped;
    }
    let fraction = format!("{:013x}", significand & ((1 << 52) - 1));
    let shown = match style.precision {
        None => fraction.trim_end_matches('0').to_owned(),
        Some(digits) => format!("{:0<digits$}", &fraction[..digits.min(13)]),
    };
    let dot = if shown.is_empty() && !style.alternate { "" } else { "." };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}{dot}{shown}p{sign}{}", significand >> 52, exponent.abs())
}
