//! The lines of GDB's machine interface, read.
//!
//! Reference: the manual of GDB 14, "GDB/MI Output Syntax". cuda-gdb adds results of its own to `*stopped`: `CudaFocus`,
//! `exception_name`, and `pc` for the instruction that the hardware blames. A line that is none of these is kept as it is: the program that is
//! debugged may write to the same stream.

/// A value: text, named values, or a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Text(String),
    Tuple(Results),
    /// Values with or without names; the names are left out.
    List(Vec<Value>),
}

/// Named values, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Results(Vec<(String, Value)>);

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    /// `12^done,…`: the answer to the command with this number; `done`, `running`, `error`, `exit`, `connected`.
    Answer { token: Option<u64>, class: String, results: Results },
    /// `*stopped,…`, `*running,…`, `=library-loaded,…` and the like.
    Notice { class: String, results: Results },
    /// What the console shows.
    Console(String),
    /// What the debugger notes for itself; complaints, too.
    Log(String),
    /// It takes the next command.
    Prompt,
    /// None of these.
    Other(String),
}

impl Results {
    /// The value with this name.
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// The text with this name.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The named values with this name.
    pub(crate) fn tuple(&self, name: &str) -> Option<&Self> {
        match self.get(name) {
            Some(Value::Tuple(results)) => Some(results),
            _ => None,
        }
    }
}

impl Record {
    /// Reads a line. Total: what is not understood is [`Record::Other`].
    pub(crate) fn parse(line: &str) -> Self {
        if line.trim_end() == "(gdb)" {
            return Self::Prompt;
        }
        let digits = line.len() - line.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
        let (token, rest) = line.split_at(digits);
        let known = match rest.as_bytes().first() {
            Some(b'^') => {
                parsed(&rest[1..]).map(|(class, results)| Self::Answer { token: token.parse().ok(), class, results })
            }
            Some(b'*' | b'=' | b'+') => parsed(&rest[1..]).map(|(class, results)| Self::Notice { class, results }),
            Some(b'~') => Reader(&rest[1..]).quoted().map(Self::Console),
            Some(b'&') => Reader(&rest[1..]).quoted().map(Self::Log),
            _ => None,
        };
        known.unwrap_or_else(|| Self::Other(line.to_owned()))
    }
}

/// `class,name=value,…`.
fn parsed(text: &str) -> Option<(String, Results)> {
    let end = text.find(',').unwrap_or(text.len());
    let (class, rest) = text.split_at(end);
    let mut reader = Reader(rest);
    let mut results = Vec::new();
    while reader.take(',') {
        results.push(reader.named()?);
    }
    (reader.0.is_empty() && !class.is_empty()).then(|| (class.to_owned(), Results(results)))
}

/// Values within values beyond this depth are not read.
const DEEPEST: usize = 64;

struct Reader<'a>(&'a str);

impl Reader<'_> {
    fn take(&mut self, expected: char) -> bool {
        match self.0.strip_prefix(expected) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    fn named(&mut self) -> Option<(String, Value)> {
        self.named_at(0)
    }

    fn named_at(&mut self, depth: usize) -> Option<(String, Value)> {
        let end = self.0.find('=')?;
        let (name, rest) = self.0.split_at(end);
        let plain = |letter: char| letter.is_alphanumeric() || "-_ .".contains(letter);
        if !name.chars().all(plain) {
            return None;
        }
        self.0 = &rest[1..];
        Some((name.to_owned(), self.value(depth + 1)?))
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        if depth > DEEPEST {
            return None;
        }
        if self.take('{') {
            let mut results = Vec::new();
            while !self.take('}') {
                if !results.is_empty() && !self.take(',') {
                    return None;
                }
                results.push(self.named_at(depth)?);
            }
            return Some(Value::Tuple(Results(results)));
        }
        if self.take('[') {
            let mut values = Vec::new();
            while !self.take(']') {
                if !values.is_empty() && !self.take(',') {
                    return None;
                }
                let bare = self.0.starts_with(['"', '{', '[']);
                values.push(if bare { self.value(depth + 1)? } else { self.named_at(depth)?.1 });
            }
            return Some(Value::List(values));
        }
        self.quoted().map(Value::Text)
    }

    /// A C string.
    fn quoted(&mut self) -> Option<String> {
        let mut bytes = Vec::new();
        let mut letters = self.0.strip_prefix('"')?.char_indices();
        let start = 1;
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => {
                    self.0 = &self.0[start + at + 1..];
                    return Some(String::from_utf8_lossy(&bytes).into_owned());
                }
                '\\' => match letters.next()?.1 {
                    'n' => bytes.push(b'\n'),
                    't' => bytes.push(b'\t'),
                    'r' => bytes.push(b'\r'),
                    digit @ '0'..='7' => {
                        let more = letters.by_ref().take(2).filter_map(|(_, digit)| digit.to_digit(8));
                        bytes.push(more.fold(digit.to_digit(8)?, |value, digit| value * 8 + digit) as u8);
                    }
                    other => bytes.extend(other.to_string().bytes()),
                },
                other => bytes.extend(other.to_string().bytes()),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_have_their_number_class_and_results() {
        let Record::Answer { token, class, results } = Record::parse(r#"12^error,msg="no \"x\" here""#) else {
            panic!("an answer")
        };
        assert_eq!((token, class.as_str(), results.text("msg")), (Some(12), "error", Some("no \"x\" here")));
        assert!(matches!(Record::parse("3^done"), Record::Answer { token: Some(3), .. }));
    }

    #[test]
    fn a_stop_on_the_gpu_has_its_focus_and_its_exception() {
        let line = r#"*stopped,exception_name="Warp Out-of-range Address",pc="0x7ffddf7a1910",reason="signal-received",signal-name="CUDA_EXCEPTION_5",CudaFocus={device="0",blockIdx="(3,0,0)",threadIdx="(32,0,0)"},frame={addr="0x00007ffddf7a1960",func="advance_rows",args=[],line="54"},stopped-threads="all""#;
        let Record::Notice { class, results } = Record::parse(line) else { panic!("a notice") };
        assert_eq!(class, "stopped");
        assert_eq!(results.text("signal-name"), Some("CUDA_EXCEPTION_5"));
        assert_eq!(results.tuple("CudaFocus").and_then(|focus| focus.text("threadIdx")), Some("(32,0,0)"));
        assert_eq!(results.tuple("frame").and_then(|frame| frame.text("line")), Some("54"));
    }

    #[test]
    fn lists_have_bare_and_named_values() {
        let Record::Answer { results, .. } = Record::parse(r#"^done,a=["x","y"],b=[bkpt={number="1"},{n="2"}],c=[]"#)
        else {
            panic!("an answer")
        };
        let count = |name: &str| match results.get(name) {
            Some(Value::List(values)) => values.len(),
            other => panic!("a list: {other:?}"),
        };
        assert_eq!((count("a"), count("b"), count("c")), (2, 2, 0));
    }

    #[test]
    fn text_is_unquoted() {
        assert_eq!(Record::parse(r#"~"a\tb\n\"c\" \303\244""#), Record::Console("a\tb\n\"c\" ä".to_owned()));
        assert_eq!(Record::parse("(gdb) "), Record::Prompt);
    }

    #[test]
    fn what_is_no_record_is_kept() {
        for line in ["", "hello", "^", "~\"open", "*stopped,reason=", "12", "=x,a={", "*x,\"=1", "&\"\\"] {
            assert_eq!(Record::parse(line), Record::Other(line.to_owned()), "{line}");
        }
        let deep = format!("*x,a={}", "[".repeat(100_000));
        assert!(matches!(Record::parse(&deep), Record::Other(_)));
    }
}
