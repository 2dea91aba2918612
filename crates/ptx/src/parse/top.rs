//! The first pass: everything outside of bodies.

use super::cursor::Cursor;
use super::initial::Budget;
use super::line::{self, Strings};
use super::outline::Outline;
use super::table::Table;
use super::{function, literal, suggest, variable};
use crate::error::{Diagnostic, Parsed, Sink, Span};
use crate::token::Kind;
use isa::{Linkage, Module, Space};

/// Versions of the PTX ISA that are read, by their major number.
const VERSIONS: std::ops::RangeInclusive<u32> = 3..=9;

/// Reads the outline of a module.
pub(super) fn read<'a>(cursor: Cursor<'a>, sink: &mut Sink) -> Outline<'a> {
    let mut top = Top {
        cursor,
        sink,
        module: Module::default(),
        seen: Seen::default(),
        strings: Strings::default(),
        table: Table::default(),
        budget: Budget::default(),
    };
    while top.cursor.peek().kind != Kind::End {
        let start = top.cursor.position();
        if let Err(mistake) = top.item() {
            top.sink.report(mistake);
            top.recover(start);
        }
    }
    top.check_head();
    let Top { module, strings, table, sink, .. } = top;
    table.finish(module, strings, sink)
}

/// Which of the directives at the head of a module were there.
#[derive(Default)]
struct Seen {
    version: bool,
    target: bool,
    address_size: bool,
}

struct Top<'a, 's> {
    cursor: Cursor<'a>,
    sink: &'s mut Sink,
    module: Module,
    seen: Seen,
    strings: Strings<'a>,
    table: Table<'a>,
    budget: Budget,
}

impl<'a> Top<'a, '_> {
    fn item(&mut self) -> Parsed<()> {
        let token = self.cursor.peek();
        if self.cursor.eat(b';') {
            return Ok(());
        }
        if token.kind != Kind::Dot {
            return Err(self.cursor.wrong("a directive").help("instructions belong into the body of a function"));
        }
        let word = self.cursor.take_name();
        match word.text {
            ".version" => self.version(),
            ".target" => self.target(),
            ".address_size" => self.address_size(),
            ".file" => {
                let (number, path) = line::file(&mut self.cursor)?;
                self.module.files.insert(number, path);
                Ok(())
            }
            ".section" => self.section(),
            ".pragma" => {
                line::string(&mut self.cursor)?;
                self.cursor.semicolon()
            }
            ".alias" => self.alias(),
            ".visible" => self.declaration(Linkage::Visible),
            ".extern" => self.declaration(Linkage::Extern),
            ".weak" => self.declaration(Linkage::Weak),
            ".common" => self.declaration(Linkage::Common),
            _ => {
                self.cursor.go_to(self.cursor.position() - 1);
                self.declaration(Linkage::Internal)
            }
        }
    }

    /// Goes on at the next directive that begins a line outside of braces.
    fn recover(&mut self, start: usize) {
        self.cursor.go_to(start);
        self.cursor.next();
        loop {
            let token = self.cursor.peek();
            match token.kind {
                Kind::End => return,
                Kind::Dot if self.cursor.at_line_start() && begins_item(self.cursor.peek_text()) => return,
                Kind::Mark(b'{') => {
                    self.cursor.next();
                    if self.cursor.skip_braces().is_none() {
                        return;
                    }
                }
                _ => {
                    self.cursor.next();
                }
            }
        }
    }

    fn version(&mut self) -> Parsed<()> {
        self.seen.version = true;
        let span = self.cursor.peek().span;
        let text = self.cursor.peek_text();
        let parts = text.split_once('.').and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        let Some((major, minor)) = parts else { return Err(self.cursor.wrong("a version, for example `8.0`")) };
        self.cursor.next();
        if !VERSIONS.contains(&major) {
            let (least, most) = (VERSIONS.start(), VERSIONS.end());
            self.sink.report(
                Diagnostic::new(span, format!("PTX version {major}.{minor} is not supported"))
                    .label(format!("supported are {least}.0 to {most}.x"))
                    .help("compile with a toolkit whose PTX version is in that range"),
            );
        }
        self.module.version = (major, minor);
        Ok(())
    }

    fn target(&mut self) -> Parsed<()> {
        self.seen.target = true;
        let mut words = Vec::new();
        loop {
            let name = self.cursor.name("a target, for example `sm_80`")?;
            if !is_architecture(name.text) && (words.is_empty() || !is_target_option(name.text)) {
                return Err(Diagnostic::new(name.span, format!("`{}` is not a supported target", name.text))
                    .help("a target is `sm_` and a number, for example `sm_80`"));
            }
            // `debug` demands the debug sections, which are not kept.
            if name.text != "debug" {
                words.push(name.text);
            }
            if !self.cursor.eat(b',') {
                break;
            }
        }
        self.module.target = words.join(", ");
        Ok(())
    }

    fn address_size(&mut self) -> Parsed<()> {
        self.seen.address_size = true;
        let span = self.cursor.peek().span;
        let size: u32 = literal::within(&mut self.cursor, "64")?;
        if size == 64 {
            return Ok(());
        }
        self.sink.report(
            Diagnostic::new(span, format!("addresses of {size} bits are not supported"))
                .help("compile for 64-bit addresses: `.address_size 64`"),
        );
        Ok(())
    }

    /// Reports what is missing at the head of the module.
    fn check_head(&mut self) {
        let head = Span { start: 0, end: 0 };
        let missing = [
            (self.seen.version, "`.version` is missing", "a module begins with, for example, `.version 8.0`"),
            (self.seen.target, "`.target` is missing", "name the target, for example `.target sm_80`"),
            (self.seen.address_size, "`.address_size 64` is missing", "without it, PTX means addresses of 32 bits"),
        ];
        for (_, message, help) in missing.into_iter().filter(|(seen, ..)| !seen) {
            self.sink.report(Diagnostic::new(head, message).help(help));
        }
    }

    fn section(&mut self) -> Parsed<()> {
        let is_strings = self.cursor.eat_text(".debug_str");
        while matches!(self.cursor.peek().kind, Kind::Dot | Kind::Word | Kind::Text | Kind::Mark(b',')) {
            self.cursor.next();
        }
        let open = self.cursor.expect(b'{')?;
        if is_strings {
            return self.strings.read(&mut self.cursor);
        }
        self.cursor.skip_braces().ok_or_else(|| unclosed(open))
    }

    fn alias(&mut self) -> Parsed<()> {
        let alias = self.cursor.name("the name of a function")?;
        self.cursor.expect(b',')?;
        let target = self.cursor.name("the name of a function")?;
        self.cursor.semicolon()?;
        self.table.alias(alias, target);
        Ok(())
    }

    fn declaration(&mut self, linkage: Linkage) -> Parsed<()> {
        let word = self.cursor.peek().span;
        if self.cursor.peek().kind != Kind::Dot {
            return Err(self.cursor.wrong("a function or a variable"));
        }
        let text = self.cursor.take_name().text;
        match text {
            ".entry" => self.function(true, linkage),
            ".func" => self.function(false, linkage),
            ".global" => self.variables(Space::Global, linkage),
            ".const" => self.variables(Space::Const, linkage),
            ".shared" => self.variables(Space::Shared, linkage),
            ".local" | ".tex" | ".param" | ".reg" | ".sreg" => {
                Err(Diagnostic::new(word, format!("a {text} variable outside of functions is not supported"))
                    .help(suggest::REFUSED))
            }
            _ => Err(Diagnostic::new(word, format!("the directive `{text}` is not supported")).help(suggest::REFUSED)),
        }
    }

    fn variables(&mut self, space: Space, linkage: Linkage) -> Parsed<()> {
        let prefix = variable::prefix(&mut self.cursor, space, linkage)?;
        loop {
            let declared = variable::declarator(&mut self.cursor, &prefix, &mut self.budget)?;
            self.table.variable(declared, self.sink);
            if !self.cursor.eat(b',') {
                return self.cursor.semicolon();
            }
        }
    }

    fn function(&mut self, kernel: bool, linkage: Linkage) -> Parsed<()> {
        let header = function::header(&mut self.cursor, kernel, linkage)?;
        let mut body = None;
        if header.body {
            let open = self.cursor.next().span;
            let start = self.cursor.position();
            let closed = self.cursor.skip_braces();
            let end = self.cursor.position();
            body = Some(start..if closed.is_some() { end - 1 } else { end });
            if closed.is_none() {
                self.sink.report(unclosed(open));
            }
        }
        self.table.function(header, body, self.sink);
        Ok(())
    }
}

fn begins_item(text: &str) -> bool {
    const ITEMS: &[&str] = &[
        ".version",
        ".target",
        ".address_size",
        ".file",
        ".section",
        ".alias",
        ".visible",
        ".extern",
        ".weak",
        ".common",
        ".entry",
        ".func",
        ".global",
        ".const",
        ".shared",
        ".local",
        ".pragma",
    ];
    ITEMS.contains(&text)
}

/// `sm_80`, `sm_90a`
fn is_architecture(word: &str) -> bool {
    word.strip_prefix("sm_").is_some_and(|number| {
        let digits = number.strip_suffix(['a', 'f']).unwrap_or(number);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}

fn is_target_option(word: &str) -> bool {
    matches!(word, "debug" | "texmode_unified" | "texmode_independent" | "map_f64_to_f32")
}

fn unclosed(open: Span) -> Box<Diagnostic> {
    Diagnostic::new(open, "a `{` is not closed").label("opened here").help("close it with `}`")
}
