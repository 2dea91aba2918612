//! Which line of the application's source called the runtime.

use std::collections::HashMap;
use std::fs;
use std::ops::Range;
use std::sync::OnceLock;

/// The lines of the application that were looked up so far, by the address that a call returns to.
#[derive(Debug, Default)]
pub(crate) struct CallerLines(HashMap<usize, Option<String>>);

impl CallerLines {
    /// The line, as `file:line`, that called the runtime on this thread; none where the application has no line tables
    /// (`nvcc -g`).
    pub(crate) fn current(&mut self) -> Option<String> {
        let own = own_code();
        let mut caller = None;
        backtrace::trace(|frame| {
            let address = frame.ip() as usize;
            caller = (!own.contains(&address)).then_some(address);
            caller.is_none()
        });
        let caller = caller?;
        self.0.entry(caller).or_insert_with(|| line(caller)).clone()
    }
}

/// The line of the call that returns to an address.
fn line(caller: usize) -> Option<String> {
    let mut line = None;
    // The call is before the address that it returns to.
    backtrace::resolve((caller - 1) as *mut _, |symbol| {
        let found = symbol.filename().zip(symbol.lineno());
        line = line.take().or(found.map(|(file, line)| format!("{}:{line}", file.display())));
    });
    line
}

/// Where the code of this library is in memory.
fn own_code() -> &'static Range<usize> {
    static OWN: OnceLock<Range<usize>> = OnceLock::new();
    OWN.get_or_init(|| mapped_with(line as *const () as usize).unwrap_or_default())
}

/// The addresses to which the file that has an address is mapped.
fn mapped_with(address: usize) -> Option<Range<usize>> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let files = || {
        maps.lines().filter_map(|mapping| {
            let (range, file) = (mapping.split(' ').next()?, &mapping[mapping.find('/')?..]);
            let (start, end) = range.split_once('-')?;
            Some((usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?, file))
        })
    };
    let (_, own) = files().find(|(range, _)| range.contains(&address))?;
    let mut ranges = files().filter(|(_, file)| *file == own).map(|(range, _)| range);
    let first = ranges.next()?;
    Some(ranges.fold(first, |all, range| all.start.min(range.start)..all.end.max(range.end)))
}
