//! Runs that no rate is made of, by what they were to hit.

use crate::gpu_qin::survey::MeasuredKernel;
use crate::words::shares;
use methods::gpu_qin::{Discard, Unread};
use study::{Cell, Table};

/// Groups of instructions that are shown.
const SHOWN: usize = 3;

fn part(count: u64, all: u64) -> Cell {
    Cell::Share(count as f64 / all.max(1) as f64)
}

/// Runs of the method that were given up, by why.
#[must_use]
pub fn given_up(kernels: &[MeasuredKernel]) -> Table {
    let columns =
        ["kernel", "given up, of all runs", "thread not there", "no register", "too many steps", "no register in"];
    let mut table = Table::new("Runs that are given up", &columns);
    for it in kernels {
        let (lost, runs) = (&it.method_lost, it.runs());
        let none = lost.given_up.iter().filter(|((why, _), _)| *why == Discard::NoRegister);
        let mut row = vec![Cell::text(it.paper.name), part(it.given_up(), runs)];
        row.extend(
            [Discard::NotThere, Discard::NoRegister, Discard::Steps].map(|why| part(lost.given_up_for(why), runs)),
        );
        row.push(Cell::text(shares(none.map(|((_, group), count)| (group.as_str(), *count)), SHOWN)));
        table.rows.push(row);
    }
    table
}

/// Faults of the method that were injected and not read, by why.
#[must_use]
pub fn unread(kernels: &[MeasuredKernel]) -> Table {
    let columns = ["kernel", "activated", "thread ends first", "overwritten first", "of those not read, hit in"];
    let mut table = Table::new("Faults that nobody reads", &columns);
    for it in kernels {
        let lost = &it.method_lost;
        let injected: u64 = it.realisations.iter().map(|it| it.injected).sum();
        let mut groups: std::collections::BTreeMap<&str, u64> = std::collections::BTreeMap::new();
        for ((_, group), count) in &lost.unread {
            *groups.entry(group).or_default() += count;
        }
        table.rows.push(vec![
            Cell::text(it.paper.name),
            it.activation().map_or(Cell::None, Cell::Share),
            part(lost.unread_for(Unread::Never), injected),
            part(lost.unread_for(Unread::Overwritten), injected),
            Cell::text(shares(groups, SHOWN)),
        ]);
    }
    table
}
