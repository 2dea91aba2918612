//! Regions to begin with: the source lines of each kernel that execute the most instructions, as a file to be edited.

use facts::{Facts, Role, Source};
use fault::base_name;
use inject::{CapsuleTarget, profile};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use study::{Cell, Table};

use super::region::Region;

/// Lines of a kernel, at most.
const LINES: usize = 5;

/// A region and what it executes.
struct HotLine {
    region: Region,
    executed: u64,
    /// Instructions of its kernel.
    of: u64,
}

/// The hot lines of a capsule.
pub(super) struct Template(Vec<HotLine>);

impl Template {
    /// Finds them: of each kernel in the order of its first launch the lines that write registers, by the instructions that
    /// threads execute there; the kernel itself where it has no lines.
    pub(super) fn of(capsule: &CapsuleTarget) -> Self {
        type ByLine = BTreeMap<Option<(String, u32)>, u64>;
        let mut kernels: Vec<(String, ByLine)> = Vec::new();
        for launch in profile(capsule.golden_run()) {
            let name = base_name(&launch.launch.program.name).to_owned();
            let at = kernels.iter().position(|(known, _)| *known == name).unwrap_or(kernels.len());
            if at == kernels.len() {
                kernels.push((name, BTreeMap::new()));
            }
            for (facts, count) in
                launch.instructions().filter(|(facts, _)| facts.of_role(Role::Destination).next().is_some())
            {
                *kernels[at].1.entry(place(facts)).or_default() += count.executed;
            }
        }
        Self(kernels.into_iter().flat_map(|(name, lines)| hot(&name, lines)).collect())
    }

    /// The file.
    ///
    /// # Errors
    /// If a name cannot be written.
    pub(super) fn text(&self, capsule: &str) -> Result<String, String> {
        let mut text = format!(
            "# Regions of {capsule}: of each kernel the lines, {LINES} at most, whose instructions that write registers are executed most.\n\
             # Join lines, leave some out, or narrow them: docs/faults.md says what a region can say.\n"
        );
        for it in &self.0 {
            let region = toml::to_string(&it.region).map_err(|error| error.to_string())?;
            let _ = write!(text, "\n# {:.1} % of what its kernel executes.\n[[regions]]\n{region}", it.share());
        }
        Ok(text)
    }

    /// The names of its regions.
    pub(super) fn names(&self) -> Vec<&str> {
        self.0.iter().map(|it| it.region.name.as_str()).collect()
    }

    /// The lines as a table.
    pub(super) fn table(&self, capsule: &str) -> Table {
        let mut table = Table::new(format!("{capsule}: hot lines"), &["region", "executed", "of its kernel"]);
        let row =
            |it: &HotLine| vec![Cell::text(&it.region.name), Cell::Count(it.executed), Cell::Share(it.share() / 100.0)];
        table.rows = self.0.iter().map(row).collect();
        table.notes.push("Instructions of threads that write registers. Nothing is injected: --file injects into the regions of a file.".to_owned());
        table
    }
}

impl HotLine {
    fn share(&self) -> f64 {
        100.0 * self.executed as f64 / self.of.max(1) as f64
    }
}

/// The place of an instruction: the innermost one, as it is written.
fn place(facts: &Facts) -> Option<(String, u32)> {
    let (path, line) = facts.source.as_ref().map(Source::places)?.next()?;
    Some((path?.to_owned(), line))
}

/// The hottest lines of a kernel.
fn hot(kernel: &str, lines: BTreeMap<Option<(String, u32)>, u64>) -> Vec<HotLine> {
    let of = lines.values().sum();
    let mut lines: Vec<(Option<(String, u32)>, u64)> = lines.into_iter().filter(|it| it.1 > 0).collect();
    // Lines as hot stay in the order of source.
    lines.sort_by_key(|it| std::cmp::Reverse(it.1));
    let known: Vec<_> =
        lines.into_iter().filter_map(|(place, executed)| Some((place?, executed))).take(LINES).collect();
    let whole = Region { name: kernel.to_owned(), kernel: Some(kernel.to_owned()), ..Region::default() };
    if known.is_empty() {
        return if of > 0 { vec![HotLine { region: whole, executed: of, of }] } else { Vec::new() };
    }
    let several = known.iter().any(|((path, _), _)| *path != known[0].0.0);
    let line = |((path, line), executed): ((String, u32), u64)| {
        let file = path.rsplit('/').next().unwrap_or_default();
        let name = if several { format!("{kernel}:{file}:{line}") } else { format!("{kernel}:{line}") };
        let region = Region { name, file: Some(path), lines: Some([line, line]), ..whole.clone() };
        HotLine { region, executed, of }
    };
    known.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hottest_lines_are_regions_that_can_be_read() {
        let place = |line: u32| Some(("src/a \"b\".cu".to_owned(), line));
        let counts = [(place(7), 10), (place(3), 60), (None, 5), (place(9), 25), (place(4), 0)];
        let template = Template(hot("k", counts.into()));
        let text = template.text("app").unwrap();
        let regions = Region::read(&text).unwrap();
        let names: Vec<&str> = regions.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["k:3", "k:9", "k:7"]);
        assert_eq!((regions[0].lines, regions[0].kernel.as_deref()), (Some([3, 3]), Some("k")));
        assert!(text.contains("# 60.0 % of what its kernel executes."), "{text}");
        let bare = Template(hot("k", [(None, 5)].into()));
        assert_eq!(Region::read(&bare.text("app").unwrap()).unwrap(), [bare.0[0].region.clone()]);
        assert!(hot("k", [(None, 0)].into()).is_empty());
    }
}
