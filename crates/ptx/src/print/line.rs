//! Line tables: `.loc` where the position changes, and the strings that name inlined functions.

use super::text::put;
use isa::Loc;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::sync::Arc;

/// The names of inlined functions, each with its label's number.
#[derive(Default)]
pub(super) struct Strings(BTreeMap<Arc<str>, usize>);

impl Strings {
    fn label(&mut self, name: &Arc<str>) -> usize {
        let next = self.0.len();
        *self.0.entry(Arc::clone(name)).or_insert(next)
    }

    /// The section that holds the names.
    pub(super) fn section(&self, out: &mut String) {
        if self.0.is_empty() {
            return;
        }
        out.push_str("\n.section .debug_str\n{\n");
        let mut names: Vec<_> = self.0.iter().collect();
        names.sort_by_key(|(_, number)| **number);
        for (name, number) in names {
            put!(out, "$L__info_string{number}:\n");
            let bytes: Vec<u8> = name.bytes().chain([0]).collect();
            for line in bytes.chunks(40) {
                let line: Vec<String> = line.iter().map(u8::to_string).collect();
                put!(out, ".b8 {}\n", line.join(","));
            }
        }
        out.push_str("}\n");
    }
}

/// The line table of one function. It mirrors what the parser remembers: the last `.loc` of each position.
#[derive(Default)]
pub(super) struct Lines {
    current: Option<Loc>,
    seen: HashMap<(u32, u32, u32), Loc>,
}

fn position(loc: &Loc) -> (u32, u32, u32) {
    (loc.file, loc.line, loc.column)
}

impl Lines {
    /// Writes what makes `loc` the position of the next instruction.
    pub(super) fn go_to(&mut self, out: &mut String, loc: Option<&Loc>, strings: &mut Strings) {
        if self.current.as_ref() == loc {
            return;
        }
        match loc {
            Some(loc) => self.write(out, loc, strings),
            None => {
                let file = self.current.as_ref().map_or(1, |loc| loc.file);
                put!(out, "\t.loc {file} 0 0\n");
                self.seen.insert((file, 0, 0), Loc { file, line: 0, column: 0, inlined: None });
            }
        }
        self.current = loc.cloned();
    }

    fn write(&mut self, out: &mut String, loc: &Loc, strings: &mut Strings) {
        // Call sites first, the outermost foremost: `inlined_at` refers to what was last written of its position.
        let mut chain = vec![loc];
        let mut outermost = loc;
        while let Some(inlined) = &outermost.inlined {
            outermost = &inlined.at;
            chain.push(outermost);
        }
        for (depth, loc) in chain.iter().enumerate().rev() {
            if depth > 0 && self.seen.get(&position(loc)) == Some(*loc) {
                continue;
            }
            put!(out, "\t.loc {} {} {}", loc.file, loc.line, loc.column);
            if let Some(inlined) = &loc.inlined {
                let label = strings.label(&inlined.function);
                let (file, line, column) = position(&inlined.at);
                put!(out, ", function_name $L__info_string{label}, inlined_at {file} {line} {column}");
            }
            out.push('\n');
            self.seen.insert(position(loc), (*loc).clone());
        }
    }
}
