//! Error sites by output quality: of kernels, static instructions and source lines, as tables and in the document.

use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use study::{Cell, Table};

use super::approximable::approximable;
use super::ends::{ENDS, EndCounts, SiteEnd};
use super::instructions::InstructionSites;
use super::target::Approxilyzer;

/// How the title of the table of kernels begins.
pub(super) const TITLE: &str = "Error sites by output quality";

/// Rows of instructions and of lines that tables show.
const SHOWN: usize = 10;

/// A source line, or the instructions of a kernel of which none is known.
#[derive(Clone, Debug, Default)]
struct LineSites {
    executed: u64,
    instructions: u64,
    ends: EndCounts,
}

/// The kernel, the file and the line.
type LineKey<'a> = (u32, Option<&'a str>, Option<u32>);

/// The program by kernel, instruction and line.
pub(super) struct QualityView<'a> {
    method: &'a Approxilyzer,
    instructions: &'a [InstructionSites],
    lines: BTreeMap<LineKey<'a>, LineSites>,
    executed: u64,
    all: EndCounts,
}

impl<'a> QualityView<'a> {
    /// Of these instructions.
    pub(super) fn of(method: &'a Approxilyzer, instructions: &'a [InstructionSites]) -> Self {
        let mut lines: BTreeMap<LineKey<'a>, LineSites> = BTreeMap::new();
        for it in instructions {
            let line = lines.entry((it.kernel, it.file(), it.line())).or_default();
            line.executed += it.executed;
            line.instructions += 1;
            line.ends.join(&it.ends);
        }
        let executed = instructions.iter().map(|it| it.executed).sum();
        let all = instructions.iter().map(|it| &it.ends).collect();
        Self { method, instructions, lines, executed, all }
    }

    /// The name of a kernel.
    pub(super) fn kernel(&self, kernel: u32) -> &str {
        self.method.kernels().get(kernel as usize).map_or("", |it| fault::base_name(&it.name))
    }

    fn of_kernel(&self, kernel: u32) -> EndCounts {
        self.instructions.iter().filter(|it| it.kernel == kernel).map(|it| &it.ends).collect()
    }

    /// The tables: kernels, bins if there are some, the worst instructions, the worst lines.
    pub(super) fn tables(&self) -> Vec<Table> {
        let mut tables = vec![self.kernels()];
        tables.extend((self.all.bins().next().is_some()).then(|| self.bins()));
        tables.extend([self.worst_instructions(), self.worst_lines()]);
        tables
    }

    fn kernels(&self) -> Table {
        let mut table = Table::new(
            format!("{TITLE}, as shares of all sites"),
            &[&["kernel", "error sites"][..], &ENDS.map(|(_, title, _)| title)].concat(),
        );
        let row = |name: &str, ends: &EndCounts| {
            let mut cells = vec![Cell::text(name), Cell::Count(ends.count(|_| true))];
            cells.extend(shares(ends));
            cells
        };
        let kernels: Vec<u32> = (0..self.method.kernels().len() as u32).collect();
        table.rows = kernels.iter().map(|&kernel| row(self.kernel(kernel), &self.of_kernel(kernel))).collect();
        table.rows.extend((kernels.len() > 1).then(|| row("all", &self.all)));
        table.notes.push(
            "DDC: a check for NaN, infinity or values out of their declared range would notice the corruption. SDC-Good is \
             within the tolerance of its output, SDC-Bad beyond its bound, SDC-Maybe in between."
                .to_owned(),
        );
        if self.all.count(|end| end == SiteEnd::Maybe(None)) > 0 {
            table.notes.push(
                "An SDC without a number from the metric, or of an output without a tolerance, is SDC-Maybe: nothing says how large an \
                 error is acceptable."
                    .to_owned(),
            );
        }
        table
    }

    fn bins(&self) -> Table {
        let mut table = Table::new("SDC-Maybe by quality bin", &["bin", "error sites", "share of all"]);
        let all = self.all.count(|_| true);
        let row = |(bin, sites): (u8, u64)| vec![Cell::text(bin.to_string()), Cell::Count(sites), share(sites, all)];
        let bins: Vec<(u8, u64)> = self.all.bins().collect();
        let rows = |bins: &[(u8, u64)]| bins.iter().copied().map(row).collect::<Vec<_>>();
        table.notes.push("Bin n: the error exceeds n of the bounds that `bins` of its output has.".to_owned());
        table.rows = match bins.split_at_checked(SHOWN - 1) {
            Some((first, rest)) if rest.len() > 1 => {
                let sites: u64 = rest.iter().map(|(_, sites)| sites).sum();
                let others = Cell::text(format!("{} to {}", rest[0].0, rest[rest.len() - 1].0));
                table.notes.push(format!("The sites of each of {} bins are in --json.", bins.len()));
                let others = vec![others, Cell::Count(sites), share(sites, all)];
                rows(first).into_iter().chain([others]).collect()
            }
            _ => rows(&bins),
        };
        table
    }

    fn worst_instructions(&self) -> Table {
        let columns = ["kernel", "pc", "instruction", "source"];
        let mut table = Table::new("The static instructions with the most output corruptions to protect", &columns);
        table.columns.extend(COUNTED.map(str::to_owned));
        let mut order: Vec<&InstructionSites> = self.instructions.iter().collect();
        order.sort_by_key(|it| Reverse(badness(&it.ends)));
        let row = |it: &&InstructionSites| {
            let pc = Cell::Count(it.pc.into());
            let mut cells =
                vec![Cell::text(self.kernel(it.kernel)), pc, Cell::text(&it.mnemonic), place(it.file(), it.line())];
            cells.extend(self.counted(it.executed, &it.ends));
            cells
        };
        table.rows = order.iter().take(SHOWN).map(row).collect();
        table.notes.push(format!(
            "Every site ends as the pilot of its class. Dynamic instructions are shares of all {} that the selected launches \
             execute; outcomes are shares of the sites of the row. {}",
            study::spaced(self.executed),
            rest(order.len(), "instruction"),
        ));
        table
    }

    fn worst_lines(&self) -> Table {
        let columns = ["kernel", "source", "instructions"];
        let mut table = Table::new("The source lines with the most output corruptions to protect", &columns);
        table.columns.extend(COUNTED.map(str::to_owned));
        let mut order: Vec<(&LineKey<'_>, &LineSites)> = self.lines.iter().collect();
        order.sort_by_key(|(_, line)| Reverse(badness(&line.ends)));
        let row = |((kernel, file, number), line): &(&LineKey<'_>, &LineSites)| {
            let mut cells =
                vec![Cell::text(self.kernel(*kernel)), place(*file, *number), Cell::Count(line.instructions)];
            cells.extend(self.counted(line.executed, &line.ends));
            cells
        };
        table.rows = order.iter().take(SHOWN).map(row).collect();
        table.notes.push(rest(order.len(), "line"));
        table
    }

    fn counted(&self, executed: u64, ends: &EndCounts) -> impl Iterator<Item = Cell> {
        let known = [share(executed, self.executed), Cell::Count(ends.count(|_| true))];
        known.into_iter().chain(shares(ends))
    }

    /// As the document has it.
    pub(super) fn document(&self) -> Value {
        let kernel =
            |kernel: u32| json!({ "kernel": self.kernel(kernel), "outcomes": self.of_kernel(kernel).document() });
        let instruction = |it: &InstructionSites| {
            let [worst, best] = approximable(it);
            json!({
                "kernel": self.kernel(it.kernel),
                "pc": it.pc,
                "instruction": it.mnemonic,
                "group": it.group,
                "file": it.file(),
                "line": it.line(),
                "executed": it.executed,
                "sites": it.ends.count(|_| true),
                "outcomes": it.ends.document(),
                "approximable": { "worst": worst, "best": best },
            })
        };
        let line = |((kernel, file, number), it): (&LineKey<'_>, &LineSites)| {
            json!({
                "kernel": self.kernel(*kernel),
                "file": file,
                "line": number,
                "instructions": it.instructions,
                "executed": it.executed,
                "sites": it.ends.count(|_| true),
                "outcomes": it.ends.document(),
            })
        };
        json!({
            "executed": self.executed,
            "outcomes": self.all.document(),
            "by_kernel": (0..self.method.kernels().len() as u32).map(kernel).collect::<Vec<_>>(),
            "by_instruction": self.instructions.iter().map(instruction).collect::<Vec<_>>(),
            "by_line": self.lines.iter().map(line).collect::<Vec<_>>(),
        })
    }
}

/// The columns of instructions and lines that say how their sites end.
const COUNTED: [&str; 10] =
    ["dynamic", "error sites", ENDS[0].1, ENDS[1].1, ENDS[2].1, ENDS[3].1, ENDS[4].1, ENDS[5].1, ENDS[6].1, ENDS[7].1];

fn share(part: u64, whole: u64) -> Cell {
    Cell::Share(part as f64 / whole.max(1) as f64)
}

fn shares(ends: &EndCounts) -> impl Iterator<Item = Cell> {
    let all = ends.count(|_| true);
    let cell = |sites: u64| if all == 0 { Cell::None } else { share(sites, all) };
    ENDS.map(|(_, _, such)| cell(ends.count(such))).into_iter()
}

/// How many sites may have to be protected, and how many corrupt the output at all.
fn badness(ends: &EndCounts) -> (u64, u64) {
    let silent = ends.count(|end| matches!(end, SiteEnd::Bad | SiteEnd::Maybe(_)));
    (silent, ends.count(SiteEnd::is_corruption))
}

fn place(file: Option<&str>, line: Option<u32>) -> Cell {
    let file = file.and_then(|file| file.rsplit(['/', '\\']).next()).unwrap_or("?");
    line.map_or(Cell::None, |line| Cell::text(format!("{file}:{line}")))
}

/// Where the rows are that a table leaves out.
fn rest(all: usize, of: &str) -> String {
    match all.saturating_sub(SHOWN) {
        0 => format!("These are all {of}s."),
        left => format!("{left} more {of}s are in --json."),
    }
}
