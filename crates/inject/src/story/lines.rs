//! Instructions with the source that they come from.

use crate::golden::{Golden, GoldenLaunch};
use campaign::story::Line;
use capsule::Capsule;
use facts::Source;
use std::collections::BTreeMap;

/// The source files of a capsule, by path, as lines.
pub(super) struct Lines<'a> {
    files: BTreeMap<&'a str, Vec<String>>,
}

impl<'a> Lines<'a> {
    /// Those of a capsule. A file that cannot be read is one that is not there.
    pub(super) fn of_capsule(capsule: &'a Capsule) -> Self {
        let text = |source: &'a capsule::SourceFile| {
            let bytes = capsule.blobs.get(source.blob).ok()?;
            let lines = String::from_utf8_lossy(&bytes).lines().map(|line| line.trim().to_owned()).collect();
            Some((source.path.as_str(), lines))
        };
        Self { files: capsule.sources.iter().filter_map(text).collect() }
    }

    /// An instruction of a launch's program.
    pub(super) fn of(&self, golden: &Golden, launch: &GoldenLaunch, instruction: u32) -> Line {
        let source = launch.program.facts(instruction).and_then(|facts| facts.source.as_ref());
        let (file, line) = (source.and_then(Source::file), source.map(Source::line));
        let text = file.zip(line).and_then(|(file, line)| self.files.get(file)?.get((line as usize).checked_sub(1)?));
        let at = &launch.program.instructions[instruction as usize];
        let module = golden.modules.module(golden.recorded(launch).module);
        Line {
            pc: at.pc.0,
            ptx: module.map_or_else(|_| String::new(), |module| module.text(at.function, at.pc)),
            file: file.map(str::to_owned),
            line,
            source: text.cloned(),
        }
    }
}
