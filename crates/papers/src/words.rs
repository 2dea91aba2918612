//! Numbers and names as sentences say them.

/// A share in percent, with one digit behind the point, and more where one shows nothing.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let digits = if percent == 0.0 || percent.abs() >= 0.05 { 1 } else { 4 };
    format!("{percent:.digits$} %")
}

/// Two shares as a range.
pub(crate) fn range((least, most): (f64, f64)) -> String {
    format!("{}–{}", percent(least).trim_end_matches(" %"), percent(most))
}

/// A difference of shares in percentage points.
pub(crate) fn points(difference: f64) -> String {
    format!("{:+.2}", difference * 100.0)
}

/// `3 of 17`.
pub(crate) fn of(some: usize, all: usize) -> String {
    format!("{some} of {all}")
}

/// `A, B and C`; `none`.
pub(crate) fn listed<T: AsRef<str>>(names: impl IntoIterator<Item = T>) -> String {
    let mut names: Vec<T> = names.into_iter().collect();
    let Some(last) = names.pop() else { return "none".to_owned() };
    let before: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    if before.is_empty() { last.as_ref().to_owned() } else { format!("{} and {}", before.join(", "), last.as_ref()) }
}

/// `one kernel`, `3 kernels`, `no kernel`.
pub(crate) fn many(count: usize, noun: &str) -> String {
    match count {
        0 => format!("no {noun}"),
        1 => format!("one {noun}"),
        _ => format!("{count} {noun}s"),
    }
}

/// The parts of a whole, the largest first, with their shares: `branch 61 %, other 39 %`.
pub(crate) fn shares<'n>(parts: impl IntoIterator<Item = (&'n str, u64)>, shown: usize) -> String {
    let mut parts: Vec<(&str, u64)> = parts.into_iter().filter(|(_, count)| *count > 0).collect();
    parts.sort_by_key(|&(name, count)| (std::cmp::Reverse(count), name));
    let all: u64 = parts.iter().map(|(_, count)| count).sum();
    let share = |(name, count): &(&str, u64)| format!("{name} {:.0} %", *count as f64 / all as f64 * 100.0);
    parts.iter().take(shown).map(share).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_read_as_in_a_sentence() {
        assert_eq!([0.0, 0.5, 0.0004, 0.123].map(percent), ["0.0 %", "50.0 %", "0.0400 %", "12.3 %"]);
        assert_eq!((range((0.007, 0.38)), points(-0.0123)), ("0.7–38.0 %".to_owned(), "-1.23".to_owned()));
        let names = |names: &[&str]| listed(names);
        assert_eq!([names(&[]), names(&["A"]), names(&["A", "B", "C"])], ["none", "A", "A, B and C"]);
        assert_eq!([0, 1, 4].map(|count| many(count, "kernel")), ["no kernel", "one kernel", "4 kernels"]);
        assert_eq!(shares([("a", 1), ("b", 3), ("c", 0)], 2), "b 75 %, a 25 %");
    }
}
