//! A place in the tokens, and the small steps from there.

use crate::error::{Diagnostic, Parsed, Span};
use crate::token::{Kind, Token};

/// Reads tokens in order, up to an end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    pub(super) text: &'a str,
    tokens: &'a [Token],
    at: usize,
    end: usize,
}

/// A word of the text and its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name<'a> {
    pub(super) text: &'a str,
    pub(super) span: Span,
}

impl<'a> Cursor<'a> {
    /// Reads all tokens of a text.
    pub(super) fn new(text: &'a str, tokens: &'a [Token]) -> Self {
        Self { text, tokens, at: 0, end: tokens.len() }
    }

    /// Where the cursor is, for [`Cursor::slice`] and [`Cursor::recover`].
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Goes back, or forth, to a position.
    pub(super) fn go_to(&mut self, position: usize) {
        self.at = position;
    }

    /// A cursor that reads only the tokens between two positions.
    pub(super) fn slice(&self, from: usize, to: usize) -> Self {
        Self { at: from, end: to, ..*self }
    }

    /// The bytes between the tokens just before and after these.
    pub(super) fn bytes(&self, tokens: &std::ops::Range<usize>) -> std::ops::Range<usize> {
        let before = tokens.start.checked_sub(1).and_then(|at| self.tokens.get(at));
        let start = before.map_or(0, |token| token.span.end as usize);
        let end = self.tokens.get(tokens.end).map_or(self.text.len(), |token| token.span.start as usize);
        start..end
    }

    /// The next token, or the end.
    pub(super) fn peek(&self) -> Token {
        self.ahead(0)
    }

    /// The token that comes after `skip` others.
    pub(super) fn ahead(&self, skip: usize) -> Token {
        let at = self.at + skip;
        if at < self.end { self.tokens[at] } else { Token { kind: Kind::End, span: self.end_span() } }
    }

    /// The empty place after the last token.
    fn end_span(&self) -> Span {
        let last = self.end.checked_sub(1).and_then(|last| self.tokens.get(last));
        last.map_or(Span::default(), |last| last.span.after())
    }

    /// The place of the token that was read last.
    pub(super) fn previous(&self) -> Span {
        self.at.checked_sub(1).map_or(Span::default(), |at| self.tokens[at].span)
    }

    /// What a place says.
    pub(super) fn source(&self, span: Span) -> &'a str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    /// What the next token says.
    pub(super) fn peek_text(&self) -> &'a str {
        self.source(self.peek().span)
    }

    /// Takes the next token; stays at the end.
    pub(super) fn next(&mut self) -> Token {
        let token = self.peek();
        self.at = (self.at + 1).min(self.end);
        token
    }

    /// Whether the next token is this character.
    pub(super) fn sees(&self, mark: u8) -> bool {
        self.peek().kind == Kind::Mark(mark)
    }

    /// Takes the next token if it is this character.
    pub(super) fn eat(&mut self, mark: u8) -> bool {
        let found = self.sees(mark);
        if found {
            self.next();
        }
        found
    }

    /// Takes the next token if it says exactly this.
    pub(super) fn eat_text(&mut self, text: &str) -> bool {
        let found = self.peek().kind != Kind::End && self.peek_text() == text;
        if found {
            self.next();
        }
        found
    }

    /// Takes this character, or says what stands there instead.
    pub(super) fn expect(&mut self, mark: u8) -> Parsed<Span> {
        if self.sees(mark) { Ok(self.next().span) } else { Err(self.wrong(&format!("`{}`", char::from(mark)))) }
    }

    /// Takes a word that names something.
    pub(super) fn name(&mut self, what: &str) -> Parsed<Name<'a>> {
        if self.peek().kind == Kind::Word { Ok(self.take_name()) } else { Err(self.wrong(what)) }
    }

    /// The next token as a name, whatever it is.
    pub(super) fn take_name(&mut self) -> Name<'a> {
        let span = self.next().span;
        Name { text: self.source(span), span }
    }

    /// Takes a `;`. Where it is missing at the end of a line, the place after the last token is what is wrong.
    pub(super) fn semicolon(&mut self) -> Parsed<()> {
        if self.eat(b';') {
            return Ok(());
        }
        if self.at_line_start() || matches!(self.peek().kind, Kind::End | Kind::Mark(b'}')) {
            let place = self.previous().after();
            return Err(Diagnostic::new(place, "a `;` is missing").help("every statement ends with `;`"));
        }
        Err(self.wrong("`;`"))
    }

    /// Whether the next token is the first of its line.
    pub(super) fn at_line_start(&self) -> bool {
        let gap = Span { start: self.previous().end, end: self.peek().span.start };
        self.source(gap).contains('\n')
    }

    /// The mistake that the next token is not what was expected.
    pub(super) fn wrong(&self, expected: &str) -> Box<Diagnostic> {
        let token = self.peek();
        let found = match token.kind {
            Kind::End => "the end of the text".to_owned(),
            _ => format!("`{}`", shorten(self.source(token.span))),
        };
        Diagnostic::new(token.span, format!("expected {expected}, found {found}")).label(format!("expected {expected}"))
    }

    /// Goes to where reading can go on after a mistake in the statement that began at `start`: past its `;`, or
    /// before the `}` that ends the scope around it.
    pub(super) fn recover(&mut self, start: usize) {
        // A missing `;` at the end of a line loses nothing.
        if self.at > start && self.at_line_start() && matches!(self.peek().kind, Kind::Word | Kind::Dot) {
            return;
        }
        self.at = start;
        let mut depth = 0usize;
        loop {
            match self.peek().kind {
                Kind::End => return,
                Kind::Mark(b'{') => depth += 1,
                Kind::Mark(b'}') if depth == 0 => return,
                Kind::Mark(b'}') => depth -= 1,
                Kind::Mark(b';') if depth == 0 => {
                    self.next();
                    return;
                }
                _ => {}
            }
            self.next();
        }
    }

    /// Goes past the `}` that belongs to a `{` just read. `None` if there is none; then the cursor is at the end.
    pub(super) fn skip_braces(&mut self) -> Option<()> {
        let mut depth = 1usize;
        while depth > 0 {
            match self.next().kind {
                Kind::End => return None,
                Kind::Mark(b'{') => depth += 1,
                Kind::Mark(b'}') => depth -= 1,
                _ => {}
            }
        }
        Some(())
    }
}

/// A text short enough for a message.
pub(super) fn shorten(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
