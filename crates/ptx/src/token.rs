//! Text to tokens.
//!
//! One pass over the bytes; a token is its kind and its place. A word may start with `%`, `$` or `_`; a dot and the
//! word after it are one token, so an opcode is a word followed by dot tokens. Comments and preprocessor lines
//! leave nothing behind. What cannot be a token is reported and left out.

use crate::error::{Diagnostic, Sink, Span};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `add`, `%r1`, `$L__BB0_2`, `_`
    Word,
    /// `.global`, `.L2::128B`
    Dot,
    /// `12`, `0x1fU`
    Integer,
    /// `0f3F800000`, `0d3FF0000000000000`, `1.5e3`
    Float,
    /// `"…"`
    Text,
    /// One character of punctuation.
    Mark(u8),
    /// The end of what is read.
    End,
}

/// A token: its kind and its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
}

/// Everything in the text. The text must be shorter than 4 GiB.
pub(crate) fn tokenize(text: &str, sink: &mut Sink) -> Vec<Token> {
    let mut lexer = Lexer { text, bytes: text.as_bytes(), at: 0, sink };
    let mut tokens = Vec::with_capacity(text.len() / 4);
    while let Some(token) = lexer.next() {
        tokens.push(token);
    }
    tokens
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    sink: &'a mut Sink,
}

fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn span_from(&self, start: usize) -> Span {
        Span { start: start as u32, end: self.at as u32 }
    }

    fn next(&mut self) -> Option<Token> {
        loop {
            self.skip_space();
            let start = self.at;
            let byte = *self.bytes.get(start)?;
            if let Some(kind) = self.token(byte) {
                return Some(Token { kind, span: self.span_from(start) });
            }
        }
    }

    /// Reads one token; `None` if what stood there is none.
    fn token(&mut self, byte: u8) -> Option<Kind> {
        match byte {
            b'/' if self.peek(1) == b'/' => self.skip_line(),
            b'/' if self.peek(1) == b'*' => self.skip_comment(),
            b'#' => self.skip_preprocessor(),
            b'"' => return self.string(),
            b'.' if in_word(self.peek(1)) => return Some(self.dot()),
            b'0'..=b'9' => return Some(self.number()),
            b'%' if in_word(self.peek(1)) => return Some(self.word()),
            _ if in_word(byte) => return Some(self.word()),
            _ if b",;:{}()[]+-*/%@!~|&^<>=?.".contains(&byte) => {
                self.at += 1;
                return Some(Kind::Mark(byte));
            }
            _ => self.stray(),
        }
        None
    }

    fn skip_space(&mut self) {
        while self.peek(0).is_ascii_whitespace() && self.at < self.bytes.len() {
            self.at += 1;
        }
    }

    fn skip_line(&mut self) {
        self.at += self.text[self.at..].find('\n').unwrap_or(self.bytes.len() - self.at);
    }

    fn skip_comment(&mut self) {
        let start = self.at;
        if let Some(length) = self.text[start + 2..].find("*/") {
            self.at += 2 + length + 2;
        } else {
            let span = Span { start: start as u32, end: start as u32 + 2 };
            self.at = self.bytes.len();
            let help = "close it with `*/`";
            self.sink.report(Diagnostic::new(span, "a comment does not end").label("begins here").help(help));
        }
    }

    /// `# 12 "file"` and `#line` are skipped; other directives would have to be obeyed.
    fn skip_preprocessor(&mut self) {
        let start = self.at;
        self.skip_line();
        let line = self.text[start + 1..self.at].trim_start();
        if !line.starts_with("line") && !line.starts_with(|c: char| c.is_ascii_digit()) {
            let span = self.span_from(start);
            let help = "run the text through a preprocessor first";
            self.sink.report(Diagnostic::new(span, "preprocessor directives are not supported").help(help));
        }
    }

    fn stray(&mut self) {
        let start = self.at;
        let stray = self.text[start..].chars().next().map_or(1, char::len_utf8);
        self.at += stray;
        let message = format!("{:?} does not belong in PTX", &self.text[start..self.at]);
        self.sink.report(Diagnostic::new(self.span_from(start), message).help("remove the character"));
    }

    fn string(&mut self) -> Option<Kind> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.bytes.get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Some(Kind::Text);
                }
                Some(b'\\') if self.peek(1) == b'"' || self.peek(1) == b'\\' => self.at += 2,
                Some(b'\n') | None => break,
                Some(_) => self.at += 1,
            }
        }
        let mistake = Diagnostic::new(self.span_from(start), "a string does not end");
        self.sink.report(mistake.help("close it with `\"` on the same line"));
        None
    }

    fn word(&mut self) -> Kind {
        self.at += 1;
        while in_word(self.peek(0)) {
            self.at += 1;
        }
        Kind::Word
    }

    fn dot(&mut self) -> Kind {
        self.at += 1;
        loop {
            if in_word(self.peek(0)) {
                self.at += 1;
            } else if self.peek(0) == b':' && self.peek(1) == b':' && in_word(self.peek(2)) {
                self.at += 2;
            } else {
                return Kind::Dot;
            }
        }
    }

    fn number(&mut self) -> Kind {
        let digits = self.run(in_word);
        let word = &self.bytes[self.at..self.at + digits];
        let marked = word.len() > 1 && word[0] == b'0';
        if marked && matches!(word[1], b'f' | b'F' | b'd' | b'D') {
            self.at += digits;
            return Kind::Float;
        }
        if marked && matches!(word[1], b'x' | b'X' | b'b' | b'B') {
            self.at += digits;
            return Kind::Integer;
        }
        self.decimal()
    }

    /// `12`, `1.5`, `1e-3`
    fn decimal(&mut self) -> Kind {
        self.at += self.run(|byte| byte.is_ascii_digit());
        let mut kind = Kind::Integer;
        if self.peek(0) == b'.' && !self.peek(1).is_ascii_alphabetic() {
            kind = Kind::Float;
            self.at += 1;
            self.at += self.run(|byte| byte.is_ascii_digit());
        }
        let sign = usize::from(matches!(self.peek(1), b'+' | b'-'));
        if matches!(self.peek(0), b'e' | b'E') && self.peek(1 + sign).is_ascii_digit() {
            kind = Kind::Float;
            self.at += 1 + sign;
        }
        self.at += self.run(in_word);
        kind
    }

    /// How many of the next bytes are of a kind.
    fn run(&self, belongs: impl Fn(u8) -> bool) -> usize {
        self.bytes[self.at..].iter().take_while(|&&byte| belongs(byte)).count()
    }
}
