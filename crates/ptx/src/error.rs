//! What is wrong with a text, and where.
//!
//! A [`Diagnostic`] is one mistake; [`Errors`] is all of them with the text they are about, and renders them with
//! the source line and carets. Messages are lower-case sentences without a full stop; the label says what stands at
//! the place, and the help line what to do next.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use std::ops::Range;
use std::sync::Arc;

/// How many mistakes are kept; the rest are counted.
const MOST: usize = 20;

/// How much of a long line is shown on either side of a mistake, in bytes.
const AROUND: usize = 120;

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Where, in bytes of the text.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What stands there, shown under the carets; may be empty.
    pub label: String,
    /// What to do next.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A mistake at a place.
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Box<Self> {
        let span = span.start as usize..span.end as usize;
        Box::new(Self { span, message: message.into(), label: String::new(), help: None })
    }

    /// The same mistake with a label under the carets.
    pub(crate) fn label(mut self: Box<Self>, label: impl Into<String>) -> Box<Self> {
        self.label = label.into();
        self
    }

    /// The same mistake with a line of help.
    pub(crate) fn help(mut self: Box<Self>, help: impl Into<String>) -> Box<Self> {
        self.help = Some(help.into());
        self
    }
}

impl From<Box<Diagnostic>> for Diagnostic {
    fn from(boxed: Box<Self>) -> Self {
        *boxed
    }
}

/// The result of reading a part of the text.
pub(crate) type Parsed<T> = Result<T, Box<Diagnostic>>;

/// A place in the text, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Span {
    /// From the start of this place to the end of another.
    pub(crate) fn to(self, last: Self) -> Self {
        Self { start: self.start, end: last.end.max(self.start) }
    }

    /// The empty place just after this one.
    pub(crate) fn after(self) -> Self {
        Self { start: self.end, end: self.end }
    }
}

/// Collects mistakes while the text is read.
#[derive(Debug, Default)]
pub(crate) struct Sink {
    found: Vec<Diagnostic>,
    omitted: usize,
    /// What was said of another function already, and is a mistake of this one, too.
    repeated: Vec<Diagnostic>,
}

impl Sink {
    /// Keeps a mistake, or counts it if there are too many.
    pub(crate) fn report(&mut self, diagnostic: impl Into<Diagnostic>) {
        if self.found.len() < MOST {
            self.found.push(diagnostic.into());
        } else {
            self.omitted += 1;
        }
    }

    /// The value, or `None` after reporting the mistake.
    pub(crate) fn check<T>(&mut self, parsed: Parsed<T>) -> Option<T> {
        parsed.map_err(|diagnostic| self.report(diagnostic)).ok()
    }

    /// Keeps a mistake that another function was the first to have, once for each message.
    pub(crate) fn repeat(&mut self, diagnostic: impl Into<Diagnostic>) {
        let diagnostic = diagnostic.into();
        let new = |known: &Diagnostic| known.message != diagnostic.message;
        if self.repeated.len() < MOST && self.found.iter().chain(&self.repeated).all(new) {
            self.repeated.push(diagnostic);
        }
    }

    /// Whether nothing was wrong so far.
    pub(crate) fn is_empty(&self) -> bool {
        self.found.is_empty() && self.repeated.is_empty()
    }

    /// Takes the mistakes out that lie in a part of the text. None if some were only counted: they may lie anywhere.
    pub(crate) fn within(&mut self, part: &Range<usize>) -> Self {
        let inside = |diagnostic: &mut Diagnostic| part.contains(&diagnostic.span.start);
        let found = if self.omitted > 0 { Vec::new() } else { self.found.extract_if(.., inside).collect() };
        Self { found, ..Self::default() }
    }

    /// Takes the mistakes of another part of the text, but for those that were said of an earlier one.
    pub(crate) fn join(&mut self, other: Self) {
        other.found.into_iter().for_each(|diagnostic| self.report(diagnostic));
        self.omitted += other.omitted;
    }

    /// Everything that was wrong, in the order of the text. Something was.
    pub(crate) fn into_errors(mut self, name: &str, text: &Arc<str>) -> Errors {
        self.found.append(&mut self.repeated);
        self.found.sort_by_key(|diagnostic| (diagnostic.span.start, diagnostic.span.end));
        Errors { name: name.to_owned(), text: Arc::clone(text), found: self.found, omitted: self.omitted }
    }
}

/// Everything that is wrong with a text. Displays as [`Errors::render`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.render())]
pub struct Errors {
    name: String,
    text: Arc<str>,
    found: Vec<Diagnostic>,
    omitted: usize,
}

impl Errors {
    /// The mistakes, in the order of the text; at least one.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.found
    }

    /// How many more there were than are kept.
    #[must_use]
    pub fn omitted(&self) -> usize {
        self.omitted
    }

    /// The line and the column of a mistake, both from 1, the column in bytes.
    #[must_use]
    pub fn position(&self, diagnostic: &Diagnostic) -> (usize, usize) {
        let before = self.text.as_bytes().get(..diagnostic.span.start).unwrap_or_default();
        let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        (1 + before.iter().filter(|&&byte| byte == b'\n').count(), 1 + before.len() - line_start)
    }

    /// All mistakes as plain text, each with its source line.
    #[must_use]
    pub fn render(&self) -> String {
        let mut rendered: Vec<String> = self.found.iter().map(|diagnostic| self.render_one(diagnostic)).collect();
        if self.omitted > 0 {
            rendered.push(format!("error: {} more mistakes are not shown", self.omitted));
        }
        rendered.join("\n\n")
    }

    /// The first mistake in one line, and how many more there are.
    #[must_use]
    pub fn first_in_a_line(&self) -> String {
        let Some(first) = self.found.first() else { return String::new() };
        let (line, _) = self.position(first);
        let source = self.text.lines().nth(line - 1).unwrap_or_default().trim();
        let more = self.found.len() - 1;
        let more = if more == 0 { String::new() } else { format!(" (and {more} more)") };
        let help = first.help.as_ref().map_or(String::new(), |help| format!("; {help}"));
        format!("line {line} of {}, `{source}`: {}{more}{help}", self.name, first.message)
    }

    fn render_one(&self, diagnostic: &Diagnostic) -> String {
        let (line, _) = self.position(diagnostic);
        let (shown, span) = self.excerpt(&diagnostic.span);
        let label = (!diagnostic.label.is_empty()).then_some(diagnostic.label.as_str());
        let mark = AnnotationKind::Primary.span(span).label(label);
        let snippet = Snippet::source(shown).line_start(line).path(self.name.as_str()).annotation(mark);
        let mut group = Group::with_title(Level::ERROR.primary_title(diagnostic.message.as_str())).element(snippet);
        if let Some(help) = &diagnostic.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        Renderer::plain().render(&[group])
    }

    /// The part of the source line to show, and the place within it.
    fn excerpt(&self, span: &Range<usize>) -> (&str, Range<usize>) {
        let text: &str = &self.text;
        let at = floor(text, span.start);
        let line_start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = text[at..].find('\n').map_or(text.len(), |newline| at + newline);
        let start = ceil(text, line_start.max(at.saturating_sub(AROUND))).min(at);
        let end = floor(text, line_end.min(at + 2 * AROUND)).max(at);
        let last = ceil(text, span.end.min(end).max(at)).min(end);
        (text[start..end].trim_end_matches('\r'), at - start..last - start)
    }
}

/// The nearest boundary of a character at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// The nearest boundary of a character at or after `at`.
fn ceil(text: &str, at: usize) -> usize {
    (at..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len())
}
