//! `printf` of device code: the format and the arguments as `vprintf` finds them in memory become text.
//!
//! Arguments lie one after the other as a C structure has them: 4 bytes for what is promoted to `int`, 8 for the rest,
//! each aligned to its size. The rules of the text are those of C (ISO/IEC 9899:2018, §7.21.6.1), with the sizes that
//! types have on 64-bit Linux.

mod number;

use crate::access::LaneTrap;
use number::{Style, float, integer};

/// Reads `1 ≤ n ≤ 8` bytes at a generic address.
pub(crate) type Read<'a> = dyn FnMut(u64, u8) -> Result<u64, LaneTrap> + 'a;

/// A string is cut here, so that one without an end does not take the host's memory.
const LONGEST: usize = 1 << 16;
/// Fields are cut here, for the same reason.
const WIDEST: usize = 4096;

/// Appends the text; returns how many arguments it took, which is what `printf` of device code returns.
pub(crate) fn print(out: &mut Vec<u8>, format: u64, arguments: u64, read: &mut Read<'_>) -> Result<i32, LaneTrap> {
    if format == 0 {
        return Ok(-1);
    }
    let format = string(format, read)?;
    let mut arguments = Arguments { next: arguments, taken: 0, read };
    let mut rest = format.as_slice();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let spec = Spec::read(&mut rest, &mut arguments)?;
        spec.write(out, &mut arguments)?;
    }
    Ok(arguments.taken)
}

/// A text that ends in a zero.
pub(crate) fn string(address: u64, read: &mut Read<'_>) -> Result<Vec<u8>, LaneTrap> {
    let mut text = Vec::new();
    while text.len() < LONGEST {
        match read(address.wrapping_add(text.len() as u64), 1)? as u8 {
            0 => break,
            byte => text.push(byte),
        }
    }
    Ok(text)
}

struct Arguments<'r, 'a> {
    next: u64,
    taken: i32,
    read: &'r mut Read<'a>,
}

impl Arguments<'_, '_> {
    fn take(&mut self, bytes: u8) -> Result<u64, LaneTrap> {
        let at = self.next.next_multiple_of(bytes.into());
        self.next = at.wrapping_add(bytes.into());
        self.taken += 1;
        (self.read)(at, bytes)
    }

    /// An `int`, for a width or precision.
    fn int(&mut self) -> Result<i32, LaneTrap> {
        self.take(4).map(|bits| bits as u32 as i32)
    }
}

/// What stands between `%` and the end of a conversion.
struct Spec {
    style: Style,
    width: usize,
    /// Bytes of an integer.
    bytes: u8,
    conversion: u8,
}

impl Spec {
    fn read(rest: &mut &[u8], arguments: &mut Arguments<'_, '_>) -> Result<Self, LaneTrap> {
        let mut style = Style::default();
        while let Some(flag) = next_if(rest, |byte| b"-+ #0".contains(&byte)) {
            match flag {
                b'-' => style.left = true,
                b'+' => style.plus = true,
                b' ' => style.space = true,
                b'#' => style.alternate = true,
                _ => style.zeros = true,
            }
        }
        let mut width = digits(rest) as i32;
        if next_if(rest, |byte| byte == b'*').is_some() {
            width = arguments.int()?;
            style.left |= width < 0;
        }
        if next_if(rest, |byte| byte == b'.').is_some() {
            let precision =
                if next_if(rest, |byte| byte == b'*').is_some() { arguments.int()? } else { digits(rest) as i32 };
            style.precision = usize::try_from(precision).ok().map(|precision| precision.min(WIDEST));
        }
        let mut bytes = 4;
        while let Some(length) = next_if(rest, |byte| b"hljztL".contains(&byte)) {
            bytes = match (length, bytes) {
                (b'h', 2) => 1,
                (b'h', _) => 2,
                _ => 8,
            };
        }
        let conversion = next_if(rest, |_| true).unwrap_or(b'%');
        let width = (width.unsigned_abs() as usize).min(WIDEST);
        Ok(Self { style, width, bytes, conversion })
    }

    fn write(&self, out: &mut Vec<u8>, arguments: &mut Arguments<'_, '_>) -> Result<(), LaneTrap> {
        let text = match self.conversion {
            b'd' | b'i' => {
                let unused = 64 - 8 * u32::from(self.bytes);
                let value = (arguments.take(self.bytes.max(4))? << unused) as i64 >> unused;
                integer(&self.style, value < 0, value.unsigned_abs(), b'd')
            }
            b'u' | b'x' | b'X' | b'o' => {
                let unused = 64 - 8 * u32::from(self.bytes);
                let value = arguments.take(self.bytes.max(4))? << unused >> unused;
                let unsigned = Style { plus: false, space: false, ..self.style };
                integer(&unsigned, false, value, self.conversion)
            }
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
                float(&self.style, f64::from_bits(arguments.take(8)?), self.conversion)
            }
            b'c' => number::Text { body: vec![arguments.take(4)? as u8], ..number::Text::default() },
            b'p' => match arguments.take(8)? {
                0 => number::Text { body: b"(nil)".to_vec(), ..number::Text::default() },
                address => integer(&Style { alternate: true, ..Style::default() }, false, address, b'x'),
            },
            b's' => {
                let address = arguments.take(8)?;
                let mut body = if address == 0 { b"(null)".to_vec() } else { string(address, arguments.read)? };
                body.truncate(self.style.precision.unwrap_or(body.len()));
                number::Text { body, ..number::Text::default() }
            }
            b'%' => number::Text { body: b"%".to_vec(), ..number::Text::default() },
            // `%n` would write to memory; CUDA has no such conversion, nor any other.
            other => number::Text { body: vec![b'%', other], ..number::Text::default() },
        };
        text.pad(self.width, &self.style, out);
        Ok(())
    }
}

fn next_if(rest: &mut &[u8], wanted: impl Fn(u8) -> bool) -> Option<u8> {
    let (&byte, after) = rest.split_first()?;
    wanted(byte).then(|| {
        *rest = after;
        byte
    })
}

fn digits(rest: &mut &[u8]) -> usize {
    let mut number = 0;
    while let Some(digit) = next_if(rest, |byte| byte.is_ascii_digit()) {
        number = (number * 10 + usize::from(digit - b'0')).min(WIDEST);
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Prints with a format at address 1, arguments at 4096 and a string at 8192.
    fn printed(format: &str, arguments: &[u8]) -> (String, i32) {
        let mut memory = vec![0u8; 16384];
        memory[1..=format.len()].copy_from_slice(format.as_bytes());
        memory[4096..4096 + arguments.len()].copy_from_slice(arguments);
        memory[8192..8197].copy_from_slice(b"text\0");
        let mut read = |at: u64, bytes: u8| {
            let mut word = [0; 8];
            word[..bytes.into()].copy_from_slice(&memory[at as usize..at as usize + usize::from(bytes)]);
            Ok(u64::from_le_bytes(word))
        };
        let mut out = Vec::new();
        let taken = print(&mut out, 1, 4096, &mut read).unwrap();
        (String::from_utf8(out).unwrap(), taken)
    }

    fn of(format: &str, value: u64) -> String {
        printed(format, &value.to_le_bytes()).0
    }

    #[test]
    fn arguments_lie_as_in_a_structure() {
        let mut bytes = Vec::new();
        bytes.extend((-5i32).to_le_bytes());
        bytes.extend(7u32.to_le_bytes());
        bytes.extend(8192u64.to_le_bytes());
        bytes.extend(65u32.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(1.5f64.to_bits().to_le_bytes());
        bytes.extend((-1i64).to_le_bytes());
        assert_eq!(printed("%d %u [%s] %c %f %lld%%\n", &bytes), ("-5 7 [text] A 1.500000 -1%\n".into(), 6));
    }

    #[test]
    fn integers_are_written_as_c_says() {
        assert_eq!(of("[%5d|%-5d|%05d]", 42), "[   42|0    |00000]");
        assert_eq!(of("%+.3d", 7), "+007");
        assert_eq!(of("%#x", 255), "0xff");
        assert_eq!(of("%#llX", 0xdead_beef_0000), "0XDEADBEEF0000");
        assert_eq!(of("%o", 8), "10");
        assert_eq!(of("%hhd", 0xff), "-1");
        assert_eq!(of("%hu", 0x1_ffff), "65535");
        assert_eq!(of("%p", 0x3f40_0000_0000), "0x3f4000000000");
    }

    #[test]
    fn floats_are_written_as_c_says() {
        let float = |format: &str, value: f64| of(format, value.to_bits());
        assert_eq!(float("%8.3f|", 2.71928), "   2.719|");
        assert_eq!(float("%08.2f", -2.71928), "-0002.72");
        assert_eq!(float("%e", 12345.678), "1.234568e+04");
        assert_eq!(float("%.0e", 0.0), "0e+00");
        assert_eq!(float("%g", 0.0001), "0.0001");
        assert_eq!(float("%g", 1e-5), "1e-05");
        assert_eq!(float("%g", 100000.0), "100000");
        assert_eq!(float("%G", 1e6), "1E+06");
        assert_eq!(float("%a", 1.5), "0x1.8p+0");
        assert_eq!(float("%5f|", f64::INFINITY), "  inf|");
        assert_eq!(float("%F", f64::NAN), "NAN");
    }

    #[test]
    fn strings_and_unknown_conversions() {
        assert_eq!(of("[%6s|%.2s]", 8192), "[  text|(n]");
        assert_eq!(of("%q%", 0), "%q%");
        assert_eq!(print(&mut Vec::new(), 0, 0, &mut |_, _| Ok(0)).unwrap(), -1);
    }
}
