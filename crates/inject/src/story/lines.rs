//! Instructions with the source that they come from.

use campaign::story::Line;
use capsule::Capsule;
use isa::Module;
use simt::Program;
use std::collections::BTreeMap;

/// The source files of a capsule, by path, as lines.
pub(super) struct Lines<'a> {
    files: BTreeMap<&'a str, Vec<String>>,
}

impl<'a> Lines<'a> {
    /// Those of a capsule. A file that cannot be read is one that is not there.
    pub(super) fn of_capsule(capsule: &'a Capsule) -> Self {
        let text = |source: &'a capsule::Source| {
            let bytes = capsule.blobs.get(source.blob).ok()?;
            let lines = String::from_utf8_lossy(&bytes).lines().map(|line| line.trim().to_owned()).collect();
            Some((source.path.as_str(), lines))
        };
        Self { files: capsule.sources.iter().filter_map(text).collect() }
    }

    /// The instruction at a site.
    pub(super) fn of(&self, module: &Module, program: &Program, site: u32) -> Line {
        let site = &program.sites[site as usize];
        let file = site.loc.as_ref().and_then(|loc| module.files.get(&loc.file));
        let line = site.loc.as_ref().map(|loc| loc.line);
        let text =
            file.zip(line).and_then(|(file, line)| self.files.get(file.as_str())?.get((line as usize).checked_sub(1)?));
        Line {
            pc: site.pc.0,
            ptx: ptx::print_instruction(module, module.function(site.function), site.pc),
            file: file.cloned(),
            line,
            source: text.cloned(),
        }
    }
}
