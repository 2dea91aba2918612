//! The first pass: everything outside of bodies.
//!
//! A name may be declared several times and defined once. What counts is the definition, or the last declaration:
//! it gives the order of the module's functions and variables, so that a module with forward declarations has the
//! same order as one without.

use super::cursor::{Cursor, Name};
use super::function::{self, Header};
use super::initial::Budget;
use super::line::{self, Strings};
use super::variable::{self, Declared};
use super::{Global, Outline, literal, suggest};
use crate::error::{Diagnostic, Parsed, Sink, Span};
use crate::token::Kind;
use isa::{FunctionId, Linkage, Module, Space, Symbol};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

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
        names: HashMap::new(),
        variables: Vec::new(),
        functions: Vec::new(),
        aliases: Vec::new(),
        rank: 0,
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
    top.finish()
}

/// Which of the directives at the head of a module were there.
#[derive(Default)]
struct Seen {
    version: bool,
    target: bool,
    address_size: bool,
}

/// A name as declared so far. `rank` is the place of what counts.
struct Slot<T> {
    value: T,
    rank: u32,
    defined: bool,
}

/// A function with the tokens of its body.
struct Routine<'a> {
    header: Header<'a>,
    body: Option<Range<usize>>,
}

#[derive(Clone, Copy)]
enum Entry {
    Variable(usize),
    Function(usize),
}

struct Top<'a, 's> {
    cursor: Cursor<'a>,
    sink: &'s mut Sink,
    module: Module,
    seen: Seen,
    strings: Strings<'a>,
    names: HashMap<&'a str, Entry>,
    variables: Vec<Slot<Declared<'a>>>,
    functions: Vec<Slot<Routine<'a>>>,
    aliases: Vec<(Name<'a>, Name<'a>)>,
    rank: u32,
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
        self.aliases.push((alias, target));
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
            self.declare_variable(declared);
            if !self.cursor.eat(b',') {
                return self.cursor.semicolon();
            }
        }
    }

    fn declare_variable(&mut self, declared: Declared<'a>) {
        self.rank += 1;
        let defined = declared.variable.linkage != Linkage::Extern;
        let name = declared.name;
        let slot = Slot { value: declared, rank: self.rank, defined };
        match self.names.get(name.text) {
            None => {
                self.names.insert(name.text, Entry::Variable(self.variables.len()));
                self.variables.push(slot);
            }
            Some(&Entry::Variable(index)) if !(self.variables[index].defined && defined) => {
                if defined || !self.variables[index].defined {
                    self.variables[index] = slot;
                }
            }
            Some(_) => self.sink.report(duplicate(name)),
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
        self.declare_function(header, body);
        Ok(())
    }

    fn declare_function(&mut self, header: Header<'a>, body: Option<Range<usize>>) {
        self.rank += 1;
        let (name, defined) = (header.name, body.is_some());
        let slot = Slot { value: Routine { header, body }, rank: self.rank, defined };
        match self.names.get(name.text) {
            None => {
                self.names.insert(name.text, Entry::Function(self.functions.len()));
                self.functions.push(slot);
            }
            Some(&Entry::Function(index)) if !(self.functions[index].defined && defined) => {
                let old = &mut self.functions[index];
                if !same_signature(&old.value.header, &slot.value.header) {
                    let message = format!("`{}` was declared with other parameters", name.text);
                    self.sink.report(Diagnostic::new(name.span, message).help("make the declarations agree"));
                }
                if defined || !old.defined {
                    *old = slot;
                }
            }
            Some(_) => self.sink.report(duplicate(name)),
        }
    }

    /// Gives every name its index, and resolves names in initial values.
    fn finish(mut self) -> Outline<'a> {
        let mut names = HashMap::with_capacity(self.names.len());
        // Uses of an alias become uses of the function behind it; its declaration has done its service.
        let aliases: HashSet<&str> = self.aliases.iter().map(|(alias, _)| alias.text).collect();
        self.functions.retain(|slot| slot.defined || !aliases.contains(slot.value.header.name.text));
        self.functions.sort_by_key(|slot| slot.rank);
        self.variables.sort_by_key(|slot| slot.rank);
        for (index, slot) in self.functions.iter().enumerate() {
            names.insert(slot.value.header.name.text, Global::Function(FunctionId(index as u32)));
        }
        for (index, slot) in self.variables.iter().enumerate() {
            names.insert(slot.value.name.text, Global::Variable(index as u32));
        }
        self.resolve_aliases(&mut names);
        let mut bodies = Vec::new();
        for (index, slot) in self.functions.into_iter().enumerate() {
            bodies.extend(slot.value.body.map(|body| (index, body)));
            self.module.functions.push(slot.value.header.function);
        }
        for slot in self.variables {
            let Declared { mut variable, pending, .. } = slot.value;
            for (relocation, name) in variable.relocations.iter_mut().zip(pending) {
                match resolve(&names, name, relocation.generic) {
                    Ok(symbol) => relocation.symbol = symbol,
                    Err(mistake) => self.sink.report(mistake),
                }
            }
            self.module.variables.push(variable);
        }
        Outline { module: self.module, names, strings: self.strings, bodies }
    }

    /// Lets each alias name the function behind it. An alias of an alias is not PTX.
    fn resolve_aliases(&mut self, names: &mut HashMap<&'a str, Global>) {
        let functions: Vec<Option<Global>> = self
            .aliases
            .iter()
            .map(|(_, target)| names.get(target.text).copied().filter(|global| matches!(global, Global::Function(_))))
            .collect();
        for ((alias, target), function) in self.aliases.iter().zip(functions) {
            match function {
                Some(function) => {
                    names.insert(alias.text, function);
                }
                None => self.sink.report(
                    Diagnostic::new(target.span, format!("the function `{}` is not declared", target.text))
                        .help("an alias names a function of this module"),
                ),
            }
        }
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

fn same_signature(one: &Header<'_>, other: &Header<'_>) -> bool {
    let sizes = |variables: &[isa::Variable]| variables.iter().map(|variable| variable.bytes).collect::<Vec<_>>();
    let (one, other) = (&one.function, &other.function);
    one.kernel == other.kernel
        && sizes(&one.params) == sizes(&other.params)
        && sizes(&one.returns) == sizes(&other.returns)
}

fn resolve(names: &HashMap<&str, Global>, name: Name<'_>, generic: bool) -> Parsed<Symbol> {
    match names.get(name.text) {
        Some(&Global::Variable(index)) => Ok(Symbol::Module(index)),
        Some(&Global::Function(id)) if !generic => Ok(Symbol::Function(id)),
        Some(_) => {
            Err(Diagnostic::new(name.span, format!("`{}` is a function", name.text)).help("leave out `generic`"))
        }
        None => Err(Diagnostic::new(name.span, format!("`{}` is not declared", name.text))
            .help("an initial value names a variable or a function of this module")),
    }
}

fn duplicate(name: Name<'_>) -> Box<Diagnostic> {
    Diagnostic::new(name.span, format!("`{}` is defined twice", name.text)).help("rename one of them")
}

fn unclosed(open: Span) -> Box<Diagnostic> {
    Diagnostic::new(open, "a `{` is not closed").label("opened here").help("close it with `}`")
}
